/* SPDX-License-Identifier: MIT */
/* Add up the costs of call paths. */
#include "src/formats/answers/call_paths.h"

/* Classes of an octave: 16. */
#define CLASS_BITS 4

/* ns of code of a call that are enough to measure its clock: many CYC intervals. */
#define CLOCK_TIME 1000

/* The open call of a root. */
struct open_root {
	uint32_t root, node; /* its path, and that of the innermost slice in it */
	size_t depth;        /* of the thread's stack around it */
	/* A cost of the open call. */
	struct touched {
		uint32_t node, place;
	} * touched; /* owned; kept for the next call */
	size_t touched_count, touched_room;
};

struct path_track {
	struct open_root *open; /* owned; innermost last, each of another function */
	size_t open_count, open_room;
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

static int compare_classes(const void *left, const void *right)
{
	const struct class_count *a = left, *b = right;

	return COMPARE(b->number, a->number);
}

uint32_t slow_classes_find(struct class_count *classes, size_t count,
			   const struct slow_choice *slow)
{
	uint32_t percentile = slow->has_bound ? slow->percentile : SLOW_DEFAULT, lowest = 0;
	uint64_t calls = 0, taken = 0, most;

	if (count)
		qsort(classes, count, sizeof(*classes), compare_classes);
	if (slow->has_bound && !slow->percentile)
		return 1; /* see class_of() */
	for (size_t i = 0; i < count; i++)
		calls += classes[i].calls;
	most = (uint64_t)((double)calls * (1000000 - percentile) / 1e6 + 0.5);
	for (size_t i = 0; i < count && (!i || taken + classes[i].calls <= most); i++) {
		taken += classes[i].calls;
		lowest = classes[i].number;
	}
	return lowest;
}

/* ---- Calls --------------------------------------------------------------- */

static uint32_t node_of(struct call_paths *paths, uint32_t caller, const struct symbol *symbol)
{
	size_t known = paths->paths.count;
	uint32_t node = call_tree_child(&paths->paths, caller, symbol->name->id, symbol->name);

	if (node < known)
		return node;
	paths->nodes = alloc_grow(paths->nodes, &paths->node_room, (size_t)node + 1,
				  sizeof(*paths->nodes));
	paths->nodes[node] = (struct path_node){
		.root = caller ? paths->nodes[caller].root : node,
		.special = symbol->kind == SYMBOL_SPECIAL,
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
		paths->costs[place].node = touched->node;
		paths->costs[place].class = number;
		path_cost_add(&paths->costs[place], &paths->current[touched->place]);
	}
}

static bool runs_at(const struct ended_call *end, uint64_t time)
{
	uint64_t begin = end->call->begin.ns;

	return begin <= time && time <= begin + end->all.ns;
}

/*
 * The clock of a short call is not known: its begin and end are estimated, its cycles by other
 * packets than its time.
 */
static void measure_clock(const struct call_paths *paths, const struct open_root *open,
			  struct path_cost *root)
{
	struct call_costs code = { 0 };

