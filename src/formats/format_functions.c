/* SPDX-License-Identifier: MIT */
/*
 * --format=functions: a table of functions: number of calls, their time with (total) and without
 * inner slices (self), the share of all self time, and the shortest, median, 99th percentile and
 * longest call. Times have units for people; programs read the answer of --json.
 *
 * --by makes a row of each thread's calls of a function, of all calls into a file of code, or of a
 * whole thread; or of the calls of --symbol from each place. --columns chooses the columns;
 * instructions, cycles and times on CPU are counted on demand.
 *
 * The total of a recursive function counts only the outermost call, so no time counts twice in one
 * thread. Median and percentile are from a histogram:
 * exact below 256 ns, within 1/128 above (struct durations).
 *
 * If times are unknown, the table has instructions instead of ns.
 */

#include "decoder/timeline/timeline.h"
#include "src/formats/call_sites.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/json_print.h"
#include "src/formats/text/time_note.h"
#include "src/select/function_choice.h"
#include "src/select/function_labels.h"
#include "src/slices/durations.h"
#include "symbols/dso/dso_store.h"

struct functions_output {
	struct format_output output; /* first */
	struct call_tree tree;       /* tree of functions: node N is row N */
	struct function_table functions;
	struct pair_table dsos;  /* files, by pointer, if by_dso */
	struct pair_table keys;  /* (index of the track, function or file); row N is N - 1 here */
	struct pair_table calls; /* if by_caller: (what, (caller, offset)) */
	struct function_choice called; /* if by_caller: functions with rows */
	struct call_sites lines;
	bool by_caller;
	bool by_function, by_dso, by_thread; /* by_function alone: row N is function N - 1 */
	struct choice_list columns;          /* enum function_column */
	bool by_insns;                       /* in instructions, as times are unknown */
	bool counts;                         /* instructions and cycles, beside times */
	bool on_cpu;                         /* find times on CPU: */
	const struct timeline *switches;     /* borrowed; NULL: unknown */
	struct name_table *names;            /* borrowed */
	enum function_order order;
	size_t top;   /* maximum rows shown; 0: all */
	uint64_t all; /* sum of `self`; set at the end */
	struct function_row {
		const struct track *track;   /* borrowed: of the first call */
		const struct symbol *symbol; /* borrowed: of the first call */
		const struct symbol *caller; /* borrowed: contains the call; NULL: unknown */
		uint64_t offset;             /* bytes from the caller's start to the call */
		const struct name *name, *caller_name, *call_line; /* NULL: unknown */
		struct call_costs own;
		uint64_t total, self; /* ns, or instructions, as are all below; set at the end */
		uint64_t off_cpu;     /* of the total: ns when the thread was switched out */
		struct durations calls;
	} * rows; /* owned; [0] is unused; sorted at the end */
	size_t row_room;
};

static struct functions_output *functions_of(struct call_tree *tree)
{
	return (struct functions_output *)((char *)tree - offsetof(struct functions_output, tree));
}

/* Returns the number of a row that is not a function's; `detail` may be NULL. */
static uint32_t row_number(struct functions_output *functions, const struct track *track,
			   const struct symbol *symbol, const struct slice_detail *detail)
{
	const struct symbol *caller = detail ? detail->caller : NULL;
	uint32_t offset = caller ? (uint32_t)detail->caller_offset : 0, number;
	uint32_t what = 0;

	if (functions->by_function)
		what = function_table_find(&functions->functions, symbol);
	else if (functions->by_dso)
		what = pair_table_find_pointer(&functions->dsos, symbol->dso);
	if (functions->by_caller) {
		number = pair_table_find_pointer(&functions->calls, caller);
		number = pair_table_find(&functions->calls, number, offset);
		what = pair_table_find(&functions->calls, what, number);
	}
	return pair_table_find(&functions->keys, functions->by_thread ? track->index : 0, what);
}

CALL_TREE_INLINE uint32_t enter_function(struct call_tree *tree, struct call_thread *thread,
					 const struct slice_event *event,
					 const struct slice_detail *detail)
{
	struct functions_output *functions = functions_of(tree);
	uint32_t node;

	if (event->flags & SLICE_CONTEXT ||
	    (functions->by_caller && !function_choice_has(&functions->called, event->symbol)))
		return NODE_NONE;
	node = 1 + (functions->by_thread || functions->by_caller || !functions->by_function
			    ? row_number(functions, thread->track, event->symbol, detail)
			    : function_table_find(&functions->functions, event->symbol));
	if (node >= tree->count) {
		call_tree_add_nodes(tree, node);
		ARRAY_GROW_ZEROED(functions->rows, functions->row_room, (size_t)node + 1);
		functions->rows[node].track = thread->track;
		functions->rows[node].symbol = event->symbol;
		if (functions->by_caller && detail && detail->caller) {
			functions->rows[node].caller = detail->caller;
			functions->rows[node].offset = detail->caller_offset;
			function_table_find(&functions->functions, detail->caller);
		}
	}
	return node;
}

