/* SPDX-License-Identifier: MIT */
/* The Intel PT part of a recording: its parameters and its AUX streams. */
#pragma once

#include "decoder/aux/pt_info.h"
#include "decoder/perf_data/perf_file.h"

struct auxtrace {
	struct arena arena;
	struct pt_info info;
	const struct aux_stream *streams; /* sorted by queue */
	size_t stream_count;
};

/*
 * Read the PT parameters and streams of a recording. Returns 0; -1 with err filled if the recording
 * has no Intel PT, or an unsupported kind. The caller owns the members and calls auxtrace_release()
 * in both cases.
 */
int auxtrace_init(struct auxtrace *auxtrace, const struct perf_file *file, struct error *err);

/* Returns the bytes of all streams. */
static inline uint64_t auxtrace_bytes(const struct auxtrace *auxtrace)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < auxtrace->stream_count; i++)
		bytes += auxtrace->streams[i].size;
	return bytes;
}

void auxtrace_release(struct auxtrace *auxtrace);
