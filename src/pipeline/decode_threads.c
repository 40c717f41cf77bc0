/* SPDX-License-Identifier: MIT */
/* Choose the number of threads and the size of segments; a test program replaces this file. */
#include "src/pipeline/recording.h"

#include <sched.h>
#include <unistd.h>

/*
 * Minimum bytes of AUX data for threads, at which these save time; without -j, at which they save
 * more than about 0.05 s (tests/bench/README.md).
 */
#define PARALLEL_MIN     ((uint64_t)1 << 20)
#define PARALLEL_UNASKED ((uint64_t)4 << 20)

/*
 * Minimum threads for following calls in jobs, which takes a quarter more CPU time. With fewer
 * threads, the ordered stage is not the bottleneck (tests/bench/README.md).
 */
#define FOLLOWING_THREADS 6

bool decode_threads_follow(const struct workers *workers)
{
	return workers_count(workers) >= FOLLOWING_THREADS;
}

uint64_t decode_threads_segment(const struct auxtrace *auxtrace, const struct workers *workers)
{
	/*
	 * All streams have segments in progress, and events are 100 to 500 times as large as their
	 * trace. The events of small segments stay in a CPU's cache when another thread reads them.
	 */
	const uint64_t all = (uint64_t)64 << 10, least = (uint64_t)16 << 10;
	/*
	 * Some segments take up to seven times as long as others of the same size, so each thread
	 * gets many. Below 4 KiB, two PSB periods of Linux, starting a segment costs more than it
	 * saves.
	 */
	const uint64_t share = auxtrace_bytes(auxtrace) / 32, share_least = (uint64_t)4 << 10;
	/* On few threads, less memory saves more than the starts of segments cost. */
	const uint64_t few = (uint64_t)8 << 10;
	uint64_t size = all / MAX(auxtrace->stream_count, 2);

	size = MAX(size, least);
	if (workers && share / workers_count(workers) < size)
		size = share / workers_count(workers);
	if (workers && !decode_threads_follow(workers))
		size = MIN(size, few);
	return MAX(share_least, size);
}

/*
 * Use at most one thread per CPU, because threads evict each other's cache lines: with eight
 * threads on two CPUs, a conversion takes a third longer than with two.
 */
static unsigned thread_count(const struct options *options)
{
	cpu_set_t usable;
	long found = sched_getaffinity(0, sizeof(usable), &usable) == 0
			     ? CPU_COUNT(&usable)
			     : sysconf(_SC_NPROCESSORS_ONLN);
	unsigned cpus = found > 0 ? (unsigned)found : 1;

	return !options->threads || options->threads > cpus ? cpus : options->threads;
}

struct workers *decode_threads_open(const struct options *options, const struct auxtrace *auxtrace,
				    struct diag *diag)
{
	unsigned count = thread_count(options);
	uint64_t least = options->threads ? PARALLEL_MIN : PARALLEL_UNASKED;
	struct workers *workers;

	if (count == 1 || options->engine != PT_ENGINE_FAST || auxtrace_bytes(auxtrace) < least)
		return NULL;
	workers = workers_open(count);
	if (!workers)
		diag_warn(diag, "no-threads", "cannot start a thread; decoding with one CPU");
	return workers;
}
