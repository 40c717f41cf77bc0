/* SPDX-License-Identifier: MIT */
/* Compute the offset between an overlay's clock and the trace's. */
#include "src/overlays/overlay_clock.h"

#include <time.h>

#include "src/formats/output_format.h"

#ifdef __x86_64__
#include <x86intrin.h>
#else
#define __rdtsc() 0
#endif

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
	if (clock->method == OVERLAY_CLOCK_OWN)
		fputs("\n", out);
	else if (clock->uncertainty == UINT64_MAX)
		fprintf(out, ", offset %" PRId64 " ns, uncertainty unknown\n", clock->offset);
	else
		fprintf(out, ", offset %" PRId64 " ns +- %" PRIu64 " ns\n", clock->offset,
			clock->uncertainty);
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

/* ns: reading the clocks of a line takes less. */
#define SYNC_UNCERTAINTY 1000

static bool is_monotonic(const struct overlay_input *input)
{
	return input->kind == OVERLAY_RUNTIME_EVENTS;
}

/* ---- With a recording ---------------------------------------------------- */

/* `mono`: the overlay's clock is CLOCK_MONOTONIC; else the wall clock. */
static bool match_by_option(struct overlay_clock *clock, const struct clock_offsets *offsets,
			    bool mono)
{
	if (mono ? !offsets->has_mono : !offsets->has_real)
		return false;
	*clock = (struct overlay_clock){ OVERLAY_CLOCK_EXPLICIT,
					 mono ? offsets->mono : offsets->real, 0 };
	return true;
}

/* Lines read at both ends of a recording bound the drift of the clocks. */
static bool match_by_sync(struct overlay_clock *clock, const struct overlay_clocks *clocks,
			  bool mono, const struct pt_info *info)
{
	struct tsc_clock tsc = pt_info_tsc_clock(info);
	int64_t least = INT64_MAX, most = INT64_MIN;

	if (!info->cap_user_time_zero || !info->time_mult)
		return false;
	for (size_t i = 0; i < clocks->sync_count; i++) {
		const struct overlay_sync *sync = &clocks->syncs[i];
		uint64_t perf = tsc_clock_ns(&tsc, sync->tsc);
		int64_t offset = (int64_t)(perf - (uint64_t)(mono ? sync->mono : sync->real));

		if (!sync->tsc)
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

/* The ways that need no events of an overlay. */
static bool match_clocks(struct overlay_clock *clock, const struct overlay_clocks *clocks,
			 const struct overlay_recording *recording, bool mono)
{
	return match_by_option(clock, &clocks->offsets, mono) ||
	       match_by_sync(clock, clocks, mono, recording->info) ||
	       match_by_header(clock, recording->file, mono);
}

/* The time 0 of a trace's clock may be any, but after 1970. */
static uint64_t base_of(const struct overlay_clock *clock)
{
	return clock->offset <= 0 ? (uint64_t)-clock->offset : WALL_BASE_UNKNOWN;
}

uint64_t overlay_clock_wall(const struct overlay_clocks *clocks,
			    const struct overlay_recording *recording)
{
	struct overlay_clock clock;

	return match_clocks(&clock, clocks, recording, false) ? base_of(&clock) : WALL_BASE_UNKNOWN;
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

static struct overlay_clock assume_clock(const struct overlay_input *input,
					 const struct timeline *timeline, struct diag *diag)
{
	struct overlay_clock clock = { OVERLAY_CLOCK_ASSUMED, 0, UINT64_MAX };
	const struct thread *last = timeline_borrow_thread(timeline, input->pid, UINT64_MAX);
	bool ended = last && last->pid == input->pid && last->end != UINT64_MAX;

	/* The wall clock and perf's have nothing in common; most processes allocate until they end.
	 */
	if (!is_monotonic(input))
		clock.offset = (int64_t)((ended ? last->end : 0) - input->last_time);
	diag_warn(diag, "overlay-clock",
		  "%s: the offset between its clock and perf's is unknown, %s; see --clock-offset",
		  input->path,
		  is_monotonic(input) ? "assuming none" : "assuming that it ends with the process");
	return clock;
}

struct overlay_clock overlay_clock_choice_recording(const struct overlay_clocks *clocks,
						    struct overlay_input *input,
						    const struct overlay_recording *recording,
						    struct diag *diag)
{
	struct overlay_clock clock = { 0 };
	bool mono = is_monotonic(input);
	bool known = match_clocks(&clock, clocks, recording, mono) ||
		     overlay_calls_match(&clock, recording->calls, input) ||
		     match_by_sideband(&clock, input, recording->timeline);

	if (!known)
		clock = assume_clock(input, recording->timeline, diag);
	if (mono)
		overlay_sideband_tids(input, recording->timeline, -clock.offset);
	return clock;
}

/* ---- Without a recording ------------------------------------------------- */

#define ANY_PROCESS INT32_MIN

/* Returns the runtime events of a process; NULL: there are none. */
static const struct overlay_input *find_events(const struct overlay_input *inputs, size_t count,
					       int32_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (is_monotonic(&inputs[i]) && (pid == ANY_PROCESS || inputs[i].pid == pid))
			return &inputs[i];
	return NULL;
}

/* Both files are written until the process ends. */
static struct overlay_clock align_ends(const struct overlay_input *input,
				       const struct overlay_input *events, struct diag *diag)
{
	struct overlay_clock clock = { OVERLAY_CLOCK_ASSUMED, 0, UINT64_MAX };
	uint64_t last = events ? events->events.last_time : 0;

	if (last)
		clock.offset = (int64_t)(last - input->last_time);
	diag_warn(
		diag, "overlay-clock",
		"%s: the offset between the wall clock and the runtime events' is unknown, %s; see "
		"--clock-offset and --clock-sync",
		input->path, last ? "assuming that both end together" : "assuming none");
	return clock;
}

struct overlay_clock overlay_clock_choice_alone(const struct overlay_clocks *clocks,
						const struct overlay_input *inputs, size_t count,
						size_t index, struct diag *diag)
{
	const struct overlay_input *input = &inputs[index];
	struct overlay_clock clock = { 0 };

	if (match_by_option(&clock, &clocks->offsets, is_monotonic(input)) || is_monotonic(input) ||
	    !find_events(inputs, count, ANY_PROCESS))
		return clock;
	if (!clocks->sync_count)
		return align_ends(input, find_events(inputs, count, input->pid), diag);
	return (struct overlay_clock){ OVERLAY_CLOCK_SYNC,
				       clocks->syncs[0].mono - clocks->syncs[0].real,
				       SYNC_UNCERTAINTY };
}

uint64_t overlay_clock_wall_alone(const struct overlay_clocks *clocks,
				  const struct overlay_input *inputs, size_t count)
{
	struct overlay_clock clock = { 0 };

	if (match_by_option(&clock, &clocks->offsets, false))
		return base_of(&clock);
	if (find_events(inputs, count, ANY_PROCESS)) {
		if (!clocks->sync_count)
			return WALL_BASE_UNKNOWN;
		clock.offset = clocks->syncs[0].mono - clocks->syncs[0].real;
	}
	return base_of(&clock);
}
