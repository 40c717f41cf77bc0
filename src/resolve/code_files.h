/* SPDX-License-Identifier: MIT */
/*
 * The decoder's source of code: the files found by symbols. Records which wanted files are missing.
 */
#ifndef SRC_RESOLVE_CODE_FILES_H
#define SRC_RESOLVE_CODE_FILES_H

#include <pthread.h>

#include "decoder/clock/tsc_clock.h"
#include "decoder/code/code_image.h"
#include "decoder/perf_data/perf_file.h"
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

/*
 * The code that JIT compilers wrote during the recording, from their jitdump files. A recording has
 * such a file as a mapping of its first page (tools/perf/Documentation/jitdump-specification.txt).
 * For processes without a jitdump, the code in an ELF core from their end is used
 * (symbols/files/core_file.h), as if it had been there since it was mapped.
 */

struct jit_dumps {
	struct perf_mmap *code; /* owned; sorted by time; paths borrowed from the store */
	size_t count, room;
	const struct dso **files; /* owned; the dumps */
	size_t file_count, file_room;
	bool monotonic; /* perf's clock is CLOCK_MONOTONIC (perf record -k mono) */
	bool saved;     /* a core has code of the recording */
};

/*
 * Read the dumps and the core of all processes in the recording. `store` opens the files; `clock`
 * converts TSC ticks to perf's time.
 */
void jit_dumps_read(struct jit_dumps *dumps, const struct perf_file *file, struct dso_store *store,
		    const struct tsc_clock *clock, struct diag *diag);

void jit_dumps_release(struct jit_dumps *dumps);

#endif
