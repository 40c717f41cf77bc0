/* SPDX-License-Identifier: MIT */
/* Compute the offset between an overlay's clock and the trace's. */
#include "src/overlays/overlays.h"

#include <time.h>

#ifdef __x86_64__
#include <x86intrin.h>
#else
#define __rdtsc() 0
#endif

#define NS_PER_SECOND INT64_C(1000000000)
#define SYNC_TRIES    100

const char *const overlay_clock_methods[] = {
	[OVERLAY_CLOCK_OWN] = "its own",
	[OVERLAY_CLOCK_EXPLICIT] = "--clock-sync=CLOCK=TIME",
	[OVERLAY_CLOCK_SYNC] = "--clock-sync",
	[OVERLAY_CLOCK_RECORDED] = "recorded by perf",
	[OVERLAY_CLOCK_PT] = "calls seen by Intel PT",
	[OVERLAY_CLOCK_SIDEBAND] = "order of forks and exits",
	[OVERLAY_CLOCK_ASSUMED] = "assumed",
};

/* ---- Clocks read at the same time ---------------------------------------- */

static int64_t now(clockid_t id)
{
	struct timespec time = { 0 };

	clock_gettime(id, &time);
	return time.tv_sec * NS_PER_SECOND + time.tv_nsec;
}

void overlay_sync_now(struct overlay_sync *sync)
{
	int64_t best = INT64_MAX;

	for (int i = 0; i < SYNC_TRIES; i++) {
		int64_t before = now(CLOCK_MONOTONIC);
		uint64_t tsc = __rdtsc();
		int64_t real = now(CLOCK_REALTIME);
		int64_t after = now(CLOCK_MONOTONIC);

		if (after - before >= best)
			continue;
		best = after - before;
		*sync = (struct overlay_sync){ tsc, before + best / 2, real };
	}
}

/* ns: more than reading the clocks of a line takes. */
#define SYNC_UNCERTAINTY 1000

/* ---- With a recording ---------------------------------------------------- */

/* `mono`: the overlay's clock is CLOCK_MONOTONIC; else the wall clock. */
static bool match_by_option(struct overlay_clock *clock, const struct overlays *overlays, bool mono)
{
	const struct clock_offsets *offsets = &overlays->options->clock_offsets;

	if (mono ? !offsets->has_mono : !offsets->has_real)
		return false;
	*clock = (struct overlay_clock){ OVERLAY_CLOCK_EXPLICIT,
					 mono ? offsets->mono : offsets->real, 0 };
	return true;
}

/*
 * Lines read at both ends of a recording bound the drift of the clocks. `info` NULL: the trace's
 * clock is CLOCK_MONOTONIC.
 */
static bool match_by_sync(struct overlay_clock *clock, const struct overlays *overlays, bool mono,
			  const struct pt_info *info)
{
	struct tsc_clock tsc = info ? pt_info_tsc_clock(info) : (struct tsc_clock){ 0 };
	int64_t least = INT64_MAX, most = INT64_MIN;

	for (size_t i = 0; i < overlays->sync_count; i++) {
		const struct overlay_sync *sync = &overlays->syncs[i];
		uint64_t time = info ? tsc_clock_ns(&tsc, sync->tsc) : (uint64_t)sync->mono;
		int64_t offset = (int64_t)(time - (uint64_t)(mono ? sync->mono : sync->real));

		if (info && (!sync->tsc || !info->time_mult))
			continue;
		least = MIN(offset, least);
		most = MAX(offset, most);
	}
	if (least > most)
		return false;
	*clock = (struct overlay_clock){ OVERLAY_CLOCK_SYNC, least + (most - least) / 2,
					 (uint64_t)(most - least) / 2 + SYNC_UNCERTAINTY };
	return true;
}

/* `perf record -k`, which Intel PT does not allow. */
static bool match_by_header(struct overlay_clock *clock, const struct perf_file *file, bool mono)
{
	const struct perf_features *features = &file->features;
	int64_t offset = 0;

	if (!file->attr_count)
		return false;
	if (!file->attrs[0].attr.use_clockid ||
	    file->attrs[0].attr.clockid != (mono ? CLOCK_MONOTONIC : CLOCK_REALTIME)) {
		if (mono || !features->has_clock_data)
			return false;
		offset = (int64_t)(features->clock_ns - features->clock_wall_ns);
	}
	*clock = (struct overlay_clock){ OVERLAY_CLOCK_RECORDED, offset, 0 };
	return true;
}

/* The methods that need no events of an overlay. */
static bool match_clocks(struct overlay_clock *clock, const struct overlays *overlays,
			 const struct overlay_recording *recording, bool mono)
{
	return match_by_option(clock, overlays, mono) ||
	       match_by_sync(clock, overlays, mono, recording->info) ||
	       match_by_header(clock, recording->file, mono);
}

