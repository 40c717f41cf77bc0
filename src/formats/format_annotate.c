/* SPDX-License-Identifier: MIT */
/*
 * Executions and costs of each instruction of the functions of --symbol: the answer that
 * `ptrace2ftf annotate` prints.
 */
#include "src/costs/cost_stacks.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/options/options.h"
#include "src/select/function_choice.h"

struct annotate_output {
	struct format_output output; /* first */
	struct cost_stacks stacks;
	const struct selection *select; /* borrowed, as the next */
	struct diag *diag;
	json_t *answer; /* owned; NULL: not finished */
};

static void open_annotate(struct format_output *output, const struct format_request *request)
{
	struct annotate_output *annotate = (struct annotate_output *)output;

	cost_stacks_init(&annotate->stacks, request->names, UINT64_MAX, false);
	annotate->select = &request->options->select;
	annotate->diag = request->diag;
	output->slices = &annotate->stacks.tree.slices;
	output->sink = annotate->stacks.sink;
	output->code = &annotate->stacks.code;
}

static void set_number(json_t *object, const char *key, uint64_t number)
{
	json_object_set_new(object, key, json_integer((json_int_t)number));
}

static void set_name(json_t *object, const char *key, const struct name *name)
{
	if (name)
		json_object_set_new(object, key, json_name(name));
}

static json_t *instruction_json(struct cost_stacks *stacks, const struct cost_insn *instruction)
{
	const struct cost_range range = { instruction->before,
					  instruction->before + instruction->insn.count,
					  cost_executions(stacks, instruction->function), 0 };
	struct call_costs costs = cost_shares(&stacks->own[instruction->function], &range);
	struct cost_source sources[COST_SOURCES];
	json_t *object = json_object();

	cost_sources(stacks, instruction->function, cost_insn_site(stacks, instruction), sources);
	set_number(object, "address", instruction->insn.vaddr);
	set_number(object, "length", instruction->insn.length);
	set_name(object, "file", sources[0].at.file);
	set_number(object, "line", sources[0].at.line);
	set_number(object, "executions", instruction->insn.count);
	set_number(object, "cycles", costs.cycles);
	set_number(object, "ns", costs.ns);
	if (instruction->insn.kind != BRANCH_COND)
		return object;
	set_number(object, "taken", instruction->insn.taken);
	set_number(object, "not_taken", instruction->insn.count - instruction->insn.taken);
	return object;
}

static json_t *function_json(struct cost_stacks *stacks, uint32_t function, uint64_t calls)
{
	const struct symbol *symbol = stacks->functions.functions[function].symbol;
	const struct call_costs *own = &stacks->own[function];
	json_t *object = json_object(), *code = json_array();

	set_name(object, "function", symbol->name);
	json_object_set_new(object, "binary",
			    json_text_or_null(symbol->dso ? symbol->dso->file : NULL));
	set_number(object, "calls", calls);
	set_number(object, "instructions", own->insns);
	set_number(object, "cycles", own->cycles);
	set_number(object, "ns", own->ns);
	for (size_t i = stacks->first[function]; i < stacks->first[function + 1]; i++)
		if (stacks->instructions[i].insn.length)
			json_array_append_new(code,
					      instruction_json(stacks, &stacks->instructions[i]));
	json_object_set_new(object, "code", code);
	return object;
}

static void finish_annotate(struct format_output *output)
{
	struct annotate_output *annotate = (struct annotate_output *)output;
	struct cost_stacks *stacks = &annotate->stacks;
	json_t *list = json_array();
	struct function_choice choice = { .selection = annotate->select };
	uint64_t *calls;

	cost_stacks_finish(stacks);
	calls = alloc_zeroed(stacks->functions.count + 1, sizeof(*calls));
	for (uint32_t i = NODE_NONE + 1; i < stacks->tree.count; i++)
		if (!cost_is_thread(stacks, i))
			calls[cost_frame(stacks, i).first] += stacks->tree.nodes[i].calls;
	for (uint32_t i = 0; i < stacks->functions.count; i++)
		if (function_choice_has(&choice, stacks->functions.functions[i].symbol))
			json_array_append_new(list, function_json(stacks, i, calls[i]));
	function_choice_warn(&choice, json_array_size(list), annotate->diag);
	function_choice_release(&choice);
	free(calls);
	annotate->answer = json_pack("{ss so}", "format", "annotate", "functions", list);
}

static json_t *answer_annotate(const struct format_output *output)
{
	return json_incref(((const struct annotate_output *)output)->answer);
}

static void release_annotate(struct format_output *output)
{
	struct annotate_output *annotate = (struct annotate_output *)output;

	cost_stacks_release(&annotate->stacks);
	json_decref(annotate->answer);
}

#define ANNOTATE                                                                                   \
	.name = "annotate", .default_output = DEFAULT_NONE, .slices = SLICES_SORTED,               \
	.chooses_calls = true, .size = sizeof(struct annotate_output), .open = open_annotate,      \
	.finish = finish_annotate, .answer = answer_annotate, .release = release_annotate

static const struct output_format within = { ANNOTATE, .all_branches = true };
const struct output_format format_annotate = { ANNOTATE, .within = &within };
