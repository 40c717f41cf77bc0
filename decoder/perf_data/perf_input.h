/* SPDX-License-Identifier: MIT */
/*
 * The bytes of an input: a file, a pipe, standard input, or a directory that
 * perf record made (tools/perf/Documentation/perf.data-directory-format.txt).
 */
#ifndef DECODER_PERF_DATA_PERF_INPUT_H
#define DECODER_PERF_DATA_PERF_INPUT_H

#include "decoder/perf_data/perf_types.h"

/* The files of one input. */
struct perf_input {
	const char *folder; /* of the arena; NULL: it is not a directory */
	const char *
		*paths; /* owned array, texts of the arena: the file with the header, then others */
	size_t count, room;
};

/*
 * List the files of an input: of a directory `data`, then `data.0`, `data.1` (perf record
 * --threads).  Returns 0; -1 with err filled: it is a directory of something else.
 */
int perf_input_list(struct perf_input *input, const char *path, struct arena *arena,
		    struct error *err);

/*
 * Returns whether a path leads to a regular file: opening a pipe, which someone else may have
 * put into the directory, could block for ever.
 */
bool perf_input_is_file(const char *path);

/*
 * Map one file; "-" is standard input.  A pipe is first read to its end into a file without a name.
 * Returns 0 with the bytes, owned by the caller (munmap()); -1 with err filled.
 */
int perf_input_map(const char *path, struct byte_view *bytes, struct error *err);

#endif
