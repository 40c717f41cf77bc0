/* SPDX-License-Identifier: MIT */
/* Sums of slices per function and per thread. */
#include "src/slices/slice_totals.h"

/* ---- The few long calls of each function ------------------------------------ */

/*
 * Minimum calls of a function with a tail, and limit of long ones: TAIL_FEW and one in TAIL_RARE.
 */
#define TAIL_CALLS 50
#define TAIL_FEW   2
#define TAIL_RARE  20

/* Returns the ns of stops in a call; UINT64_MAX: unknown. */
static uint64_t stopped_in(const struct slice_totals *totals, uint32_t index, uint64_t begin)
{
	const struct track_stops *stops = index < totals->stop_room ? &totals->stops[index] : NULL;
	uint64_t sum = 0;

	for (size_t i = 1; stops && i <= stops->count; i++) {
		size_t at = (stops->count - i) % STOPS_KEPT;

		if (i > STOPS_KEPT)
			return UINT64_MAX;
		if (stops->last[at].begin < begin)
			break;
		sum += stops->last[at].duration;
	}
	return sum;
}

static bool is_recursive(const struct call_thread *thread, uint32_t node)
{
	for (const struct open_call *call = thread->open + 1; call <= thread->top; call++)
		if (call->node == node)
			return true;
	return false;
}

/* The median and 95th percentile of the sorted first calls are at (count - 1) / 2 and 30. */
static void add_first(struct call_tail *tail, uint64_t ns)
{
	uint32_t at = tail->first_count++;

	for (; at && tail->first[at - 1] > ns; at--)
		tail->first[at] = tail->first[at - 1];
	tail->first[at] = ns;
	if (tail->first_count == TAIL_FIRST)
		tail->bound = 2 * tail->first[TAIL_FIRST - 2];
}

static void add_long(struct call_tail *tail, uint64_t calls, uint64_t ns)
{
	tail->count++;
	tail->sum += ns;
	if (tail->count <= TAIL_FEW + (calls - tail->since) / TAIL_RARE)
		return;
	tail->bound *= 2;
	tail->since = calls;
	tail->count = tail->sum = 0;
}

/* A call above its node's slowest.rank ended; the node's calls and slowest.duration are current. */
static void add_to_tail(struct slice_totals *totals, const struct call_thread *thread,
			uint32_t node, const struct slowest_call *call)
{
	struct slowest_call *slowest = &totals->tree.nodes[node].slowest;
	uint64_t stopped = stopped_in(totals, call->track->index, call->begin);
	uint64_t ns = stopped > call->duration ? 0 : call->duration - stopped;
	struct call_tail *tail;

	ARRAY_GROW_ZEROED(totals->tails, totals->tail_room, (size_t)node + 1);
	if (!totals->tails[node])
		totals->tails[node] = alloc_zeroed(1, sizeof(struct call_tail));
	tail = totals->tails[node];
	tail->given_up |= is_recursive(thread, node) ||
			  (tail->track == call->track && call->begin < tail->end);
	tail->track = call->track;
	tail->end = call->begin + call->duration;
	if (tail->first_count < TAIL_FIRST)
		add_first(tail, ns);
	else if (ns > tail->bound)
		add_long(tail, totals->tree.nodes[node].calls, ns);
	slowest->rank = tail->given_up ? slowest->duration : MIN(tail->bound, slowest->duration);
}

uint64_t slice_totals_excess(const struct slice_totals *totals, uint32_t node)
{
	const struct call_tail *tail = node < totals->tail_room ? totals->tails[node] : NULL;

	return tail && !tail->given_up && totals->tree.nodes[node].calls >= TAIL_CALLS
		       ? tail->sum - tail->count * tail->first[TAIL_FIRST / 2 - 1]
		       : 0;
}

/* ---- Sums ---------------------------------------------------------------- */

static inline uint32_t enter_function(struct call_tree *tree, struct call_thread *thread,
				      const struct slice_event *event,
				      const struct slice_detail *detail)
{
	struct slice_totals *totals = (struct slice_totals *)tree;
	uint32_t node;

	(void)thread;
	(void)detail;
	if (event->flags & SLICE_CONTEXT)
		return NODE_NONE;
	node = function_table_known(&totals->functions, event->symbol);
	if (node)
		return node;
	node = function_table_find(&totals->functions, event->symbol) + 1;
	call_tree_add_nodes(tree, node);
	return node;
}

static inline uint32_t enter_report(struct call_tree *tree, struct call_thread *thread,
				    const struct slice_event *event,
				    const struct slice_detail *detail)
{
	struct slice_totals *totals = (struct slice_totals *)tree;
	const struct symbol *symbol = event->symbol;
	uint32_t node;

	thread->slices++;
	thread->calls += !(event->flags & (SLICE_CONTEXT | SLICE_INFERRED_START)) &&
			 symbol->kind != SYMBOL_SPECIAL && symbol->kind != SYMBOL_MARK;
	node = enter_function(tree, thread, event, detail);
	if (totals->with_edges && node && thread->top->node)
		pair_table_find(&totals->edges, thread->top->node, node);
	return node;
}

