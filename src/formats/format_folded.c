/* SPDX-License-Identifier: MIT */
/*
 * --format=folded: the self time of each distinct call stack in the form of Brendan Gregg's
 * FlameGraph (stackcollapse): "thread;a;b;c NS", in order of appearance, with threads of one name
 * together; instructions if times are unknown. --unit is for readers that convert each unit to a
 * sample.
 *
 * Time in a slice is its own while no inner slice is open. Memory grows with the distinct stacks;
 * stacks deeper than --max-stack are cut (call_tree.h). In names, ';' and control characters become
 * '?'.
 */

#include "base/utf8.h"
#include "src/formats/output_format.h"
#include "src/options/options.h"
#include "src/select/function_labels.h"

struct folded_output {
	struct format_output output; /* first */
	struct call_tree tree;       /* tree of paths, whose keys are numbers of functions */
	struct function_table functions;
	struct function_labels labels;
	struct symbol truncated;
	const struct output *file; /* borrowed */
	uint64_t unit;             /* unit of weights, in ns or instructions */
};

static uint32_t enter_stack(struct call_tree *tree, struct call_thread *thread,
			    const struct slice_event *event, const struct slice_detail *detail)
{
	struct folded_output *folded =
		(struct folded_output *)((char *)tree - offsetof(struct folded_output, tree));

	(void)detail;
	return call_tree_child(tree, call_tree_caller(tree, thread),
			       function_table_find(&folded->functions, event->symbol),
			       event->symbol->name);
}

static const struct call_rules time_rules = { .enter = enter_stack },
			       cost_rules = { .enter = enter_stack, .costs = true, .lean = true };

CALL_TREE_EVENTS(count_times, time_rules)
CALL_TREE_EVENTS(count_costs, cost_rules)

static void open_folded(struct format_output *output, const struct format_request *request)
{
	struct folded_output *folded = (struct folded_output *)output;

	call_tree_init(&folded->tree, request->names, options_max_stack(request->options));
	folded->truncated = symbol_special(request->names, TRUNCATED_NAME, SPECIAL_OTHER);
	folded->tree.truncated_key = function_table_find(&folded->functions, &folded->truncated);
	folded->file = request->output;
	folded->unit = request->options->unit ? request->options->unit : 1;
	output->slices = &folded->tree.slices;
	output->sink = (struct slice_sink){
		.events = request->facts.by_insns ? count_costs : count_times,
		.context = &folded->tree,
		.details = request->facts.by_insns,
		.late = true,
		.sums = true,
	};
}

static void print_folded_name(const struct name *name, FILE *out)
{
	for (size_t i = 0, control; i < name->length; i += control ? control : 1) {
		control = name->plain ? 0 : utf8_control(name->text + i, name->length - i);
		putc_unlocked(control || name->text[i] == ';' ? '?' : name->text[i], out);
	}
}

const struct symbol *format_folded_symbol(const struct format_output *output,
					  const struct call_node *node)
{
	return ((const struct folded_output *)output)->functions.functions[node->key].symbol;
}

const struct call_tree *format_folded_tree(struct format_output *output)
{
	struct folded_output *folded = (struct folded_output *)output;
	struct call_tree *tree = &folded->tree;

	function_labels_make(&folded->labels, &folded->functions, tree->names);
	for (size_t i = 1; i < tree->count; i++)
		if (tree->nodes[i].caller != NODE_NONE)
			tree->nodes[i].name = function_label(
				&folded->labels, format_folded_symbol(output, &tree->nodes[i]));
	return tree;
}

const struct name *format_folded_label(const struct format_output *output,
				       const struct symbol *symbol)
{
	return function_label(&((const struct folded_output *)output)->labels, symbol);
}

static void print_folded(struct format_output *output)
{
	struct folded_output *folded = (struct folded_output *)output;
	const struct call_tree *tree = format_folded_tree(output);
	uint32_t *stack = alloc_zeroed(tree->count, sizeof(*stack));
	uint64_t sum = 0, printed = 0;

	output->truncated = tree->cut_slices;
	/* Stop at the output's limit: stacks 100,000 calls deep have long lines. */
	for (uint32_t i = 1; i < tree->count && !folded->file->cut; i++) {
		const struct call_costs *own = &tree->nodes[i].own;
		uint64_t weight;

		/* Carry the rest of a unit over to the next stack, so that the sum is right. */
		sum += output->sink.details ? own->insns : own->ns;
		weight = sum / folded->unit - printed;
		printed += weight;
		if (weight) {
			size_t depth = 0;

			/* Print the path from the thread's name to the node; `stack` has room for
			 * all callers. */
			for (uint32_t at = i; at != NODE_NONE; at = tree->nodes[at].caller)
				stack[depth++] = at;
			while (depth-- > 0) {
				print_folded_name(tree->nodes[stack[depth]].name, output->text);
				putc_unlocked(depth ? ';' : ' ', output->text);
			}
			fprintf(output->text, "%" PRIu64 "\n", weight);
		}
	}
	free(stack);
}

static void release_folded(struct format_output *output)
{
	struct folded_output *folded = (struct folded_output *)output;

	call_tree_release(&folded->tree);
	function_table_release(&folded->functions);
	function_labels_release(&folded->labels);
}

const struct output_format format_folded = {
	.name = "folded",
	.lines = true,
	.slices = SLICES_SORTED,
	.size = sizeof(struct folded_output),
	.open = open_folded,
	.finish = print_folded,
	.release = release_folded,
};
