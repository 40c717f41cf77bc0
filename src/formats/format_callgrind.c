/* SPDX-License-Identifier: MIT */
/*
 * --format=callgrind: the costs of functions and of calls between them as KCachegrind and
 * callgrind_annotate read them ("Callgrind Format Specification" of valgrind's manual):
 * instructions (Ir), core cycles and time where known, and for each line with a call the number of
 * calls and their inclusive cost.
 *
 * A function's own cost has the line where the function begins.  Where a call is open more than
 * once in a stack, the outermost one has the cost: no cost counts twice in one line.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/io/output.h"
#include "src/formats/cost_stacks.h"
#include "src/formats/output_format.h"
#include "src/formats/text/escaped_text.h"
#include "symbols/dso/dso_store.h"

/* The calls of a function from a line of another one. */
struct call_edge {
	struct stack_costs costs; /* inclusive; `calls` of the function itself */
	uint32_t callee, line;    /* `line` of the caller; 0: unknown */
	uint32_t next;            /* edge of the same caller; 0: none */
	uint32_t open;            /* times in the stack that is looked at */
};

struct caller {
	struct stack_costs own;
	uint32_t edges; /* the first one; 0: none */
};

struct callgrind_output {
	struct format_output output; /* first */
	struct cost_stacks stacks;
	const struct output *file;  /* borrowed */
	struct pair_table lines;    /* of (caller, line) */
	struct pair_table ids;      /* of (place in `lines`, callee): the edge's index less 1 */
	struct pair_table names[3]; /* of (0, id of name): the id in the file less 1; by kind */
	struct call_edge *edges;    /* owned; [0] is unused */
	size_t edge_room;
	struct caller *callers; /* owned; by function */
	bool has_insns, has_cycles;
};

/* Kinds of names, each with ids of its own. */
enum { NAME_OBJECT, NAME_FILE, NAME_FUNCTION };

static struct format_output *open_callgrind(const struct format_request *request, struct error *err)
{
	struct callgrind_output *callgrind = alloc_zeroed(1, sizeof(*callgrind));

	(void)err;
	cost_stacks_init(&callgrind->stacks, request->names, UINT64_MAX);
	callgrind->file = request->output;
	callgrind->output.text = request->text;
	callgrind->output.slices = &callgrind->stacks.slices;
	callgrind->output.sink = callgrind->stacks.sink;
	return &callgrind->output;
}

static void add_costs(struct stack_costs *to, const struct stack_costs *costs)
{
	to->insns += costs->insns;
	to->cycles += costs->cycles;
	to->ns += costs->ns;
}

/* ---- Calls of stacks ----------------------------------------------------- */

/* Returns the edge of the call by which a stack begins; 0: nothing has called it. */
static uint32_t edge_of(struct callgrind_output *callgrind, const struct cost_stack *stack)
{
	const struct cost_stack *caller = &callgrind->stacks.stacks[stack->caller];
	struct caller *function;
	uint32_t line, edge;

	if (caller->thread)
		return 0;
	line = pair_table_find(&callgrind->lines, caller->function, stack->call_line);
	edge = pair_table_find(&callgrind->ids, line, stack->function) + 1;
	callgrind->edges = alloc_grow_zeroed(callgrind->edges, &callgrind->edge_room,
					     (size_t)edge + 1, sizeof(*callgrind->edges));
	if (edge == callgrind->ids.count && !callgrind->edges[edge].callee) {
		function = &callgrind->callers[caller->function];
		callgrind->edges[edge].callee = stack->function + 1;
		callgrind->edges[edge].line = stack->call_line;
		callgrind->edges[edge].next = function->edges;
		function->edges = edge;
	}
	return edge;
}

/* All stacks as a tree, by index. */
struct stack_tree {
	uint32_t *first, *next; /* owned: of each stack the first callee, and the caller's next */
	uint32_t *edges;        /* owned: of each stack */
	struct stack_costs *costs; /* owned: of each stack, inclusive */
};

static void open_tree(struct stack_tree *tree, const struct cost_stacks *stacks)
{
	*tree = (struct stack_tree){
		.first = alloc_zeroed(stacks->count, sizeof(*tree->first)),
		.next = alloc_zeroed(stacks->count, sizeof(*tree->next)),
		.edges = alloc_zeroed(stacks->count, sizeof(*tree->edges)),
		.costs = alloc_zeroed(stacks->count, sizeof(*tree->costs)),
	};
	/* Callees are behind their callers. */
	for (size_t i = stacks->count - 1; i > 0; i--) {
		uint32_t caller = stacks->stacks[i].caller;

		add_costs(&tree->costs[i], &stacks->stacks[i].own);
		add_costs(&tree->costs[caller], &tree->costs[i]);
		tree->next[i] = tree->first[caller];
		tree->first[caller] = (uint32_t)i;
	}
}

static void close_tree(struct stack_tree *tree)
{
	free(tree->first);
	free(tree->next);
	free(tree->edges);
	free(tree->costs);
}

static void enter_stack(struct callgrind_output *callgrind, struct stack_tree *tree, uint32_t index)
{
	const struct cost_stack *stack = &callgrind->stacks.stacks[index];
	struct call_edge *edge;

	if (stack->thread)
		return;
	add_costs(&callgrind->callers[stack->function].own, &stack->own);
	tree->edges[index] = edge_of(callgrind, stack);
	if (!tree->edges[index])
		return;
	edge = &callgrind->edges[tree->edges[index]];
	edge->costs.calls += stack->own.calls;
	if (edge->open++ == 0)
		add_costs(&edge->costs, &tree->costs[index]);
}

