/* SPDX-License-Identifier: MIT */
/* Select streams, parts of streams and branches. */
#include "src/select/event_filter.h"

#include "decoder/timeline/hits.h"

/* ---- Time ---------------------------------------------------------------- */

bool event_filter_extent(const struct auxtrace *auxtrace, uint64_t *begin, uint64_t *end)
{
	struct tsc_clock clock = pt_info_tsc_clock(&auxtrace->info);
	bool found = false;

	*begin = UINT64_MAX;
	*end = 0;
	for (size_t i = 0; i < auxtrace->stream_count; i++) {
		uint64_t first, last;

		if (!aux_seek_extent(&auxtrace->streams[i], &auxtrace->info, &first, &last))
			continue;
		found = true;
		first = tsc_clock_ns(&clock, first);
		last = tsc_clock_ns(&clock, last);
		*begin = MIN(*begin, first);
		*end = MAX(*end, last);
	}
	return found;
}

/* Make a bound relative to a hit absolute. Returns 0; -1 with err filled. */
static int resolve_hit(const struct event_filter *filter, const struct timeline *timeline,
		       struct time_bound *bound, struct error *err)
{
	const struct hits *hits = &timeline->hits;
	bool before = bound->base == TIME_BEFORE_HIT;
	uint32_t count = 0;

	if (!before && bound->base != TIME_AFTER_HIT)
		return 0;
	bound->base = TIME_ABSOLUTE;
	for (size_t i = 0; i < hits->count; i++) {
		uint64_t time = hits->positions[i].time;
		const struct thread *thread;
		struct hit hit;

		if (!hits_read(hits, i, &hit))
			continue;
		/* All times count until the range is known. */
		thread = timeline_borrow_thread(timeline, hit.sample.tid, hit.sample.time);
		if (!event_filter_has(filter, thread, hit.sample.time) ||
		    !event_filter_has_cpu(filter, hit.sample.cpu, hit.sample.time) ||
		    ++count < bound->hit)
			continue;
		if (before)
			bound->ns = bound->ns < time ? time - bound->ns : 0;
		else
			bound->ns += time;
		return 0;
	}
	if (!hits->count)
		return error_set(err, ERROR_UNSUPPORTED,
				 "--time: the recording has no hit; record a breakpoint (perf "
				 "record -e mem:ADDRESS:x) or a probe (perf probe) beside the "
				 "trace");
	return error_set(err, ERROR_UNSUPPORTED,
			 "--time: there is no hit %" PRIu32 ": the chosen threads have %" PRIu32,
			 bound->hit, count);
}

static int find_thread_times(struct event_filter *filter, const struct auxtrace *auxtrace,
			     const struct timeline *timeline, struct error *err)
{
	struct time_bound from = filter->selection->from, to = filter->selection->to;
	uint64_t begin, end;

	filter->end = UINT64_MAX;
	if (!from.base && !to.base)
		return 0;
	if (!event_filter_extent(auxtrace, &begin, &end))
		return error_set(
			err, ERROR_UNSUPPORTED,
			"--time: the trace has no TSC packets, so its times are not known");
	if (resolve_hit(filter, timeline, &from, err) < 0 ||
	    resolve_hit(filter, timeline, &to, err) < 0)
		return -1;
	selection_resolve(&from, &to, begin, end, &filter->begin, &filter->end);
	if (filter->begin > filter->end)
		return error_set(err, ERROR_UNSUPPORTED, "--time: the range ends before it begins");
	if (filter->begin > end || filter->end < begin)
		return error_set(
			err, ERROR_UNSUPPORTED,
			"--time: nothing was recorded in the range; the trace is from %" PRIu64
			".%09" PRIu64 " to %" PRIu64 ".%09" PRIu64 " s",
			begin / 1000000000, begin % 1000000000, end / 1000000000, end % 1000000000);
	return 0;
}

/* ---- Threads and CPUs ---------------------------------------------------- */

static bool wants_thread(const struct selection *selection, const struct thread *thread)
{
	bool named = !selection->comms.count;

	for (size_t i = 0; i < thread->name_count && !named; i++)
		named = pattern_list_matches(&selection->comms, thread->names[i].text);
	return named &&
	       (!selection->pids.count || number_list_has(&selection->pids, thread->pid)) &&
	       (!selection->tids.count || number_list_has(&selection->tids, thread->tid));
}

/* Returns a child's parent or creator; NULL: the child existed before the recording. */
static const struct thread *parent_of(const struct thread *child)
{
	return child->begin ? child->parent : NULL;
}

