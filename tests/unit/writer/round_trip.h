/* SPDX-License-Identifier: MIT */
/* A trace written to a temporary file by the library, then read back by the reader. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "reader/trace_reader.h"
#include "writer/ftf.h"

struct trace {
	char path[48];
	struct ftf_writer *writer;
	uint8_t *bytes; /* of the file */
	size_t size;
	char *records; /* a line per record, without offsets, metadata, strings and threads */
	char *slices, *names;
	uint64_t strings, threads, sections; /* records of these kinds */
	struct trace_reader reader;
};

extern struct trace trace;

/* Start a trace in a new temporary file whose name ends in `suffix`; wrong use aborts. */
void trace_begin(const char *suffix);

/* Close the writer without an error. */
void trace_close(void);

/* Read the file's bytes and remove it. */
void trace_load(void);

/* Close, load, and read all strictly: records, slices and names. */
void trace_finish(void);

/*
 * Returns the first error of other bytes read as a trace, "" without one; borrowed.  "?! " precedes
 * records that Perfetto refuses, "?? " unknown ones.
 */
const char *trace_problem_of(const void *bytes, size_t size);