	for (size_t i = 0; i < open->touched_count; i++) {
		const struct touched *touched = &open->touched[i];

		if (!paths->nodes[touched->node].special)
			call_tree_add(&code, &paths->current[touched->place].own, true);
	}
	if (code.ns >= CLOCK_TIME)
		root->clock = code;
}

/* A root's call has ended: count it in its class, and in those of --pair. */
static void count_call(struct call_paths *paths, const struct open_root *open,
		       const struct ended_call *end)
{
	uint64_t took = call_paths_by_insns(paths) ? end->all.insns : end->all.ns;

	paths->durations = alloc_grow_zeroed(paths->durations, &paths->duration_room,
					     (size_t)open->root + 1, sizeof(*paths->durations));
	durations_add(&paths->durations[open->root], took);
	if (!paths->pair.given) {
		add_to_class(paths, class_of(paths, took), open);
		return;
	}
	if (runs_at(end, paths->pair.times[0]))
		add_to_class(paths, CLASS_PAIR_A, open);
	if (runs_at(end, paths->pair.times[1]))
		add_to_class(paths, CLASS_PAIR_B, open);
}

static void forget_call(struct call_paths *paths, struct open_root *open)
{
	for (size_t i = 0; i < open->touched_count; i++)
		paths->current[open->touched[i].place] = (struct path_cost){ 0 };
	open->touched_count = 0;
}

/* Add the own costs of the innermost slice to those of an open call, which it leaves. */
static void leave_path(struct call_paths *paths, uint32_t track, struct open_root *open,
		       const struct path_cost *cost)
{
	uint32_t node = open->node, place = call_tree_place(&paths->paths, track, node);

	paths->current = alloc_grow_zeroed(paths->current, &paths->current_room, (size_t)place + 1,
					   sizeof(*paths->current));
	if (!paths->current[place].calls)
		*ARRAY_ADD(open->touched, open->touched_count, open->touched_room) =
			(struct touched){ node, place };
	path_cost_add(&paths->current[place], cost);
	open->node = paths->paths.nodes[node].caller;
}

/* ---- Slices -------------------------------------------------------------- */

static bool is_open(const struct call_paths *paths, const struct path_track *track,
		    const struct symbol *symbol)
{
	for (size_t i = 0; i < track->open_count; i++) {
		if (paths->paths.nodes[track->open[i].root].name == symbol->name)
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
		      const struct symbol *symbol, size_t depth)
{
	struct open_root *open;

	track->open = alloc_grow_zeroed(track->open, &track->open_room, track->open_count + 1,
					sizeof(*track->open));
	open = &track->open[track->open_count++];
	open->root = open->node = node_of(paths, NODE_NONE, symbol);
	open->depth = depth;
}

static inline uint32_t enter_slice(struct call_tree *tree, struct call_thread *thread,
				   const struct slice_event *event,
				   const struct slice_detail *detail)
{
	struct call_paths *paths = (struct call_paths *)tree;
	uint32_t index = thread->track->index;
	struct path_track *track;
	bool opens;

	(void)detail;
	paths->tracks = alloc_grow_zeroed(paths->tracks, &paths->track_room, (size_t)index + 1,
					  sizeof(*paths->tracks));
	track = &paths->tracks[index];
	opens = opens_root(paths, track, event);
	for (size_t i = 0; i < track->open_count; i++)
		track->open[i].node = node_of(paths, track->open[i].node, event->symbol);
	if (opens)
		open_root(paths, track, event->symbol, call_thread_depth(thread));
	return NODE_NONE;
}

static inline void leave_slice(struct call_tree *tree, struct call_thread *thread,
			       const struct ended_call *end)
{
	struct call_paths *paths = (struct call_paths *)tree;
	uint32_t index = thread->track->index;
	struct path_track *track = &paths->tracks[index];
	const struct path_cost own = { .own = end->call->own, .calls = 1 };
	struct open_root *open;

	for (size_t i = 0; i < track->open_count; i++)
		leave_path(paths, index, &track->open[i], &own);
	if (!track->open_count ||
	    track->open[track->open_count - 1].depth != call_thread_depth(thread))
		return;
	open = &track->open[--track->open_count];
	if (end->call->inferred || end->cut) {
		paths->cut++;
	} else {
		measure_clock(paths, open,
			      &paths->current[call_tree_place(&paths->paths, index, open->root)]);
		count_call(paths, open, end);
	}
	forget_call(paths, open);
}

static const struct call_rules rules = { .costs = true,
					 .enter = enter_slice,
					 .ended = leave_slice };

static void follow_events(const struct slice_sink *sink, void *track,
			  const struct slice_batch *batch)
{
	call_tree_follow(sink->context, track, batch, &rules);
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
	call_tree_init(&paths->tree, NULL, UINT64_MAX);
	call_tree_init(&paths->paths, NULL, UINT64_MAX);
	paths->choice.selection = &options->select;
}

bool call_paths_by_insns(const struct call_paths *paths)
{
	return (*paths->machine)->by_insns && !call_paths_have_bound(paths);
}

static int compare_by_root(const void *left, const void *right, void *paths_)
{
	const struct call_paths *paths = paths_;
	uint32_t a = paths->costs[*(const uint32_t *)left].node;
	uint32_t b = paths->costs[*(const uint32_t *)right].node;
	uint32_t root_a = paths->nodes[a].root, root_b = paths->nodes[b].root;

	return COMPARE(root_a, root_b) ?: COMPARE(a, b);
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
	return paths->paths.count - 1;
}

void call_paths_release(struct call_paths *paths)
{
	for (size_t i = 0; i < paths->track_room; i++) {
		for (size_t j = 0; j < paths->tracks[i].open_room; j++)
			free(paths->tracks[i].open[j].touched);
		free(paths->tracks[i].open);
	}
	for (size_t i = 0; i < paths->duration_room; i++)
		durations_release(&paths->durations[i]);
	call_tree_release(&paths->tree);
	call_tree_release(&paths->paths);
	pair_table_release(&paths->classes);
	free(paths->nodes);
	free(paths->costs);
	free(paths->current);
	free(paths->durations);
	free(paths->tracks);
	free(paths->sorted);
	function_choice_release(&paths->choice);
}