/* A forked thread needs its parent's stack up to the fork, and its forked parent's likewise. */
static void need_parents(struct event_filter *filter, const struct thread *thread)
{
	const struct thread *child = thread, *parent;

	for (; (parent = parent_of(child)); child = parent) {
		if (filter->needed[parent->index] > child->begin)
			break;
		filter->needed[parent->index] = child->begin + 1;
		if (parent->pid == child->pid)
			break;
	}
}

static void choose_needed(struct event_filter *filter, const struct timeline *timeline)
{
	const struct thread *const *threads = timeline->threads.threads;

	if (!event_filter_by_thread(filter))
		return;
	filter->needed = alloc_zeroed(filter->thread_count + 1, sizeof(*filter->needed));
	for (size_t i = 0; i < filter->thread_count; i++)
		if (filter->threads[i])
			need_parents(filter, threads[i]);
	/*
	 * The starts of earlier children identify a parent's fork calls
	 * (src/callstack/fork_pauses.h), so these siblings are needed.
	 */
	for (size_t i = 0; i < filter->thread_count; i++) {
		const struct thread *parent = parent_of(threads[i]);

		if (parent && parent->pid != threads[i]->pid &&
		    threads[i]->begin < filter->needed[parent->index])
			filter->needed[threads[i]->index] = UINT64_MAX;
	}
}

/* Successive threads can have the same tid. */
static bool wants_tid(const struct event_filter *filter, const struct timeline *timeline,
		      int32_t tid)
{
	const struct thread *const *threads = timeline->threads.threads;
	bool known = false;

	for (size_t i = 0; i < timeline->threads.count; i++) {
		if (threads[i]->tid != tid)
			continue;
		known = true;
		if (filter->threads[i] || (filter->needed && filter->needed[i]))
			return true;
	}
	return !known && filter->threads[filter->thread_count];
}

/* ---- Streams ------------------------------------------------------------- */

int event_filter_init(struct event_filter *filter, const struct options *options,
		      struct auxtrace *auxtrace, const struct timeline *timeline, struct diag *diag,
		      struct error *err)
{
	const struct number_list *cpus;
	struct tsc_clock clock;
	struct aux_stream *kept;
	size_t count = 0, per_thread = 0;

	*filter = (struct event_filter){ .selection = &options->select, .end = UINT64_MAX };
	filter->active = selection_of_events(filter->selection);
	if (!filter->active)
		return 0;
	filter->thread_count = timeline->threads.count;
	filter->threads = alloc_zeroed(filter->thread_count + 1, sizeof(*filter->threads));
	for (size_t i = 0; i < filter->thread_count; i++)
		filter->threads[i] = wants_thread(filter->selection, timeline->threads.threads[i]);
	filter->threads[filter->thread_count] = !event_filter_by_thread(filter);
	if (options->command != COMMAND_LIST) /* `list` has no stacks */
		choose_needed(filter, timeline);
	if (find_thread_times(filter, auxtrace, timeline, err) < 0)
		return -1;
	cpus = &filter->selection->cpus;
	clock = pt_info_tsc_clock(&auxtrace->info);
	kept = arena_alloc(&auxtrace->arena, auxtrace->stream_count * sizeof(*kept));
	for (size_t i = 0; i < auxtrace->stream_count; i++) {
		const struct aux_stream *aux = &auxtrace->streams[i];

		filter->bytes_left_out += aux->size;
		per_thread += aux->tid != -1;
		if (aux->tid != -1
			    ? !wants_tid(filter, timeline, aux->tid)
			    : cpus->count && aux->cpu != -1 && !number_list_has(cpus, aux->cpu))
			continue;
		kept[count] = *aux;
		if (event_filter_by_time(filter))
			aux_seek(aux, tsc_clock_tsc(&clock, filter->begin),
				 filter->end == UINT64_MAX ? UINT64_MAX
							   : tsc_clock_tsc(&clock, filter->end),
				 &auxtrace->arena, &kept[count]);
		filter->bytes_left_out -= kept[count++].size;
	}
	auxtrace->streams = kept;
	auxtrace->stream_count = count;
	if (per_thread && cpus->count)
		diag_warn(diag, "cpu-unknown",
			  "--cpu has no effect: the recording has a buffer per thread, and does "
			  "not name the CPU");
	return 0;
}

void event_filter_release(struct event_filter *filter)
{
	free(filter->threads);
	free(filter->needed);
	*filter = (struct event_filter){ 0 };
}
