/* SPDX-License-Identifier: MIT */
/*
 * In the place of src/pipeline/decode_threads.c: little data is decoded in segments of
 * PTRACE2FTF_SEGMENT bytes, by as many threads as -j says, on however few CPUs.
 */
#include "src/pipeline/recording.h"

uint64_t decode_threads_segment(const struct auxtrace *auxtrace, const struct workers *workers)
{
	const char *bytes = getenv("PTRACE2FTF_SEGMENT");

	(void)auxtrace;
	(void)workers;
	return bytes ? strtoull(bytes, NULL, 10) : 300;
}

bool decode_threads_follow(const struct workers *workers)
{
	(void)workers;
	return true;
}

struct workers *decode_threads_open(const struct options *options, const struct auxtrace *auxtrace,
				    struct diag *diag)
{
	unsigned count = options->threads ? options->threads : 2;
	struct workers *workers;

	(void)auxtrace;
	if (count == 1 || options->engine != PT_ENGINE_FAST)
		return NULL;
	workers = workers_open(count);
	if (!workers)
		diag_warn(diag, "no-threads", "cannot start a thread; decoding with one CPU");
	return workers;
}
