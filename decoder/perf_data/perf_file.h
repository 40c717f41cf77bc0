/* SPDX-License-Identifier: MIT */
/*
 * A recording of perf: its header, attributes, features and records.
 *
 * An input is a perf.data file, a stream of perf record -o -, a directory (perf record --kcore,
 * --threads), or a series of files (perf record --switch-output). All results are borrowed from the
 * mappings or the perf_file and live until perf_file_close(). No size in the file is trusted.
 * Sources: tools/perf/Documentation/perf.data-file-format.txt, perf.data-directory-format.txt and
 * tools/perf/util/header.h.
 */
#pragma once

#include "decoder/perf_data/perf_record.h"

/*
 * Map and check an input: a path, or "-" for standard input. Returns 0; -1 with err filled if the
 * input is unreadable, not a recording of perf, or from a machine without Intel PT (big-endian);
 * err->text names the path and the remedy. Warns about damaged features. The caller calls
 * perf_file_close() in both cases.
 */
int perf_file_open(struct perf_file *file, const char *path, struct diag *diag, struct error *err);

/*
 * Open a recording in memory, as perf record -o - writes it. `stream` is owned from now on
 * (munmap()).
 */
void perf_file_open_stream(struct perf_file *file, const char *path, struct byte_view stream,
			   struct diag *diag);

/*
 * Add the next file of a series (perf record --switch-output) to an open one. At the start of each
 * file, perf writes the state of the system in records without a time; these get the first time in
 * the file. Returns 0; -1 with err filled, also if the file belongs to another recording. Sets
 * file->unproven if the host, command line, clock or times of a file are missing, as after perf was
 * killed.
 */
int perf_file_append(struct perf_file *file, const char *path, struct diag *diag,
		     struct error *err);

void perf_file_close(struct perf_file *file);

/* Records are in parts: ranges of mapped files. Positions count the bytes of all parts. */

/* Add a part (copied) after the others. Sets its `base`. */
void perf_parts_add(struct perf_file *file, const struct perf_part *part);

/*
 * Unpack the compressed records of a part into an unnamed file. Returns its bytes, owned by the
 * caller (munmap()), or NULL. Warns about damage, and keeps the records before it.
 */
struct byte_view perf_parts_unpack(const struct perf_file *file, size_t part, struct diag *diag);

/* Returns the number of bytes of records in a part. */
static inline uint64_t perf_part_size(const struct perf_part *part)
{
	return part->end - part->begin;
}

/*
 * Read the record at *position (start with 0) and move past it. Returns 1; 0 at the end. The rest
 * of a part after a damaged record cannot be read: warns with the record's offset, and continues
 * with the next part. Skips records with an impossible time, with a warning.
 */
int perf_file_next(const struct perf_file *file, uint64_t *position, struct perf_record *record,
		   struct diag *diag);

/* The events of a recording: from the attribute section of a file, or from records of a stream. */

/* Add an event. `attr`: struct perf_event_attr in the size of the perf that wrote it. */
void perf_attrs_add(struct perf_file *file, struct byte_view attr, struct byte_view ids);

/* The same by struct perf_record_header_attr: the attribute in its own size, then the ids. */
void perf_attrs_add_record(struct perf_file *file, const struct perf_record *record);

/* Read struct perf_record_event_update (tools/perf/util/event.h); the counters are known. */
void perf_attrs_update_name(struct perf_file *file, const struct perf_record *record);

/* Prepare perf_file_borrow_attr(), after all events are added. */
void perf_attrs_finish(struct perf_file *file);

/* Returns whether two recordings have the same events with the same counters. */
bool perf_attrs_equal(const struct perf_file *a, const struct perf_file *b);

/* Returns the attribute of an id, borrowed, or NULL. */
const struct perf_attr *perf_file_borrow_attr(const struct perf_file *file, uint64_t id);

