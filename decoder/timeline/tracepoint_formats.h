/* SPDX-License-Identifier: MIT */
/*
 * The formats of tracepoints that a recording has in TRACING_DATA
 * (tools/perf/util/trace-event-info.c writes it): texts of tracefs's "format" files
 * (Documentation/trace/events.rst), which say where each field is in a sample's raw data.
 */
#ifndef DECODER_TIMELINE_TRACEPOINT_FORMATS_H
#define DECODER_TIMELINE_TRACEPOINT_FORMATS_H

#include "base/common.h"

struct perf_file;

/* Where the bytes of a field are. */
enum tracepoint_place {
	TRACEPOINT_HERE = 0, /* `size` bytes at `offset` */
	TRACEPOINT_DATA_LOC, /* there is a u32: the low half is an offset, the high half a size */
	TRACEPOINT_REL_LOC,  /* the same, with an offset from the end of the u32 */
};

struct tracepoint_field {
	const char *name; /* not NUL-terminated; borrowed from the format */
	size_t name_length;
	uint32_t offset, size; /* bytes in the sample's raw data; size 0: absent */
	bool is_signed;
	bool is_text;   /* of char, in an array */
	uint32_t count; /* of an array's elements; 0: it is no array */
	enum tracepoint_place place;
};

/* Passed each format's text up to its end (owned by the reader) and its system, "sched". */
typedef void tracepoint_format_reader(void *context, const char *system, const char *format);

/* Pass all formats of the file to `read`, in the file's order. */
void tracepoint_formats_read(const struct perf_file *file, tracepoint_format_reader *read,
			     void *context);

/*
 * Read the name and the number (perf_event_attr.config) of a format's event: "name: sched_switch
 * ID: 314".  Returns false if one is missing; names of 63 bytes and more are cut.
 */
bool tracepoint_format_event(const char *format, char name[64], uint64_t *id);

/*
 * Find the next field in the text from `at` on:
 * "	field:pid_t next_pid;	offset:56;	size:4;	signed:1;"; arrays are
 * "char next_comm[16];" or "u16 list[];", data elsewhere "__data_loc char[] name;".
 * Returns where the search continues, or NULL at the end.
 */
const char *tracepoint_format_next(const char *at, struct tracepoint_field *field);

/* Returns a format's field of this name; size 0 if it is missing. */
struct tracepoint_field tracepoint_format_find(const char *format, const char *name);

#endif