CALL_TREE_INLINE void add_duration(struct call_tree *tree, struct call_thread *thread,
				   const struct ended_call *end)
{
	struct functions_output *functions = functions_of(tree);
	struct function_row *row = &functions->rows[end->call->node];

	if (end->call->node == NODE_NONE)
		return;
	durations_add(&row->calls, functions->by_insns ? end->all.insns : end->all.ns);
	if (functions->switches && end->outermost)
		row->off_cpu +=
			timeline_off_ns(functions->switches, thread->track->tid,
					end->call->begin.ns, end->call->begin.ns + end->all.ns);
}

#define RULES(...)                                                                                 \
	{                                                                                          \
		.recursion = true, .enter = enter_function, .ended = add_duration, __VA_ARGS__     \
	}

static const struct call_rules time_rules = RULES(.costs = false);
static const struct call_rules insn_rules = RULES(.costs = true, .lean = true);
static const struct call_rules cost_rules = RULES(.costs = true);

CALL_TREE_EVENTS(count_times, time_rules)
CALL_TREE_EVENTS(count_insns, insn_rules)
CALL_TREE_EVENTS(count_costs, cost_rules)

static void open_functions(struct format_output *output, const struct format_request *request)
{
	struct functions_output *functions = (struct functions_output *)output;
	const struct selection *select = &request->options->select;

	functions->by_dso = choice_list_has(&select->by, ROWS_BY_DSO);
	functions->by_thread = choice_list_has(&select->by, ROWS_BY_THREAD);
	functions->by_caller = choice_list_has(&select->by, ROWS_BY_CALLER);
	functions->called.selection = select;
	functions->by_function =
		!select->by.values[0] || choice_list_has(&select->by, ROWS_BY_FUNCTION);
	functions->columns = select->columns;
	for (int i = COLUMN_CALLS; !select->columns.values[0] && i <= COLUMN_MAX; i++)
		choice_list_add(&functions->columns, i);
	for (int i = COLUMN_INSNS; i <= COLUMN_IPC; i++)
		functions->counts |= choice_list_has(&functions->columns, i);
	functions->on_cpu =
		choice_list_has(&functions->columns, COLUMN_CPU) || select->order == ORDER_CPU;
	functions->by_insns = request->facts.by_insns;
	if (functions->on_cpu && !functions->by_insns)
		functions->switches = request->facts.switches;
	functions->order = select->order;
	functions->top = select->top;
	functions->names = functions->lines.names = request->names;
	call_tree_init(&functions->tree, NULL, UINT64_MAX);
	output->slices = &functions->tree.slices;
	output->sink = (struct slice_sink){
		.events = functions->counts     ? count_costs
			  : functions->by_insns ? count_insns
						: count_times,
		.context = &functions->tree,
		.details = functions->by_insns || functions->counts || functions->by_caller,
		.late = !functions->by_caller && !functions->switches,
		.sums = !functions->by_caller && !functions->switches,
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
				     [ORDER_CPU] = { a->total - a->off_cpu, b->total - b->off_cpu },
				     [ORDER_NAME] = { 0, 0 } };
	const uint64_t *key = keys[*(const enum function_order *)order];

	return COMPARE(key[1], key[0]) ?: strcmp(a->name->text, b->name->text) ?:
	       COMPARE(a->offset, b->offset);
}

static size_t shown_rows(const struct functions_output *functions)
{
	size_t count = functions->tree.count - 1;

	return functions->top && functions->top < count ? functions->top : count;
}

/* Returns what the last column has. */
static const struct name *row_name(const struct functions_output *functions,
				   const struct function_row *row,
				   const struct function_labels *labels)
{
	const struct symbol *symbol = row->symbol;

	if (functions->by_function)
		return function_label(labels, symbol);
	if (!functions->by_dso)
		return name_intern_text(functions->names, "");
	return name_intern_text(functions->names, symbol->dso ? symbol->dso->path : "[no file]");
}

static void add_up(struct functions_output *functions)
{
	bool insns = functions->by_insns;
	struct function_labels labels = { 0 };

	function_labels_make(&labels, &functions->functions, functions->names);
	for (size_t i = 1; i < functions->tree.count; i++) {
		const struct call_costs *own = &functions->tree.nodes[i].own;
		const struct call_costs *total = &functions->tree.totals[i].costs;

		struct function_row *row = &functions->rows[i];

		row->name = row_name(functions, row, &labels);
		if (row->caller) {
			row->caller_name = function_label(&labels, row->caller);
			row->call_line =
				call_sites_find(&functions->lines, row->caller, row->offset);
		}
		row->own = *own;
		row->self = insns ? own->insns : own->ns;
		row->total = insns ? total->insns : total->ns;
		functions->all += row->self;
	}
	function_labels_release(&labels);
}

