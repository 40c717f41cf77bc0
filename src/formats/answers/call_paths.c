/* SPDX-License-Identifier: MIT */
/* Add up the costs of call paths. */
#include "src/formats/answers/call_paths.h"

#include "base/tables/name.h"
#include "src/options/options.h"

/* Classes of an octave: 16. */
#define CLASS_BITS 4

/* ns of code of a call, from which on its clock is measured: many CYC intervals. */
#define CLOCK_TIME 1000

struct path_frame {
	uint64_t begin;
	struct path_cost at;      /* the thread's counts at its begin */
	struct path_cost callees; /* what they cost */
	bool inferred;            /* when it began is not known */
	bool opens;               /* it is the call of a root: the innermost one that is open */
};

/* A cost of the open call. */
struct touched {
	uint32_t node, place;
};

/* The open call of a root. */
struct open_root {
	uint32_t root, node;     /* its path, and that of the innermost slice in it */
	struct touched *touched; /* owned; kept for the next call */
	size_t touched_count, touched_room;
};

struct path_track {
	struct path_frame *frames; /* owned; the open slices, innermost last */
	size_t count, room;
	struct open_root *open; /* owned; innermost last, each of another function */
	size_t open_count, open_room;
	uint64_t insns, cycles; /* up to the last event that had them */
};

/* ---- Classes ------------------------------------------------------------- */

static uint32_t class_of(const struct call_paths *paths, uint64_t ns)
{
	if (call_paths_have_bound(paths))
		return ns > paths->slow.longer;
	return log_class(ns, CLASS_BITS);
}

uint64_t call_paths_class_begin(const struct call_paths *paths, uint32_t number)
{
	if (call_paths_have_bound(paths))
		return paths->slow.longer;
	return number >= CLASS_PAIR_B ? number : log_class_begin(number, CLASS_BITS);
}

/* ---- Calls --------------------------------------------------------------- */

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

