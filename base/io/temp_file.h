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

/* Append.  Returns 0; -1 with err filled (a full disk). */
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

/* Close the file; mappings stay.  Idempotent, also on zeroed memory. */
void temp_file_close(struct temp_file *file);
