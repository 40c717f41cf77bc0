/* SPDX-License-Identifier: MIT */
/* Follow calls, and keep the slowest ones. */
#include "src/formats/answers/slow_causes.h"

#include "base/tables/heap.h"

/* Entries of a log that are summed up. */
#define LOG_LEAST 4096

/* The calls that ended in the open calls of a thread. */
struct slow_log {
	struct path_cost *costs; /* owned */
	size_t count, room, limit;
	struct log_mark {
		size_t begin;      /* entries when the open call began */
		uint64_t stopped;  /* the thread's stopped time when the open call began */
		uint32_t function; /* 1 + its index, if calls of it are kept; else 0 */
		bool outermost;    /* no other call of the function is open */
		bool stop;
	} * marks; /* owned; by depth, from 1 */
	size_t mark_room;
	uint32_t *open; /* owned; by function: open calls of kept ones */
	size_t open_room;
	size_t kept;      /* open calls of kept functions */
	size_t stops;     /* open ones */
	uint64_t stopped; /* ns */
};

/* ---- Paths --------------------------------------------------------------- */

static uint32_t function_of(struct slow_calls *calls, const struct symbol *symbol)
{
	uint32_t function = function_table_find(&calls->table, symbol);
	bool is_function = symbol->kind < SYMBOL_SPECIAL && symbol->kind != SYMBOL_PLT;

	if (function >= calls->function_count)
		*ARRAY_ADD(calls->functions, calls->function_count, calls->function_room) =
			(struct slow_function){
				.symbol = symbol,
				.kept = is_function && function_choice_has(&calls->choice, symbol),
				.first_begin = UINT64_MAX,
			};
	return function;
}

/* Add a node of the tree; a function that is already open continues its own path. */
static void add_path(struct slow_calls *calls, uint32_t node, const struct symbol *symbol)
{
	uint32_t function = function_of(calls, symbol), open = calls->tree.nodes[node].caller;

	ARRAY_GROW(calls->paths, calls->path_room, (size_t)node + 1);
	ARRAY_GROW_ZEROED(calls->seen, calls->seen_room, (size_t)node + 1);
	calls->paths[node] = (struct slow_path){
		.function = function,
		.in_syscall = (open && calls->paths[open].in_syscall) || symbol_is_syscall(symbol),
	};
	if (symbol_is_stop(symbol) && !calls->with_stops && !calls->paths[node].in_syscall) {
		calls->paths[node].stop = true;
		return;
	}
	while (open && calls->paths[open].function != function)
		open = calls->tree.nodes[open].caller;
	calls->paths[node].fold = open ? open : node;
}

/* Add costs to a list, which has room; the costs may overlap its end.  Returns its count. */
static size_t add_costs(struct slow_calls *calls, struct path_cost *to, size_t count,
			const struct path_cost *from, size_t from_count)
{
	for (const struct path_cost *cost = from; cost < from + from_count; cost++) {
		uint32_t at = calls->seen[cost->path];

		if (at < count && to[at].path == cost->path) {
			to[at].calls += cost->calls;
			call_tree_add(&to[at].own, &cost->own, true);
		} else {
			calls->seen[cost->path] = (uint32_t)count;
			to[count++] = *cost;
		}
	}
	return count;
}

/* Sum up the entries between the beginnings of `depth` open calls. */
static void shorten(struct slow_calls *calls, struct slow_log *log, size_t depth)
{
	size_t from = 0, count = 0;

	for (size_t i = 1; i <= depth + 1; i++) {
		size_t end = i <= depth ? log->marks[i].begin : log->count;

		count += add_costs(calls, log->costs + count, 0, log->costs + from, end - from);
		if (i <= depth)
			log->marks[i].begin = count;
		from = end;
	}
	log->count = count;
	log->limit = 2 * count > LOG_LEAST ? 2 * count : LOG_LEAST;
}

/* ---- Calls --------------------------------------------------------------- */

static bool is_faster(const struct slow_calls *unused, const struct slow_call *a,
		      const struct slow_call *b)
{
	(void)unused;
	return slow_call_compare(a, b) > 0;
}

HEAP_DEFINE(calls, struct slow_call, struct slow_calls, is_faster)

/* Fill calls->sums with the costs of the paths in a call.  Returns their number. */
static size_t sum_up(struct slow_calls *calls, const struct slow_log *log, size_t begin,
		     const struct path_cost *own)
{
	ARRAY_GROW(calls->sums, calls->sum_room, log->count - begin + 1);
	return add_costs(calls, calls->sums,
			 add_costs(calls, calls->sums, 0, log->costs + begin, log->count - begin),
			 own, 1);
}

static void keep_call(struct slow_calls *calls, struct slow_function *function,
		      const struct slow_call *call)
{
	struct slow_call kept = *call;

	kept.costs = alloc_bytes(kept.count * sizeof(*kept.costs));
	memcpy(kept.costs, calls->sums, kept.count * sizeof(*kept.costs));
	if (function->slow_count < calls->most) {
		ARRAY_GROW(function->slow, function->slow_room, function->slow_count + 1);
		calls_push(calls, function->slow, function->slow_count++, &kept);
		return;
	}
	free(function->slow[0].costs);
	function->slow[0] = kept;
	calls_sift_down(calls, function->slow, function->slow_count, 0);
}