static void add_to_class(struct call_paths *paths, uint32_t number, const struct open_root *open)
{
	for (size_t i = 0; i < open->touched_count; i++) {
		const struct touched *touched = &open->touched[i];
		uint32_t place = pair_table_find(&paths->classes, touched->node, number);

		paths->costs = alloc_grow_zeroed(paths->costs, &paths->cost_room, (size_t)place + 1,
						 sizeof(*paths->costs));
		path_cost_add(&paths->costs[place], &paths->current[touched->place]);
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
static void measure_clock(const struct call_paths *paths, const struct open_root *open,
			  struct path_cost *root)
{
	uint64_t time = 0, cycles = 0;

	for (size_t i = 0; i < open->touched_count; i++) {
		const struct touched *touched = &open->touched[i];

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
static void count_call(struct call_paths *paths, const struct open_root *open,
		       const struct path_frame *frame, uint64_t end, uint64_t insns)
{
	uint64_t took = call_paths_by_insns(paths) ? insns : end - frame->begin;

	paths->durations = alloc_grow_zeroed(paths->durations, &paths->duration_room,
					     (size_t)open->root + 1, sizeof(*paths->durations));
	durations_add(&paths->durations[open->root], took);
	if (!paths->pair.given) {
		add_to_class(paths, class_of(paths, took), open);
		return;
	}
	if (runs_at(frame, end, paths->pair.times[0]))
		add_to_class(paths, CLASS_PAIR_A, open);
	if (runs_at(frame, end, paths->pair.times[1]))
		add_to_class(paths, CLASS_PAIR_B, open);
}

static void forget_call(struct call_paths *paths, struct open_root *open)
{
	for (size_t i = 0; i < open->touched_count; i++)
		paths->current[open->touched[i].place] = (struct path_cost){ 0 };
	open->touched_count = 0;
}

/* Add the own costs of the innermost slice to those of an open call, which it leaves. */
static void leave_path(struct call_paths *paths, uint32_t index, struct open_root *open,
		       const struct path_cost *cost)
{
	uint32_t node = open->node, place = pair_table_find(&paths->places, index, node);

	paths->current = alloc_grow_zeroed(paths->current, &paths->current_room, (size_t)place + 1,
					   sizeof(*paths->current));
	if (!paths->current[place].calls)
		*ARRAY_ADD(open->touched, open->touched_count, open->touched_room) =
			(struct touched){ node, place };
	path_cost_add(&paths->current[place], cost);
	open->node = paths->nodes[node].caller;
}

/* ---- Slices -------------------------------------------------------------- */

static bool is_open(const struct call_paths *paths, const struct path_track *track,
		    const struct symbol *symbol)
{
	for (size_t i = 0; i < track->open_count; i++) {
		if (paths->nodes[track->open[i].root].symbol->name == symbol->name)
			return true;
	}
	return false;
}

/* Returns whether a slice is the call of a root: of a recursion, the outermost one is. */
static bool opens_root(struct call_paths *paths, const struct path_track *track,
		       const struct slice_event *event)
{
	if (event->flags & SLICE_CONTEXT || event->symbol->kind == SYMBOL_MARK ||
	    !function_choice_has(&paths->choice, event->symbol) ||
	    is_open(paths, track, event->symbol))
		return false;
	if (track->open_count < CALL_PATHS_OPEN_MOST)
		return true;
	paths->nested++;
	return false;
}

static void open_root(struct call_paths *paths, struct path_track *track,
		      const struct symbol *symbol)
{
	struct open_root *open;

	track->open = alloc_grow_zeroed(track->open, &track->open_room, track->open_count + 1,
					sizeof(*track->open));
	open = &track->open[track->open_count++];
	open->root = open->node = node_of(paths, 0, symbol);
}

static void begin_slice(struct call_paths *paths, struct path_track *track,
			const struct slice_event *event)
{
	struct path_frame frame = { .begin = event->time,
				    .at = { .insns = track->insns, .cycles = track->cycles },
				    .inferred = event->flags & SLICE_INFERRED_START,
				    .opens = opens_root(paths, track, event) };

	for (size_t i = 0; i < track->open_count; i++)
		track->open[i].node = node_of(paths, track->open[i].node, event->symbol);
	if (frame.opens)
		open_root(paths, track, event->symbol);
	*ARRAY_ADD(track->frames, track->count, track->room) = frame;
	paths->slices++;
}

static void end_slice(struct call_paths *paths, uint32_t index, struct path_track *track,
		      const struct slice_event *event)
{
	struct path_frame *frame;
	struct path_cost all, own;
	struct open_root *open;

	if (!track->count)
		return;
	frame = &track->frames[--track->count];
	if (!track->open_count)
		return;
	all = (struct path_cost){ .time = event->time - frame->begin,
				  .insns = track->insns - frame->at.insns,
				  .cycles = track->cycles - frame->at.cycles };
	own = (struct path_cost){ .time = all.time - frame->callees.time,
				  .calls = 1,
				  .insns = all.insns - frame->callees.insns,
				  .cycles = all.cycles - frame->callees.cycles };
	for (size_t i = 0; i < track->open_count; i++)
		leave_path(paths, index, &track->open[i], &own);
	if (track->count)
		path_cost_add(&track->frames[track->count - 1].callees, &all);
	if (!frame->opens)
		return;
	open = &track->open[--track->open_count];
	if (frame->inferred || event->flags & SLICE_CUT) {
		paths->cut++;
	} else {
		measure_clock(paths, open,
			      &paths->current[pair_table_find(&paths->places, index, open->root)]);
		count_call(paths, open, frame, event->time, all.insns);
	}
	forget_call(paths, open);
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

bool call_paths_by_insns(const struct call_paths *paths)
{
	return (*paths->machine)->by_insns && !call_paths_have_bound(paths);
}

static int compare_by_root(const void *left, const void *right, void *paths_)
{
	const struct call_paths *paths = paths_;
	uint32_t a = call_paths_key(paths, *(const uint32_t *)left).node;
	uint32_t b = call_paths_key(paths, *(const uint32_t *)right).node;
	uint32_t root_a = paths->nodes[a].root, root_b = paths->nodes[b].root;

	if (root_a != root_b)
		return root_a > root_b ? 1 : -1;
	return a != b ? (a > b ? 1 : -1) : 0;
}

void call_paths_sort(struct call_paths *paths)
{
	size_t count = paths->classes.count;

	if (paths->sorted)
		return;
	paths->sorted = alloc_zeroed(count + 1, sizeof(*paths->sorted));
	for (size_t i = 0; i < count; i++)
		paths->sorted[i] = (uint32_t)i;
	qsort_r(paths->sorted, count, sizeof(*paths->sorted), compare_by_root, paths);
}

size_t call_paths_count(const struct call_paths *paths)
{
	return paths->ids.count;
}

void call_paths_release(struct call_paths *paths)
{
	for (size_t i = 0; i < paths->track_room; i++) {
		free(paths->tracks[i].frames);
		for (size_t j = 0; j < paths->tracks[i].open_room; j++)
			free(paths->tracks[i].open[j].touched);
		free(paths->tracks[i].open);
	}
	for (size_t i = 0; i < paths->duration_room; i++)
		durations_release(&paths->durations[i]);
	pair_table_release(&paths->ids);
	pair_table_release(&paths->classes);
	pair_table_release(&paths->places);
	free(paths->nodes);
	free(paths->costs);
	free(paths->current);
	free(paths->durations);
	free(paths->tracks);
	free(paths->sorted);
	function_choice_release(&paths->choice);
}