static bool match_by_sideband(struct overlay_clock *clock, const struct overlay_input *input,
			      const struct timeline *timeline)
{
	struct overlay_bounds bounds;

	if (!overlay_sideband(&bounds, timeline, input))
		return false;
	*clock = (struct overlay_clock){ OVERLAY_CLOCK_SIDEBAND,
					 -(bounds.low + (bounds.high - bounds.low) / 2),
					 (uint64_t)(bounds.high - bounds.low) / 2 + 1 };
	return true;
}

/* `what`: the clocks whose offset is unknown; `how`: the assumption. */
static struct overlay_clock assume_clock(const struct overlay_input *input, int64_t offset,
					 const char *what, const char *how, struct diag *diag)
{
	diag_warn(diag, "overlay-clock",
		  "%s: the offset between %s is unknown, assuming %s; see --clock-sync",
		  input->path, what, how);
	return (struct overlay_clock){ OVERLAY_CLOCK_ASSUMED, offset, UINT64_MAX };
}

static struct overlay_clock match_recording(struct overlays *overlays, struct overlay_input *input,
					    const struct overlay_recording *recording)
{
	struct overlay_clock clock = { 0 };
	bool mono = !input->importer->wall_clock;

	if (!timeline_borrow_thread(recording->timeline, input->pid, 0))
		diag_warn(overlays->out.diag, "overlay-process",
			  "%s is of process %d, which is not in the recording; see pid=",
			  input->path, input->pid);
	if (!match_clocks(&clock, overlays, recording, mono) &&
	    !overlay_calls_match(&clock, recording->calls, input) &&
	    !match_by_sideband(&clock, input, recording->timeline)) {
		const struct thread *last =
			timeline_borrow_thread(recording->timeline, input->pid, UINT64_MAX);
		bool ended = last && last->pid == input->pid && last->end != UINT64_MAX;
		bool wall = input->importer->wall_clock;

		/* The clocks have nothing in common; most processes allocate until they end. */
		clock = assume_clock(
			input, wall ? (int64_t)((ended ? last->end : 0) - input->last_time) : 0,
			"its clock and perf's", wall ? "that it ends with the process" : "none",
			overlays->out.diag);
	}
	if (mono)
		overlay_sideband_tids(input, recording->timeline, -clock.offset);
	return clock;
}

/* ---- Without a recording ------------------------------------------------- */

/* Returns whether the offset is known. */
static bool match_alone(struct overlay_clock *clock, const struct overlays *overlays, bool mono)
{
	*clock = (struct overlay_clock){ 0 };
	return match_by_option(clock, overlays, mono) || mono ||
	       !overlays_find(overlays, &overlay_runtime_events, OVERLAY_ANY_PROCESS) ||
	       match_by_sync(clock, overlays, mono, NULL);
}

/* ---- Either -------------------------------------------------------------- */

struct overlay_clock overlays_match_clock(struct overlays *overlays, size_t index,
					  const struct overlay_recording *recording)
{
	struct overlay_input *input = &overlays->inputs[index];
	struct overlay_clock clock;

	if (recording) {
		clock = match_recording(overlays, input, recording);
	} else if (!match_alone(&clock, overlays, !input->importer->wall_clock)) {
		const struct overlay_input *events =
			overlays_find(overlays, &overlay_runtime_events, input->pid);
		uint64_t last = events ? events->last_time : 0;

		/* Both files are written until the process ends. */
		clock = assume_clock(input, last ? (int64_t)(last - input->last_time) : 0,
				     "the wall clock and the runtime events'",
				     last ? "that both end together" : "none", overlays->out.diag);
	}
	if (!overlays->options->quiet) {
		fprintf(stderr, "ptrace2ftf: %s: clock: %s", input->path,
			overlay_clock_methods[clock.method]);
		if (clock.method == OVERLAY_CLOCK_OWN)
			fputs("\n", stderr);
		else if (clock.uncertainty == UINT64_MAX)
			fprintf(stderr, ", offset %" PRId64 " ns, uncertainty unknown\n",
				clock.offset);
		else
			fprintf(stderr, ", offset %" PRId64 " ns +- %" PRIu64 " ns\n", clock.offset,
				clock.uncertainty);
	}
	return clock;
}

uint64_t overlays_wall(const struct overlays *overlays, const struct overlay_recording *recording)
{
	struct overlay_clock clock;
	bool known = recording ? match_clocks(&clock, overlays, recording, false)
			       : match_alone(&clock, overlays, false);

	/* A trace's clock may start at any time after 1970. */
	return known && clock.offset <= 0 ? (uint64_t)-clock.offset : WALL_BASE_UNKNOWN;
}
