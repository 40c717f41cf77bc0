/* SPDX-License-Identifier: MIT */
/*
 * A file without a name, for bytes that come from a stream and are needed as a mapping.
 *
 * It is in $TMPDIR or /var/tmp: the bytes cost disk and page cache but no memory of the process,
 * and the file disappears however the program ends.
 */
#pragma once

#include "base/common.h"

struct temp_file {
	int fd;        /* owned; valid if `open` */
	int open;      /* not 0: there is a file */
	uint64_t size; /* bytes written so far */
};

/* Returns the directory of such files; borrowed. */
const char *temp_file_folder(void);

/* Make the file.  Returns 0; -1 with err filled. */
int temp_file_open(struct temp_file *file, struct error *err);

/* Append.  Returns 0; -1 with err filled (a full disk, or the budget). */
int temp_file_write(struct temp_file *file, const void *bytes, size_t size, struct error *err);

/* Append all that can be read from `fd`.  Returns 0; -1 with err filled. */
int temp_file_drain(struct temp_file *file, int fd, struct error *err);

/*
 * Returns all bytes, mapped read-only, owned by the caller (munmap() of
 * file->size); NULL with err filled if the file is empty or cannot be mapped.
 */
const uint8_t *temp_file_map(const struct temp_file *file, struct error *err);

/* Make it standard output, and close it.  Returns 0; -1 with err filled. */
int temp_file_become_output(struct temp_file *file, struct error *err);

/*
 * ---- The budget ----
 *
 * It is for the bytes of all such files of the process, also those of big_array.h. The default is
 * not for files that temp_file_write() writes: these cannot be cut. All functions are safe in
 * threads, except for temp_files_limit().
 */

/* The default budget: this, or a quarter of the folder's free space if that is less. */
#define TEMP_FILES_DEFAULT (UINT64_C(64) << 30)

/* Set the budget in bytes; 0: the default. Not for libraries. */
void temp_files_limit(uint64_t most);

/* Returns the budget. The free space counts at the first file. */
uint64_t temp_files_most(void);

/* Returns the bytes that are left. */
uint64_t temp_files_room(void);

/* Returns whether the budget is spent. */
bool temp_files_full(void);

/*
 * Count bytes that a file grows by. It may exceed the budget: then the budget is spent until the
 * process ends, also if files are closed.
 */
void temp_files_take(uint64_t bytes);

/* Count bytes of a file that is closed. */
void temp_files_give(uint64_t bytes);

/*
 * The budget is spent for input if more than 1 / `parts` of it is used: the rest is for the output
 * of what was read.
 */
void temp_files_keep_rest(unsigned parts);

/* Returns whether the budget is spent for input. */
bool temp_files_spent(void);

/* Close the file; mappings stay. */
void temp_file_close(struct temp_file *file);