static void count_calls(struct callgrind_output *callgrind)
{
	const struct cost_stacks *stacks = &callgrind->stacks;
	struct stack_tree tree;
	uint32_t at;

	open_tree(&tree, stacks);
	at = tree.first[0];
	while (at) {
		enter_stack(callgrind, &tree, at);
		if (tree.first[at]) {
			at = tree.first[at];
			continue;
		}
		for (; at; at = stacks->stacks[at].caller) {
			if (tree.edges[at])
				callgrind->edges[tree.edges[at]].open--;
			if (tree.next[at])
				break;
		}
		at = tree.next[at];
	}
	close_tree(&tree);
}

/* ---- Text ---------------------------------------------------------------- */

/* Print "WORD=(ID) TEXT", the text at its first use only. */
static void print_name(struct callgrind_output *callgrind, const char *word, int kind,
		       const struct name *name)
{
	FILE *out = callgrind->output.text;
	size_t count = callgrind->names[kind].count;
	uint32_t id = pair_table_find(&callgrind->names[kind], 0, name->id);

	fprintf(out, "%s=(%" PRIu32 ")", word, id + 1);
	if (id == count) {
		putc(' ', out);
		escaped_text_print(name->text, name->length, out);
	}
	putc('\n', out);
}

static void print_text(struct callgrind_output *callgrind, const char *word, int kind,
		       const char *text)
{
	print_name(callgrind, word, kind, name_intern_text(callgrind->stacks.names, text));
}

/* Returns the line where a function begins. */
static uint32_t print_function(struct callgrind_output *callgrind, const char *const words[3],
			       const struct symbol *symbol)
{
	struct source_line begin = cost_function_line(symbol);

	print_text(callgrind, words[NAME_OBJECT], NAME_OBJECT,
		   symbol->dso ? dso_path(symbol->dso) : "???");
	if (begin.file)
		print_name(callgrind, words[NAME_FILE], NAME_FILE, begin.file);
	else
		print_text(callgrind, words[NAME_FILE], NAME_FILE, "???");
	print_name(callgrind, words[NAME_FUNCTION], NAME_FUNCTION, symbol->name);
	return begin.line;
}

static void print_costs(const struct callgrind_output *callgrind, const struct stack_costs *costs)
{
	FILE *out = callgrind->output.text;

	if (callgrind->has_insns)
		fprintf(out, " %" PRIu64, costs->insns);
	if (callgrind->has_cycles)
		fprintf(out, " %" PRIu64, costs->cycles);
	fprintf(out, " %" PRIu64 "\n", costs->ns);
}

static void print_header(struct callgrind_output *callgrind)
{
	FILE *out = callgrind->output.text;

	fprintf(out,
		"# callgrind format\nversion: 1\ncreator: ptrace2ftf\npositions: line\n"
		"event: Ir : Instructions\nevent: Cycles : Core Cycles\n"
		"event: ns : Time in ns\nevents:%s%s ns\nsummary:",
		callgrind->has_insns ? " Ir" : "", callgrind->has_cycles ? " Cycles" : "");
	print_costs(callgrind, &callgrind->stacks.sum);
}

static void print_caller(struct callgrind_output *callgrind, uint32_t index)
{
	static const char *const own[3] = { "ob", "fl", "fn" }, *const called[3] = { "cob", "cfi",
										     "cfn" };
	FILE *out = callgrind->output.text;
	const struct caller *caller = &callgrind->callers[index];

	putc('\n', out);
	fprintf(out, "%" PRIu32, print_function(callgrind, own, callgrind->stacks.symbols[index]));
	print_costs(callgrind, &caller->own);
	for (uint32_t i = caller->edges; i; i = callgrind->edges[i].next) {
		const struct call_edge *edge = &callgrind->edges[i];
		const struct symbol *callee = callgrind->stacks.symbols[edge->callee - 1];
		uint32_t line = print_function(callgrind, called, callee);

		fprintf(out, "calls=%" PRIu64 " %" PRIu32 "\n%" PRIu32, edge->costs.calls, line,
			edge->line);
		print_costs(callgrind, &edge->costs);
	}
}

static int print_callgrind(struct format_output *output, struct error *err)
{
	struct callgrind_output *callgrind = (struct callgrind_output *)output;
	const struct cost_stacks *stacks = &callgrind->stacks;

	(void)err;
	callgrind->has_insns = stacks->sum.insns;
	callgrind->has_cycles = stacks->sum.cycles;
	callgrind->callers = alloc_zeroed(stacks->functions.count + 1, sizeof(*callgrind->callers));
	count_calls(callgrind);
	print_header(callgrind);
	for (uint32_t i = 0; i < stacks->functions.count && !callgrind->file->cut; i++)
		print_caller(callgrind, i);
	fputs("\ntotals:", output->text);
	print_costs(callgrind, &stacks->sum);
	return 0;
}

static void release_callgrind(struct format_output *output)
{
	struct callgrind_output *callgrind = (struct callgrind_output *)output;

	cost_stacks_release(&callgrind->stacks);
	pair_table_release(&callgrind->lines);
	pair_table_release(&callgrind->ids);
	for (int i = 0; i < 3; i++)
		pair_table_release(&callgrind->names[i]);
	free(callgrind->edges);
	free(callgrind->callers);
}

const struct output_format format_callgrind = {
	.name = "callgrind",
	.lines = true,
	.slices = SLICES_SORTED,
	.open = open_callgrind,
	.finish = print_callgrind,
	.release = release_callgrind,
};
