/* SPDX-License-Identifier: MIT */
/*
 * --format=functions: a table of functions: number of calls, their time with (total) and without
 * inner slices (self), the share of all self time, and the shortest, median, 99th percentile and
 * longest call. Times have units for people; programs read the answer of --json.
 *
 * The total of a recursive function counts only the outermost call, so no time counts twice in one
 * thread. Median and percentile are from a histogram:
 * exact below 256 ns, within 1/128 above (struct durations).
 *
 * If times are unknown, the table has instructions instead of ns.
 */

#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/json_print.h"
#include "src/formats/text/time_note.h"
#include "src/select/function_labels.h"
#include "src/slices/durations.h"

struct functions_output {
	struct format_output output; /* first */
	struct call_tree tree;       /* tree of functions: node N is row N, and function N - 1 */
	struct function_table functions;
	struct name_table *names; /* borrowed */
	enum function_order order;
	size_t top;   /* maximum rows shown; 0: all */
	uint64_t all; /* sum of `self`; set at the end */
	struct function_row {
		const struct name *name;
		uint64_t total, self; /* ns, or instructions, as are all below; set at the end */
		struct durations calls;
	} * rows; /* owned; [0] is unused; sorted at the end */
	size_t row_room;
};

static struct functions_output *functions_of(struct call_tree *tree)
{
	return (struct functions_output *)((char *)tree - offsetof(struct functions_output, tree));
}

static inline uint32_t enter_function(struct call_tree *tree, struct call_thread *thread,
				      const struct slice_event *event,
				      const struct slice_detail *detail)
{
	struct functions_output *functions = functions_of(tree);
	uint32_t node;

	(void)thread;
	(void)detail;
	if (event->flags & SLICE_CONTEXT)
		return NODE_NONE;
	node = function_table_find(&functions->functions, event->symbol) + 1;
	if (node >= tree->count) {
		call_tree_add_nodes(tree, node);
		ARRAY_GROW_ZEROED(functions->rows, functions->row_room, (size_t)node + 1);
	}
	return node;
}

static inline void add_duration(struct call_tree *tree, struct call_thread *thread,
				const struct ended_call *end)
{
	struct functions_output *functions = functions_of(tree);
	bool insns = functions->output.sink.details;

	(void)thread;
	if (end->call->node != NODE_NONE)
		durations_add(&functions->rows[end->call->node].calls,
			      insns ? end->all.insns : end->all.ns);
}

static const struct call_rules rules = {
	.costs = true, .recursion = true, .enter = enter_function, .ended = add_duration
};

CALL_TREE_EVENTS(count_events, rules)

static void open_functions(struct format_output *output, const struct format_request *request)
{
	struct functions_output *functions = (struct functions_output *)output;

	functions->order = request->options->select.order;
	functions->top = request->options->select.top;
	functions->names = request->names;
	call_tree_init(&functions->tree, NULL, UINT64_MAX);
	output->slices = &functions->tree.slices;
	output->sink = (struct slice_sink){
		.events = count_events,
		.context = &functions->tree,
		.details = request->facts.by_insns,
		.late = true,
		.sums = true,
	};
}

/* ---- The answer ---------------------------------------------------------- */

/* Larger first, then by name. */
static int compare_rows(const void *left, const void *right, void *order)
{
	const struct function_row *a = left, *b = right;
	const uint64_t keys[][2] = { [ORDER_SELF] = { a->self, b->self },
				     [ORDER_TOTAL] = { a->total, b->total },
				     [ORDER_CALLS] = { a->calls.count, b->calls.count },
				     [ORDER_NAME] = { 0, 0 } };
	const uint64_t *key = keys[*(const enum function_order *)order];

	return COMPARE(key[1], key[0]) ?: strcmp(a->name->text, b->name->text);
}

static size_t shown_rows(const struct functions_output *functions)
{
	size_t count = functions->tree.count - 1;

	return functions->top && functions->top < count ? functions->top : count;
}

static void add_up(struct functions_output *functions)
{
	bool insns = functions->output.sink.details;
	struct function_labels labels = { 0 };

	function_labels_make(&labels, &functions->functions, functions->names);
	for (size_t i = 1; i < functions->tree.count; i++) {
		const struct call_costs *own = &functions->tree.nodes[i].own;
		const struct call_costs *total = &functions->tree.totals[i].costs;

		functions->rows[i].name =
			function_label(&labels, functions->functions.functions[i - 1].symbol);
		functions->rows[i].self = insns ? own->insns : own->ns;
		functions->rows[i].total = insns ? total->insns : total->ns;
		functions->all += functions->rows[i].self;
	}
	function_labels_release(&labels);
}

static json_t *row_json(const struct functions_output *functions, const struct function_row *row)
{
	const struct durations *calls = &row->calls;
	bool by_insns = functions->output.sink.details;
	json_t *object = json_pack("{so sI}", "function", json_name(row->name), "calls",
				   (json_int_t)calls->count);

	amount_set(object, "total", by_insns, row->total);
	amount_set(object, "self", by_insns, row->self);
	amount_set(object, "min", by_insns, calls->min);
	amount_set(object, "median", by_insns, durations_percentile(calls, 50));
	amount_set(object, "p99", by_insns, durations_percentile(calls, 99));
	amount_set(object, "max", by_insns, calls->max);
	return object;
}

static const char columns[] = "{calls:10} {total:10a} {self:10a} {share=self:6p} {min:10a} "
			      "{median:10a} {p99:10a} {max:10a}  ";

static void print_functions(struct format_output *output)
{
	struct functions_output *functions = (struct functions_output *)output;
	const char *unit = amount_unit(output->sink.details);
	size_t count = functions->tree.count - 1;
	FILE *out = output->text;

	add_up(functions);
	SORT_WITHIN(functions->rows + 1, count, compare_rows, &functions->order);
	json_print(out, NULL, 0, columns);
	fprintf(out, *unit ? "function  (all in%s)\n" : "function\n", unit);
	for (size_t i = 1; i <= shown_rows(functions); i++) {
		json_t *row = row_json(functions, &functions->rows[i]);

		json_print(out, row, functions->all, columns);
		escaped_printf(out, "%s\n", functions->rows[i].name->text);
		json_decref(row);
	}
	if (count)
		time_note_print(output->machine, out);
}

static json_t *answer_functions(const struct format_output *output)
{
	const struct functions_output *functions = (const struct functions_output *)output;
	json_t *answer;

	answer = json_pack(
		"{ss so sI}", "format", "functions", "functions",
		JSON_LIST(i, shown_rows(functions), row_json(functions, &functions->rows[i + 1])),
		"function_count", (json_int_t)(functions->tree.count - 1));
	amount_set(answer, "self", output->sink.details, functions->all);
	time_note_add(answer, output->machine);
	return answer;
}

static void release_functions(struct format_output *output)
{
	struct functions_output *functions = (struct functions_output *)output;

	for (size_t i = 0; i < functions->row_room; i++)
		durations_release(&functions->rows[i].calls);
	call_tree_release(&functions->tree);
	free(functions->rows);
	function_table_release(&functions->functions);
}

const struct output_format format_functions = {
	.name = "functions",
	.lines = true,
	.slices = SLICES_SORTED,
	.size = sizeof(struct functions_output),
	.open = open_functions,
	.finish = print_functions,
	.answer = answer_functions,
	.release = release_functions,
};
