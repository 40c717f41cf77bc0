/* SPDX-License-Identifier: MIT */
/* Add up the costs of call paths. */
#include "src/formats/answers/call_paths.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/tables/name.h"
#include "src/formats/text/time_note.h"
#include "src/options/options.h"

/* Classes of an octave: 16. */
#define CLASS_BITS 4

/* ns of code of a call, from which on its clock is measured: many CYC intervals. */
#define CLOCK_TIME 1000

struct path_frame {
	uint32_t node; /* 0: outside of all roots */
	bool inferred; /* when it began is not known */
	uint64_t begin;
	struct path_cost at;      /* the thread's counts at its begin */
	struct path_cost callees; /* what they cost */
};

/* A cost of the open call. */
struct touched {
	uint32_t node, place;
};

struct path_track {
	struct path_frame *frames; /* owned; the open slices, innermost last */
	size_t count, room;
	struct touched *touched; /* owned; of the open call of a root */
	size_t touched_count, touched_room;
	uint64_t insns, cycles; /* up to the last event that had them */
};

/* ---- Classes ------------------------------------------------------------- */

static uint32_t class_of(const struct call_paths *paths, uint64_t ns)
{
	unsigned octave;

	if (call_paths_have_bound(paths))
		return ns > paths->slow.longer;
	if (ns < 1 << CLASS_BITS)
		return (uint32_t)ns;
	octave = 63 - (unsigned)__builtin_clzll(ns) - CLASS_BITS;
	return (octave << CLASS_BITS) + (uint32_t)(ns >> octave);
}

uint64_t call_paths_class_begin(const struct call_paths *paths, uint32_t number)
{
	uint32_t octave = number >> CLASS_BITS;

	if (call_paths_have_bound(paths))
		return paths->slow.longer;
	if (!octave || number >= CLASS_PAIR_B)
		return number;
	return (uint64_t)((number & ((1 << CLASS_BITS) - 1)) | 1 << CLASS_BITS) << (octave - 1);
}

/* ---- Calls --------------------------------------------------------------- */

static void add_cost(struct path_cost *to, const struct path_cost *cost)
{
	to->time += cost->time;
	to->calls += cost->calls;
	to->insns += cost->insns;
	to->cycles += cost->cycles;
	to->clock_time += cost->clock_time;
	to->clock_cycles += cost->clock_cycles;
}

static uint32_t node_of(struct call_paths *paths, uint32_t caller, const struct symbol *symbol)
{
	size_t known = paths->ids.count;
	uint32_t node = pair_table_find(&paths->ids, caller, symbol->name->id) + 1;

	if (node <= known)
		return node;
	paths->nodes = alloc_grow(paths->nodes, &paths->node_room, (size_t)node + 1,
				  sizeof(*paths->nodes));
	paths->nodes[node] = (struct path_node){
		.symbol = symbol,
		.caller = caller,
		.root = caller ? paths->nodes[caller].root : node,
	};
	return node;
}

static void add_to_class(struct call_paths *paths, uint32_t number, const struct path_track *track)
{
	for (size_t i = 0; i < track->touched_count; i++) {
		const struct touched *touched = &track->touched[i];
		uint32_t place = pair_table_find(&paths->classes, touched->node, number);

		paths->costs = alloc_grow_zeroed(paths->costs, &paths->cost_room, (size_t)place + 1,
						 sizeof(*paths->costs));
		add_cost(&paths->costs[place], &paths->current[touched->place]);
	}
}

static bool runs_at(const struct path_frame *frame, uint64_t end, uint64_t time)
{
	return frame->begin <= time && time <= end;
}

/*
 * The clock of a short call is not known: its begin and end are estimated, its cycles by other
 * packets than its time.
 */
static void measure_clock(const struct call_paths *paths, const struct path_track *track,
			  struct path_cost *root)
{
	uint64_t time = 0, cycles = 0;

	for (size_t i = 0; i < track->touched_count; i++) {
		const struct touched *touched = &track->touched[i];

		if (paths->nodes[touched->node].symbol->kind == SYMBOL_SPECIAL)
			continue;
		time += paths->current[touched->place].time;
		cycles += paths->current[touched->place].cycles;
	}
	if (time < CLOCK_TIME)
		return;
	root->clock_time = time;
	root->clock_cycles = cycles;
}

/* A root's call has ended: count it in its class, and in those of --pair. */
static void count_call(struct call_paths *paths, const struct path_track *track,
		       const struct path_frame *frame, uint64_t end)
{
	uint64_t took = end - frame->begin, insns = track->insns - frame->at.insns;

	paths->by_insns =
		times_are_unknown(*paths->machine) && insns && !call_paths_have_bound(paths);
	if (paths->by_insns)
		took = insns;
	paths->durations = alloc_grow_zeroed(paths->durations, &paths->duration_room,
					     (size_t)frame->node + 1, sizeof(*paths->durations));
	durations_add(&paths->durations[frame->node], took);
	if (!paths->pair.given) {
		add_to_class(paths, class_of(paths, took), track);
		return;
	}
	if (runs_at(frame, end, paths->pair.times[0]))
		add_to_class(paths, CLASS_PAIR_A, track);
	if (runs_at(frame, end, paths->pair.times[1]))
		add_to_class(paths, CLASS_PAIR_B, track);
}

