/* SPDX-License-Identifier: MIT */
/* Chosen functions are nodes of a call tree, which shows the end of each call. */
#include "src/formats/answers/chosen_calls.h"

/* The node of all slices of SYMBOL_SPECIAL: a thread in one of them is not traced. */
#define NODE_PAUSE 1

/* Returns the node of a symbol's function, the first of which chooses the function. */
static uint32_t choose(struct chosen_calls *calls, const struct symbol *symbol)
{
	size_t known = calls->functions.count;
	uint32_t function = function_table_find(&calls->functions, symbol);
	bool chosen;

	if (function < known)
		return calls->nodes[function];
	ARRAY_GROW(calls->nodes, calls->node_room, known + 1);
	chosen = function_choice_has(&calls->choice, symbol) && symbol->kind != SYMBOL_MARK;
	calls->nodes[function] = symbol->kind == SYMBOL_SPECIAL ? NODE_PAUSE
				 : chosen                       ? NODE_PAUSE + 1 + function
								: NODE_NONE;
	call_tree_add_nodes(&calls->tree, calls->nodes[function]);
	return calls->nodes[function];
}

static inline uint32_t enter_slice(struct call_tree *tree, struct call_thread *thread,
				   const struct slice_event *event,
				   const struct slice_detail *detail)
{
	struct chosen_calls *calls = (struct chosen_calls *)tree;
	uint32_t known = function_table_known(&calls->functions, event->symbol), node;

	(void)thread;
	(void)detail;
	node = known ? calls->nodes[known - 1] : choose(calls, event->symbol);
	return event->flags & SLICE_CONTEXT && node != NODE_PAUSE ? NODE_NONE : node;
}

static inline void leave_slice(struct call_tree *tree, struct call_thread *thread,
			       const struct ended_call *end)
{
	struct chosen_calls *calls = (struct chosen_calls *)tree;
	const struct open_call *open = end->call;

	if (open->node == NODE_PAUSE) {
		thread->untraced += end->outermost ? end->all.ns : 0;
		return;
	}
	calls->ended(calls->context, &(struct chosen_call){
					     .symbol = open->symbol,
					     .function = open->node - NODE_PAUSE - 1,
					     .track = thread->track,
					     .thread = thread,
					     .pair = open->pair,
					     .begin = open->begin.ns,
					     .duration = end->all.ns,
					     .insns = end->all.insns,
					     .untraced = thread->untraced - open->untraced,
					     .number = calls->count++,
					     .begin_seen = !open->inferred,
					     .end_seen = !end->cut,
					     .outermost = end->outermost,
				     });
}

static const struct call_rules rules = { .sums = SUMS_NONE,
					 .costs = true,
					 .recursion = true,
					 .enter = enter_slice,
					 .ended = leave_slice };

CALL_TREE_EVENTS(find_calls, rules)

void chosen_calls_init(struct chosen_calls *calls, const struct selection *selection,
		       chosen_call_ended *ended, void *context)
{
	*calls = (struct chosen_calls){
		.sink = { .events = find_calls, .context = calls, .details = true },
		.ended = ended,
		.context = context,
	};
	call_tree_init(&calls->tree, NULL, UINT64_MAX);
	call_tree_add_nodes(&calls->tree, NODE_PAUSE);
	calls->choice.selection = selection;
}

const struct name *chosen_calls_label(struct chosen_calls *calls, uint32_t function)
{
	function_labels_make(&calls->labels, &calls->functions, calls->names);
	return function_label(&calls->labels, calls->functions.functions[function].symbol);
}

void chosen_calls_release(struct chosen_calls *calls)
{
	function_labels_release(&calls->labels);
	call_tree_release(&calls->tree);
	function_table_release(&calls->functions);
	free(calls->nodes);
	function_choice_release(&calls->choice);
	*calls = (struct chosen_calls){ 0 };
}
