/* SPDX-License-Identifier: MIT */
/* Sums of slices per function and per thread. */
#include "src/slices/slice_totals.h"

/* Returns the node of a function by a symbol that is not its first, or not yet. */
static uint32_t node_of_symbol(struct slice_totals *totals, const struct symbol *symbol)
{
	uint32_t node = function_table_find(&totals->functions, symbol) + 1;

	if (node == totals->tree.count)
		call_tree_add_nodes(&totals->tree, node);
	return node;
}

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
	return node ? node : node_of_symbol(totals, event->symbol);
}

static inline uint32_t enter_report(struct call_tree *tree, struct call_thread *thread,
				    const struct slice_event *event,
				    const struct slice_detail *detail)
{
	const struct symbol *symbol = event->symbol;

	thread->slices++;
	thread->calls += !(event->flags & (SLICE_CONTEXT | SLICE_INFERRED_START)) &&
			 symbol->kind != SYMBOL_SPECIAL && symbol->kind != SYMBOL_MARK;
	return enter_function(tree, thread, event, detail);
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
 * Not inlined, as few calls are longer than usual.  A pointer to the ended call would force it into
 * memory.
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
		call_tails_add(&totals->tails, &totals->tree, thread, node, &call);
	} else if (symbol_is_stop(symbol)) {
		slowest->rank = 0;
		if (!in_syscall(totals, thread))
			call_tails_add_stop(&totals->tails, &call);
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

/* Own times alone count no calls, and are not used with instructions. */
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
	/* A short summary needs only own times, which take fewer instructions. */
	self_rules = { .sums = SUMS_OWN_TIMES,
		       .enter = enter_function,
		       .ended = keep_slowest_time };

static void count_report(const struct slice_sink *sink, void *track,
			 const struct slice_batch *batch)
{
	struct slice_totals *totals = sink->context;

	call_tree_follow(&totals->tree, track, batch, &report_rules);
	totals->next->events(totals->next, track, batch);
}

static void count_self(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	struct slice_totals *totals = sink->context;

	call_tree_follow(&totals->tree, track, batch, &self_rules);
	totals->next->events(totals->next, track, batch);
}

void slice_totals_init(struct slice_totals *totals, const struct slice_sink *next, bool report,
		       bool insns, bool by_insns)
{
	bool counts = by_insns && (next->details || insns);

	*totals = (struct slice_totals){
		.sink = {
			.events = report || counts ? count_report : count_self,
			.context = totals,
			.details = next->details || insns,
			.folded = next->folded,
		},
		.next = next,
		.report = report,
		.by_insns = counts,
		.estimated = by_insns && !counts,
		.with_tails = !by_insns,
	};
	call_tree_init(&totals->tree, NULL, UINT64_MAX);
}

void slice_totals_release(struct slice_totals *totals)
{
	call_tree_release(&totals->tree);
	function_table_release(&totals->functions);
	call_tails_release(&totals->tails);
	*totals = (struct slice_totals){ 0 };
}
