/* SPDX-License-Identifier: MIT */
/* Count slices by call stack, with the addresses of calls, and instructions by function. */
#include "src/costs/cost_stacks.h"

#include "src/slices/slice_args.h"

struct cost_call {
	uint32_t caller, stack;         /* indexes; `stack` is the call's, or 0 */
	const struct symbol *symbol;    /* callee */
	const struct symbol *container; /* contains the call; NULL: unknown */
	uint64_t offset;                /* offset of the call in `container` */
};

/* log2 of the slots in the cache of calls. */
#define CALL_CACHE_BITS 12

uint32_t cost_site(struct cost_stacks *stacks, const struct symbol *symbol, uint64_t offset)
{
	if (!symbol || !symbol->dso || offset > UINT32_MAX)
		return 0;
	return pair_table_find(&stacks->sites, pair_table_find_pointer(&stacks->symbols, symbol),
			       (uint32_t)offset) +
	       1;
}

static uint32_t frame_of(struct cost_stacks *stacks, const struct symbol *symbol, uint32_t site)
{
	return pair_table_find(&stacks->frames, function_table_find(&stacks->functions, symbol),
			       site);
}

static uint32_t enter_stack(struct call_tree *tree, struct call_thread *thread,
			    const struct slice_event *event, const struct slice_detail *detail)
{
	struct cost_stacks *stacks = (struct cost_stacks *)tree;
	struct cost_call call = { .symbol = event->symbol };
	uint64_t key;
	struct cost_call *slot;

	if (call_thread_depth(thread) == tree->max_stack)
		tree->truncated_key = frame_of(stacks, &stacks->truncated, 0);
	call.caller = call_tree_caller(tree, thread);
	if (detail) {
		call.container = detail->caller;
		call.offset = detail->caller_offset;
	}
	key = call.offset + ((uint64_t)call.caller << 32) + (uint64_t)(uintptr_t)call.symbol;
	slot = (struct cost_call *)stacks->calls.slots + direct_cache_index(&stacks->calls, key);
	if (slot->stack && slot->caller == call.caller && slot->symbol == call.symbol &&
	    slot->container == call.container && slot->offset == call.offset)
		return slot->stack;
	*slot = call;
	slot->stack = call_tree_child(
		&stacks->tree, call.caller,
		frame_of(stacks, call.symbol, cost_site(stacks, call.container, call.offset)),
		NULL);
	return slot->stack;
}

static const struct call_rules rules = { .costs = true, .enter = enter_stack };

CALL_TREE_EVENTS(count_stack_events, rules)

const struct name *cost_label(struct cost_stacks *stacks, const struct symbol *symbol)
{
	function_labels_make(&stacks->labels, &stacks->functions, stacks->tree.names);
	return function_label(&stacks->labels, symbol);
}

/* ---- Source -------------------------------------------------------------- */

struct source_line cost_function_line(const struct symbol *symbol)
{
	return symbol->inlined ? (struct source_line){ 0 } : slice_source_line(symbol);
}

uint64_t cost_site_address(const struct cost_stacks *stacks, uint32_t site,
			   const struct symbol **symbol)
{
	struct pair key;

	*symbol = NULL;
	if (!site)
		return 0;
	key = pair_table_pair(&stacks->sites, site - 1);
	*symbol = pair_table_pointer(&stacks->symbols, key.first);
	return (*symbol)->start + key.second;
}

static bool is_function(struct cost_stacks *stacks, const struct symbol *symbol, uint32_t function)
{
	const struct symbol *own = stacks->functions.functions[function].symbol;

	if (symbol->inlined)
		return function_table_same(own, symbol);
	return symbol_function(symbol) == symbol_function(own);
}

size_t cost_sources(struct cost_stacks *stacks, uint32_t function, uint32_t site,
		    struct cost_source sources[COST_SOURCES])
{
	const struct symbol *own = stacks->functions.functions[function].symbol, *symbol;
	uint64_t vaddr = cost_site_address(stacks, site, &symbol);
	struct cost_source source = { own, cost_function_line(own) };
	const struct inlined_call *call = NULL;
	size_t count = 0;

	if (symbol) {
		source.at = dso_line(symbol, vaddr - symbol->start);
		call = dso_inlined_at(symbol->dso, vaddr);
	}
	for (; call && !is_function(stacks, call->symbol, function); call = call->parent) {
		source.symbol = call->symbol;
		if (count == COST_SOURCES - 1)
			memmove(sources, sources + 1, --count * sizeof(*sources));
		sources[count++] = source;
		source.at = dso_symbol_line(call->symbol);
	}
	source.symbol = own;
	if (!call && symbol && !is_function(stacks, symbol, function)) {
		count = 0;
		source.at = cost_function_line(own);
	}
	sources[count++] = source;
	return count;
}