static json_t *row_json(const struct functions_output *functions, const struct function_row *row)
{
	const struct durations *calls = &row->calls;
	bool by_insns = functions->by_insns;
	json_t *object = json_object();

	if (functions->by_thread) {
		json_object_set_new(object, "thread", json_text_or_null(row->track->thread_name));
		json_object_set_new(object, "pid", json_integer(row->track->pid));
		json_object_set_new(object, "tid", json_integer(row->track->tid));
	}
	if (functions->by_function || functions->by_dso)
		json_object_set_new(object, functions->by_function ? "function" : "dso",
				    json_name(row->name));
	if (functions->by_caller)
		json_object_update_new(object, json_pack("{so sI so}", "caller",
							 json_name(row->caller_name), "call_offset",
							 json_value_of(row->offset), "call_line",
							 json_name(row->call_line)));
	json_object_set_new(object, "calls", json_integer((json_int_t)calls->count));
	if (functions->counts) {
		amount_set(object, "self", true, row->own.insns);
		json_object_set_new(object, "self_cycles",
				    json_integer(json_value_of(row->own.cycles)));
		json_object_set_new(object, "ipc",
				    row->own.cycles ? json_real((double)row->own.insns /
								(double)row->own.cycles)
						    : json_null());
	}

	if (functions->on_cpu)
		json_object_set_new(object, "cpu_ns",
				    functions->switches
					    ? json_integer(json_value_of(row->total - row->off_cpu))
					    : json_null());

	amount_set(object, "total", by_insns, row->total);
	amount_set(object, "self", by_insns, row->self);
	amount_set(object, "min", by_insns, calls->min);
	amount_set(object, "median", by_insns, durations_percentile(calls, 50));
	amount_set(object, "p99", by_insns, durations_percentile(calls, 99));
	amount_set(object, "max", by_insns, calls->max);
	return object;
}

static const char *const columns[] = {
	[COLUMN_CALLS] = "{calls:10}",
	[COLUMN_TOTAL] = "{total:10a}",
	[COLUMN_SELF] = "{self:10a}",
	[COLUMN_SHARE] = "{share=self:6p}",
	[COLUMN_MIN] = "{min:10a}",
	[COLUMN_MEDIAN] = "{median:10a}",
	[COLUMN_P99] = "{p99:10a}",
	[COLUMN_MAX] = "{max:10a}",
	[COLUMN_INSNS] = "{insns=self_insns:12}",
	[COLUMN_CYCLES] = "{cycles=self_cycles:12}",
	[COLUMN_IPC] = "{ipc:6r}",
	[COLUMN_CPU] = "{cpu:10a}",
};

/* Print the columns of a row, or their titles for NULL. */
static void print_columns(const struct functions_output *functions, const json_t *row, FILE *out)
{
	for (const uint8_t *column = functions->columns.values; *column; column++) {
		json_print(out, row, functions->all, columns[*column]);
		fputs(column[1] ? " " : "", out);
	}
	if (functions->by_thread)
		json_print(out, row, 0, row ? "  {thread}/{tid}" : "  {thread}");
}

static void print_functions(struct format_output *output)
{
	struct functions_output *functions = (struct functions_output *)output;
	const char *unit = amount_unit(functions->by_insns);
	const char *title = functions->by_function ? "  function"
			    : functions->by_dso    ? "  dso"
						   : "";
	size_t count = functions->tree.count - 1;
	FILE *out = output->text;

	add_up(functions);
	SORT_WITHIN(functions->rows + 1, count, compare_rows, &functions->order);
	print_columns(functions, NULL, out);
	fputs(functions->by_caller ? "  caller" : "", out);
	fprintf(out, *unit ? "%s  (all in%s)\n" : "%s\n", title, unit);
	for (size_t i = 1; i <= shown_rows(functions); i++) {
		const struct function_row *shown = &functions->rows[i];
		json_t *row = row_json(functions, shown);

		print_columns(functions, row, out);
		if (functions->by_caller && shown->caller)
			escaped_printf(out, "  %s+0x%x (%s)", shown->caller_name->text,
				       (unsigned)shown->offset,
				       shown->call_line ? shown->call_line->text : "?");
		else if (functions->by_caller)
			fputs("  [unknown]", out);
		escaped_printf(out, *title ? "  %s\n" : "%s\n", shown->name->text);
		json_decref(row);
	}
	if (count)
		time_note_print(output->machine, out);
	if (functions->on_cpu && !functions->switches)
		fputs("cpu is unknown: it needs context switches (perf record --switch-events) and "
		      "times, without --clock and --fibers\n",
		      out);
}

static json_t *answer_functions(const struct format_output *output)
{
	const struct functions_output *functions = (const struct functions_output *)output;
	json_t *answer;

	answer = json_pack(
		"{ss so sI}", "format", "functions", "functions",
		JSON_LIST(i, shown_rows(functions), row_json(functions, &functions->rows[i + 1])),
		"function_count", (json_int_t)(functions->tree.count - 1));
	amount_set(answer, "self", functions->by_insns, functions->all);
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
	pair_table_release(&functions->dsos);
	pair_table_release(&functions->keys);
	pair_table_release(&functions->calls);
	function_choice_release(&functions->called);
	call_sites_release(&functions->lines);
}

const struct output_format format_functions = {
	.name = "functions",
	.lines = true,
	.slices = SLICES_SORTED,
	.size = sizeof(struct functions_output),
	.open = open_functions,
	.finish = print_functions,
	.answer = answer_functions,
	.rows = "functions",
	.release = release_functions,
};