/*
 * Read the feature sections of a file, whose table is at `table_offset` in the file. Reads only the
 * build ids of inputs after the first. Warns about damage.
 */
void perf_features_read(struct perf_file *file, struct byte_view bytes, uint64_t table_offset,
			struct diag *diag);

/* Read a record of a stream, if it is a HEADER_FEATURE, HEADER_BUILD_ID or HEADER_TRACING_DATA. */
void perf_features_read_record(struct perf_file *file, const struct perf_record *record,
			       struct diag *diag);

/* Add a BUILD_ID section (a row of entries) to the recording's. */
void perf_features_add_build_ids(struct perf_file *file, struct byte_view row);

/* An entry of the BUILD_ID feature, as views of the file. */
struct perf_build_id {
	const char *path;
	const uint8_t *id;
	size_t id_size;     /* bytes, at most 20 */
	size_t row, offset; /* position of the next entry */
};

/*
 * Read the next entry of all BUILD_ID features; *entry is the previous one, or zeroed. Returns 1
 * with *entry filled; 0 at the end.
 */
int perf_features_next_build_id(const struct perf_file *file, struct perf_build_id *entry);

/* The files of one input. */
struct perf_input {
	const char *folder; /* folder in the arena; NULL: not a directory */
	const char **paths; /* owned array, texts of the arena; the file with the header is first */
	size_t count, room;
};

/*
 * List the files of an input; in a directory `data`, then `data.0`, `data.1` (perf record
 * --threads). Returns 0; -1 with err filled if the directory is not a recording.
 */
int perf_input_list(struct perf_input *input, const char *path, struct arena *arena,
		    struct error *err);

/* Returns whether a path is a regular file. Opening a pipe could block forever. */
bool perf_input_is_file(const char *path);

/*
 * Map one file; "-" is standard input. Reads a pipe into an unnamed file. Returns 0 with the bytes,
 * owned by the caller (munmap()); -1 with err filled.
 */
int perf_input_map(const char *path, struct byte_view *bytes, struct error *err);

/*
 * If the bytes of a mapped file are gzip or Zstandard, unpack them into an unnamed file, and
 * replace the mapping by the result, owned by the caller. Warns about damage, and keeps the bytes
 * before it. Returns 0; -1 with err filled if nothing is left.
 */
int perf_input_unpack(struct byte_view *bytes, struct diag *diag, struct error *err);

/* Unpack up to `size` first bytes of gzip or Zstandard. Returns their number; 0 for other bytes. */
size_t perf_input_peek(struct byte_view packed, uint8_t *begin, size_t size);

/* ---- BPF programs -------------------------------------------------------- */

/*
 * The machine code of BPF programs, as perf record saves it (root only) in the feature
 * BPF_PROG_INFO: a count, then for each program a struct perf_bpil (tools/perf/util/bpf-utils.h):
 * info_len, data_len, arrays, struct bpf_prog_info (linux/bpf.h, info_len bytes of it), and
 * data_len bytes with the info's arrays. The info has offsets into this data instead of pointers.
 */

/* A function of a program, which can have several. */
struct bpf_function {
	uint64_t address;
	const uint8_t *bytes; /* view of the feature section */
	uint32_t size;
	/* The position of bpf_programs_next(): */
	size_t offset;       /* in the section, of the next program */
	uint32_t programs;   /* read so far */
	uint32_t next;       /* function of the program */
	uint32_t code_used;  /* bytes of its code, by its functions so far */
	const uint8_t *data; /* the program's data; NULL before the first program */
	uint32_t data_size;
	struct bpf_arrays {
		uint64_t code, addresses, lengths; /* offsets in `data` */
		uint32_t code_size, count;
	} arrays;
};

/*
 * Read the next function of all programs of the recording; *function is the previous one, or
 * zeroed. Returns 1; 0 at the end. Functions that do not fit into the section are skipped.
 */
int bpf_programs_next(const struct perf_file *file, struct bpf_function *function);
