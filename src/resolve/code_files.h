/* SPDX-License-Identifier: MIT */
/*
 * The decoder's source of code: the files found by symbols. Records which wanted files are missing.
 */
#ifndef SRC_RESOLVE_CODE_FILES_H
#define SRC_RESOLVE_CODE_FILES_H

#include <pthread.h>

#include "base/arena.h"
#include "base/diag.h"
#include "decoder/branch_event.h"
#include "decoder/code/code_image.h"
#include "decoder/timeline/timeline.h"
#include "src/resolve/resolve.h"

struct code_files {
	const struct resolver *resolver; /* borrowed */
	int *memory_fds; /* owned; files that exist only in memory (the running vdso) */
	size_t memory_fd_count, memory_fd_room;
	const char **names; /* owned; of these files, by index of mapped_file; may be NULL */
	struct arena arena; /* the names */
	bool *missing;      /* owned; by index of mapped_file: its code is wanted and missing */
	uint64_t *gaps;     /* owned; by index of mapped_file: gaps because its code is missing */
	size_t file_count;
	pthread_mutex_t lock; /* for names, memory_fds and the arena: several threads decode */
	bool any_gap;         /* some code was missing */
};

/* `file_count`: the timeline's. */
void code_files_init(struct code_files *files, const struct resolver *resolver, size_t file_count);

/* Close what was opened.  Idempotent, also on zeroed memory. */
void code_files_release(struct code_files *files);

/* Returns the decoder's source; valid as long as `files`. */
struct code_source code_files_source(struct code_files *files);

/*
 * Count a gap for its file. If the file has no valid instruction there, warns and shows the bytes.
 */
void code_files_note_gap(struct code_files *files, const struct branch_event *gap,
			 struct diag *diag);

/* Warn in one line of wanted files that are missing, with their build ids. */
void code_files_warn(const struct code_files *files, const struct timeline *timeline,
		     struct diag *diag);

#endif