static const struct symbol *symbol_of_node(const struct slice_totals *totals, uint32_t node)
{
	return totals->functions.functions[node - 1].symbol;
}

static bool in_syscall(const struct slice_totals *totals, const struct call_thread *thread)
{
	for (const struct open_call *call = thread->open + 1; call <= thread->top; call++)
		if (call->node != NODE_NONE &&
		    symbol_is_syscall(symbol_of_node(totals, call->node)))
			return true;
	return false;
}

/*
 * Not inlined, because few calls are long. Passed by value: a pointer would force the ended call
 * into memory.
 */
static __attribute__((noinline)) void keep_long(struct slice_totals *totals,
						struct call_thread *thread, uint32_t node,
						struct slowest_call call)
{
	struct slowest_call *slowest = &totals->tree.nodes[node].slowest;
	const struct symbol *symbol;

	call.track = thread->track;
	if (!totals->with_tails || call.duration > slowest->duration)
		*slowest = call;
	if (!totals->with_tails || node == NODE_NONE)
		return;
	symbol = symbol_of_node(totals, node);
	if (symbol->kind < SYMBOL_SPECIAL) {
		add_to_tail(totals, thread, node, &call);
	} else if (symbol_is_stop(symbol)) {
		slowest->rank = 0;
		if (!in_syscall(totals, thread)) {
			uint32_t index = call.track->index;
			struct track_stops *stops;

			ARRAY_GROW_ZEROED(totals->stops, totals->stop_room, (size_t)index + 1);
			stops = &totals->stops[index];
			stops->last[stops->count % STOPS_KEPT].begin = call.begin;
			stops->last[stops->count++ % STOPS_KEPT].duration = call.duration;
		}
	}
}

static inline void keep_slowest(struct call_tree *tree, struct call_thread *thread,
				const struct ended_call *end)
{
	uint64_t rank = slice_totals_rank((struct slice_totals *)tree, &end->all);

	if (rank > tree->nodes[end->call->node].slowest.rank)
		keep_long((struct slice_totals *)tree, thread, end->call->node,
			  (struct slowest_call){ NULL, end->call->begin.ns, end->all.ns, rank });
}

/* SUMS_OWN counts no calls. */
static inline void keep_slowest_time(struct call_tree *tree, struct call_thread *thread,
				     const struct ended_call *end)
{
	struct call_node *node = &tree->nodes[end->call->node];

	node->calls++;
	if (end->all.ns > node->slowest.rank)
		keep_long((struct slice_totals *)tree, thread, end->call->node,
			  (struct slowest_call){ NULL, end->call->begin.ns, end->all.ns,
						 end->all.ns });
}

static const struct call_rules
	report_rules = { .costs = true,
			 .recursion = true,
			 .enter = enter_report,
			 .ended = keep_slowest },
	/* A short summary needs only own costs, which take fewer instructions. */
	self_rules = { .sums = SUMS_OWN, .enter = enter_function, .ended = keep_slowest_time },
	insns_rules = {
		.sums = SUMS_OWN, .costs = true, .enter = enter_function, .ended = keep_slowest
	};

#define COUNT(name, rules)                                                                         \
	static void name(const struct slice_sink *sink, void *track,                               \
			 const struct slice_batch *batch)                                          \
	{                                                                                          \
		struct slice_totals *totals = sink->context;                                       \
                                                                                                   \
		call_tree_follow(&totals->tree, track, batch, &(rules));                           \
		totals->next->events(totals->next, track, batch);                                  \
	}
COUNT(count_report, report_rules)
COUNT(count_self, self_rules)
COUNT(count_insns, insns_rules)

void slice_totals_init(struct slice_totals *totals, const struct slice_sink *next, bool report,
		       bool insns, bool by_insns)
{
	bool counts = by_insns && (next->details || insns);

	*totals = (struct slice_totals){
		.sink = {
			.events = report   ? count_report
				  : counts ? count_insns
					   : count_self,
			.context = totals,
			.details = next->details || insns,
			.folded = next->folded,
			.late = next->late && !report && (!counts || next->sums),
			.sums = next->sums,
			.arrows = next->arrows,
		},
		.next = next,
		.report = report,
		.by_insns = counts,
		.estimated = by_insns && !counts,
		.with_tails = !by_insns,
		.with_edges = insns,
	};
	call_tree_init(&totals->tree, NULL, UINT64_MAX);
}

void slice_totals_release(struct slice_totals *totals)
{
	call_tree_release(&totals->tree);
	function_table_release(&totals->functions);
	pair_table_release(&totals->edges);
	for (size_t i = 0; i < totals->tail_room; i++)
		free(totals->tails[i]);
	free(totals->tails);
	free(totals->stops);
	*totals = (struct slice_totals){ 0 };
}
