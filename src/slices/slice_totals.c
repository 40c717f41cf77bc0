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

static inline void keep_slowest(struct call_tree *tree, struct call_thread *thread,
				const struct ended_call *end)
{
	struct slowest_call *slowest = &tree->nodes[end->call->node].slowest;
	uint64_t rank = slice_totals_rank((struct slice_totals *)tree, &end->all);

	if (rank > slowest->rank)
		*slowest = (struct slowest_call){ thread->track, end->call->begin.ns, end->all.ns,
						  rank };
}

static const struct call_rules
	report_rules = { .costs = true,
			 .recursion = true,
			 .enter = enter_report,
			 .ended = keep_slowest },
	/* A short summary needs only own times, which take fewer instructions. */
	self_rules = { .sums = SUMS_OWN_TIMES, .enter = enter_function, .ended = keep_slowest };

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
	};
	call_tree_init(&totals->tree, NULL, UINT64_MAX);
}

void slice_totals_release(struct slice_totals *totals)
{
	call_tree_release(&totals->tree);
	function_table_release(&totals->functions);
	*totals = (struct slice_totals){ 0 };
}
