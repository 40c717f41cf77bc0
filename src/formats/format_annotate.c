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

static json_t *instruction_json(struct cost_stacks *stacks, const struct cost_insn *instruction)
{
	const struct cost_range range = { instruction->before,
					  instruction->before + instruction->insn.count,
					  cost_executions(stacks, instruction->function), 0 };
	struct call_costs costs = cost_shares(&stacks->own[instruction->function], &range);
	struct cost_source sources[COST_SOURCES];
	const struct executed_insn *insn = &instruction->insn;
	json_t *object;

	cost_sources(stacks, instruction->function, cost_insn_site(stacks, instruction), sources);
	object = json_pack("{sI sI so* sI sI sI sI}", "address", (json_int_t)insn->vaddr, "length",
			   (json_int_t)insn->length, "file",
			   sources[0].at.file ? json_name(sources[0].at.file) : NULL, "line",
			   (json_int_t)sources[0].at.line, "executions", (json_int_t)insn->count,
			   "cycles", (json_int_t)costs.cycles, "ns", (json_int_t)costs.ns);
	if (insn->kind == BRANCH_COND)
		json_object_update_new(object, json_pack("{sI sI}", "taken",
							 (json_int_t)insn->taken, "not_taken",
							 (json_int_t)(insn->count - insn->taken)));
	return object;
}

static json_t *function_json(struct cost_stacks *stacks, uint32_t function, uint64_t calls)
{
	const struct symbol *symbol = stacks->functions.functions[function].symbol;
	const struct call_costs *own = &stacks->own[function];
	json_t *code = json_array();

	for (size_t i = stacks->first[function]; i < stacks->first[function + 1]; i++)
		if (stacks->instructions[i].insn.length)
			json_array_append_new(code,
					      instruction_json(stacks, &stacks->instructions[i]));
	return json_pack("{so so sI sI sI sI so}", "function",
			 json_name(cost_label(stacks, symbol)), "binary",
			 json_text_or_null(symbol->dso ? symbol->dso->file : NULL), "calls",
			 (json_int_t)calls, "instructions", (json_int_t)own->insns, "cycles",
			 (json_int_t)own->cycles, "ns", (json_int_t)own->ns, "code", code);
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