static void forget_call(struct call_paths *paths, struct path_track *track)
{
	for (size_t i = 0; i < track->touched_count; i++)
		paths->current[track->touched[i].place] = (struct path_cost){ 0 };
	track->touched_count = 0;
}

/* Add own costs to those of the open call. */
static void touch(struct call_paths *paths, uint32_t index, struct path_track *track, uint32_t node,
		  const struct path_cost *cost)
{
	uint32_t place = pair_table_find(&paths->open, index, node);

	paths->current = alloc_grow_zeroed(paths->current, &paths->current_room, (size_t)place + 1,
					   sizeof(*paths->current));
	if (!paths->current[place].calls) {
		track->touched = alloc_grow(track->touched, &track->touched_room,
					    track->touched_count + 1, sizeof(*track->touched));
		track->touched[track->touched_count++] = (struct touched){ node, place };
	}
	add_cost(&paths->current[place], cost);
}

/* ---- Slices -------------------------------------------------------------- */

/* Returns whether a function is another one than the root, of which the outermost call counts. */
static bool is_other_function(const struct call_paths *paths, uint32_t node,
			      const struct symbol *symbol)
{
	const struct symbol *root = paths->nodes[paths->nodes[node].root].symbol;

	return symbol->name != root->name && symbol->kind != SYMBOL_SPECIAL &&
	       symbol->kind != SYMBOL_MARK;
}

static void begin_slice(struct call_paths *paths, struct path_track *track,
			const struct slice_event *event)
{
	uint32_t caller = track->count ? track->frames[track->count - 1].node : 0;
	struct path_frame frame = { .begin = event->time,
				    .inferred = event->flags & SLICE_INFERRED_START };

	bool chosen = !(event->flags & SLICE_CONTEXT) &&
		      function_choice_has(&paths->choice, event->symbol);

	if (caller || chosen)
		frame.node = node_of(paths, caller, event->symbol);
	paths->nested += chosen && caller && is_other_function(paths, caller, event->symbol);
	frame.at.insns = track->insns;
	frame.at.cycles = track->cycles;
	track->frames =
		alloc_grow(track->frames, &track->room, track->count + 1, sizeof(*track->frames));
	track->frames[track->count++] = frame;
	paths->slices++;
}

static void end_slice(struct call_paths *paths, uint32_t index, struct path_track *track,
		      const struct slice_event *event)
{
	struct path_frame *frame;
	struct path_cost all, own;

	if (!track->count)
		return;
	frame = &track->frames[--track->count];
	if (!frame->node)
		return;
	all = (struct path_cost){ .time = event->time - frame->begin,
				  .insns = track->insns - frame->at.insns,
				  .cycles = track->cycles - frame->at.cycles };
	own = (struct path_cost){ .time = all.time - frame->callees.time,
				  .calls = 1,
				  .insns = all.insns - frame->callees.insns,
				  .cycles = all.cycles - frame->callees.cycles };
	touch(paths, index, track, frame->node, &own);
	if (paths->nodes[frame->node].caller) {
		add_cost(&track->frames[track->count - 1].callees, &all);
		return;
	}
	if (frame->inferred || event->flags & SLICE_CUT) {
		paths->cut++;
	} else {
		measure_clock(paths, track,
			      &paths->current[pair_table_find(&paths->open, index, frame->node)]);
		count_call(paths, track, frame, event->time);
	}
	forget_call(paths, track);
}

static void follow_events(const struct slice_sink *sink, void *context,
			  const struct slice_batch *batch)
{
	struct call_paths *paths = sink->context;
	uint32_t index = ((const struct track *)context)->index;
	struct path_track *track;

	paths->tracks = alloc_grow_zeroed(paths->tracks, &paths->track_room, (size_t)index + 1,
					  sizeof(*paths->tracks));
	track = &paths->tracks[index];
	for (size_t i = 0; i < batch->count; i++) {
		const struct slice_event *event = &batch->events[i];
		const struct slice_detail *detail = slice_batch_detail(batch, event);

		if (detail) {
			track->insns = detail->insns;
			track->cycles = detail->cycles;
		}
		if (event->kind == SLICE_BEGIN)
			begin_slice(paths, track, event);
		else if (event->kind == SLICE_END)
			end_slice(paths, index, track, event);
	}
}

void call_paths_init(struct call_paths *paths, const struct options *options,
		     const struct callstack_machine *const *machine)
{
	*paths = (struct call_paths){
		.sink = { .events = follow_events, .context = paths, .details = true },
		.pair = options->pair,
		.slow = options->slow,
		.machine = machine,
	};
	function_choice_init(&paths->choice, &options->select);
}

size_t call_paths_count(const struct call_paths *paths)
{
	return paths->ids.count;
}

void call_paths_release(struct call_paths *paths)
{
	for (size_t i = 0; i < paths->track_room; i++) {
		free(paths->tracks[i].frames);
		free(paths->tracks[i].touched);
	}
	for (size_t i = 0; i < paths->duration_room; i++)
		durations_release(&paths->durations[i]);
	pair_table_release(&paths->ids);
	pair_table_release(&paths->classes);
	pair_table_release(&paths->open);
	free(paths->nodes);
	free(paths->costs);
	free(paths->current);
	free(paths->durations);
	free(paths->tracks);
	function_choice_release(&paths->choice);
}