static void count_call(struct slow_calls *calls, const struct slow_log *log,
		       const struct call_thread *thread, const struct ended_call *end,
		       const struct path_cost *own)
{
	struct slow_function *function = &calls->functions[calls->paths[own->path].function];
	size_t begin = log->marks[call_thread_depth(thread) + 1].begin;
	uint64_t stopped = log->stopped - log->marks[call_thread_depth(thread) + 1].stopped;
	struct slow_call call = {
		.amount = calls->by_insns ? end->all.insns : end->all.ns - stopped,
		.begin = end->call->begin.ns,
		.duration = end->all.ns,
		.track = thread->track,
	};

	if (end->call->inferred || end->cut) {
		function->cut++;
		call.count = sum_up(calls, log, begin, own);
		ARRAY_GROW(function->lost, function->lost_room, function->lost_count + call.count);
		function->lost_count = add_costs(calls, function->lost, function->lost_count,
						 calls->sums, call.count);
		return;
	}
	durations_add(&function->durations, call.amount);
	if (!(function->durations.count & (function->durations.count - 1)))
		function->usual[__builtin_ctzll(function->durations.count) % USUAL_CALLS] =
			(struct usual_call){ call.track, call.begin };
	function->stopped_calls += stopped > 0;
	function->longest = MAX(stopped, function->longest);
	function->first_begin = MIN(call.begin, function->first_begin);
	if (function->slow_count == calls->most && !is_faster(calls, &function->slow[0], &call))
		return;
	call.count = sum_up(calls, log, begin, own);
	keep_call(calls, function, &call);
}

/* ---- Slices -------------------------------------------------------------- */

static inline uint32_t enter_slice(struct call_tree *tree, struct call_thread *thread,
				   const struct slice_event *event,
				   const struct slice_detail *detail)
{
	struct slow_calls *calls = (struct slow_calls *)tree;
	uint32_t index = thread->track->index, node, fold, key;
	size_t depth = call_thread_depth(thread) + 1, known = tree->count;
	struct slow_log *log;
	uint32_t function;
	struct log_mark mark;

	(void)detail;
	ARRAY_GROW_ZEROED(calls->logs, calls->log_room, (size_t)index + 1);
	log = &calls->logs[index];
	ARRAY_GROW(log->marks, log->mark_room, depth + 1);
	if (event->flags & SLICE_CONTEXT) {
		log->marks[depth] = (struct log_mark){ .begin = log->count };
		return NODE_NONE;
	}
	key = function_table_find(&calls->table, event->symbol);
	node = call_tree_child(tree, thread->top->node, key, event->symbol->name);
	if (node >= known)
		add_path(calls, node, event->symbol);
	fold = calls->paths[node].fold;
	function = calls->paths[node].function;
	mark = (struct log_mark){ .begin = log->count,
				  .stopped = log->stopped,
				  .stop = calls->paths[node].stop };
	if (calls->functions[function].kept) {
		ARRAY_GROW_ZEROED(log->open, log->open_room, (size_t)function + 1);
		mark.function = function + 1;
		mark.outermost = !log->open[function]++;
	}
	log->marks[depth] = mark;
	log->kept += mark.outermost;
	log->stops += mark.stop;
	return fold;
}

static inline void leave_slice(struct call_tree *tree, struct call_thread *thread,
			       const struct ended_call *end)
{
	struct slow_calls *calls = (struct slow_calls *)tree;
	struct slow_log *log = &calls->logs[thread->track->index];
	const struct path_cost own = { .path = end->call->node, .calls = 1, .own = end->call->own };
	size_t depth = call_thread_depth(thread);

	if (log->marks[depth + 1].function)
		log->open[log->marks[depth + 1].function - 1]--;
	if (log->marks[depth + 1].stop && --log->stops == 0) {
		log->stopped += end->all.ns;
		calls->stopped += end->all.ns;
		calls->stops++;
		log->count = log->marks[depth + 1].begin; /* not part of the enclosing call */
	}
	if (log->marks[depth + 1].outermost) {
		count_call(calls, log, thread, end, &own);
		log->kept--;
	}
	if (!log->kept) {
		log->count = 0;
		return;
	}
	if (end->call->node == NODE_NONE)
		return;
	if (log->count > log->marks[depth].begin && log->costs[log->count - 1].path == own.path) {
		log->costs[log->count - 1].calls++;
		call_tree_add(&log->costs[log->count - 1].own, &own.own, true);
		return;
	}
	if (log->count >= log->limit)
		shorten(calls, log, depth);
	*ARRAY_ADD(log->costs, log->count, log->room) = own;
}

static const struct call_rules rules = { .costs = true,
					 .enter = enter_slice,
					 .ended = leave_slice };

CALL_TREE_EVENTS(follow_events, rules)

void slow_calls_init(struct slow_calls *calls, const struct options *options,
		     const struct trace_facts *facts, size_t most)
{
	bool bound = options->slow.has_bound && !options->slow.percentile;

	*calls = (struct slow_calls){
		.sink = { .events = follow_events, .context = calls, .details = facts->by_insns },
		.choice.selection = &options->select,
		.program = facts->program,
		.by_insns = facts->by_insns && !bound,
		.with_stops = options->slow.has_bound,
		.most = most,
	};
	call_tree_init(&calls->tree, NULL, UINT64_MAX);
}

void slow_calls_release(struct slow_calls *calls)
{
	for (size_t i = 0; i < calls->log_room; i++) {
		free(calls->logs[i].costs);
		free(calls->logs[i].marks);
		free(calls->logs[i].open);
	}
	for (struct slow_function *function = calls->functions;
	     function < calls->functions + calls->function_count; function++) {
		for (size_t i = 0; i < function->slow_count; i++)
			free(function->slow[i].costs);
		free(function->slow);
		free(function->lost);
		durations_release(&function->durations);
	}
	call_tree_release(&calls->tree);
	function_choice_release(&calls->choice);
	free(calls->functions);
	free(calls->paths);
	function_table_release(&calls->table);
	function_labels_release(&calls->labels);
	free(calls->seen);
	free(calls->sums);
	free(calls->logs);
	*calls = (struct slow_calls){ 0 };
}