/* ---- Instructions -------------------------------------------------------------- */

/* Returns 1 + the number of the function whose slices contain an instruction; or 0. */
static uint32_t function_at(struct cost_stacks *stacks, const struct executed_insn *insn,
			    const struct symbol *symbol)
{
	struct function_table *functions = &stacks->functions;
	const struct inlined_call *call = NULL;
	uint32_t known;

	if (stacks->inlined)
		call = dso_inlined_at((struct dso *)insn->dso, insn->vaddr);
	if (call)
		return function_table_find(functions, call->symbol) + 1;
	known = function_table_look(functions, symbol);
	return known ? known : function_table_look(functions, symbol_function(symbol));
}

static void add_instruction(void *context, const struct executed_insn *insn)
{
	struct cost_stacks *stacks = context;
	const struct symbol *symbol = dso_borrow_symbol_at((struct dso *)insn->dso, insn->vaddr);
	uint32_t function = function_at(stacks, insn, symbol);

	if (function)
		*ARRAY_ADD(stacks->instructions, stacks->instruction_count,
			   stacks->instruction_room) = (struct cost_insn){
			.insn = *insn, .symbol = symbol, .function = function - 1
		};
}

COMPARE_BY_THREE(compare_instructions, struct cost_insn, function, insn.vaddr, insn.length)

void cost_stacks_finish(struct cost_stacks *stacks)
{
	size_t next = 0;
	uint64_t *counted;

	executed_code_finish(&stacks->code);
	executed_code_list(&stacks->code, add_instruction, stacks);
	stacks->sum = call_tree_sum(&stacks->tree);
	stacks->own = alloc_zeroed(stacks->functions.count + 1, sizeof(*stacks->own));
	for (uint32_t i = NODE_NONE + 1; i < stacks->tree.count; i++)
		if (!cost_is_thread(stacks, i))
			call_tree_add(&stacks->own[cost_frame(stacks, i).first],
				      &stacks->tree.nodes[i].own, true);
	/* Add an entry for each function's instructions without counts. */
	counted = alloc_zeroed(stacks->functions.count + 1, sizeof(*counted));
	for (size_t i = 0; i < stacks->instruction_count; i++)
		counted[stacks->instructions[i].function] += stacks->instructions[i].insn.count;
	for (uint32_t i = 0; i < stacks->functions.count; i++) {
		const struct symbol *symbol = stacks->functions.functions[i].symbol;
		uint64_t insns = stacks->own[i].insns;
		struct cost_insn rest = {
			.insn = { .dso = symbol->dso, .vaddr = symbol->start },
			.symbol = symbol,
			.function = i,
		};

		rest.insn.count = insns > counted[i] ? insns - counted[i] : !counted[i];
		if (rest.insn.count)
			*ARRAY_ADD(stacks->instructions, stacks->instruction_count,
				   stacks->instruction_room) = rest;
	}
	free(counted);
	stacks->first = alloc_zeroed(stacks->functions.count + 1, sizeof(*stacks->first));
	SORT(stacks->instructions, stacks->instruction_count, compare_instructions);
	for (uint32_t i = 0; i < stacks->functions.count; i++) {
		uint64_t before = 0;

		stacks->first[i] = next;
		for (; next < stacks->instruction_count && stacks->instructions[next].function == i;
		     next++) {
			stacks->instructions[next].before = before;
			before += stacks->instructions[next].insn.count;
		}
	}
	stacks->first[stacks->functions.count] = next;
}

void cost_stacks_init(struct cost_stacks *stacks, struct name_table *names, uint64_t max_stack,
		      bool inlined)
{
	*stacks = (struct cost_stacks){
		.sink = { .events = count_stack_events, .context = stacks, .details = true },
		.truncated = symbol_special(names, TRUNCATED_NAME, SPECIAL_OTHER),
		.inlined = inlined,
	};
	call_tree_init(&stacks->tree, names, max_stack);
	executed_code_init(&stacks->code);
	direct_cache_init(&stacks->calls, CALL_CACHE_BITS, sizeof(struct cost_call));
}

void cost_stacks_release(struct cost_stacks *stacks)
{
	call_tree_release(&stacks->tree);
	executed_code_release(&stacks->code);
	pair_table_release(&stacks->frames);
	function_table_release(&stacks->functions);
	function_labels_release(&stacks->labels);
	pair_table_release(&stacks->symbols);
	pair_table_release(&stacks->sites);
	direct_cache_release(&stacks->calls);
	free(stacks->own);
	free(stacks->instructions);
	free(stacks->first);
	*stacks = (struct cost_stacks){ 0 };
}
