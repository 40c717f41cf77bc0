/* SPDX-License-Identifier: MIT */
/* Compute the offset between an overlay's clock and the trace's. */
#include "src/overlays/overlay_clock.h"

#include <time.h>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "base/io/file_use.h"

#define NS_PER_SECOND INT64_C(1000000000)
#define SYNC_TRIES    100
/* Lines of a file of clocks; what has more is something else. */
#define SYNC_LINES 10000

const char *overlay_clock_method_name(enum overlay_clock_method method)
{
	static const char *const names[] = {
		[OVERLAY_CLOCK_OWN] = "its own",
		[OVERLAY_CLOCK_EXPLICIT] = "--clock-offset",
		[OVERLAY_CLOCK_SYNC] = "--clock-sync",
		[OVERLAY_CLOCK_RECORDED] = "recorded by perf",
		[OVERLAY_CLOCK_PT] = "calls seen by Intel PT",
		[OVERLAY_CLOCK_SIDEBAND] = "order of forks and exits",
		[OVERLAY_CLOCK_ASSUMED] = "assumed",
	};

	return names[method];
}

void overlay_clock_print(const struct overlay_clock *clock, const char *path, FILE *out)
{
	fprintf(out, "ptrace2ftf: %s: clock: %s", path, overlay_clock_method_name(clock->method));
	if (clock->method != OVERLAY_CLOCK_OWN)
		fprintf(out, ", offset %" PRId64 " ns", clock->offset);
	if (clock->method != OVERLAY_CLOCK_OWN && clock->uncertainty == UINT64_MAX)
		fprintf(out, ", uncertainty unknown");
	else if (clock->method != OVERLAY_CLOCK_OWN)
		fprintf(out, " +- %" PRIu64 " ns", clock->uncertainty);
	fputc('\n', out);
}

/* ---- Clocks read at the same time ---------------------------------------- */

int overlay_clocks_read(struct overlay_clocks *clocks, const char *path, struct error *err)
{
	FILE *in = file_use_open_stream(path);
	struct overlay_sync sync;
	char line[200];
	size_t room = 0, lines = 0;

	if (!in)
		return error_set_system(err, errno, "%s: cannot open", path);
	while (lines++ < SYNC_LINES && fgets(line, sizeof(line), in)) {
		if (sscanf(line, "tsc=%" SCNu64 " mono=%" SCNd64 " real=%" SCNd64, &sync.tsc,
			   &sync.mono, &sync.real) != 3)
			continue;
		*ARRAY_ADD(clocks->syncs, clocks->sync_count, room) = sync;
	}
	fclose(in);
	if (lines > SYNC_LINES)
		return error_set(
			err, ERROR_LIMIT,
			"%s: more than %d lines; keep only those of `ptrace2ftf clock-sync`", path,
			SYNC_LINES);
	return clocks->sync_count ? 0
				  : error_set(err, ERROR_FORMAT,
					      "%s: has no line of `ptrace2ftf clock-sync`", path);
}

void overlay_clocks_release(struct overlay_clocks *clocks)
{
	free(clocks->syncs);
	*clocks = (struct overlay_clocks){ 0 };
}

static int64_t now(clockid_t id)
{
	struct timespec time = { 0 };

	clock_gettime(id, &time);
	return time.tv_sec * NS_PER_SECOND + time.tv_nsec;
}

static uint64_t read_tsc(void)
{
#ifdef __x86_64__
	return __rdtsc();
#else
	return 0;
#endif
}

void overlay_sync_now(struct overlay_sync *sync)
{
	int64_t best = INT64_MAX;

	for (int i = 0; i < SYNC_TRIES; i++) {
		int64_t before = now(CLOCK_MONOTONIC);
		uint64_t tsc = read_tsc();
		int64_t real = now(CLOCK_REALTIME);
		int64_t after = now(CLOCK_MONOTONIC);

		if (after - before >= best)
			continue;
		best = after - before;
		*sync = (struct overlay_sync){ tsc, before + best / 2, real };
	}
}
