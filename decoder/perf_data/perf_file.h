/* SPDX-License-Identifier: MIT */
/*
 * A recording of perf: its header, attributes, features and records.
 *
 * It is a perf.data file, a stream of perf record -o -, a directory (perf record --kcore,
 * --threads), or a series of files (perf record --switch-output).  Everything returned is borrowed
 * from the mappings or the perf_file and lives until perf_file_close().  No size in the file is
 * trusted. Sources: tools/perf/Documentation/perf.data-file-format.txt,
 * perf.data-directory-format.txt and tools/perf/util/header.h.
 */
#ifndef DECODER_PERF_DATA_PERF_FILE_H
#define DECODER_PERF_DATA_PERF_FILE_H

#include "decoder/perf_data/perf_record.h"

/*
 * Map and check an input: a path, or "-" for standard input.
 * Returns 0; -1 with err filled: not readable, not a recording of perf, or of a machine that has no
 * Intel PT (big-endian), with err->text naming the path and the remedy.  Damaged features are
 * warned about.  The caller calls perf_file_close() in both cases.
 */
int perf_file_open(struct perf_file *file, const char *path, struct diag *diag, struct error *err);

/*
 * Add the next file of a series (perf record --switch-output) to an open one. At the start of each
 * file perf writes the state of the system in records without a time: their time becomes the first
 * time in the file. Returns 0; -1 with err filled, also if it is not of the same recording.
 * Missing features, as of a perf that was killed, are no evidence: file->unproven is set if one
 * lacks its host, command line, clock or times.
 */
int perf_file_append(struct perf_file *file, const char *path, struct diag *diag,
		     struct error *err);

void perf_file_close(struct perf_file *file);

/* Records are in parts: ranges of mapped files.  A position counts the bytes of all parts. */

/* Add a part (copied) after the others; its `base` is set here. */
void perf_parts_add(struct perf_file *file, const struct perf_part *part);

/*
 * Unpack the compressed records of a part into a file without a name.  Returns its bytes, owned by
 * the caller (munmap()), or NULL.  Damage is warned about; the records before it are kept.
 */
struct byte_view perf_parts_unpack(const struct perf_file *file, size_t part, struct diag *diag);

/* Returns the number of bytes of records in a part. */
static inline uint64_t perf_part_size(const struct perf_part *part)
{
	return part->end - part->begin;
}

/*
 * Read the record at *position (start with 0) and move past it.  Returns 1; 0 at the end.  Nothing
 * after a damaged record of a part can be read: there is a warning with its offset, and reading
 * continues with the next part.  Records with an impossible time are left out, with a warning.
 */
int perf_file_next(const struct perf_file *file, uint64_t *position, struct perf_record *record,
		   struct diag *diag);

/* The events of a recording: from the attribute section of a file, or from records of a stream. */

/* Add an event; `size` bytes of struct perf_event_attr as that perf knew it. */
void perf_attrs_add(struct perf_file *file, struct byte_view attr, struct byte_view ids);

/* Read a HEADER_ATTR or EVENT_UPDATE record (tools/perf/util/event.h) of a stream. */
void perf_attrs_read_record(struct perf_file *file, const struct perf_record *record);

/* Make perf_file_borrow_attr() work, after all are added. */
void perf_attrs_finish(struct perf_file *file);

/* Returns whether two recordings have the same events with the same counters. */
bool perf_attrs_equal(const struct perf_file *a, const struct perf_file *b);

/* Returns the attribute that an id belongs to, borrowed, or NULL. */
const struct perf_attr *perf_file_borrow_attr(const struct perf_file *file, uint64_t id);

/*
 * Read the sections of a file.  Their table is at `table_offset`, which lies in the file.
 * Of all inputs but the first only the build ids are read.  Damage is warned about.
 */
void perf_features_read(struct perf_file *file, struct byte_view bytes, uint64_t table_offset,
			struct diag *diag);

/* Read a HEADER_FEATURE, HEADER_BUILD_ID or HEADER_TRACING_DATA record of a stream. */
void perf_features_read_record(struct perf_file *file, const struct perf_record *record,
			       struct diag *diag);

/* Add a BUILD_ID section (a row of entries) to those of the recording. */
void perf_features_add_build_ids(struct perf_file *file, struct byte_view row);

/* An entry of the BUILD_ID feature, as views of the file. */
struct perf_build_id {
	const char *path;
	const uint8_t *id;
	size_t id_size;     /* bytes, at most 20 */
	size_t row, offset; /* the position of the next entry */
};

/*
 * Read the next entry of all BUILD_ID features; *entry has the one before, or zeros.
 * Returns 1 with *entry filled; 0 at the end.
 */
int perf_features_next_build_id(const struct perf_file *file, struct perf_build_id *entry);

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

/* Returns whether a path leads to a regular file; to open someone else's pipe could block for ever.
 */
bool perf_input_is_file(const char *path);

/*
 * Map one file; "-" is standard input.  A pipe is read into a file without a name.  Returns 0 with
 * the bytes, owned by the caller (munmap()); -1 with err filled.
 */
int perf_input_map(const char *path, struct byte_view *bytes, struct error *err);

#endif
