/* SPDX-License-Identifier: MIT */
/* Why an answer may be wrong. */
#include "src/formats/answers/why.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/json_value.h"
#include "src/formats/text/time_note.h"

struct doubts {
	uint64_t gaps, inside; /* in the trace; of these, in calls of the functions */
	uint64_t cut, opaque;
	const struct slow_answer *outer, *inner; /* one's calls contain the other's; may be NULL */
};

static void print_function_of(const struct slow_answer *answer, FILE *out)
{
	const struct name *name = slow_symbol(answer, answer->function)->name;

	escaped_text_print(name->text, name->length, out);
}

static bool is_gap(const struct symbol *symbol)
{
	return symbol->kind == SYMBOL_SPECIAL && starts_with(symbol->name->text, "[lost");
}

static void add_nested(struct doubts *doubts, const struct why_output *why)
{
	for (size_t i = 0; i < why->count; i++)
		for (uint32_t row = 2; row < why->answers[i].rows.count; row++)
			for (size_t j = 0; j < why->count && !doubts->inner; j++)
				if (why->answers[i].info[row].function ==
				    why->answers[j].function) {
					doubts->outer = &why->answers[i];
					doubts->inner = &why->answers[j];
				}
}

static struct doubts find_doubts(const struct why_output *why)
{
	const struct slow_calls *calls = &why->calls;
	struct doubts doubts = { .opaque = why->output.machine->doubts.opaque_frames };

	for (uint32_t i = NODE_NONE + 1; i < calls->tree.count; i++) {
		bool inside = false;

		if (!is_gap(calls->functions[calls->paths[i].function].symbol))
			continue;
		for (size_t j = 0; j < why->count; j++)
			inside |= why->answers[j].row_of[i] != 0;
		doubts.gaps += calls->tree.nodes[i].calls;
		doubts.inside += inside ? calls->tree.nodes[i].calls : 0;
	}
	for (size_t i = 0; i < why->count; i++)
		doubts.cut += calls->functions[why->answers[i].function].cut;
	add_nested(&doubts, why);
	return doubts;
}

void why_doubts_print(const struct why_output *why, FILE *out)
{
	struct doubts doubts = find_doubts(why);

	time_note_print(why->output.machine, out);
	if (doubts.cut)
		fprintf(out,
			"%" PRIu64 " calls are left out: their begin or return was not traced\n",
			doubts.cut);
	if (doubts.gaps)
		fprintf(out, "%" PRIu64 " gaps in the trace, %" PRIu64 " of them in these calls\n",
			doubts.gaps, doubts.inside);
	if (doubts.opaque)
		fprintf(out,
			"%" PRIu64
			" calls of code without bytes: callees of theirs may be missing\n",
			doubts.opaque);
	if (!doubts.inner)
		return;
	print_function_of(doubts.inner, out);
	fputs(" is called in ", out);
	print_function_of(doubts.outer, out);
	fputs(": their extra amounts overlap\n", out);
}

void why_doubts_add(const struct why_output *why, json_t *answer)
{
	struct doubts doubts = find_doubts(why);

	json_object_set_new(answer, "doubts",
			    json_pack("{sI sI sI sI sb}", "left_out", json_value_of(doubts.cut),
				      "gaps", json_value_of(doubts.gaps), "gaps_inside",
				      json_value_of(doubts.inside), "calls_without_code",
				      json_value_of(doubts.opaque), "nested",
				      doubts.inner != NULL));
	time_note_add(answer, why->output.machine);
}
