/* SPDX-License-Identifier: MIT */
/*
 * Writes TRACING_DATA: tracepoint formats, as perf's tools/perf/util/trace-event-info.c records
 * them.
 */
#pragma once

#include "tests/support/perf_data.h"

#define FEATURE_TRACING_DATA 1 /* HEADER_TRACING_DATA of tools/perf/util/header.h */

/* The first fields of each format (tracefs). */
#define TRACING_COMMON                                                                             \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

/* Events of one system: their format texts. */
struct tracing_system {
	const char *name;
	const char *const *formats;
	uint32_t count;
};

/* Returns the section's bytes, owned by the caller. */
struct perf_data_buffer tracing_data(const struct tracing_system *systems, uint32_t count);
