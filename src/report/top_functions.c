/* SPDX-License-Identifier: MIT */
/* Choose the functions with the most self time or instructions. */
#include "src/report/summary.h"

#include "src/formats/answers/why.h"
#include "src/formats/text/time_note.h"
#include "src/select/function_labels.h"
#include "src/slices/slice_totals.h"

#define TOP_FUNCTIONS 5u

struct top_function {
	const struct symbol *symbol;
	uint64_t self; /* ns, or instructions */
	struct slowest_call slowest;
};

/* The order does not depend on the numbers of names. */
COMPARE_WITH(compare_functions, struct top_function,
	     COMPARE(b->self, a->self) ?: strcmp(a->symbol->name->text, b->symbol->name->text) ?:
	     COMPARE(a->symbol->start, b->symbol->start))

/* ---- The tail ------------------------------------------------------------ */

/* Name a function if its longest calls exceed its median by 1/TAIL_PARTS of the traced time. */
#define TAIL_PARTS 200
/* Minimum share of another function's excess with which a function is named instead of it. */
#define TAIL_SAME 0.7

static bool is_in(const struct slowest_call *inner, const struct slowest_call *outer)
{
	return inner->track == outer->track && inner->begin >= outer->begin &&
	       inner->begin + inner->duration <= outer->begin + outer->duration;
}

/*
 * Returns whether to name a function instead of another one, if the slowest call of one is inside
 * of the other's: the callee if both are in one file, otherwise the caller.
 */
static bool says_more(const struct slice_totals *totals, uint32_t node, uint32_t than)
{
	const struct table_function *functions = totals->functions.functions;
	const struct slowest_call *mine = &totals->tree.nodes[node].slowest;
	const struct slowest_call *others = &totals->tree.nodes[than].slowest;

	if (!than || (double)slice_totals_excess(totals, node) <
			     TAIL_SAME * (double)slice_totals_excess(totals, than))
		return false;
	return functions[node - 1].symbol->dso == functions[than - 1].symbol->dso
		       ? is_in(mine, others)
		       : is_in(others, mine);
}

/*
 * Print the function whose long calls take the most time beyond its median, without numbers:
 * `ptrace2ftf why` has exact ones, of whole calls.
 */
static void print_tail(const struct slice_totals *totals, const struct options *options,
		       const struct function_labels *labels, uint64_t all, FILE *out)
{
	const struct symbol *symbol;
	uint32_t found = NODE_NONE;

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = NODE_NONE + 1; i < totals->tree.count; i++)
			if (pass ? says_more(totals, i, found)
				 : slice_totals_excess(totals, i) >
					    slice_totals_excess(totals, found))
				found = i;
	if (!found || slice_totals_excess(totals, found) * TAIL_PARTS < all)
		return;
	symbol = totals->functions.functions[found - 1].symbol;
	printable_printf(out,
			 "  some calls of %s take much longer than usual; this shows which, and "
			 "the cause:\n    ptrace2ftf why --symbol=",
			 function_label(labels, symbol)->text);
	why_word_print(function_pattern(labels, symbol)->text, true, out);
	why_input_words_print(options, out);
	putc('\n', out);
}

char *top_functions_make(const struct slice_totals *totals, const struct options *options)
{
	const struct function_table *table = &totals->functions;
	struct top_function *functions = alloc_zeroed(table->count + 1, sizeof(*functions));
	bool by_insns = totals->by_insns;
	const char *unit = amount_unit(by_insns);
	struct function_labels labels = { 0 };
	uint64_t all = 0;
	size_t count = 0;
	char *text;
	FILE *out;

	for (size_t i = 0; i < table->count; i++) {
		const struct call_node *node = &totals->tree.nodes[i + 1];
		struct top_function *function = &functions[count];

		*function = (struct top_function){ table->functions[i].symbol,
						   slice_totals_rank(totals, &node->own),
						   node->slowest };
		if (totals->with_tails)
			function->slowest.rank = node->slowest.duration;
		all += function->self;
		count += function->self && table->functions[i].symbol->kind < SYMBOL_SPECIAL;
	}
	if (!count) {
		free(functions);
		return NULL;
	}
	function_labels_make(&labels, table, totals->names);
	SORT(functions, count, compare_functions);
	out = OPEN_TEXT(text);
	fprintf(out, "  %10s %6s %14s %20s %8s  function", "self", "share",
		*unit ? "longest call" : "slowest call", "at", "thread");
	fprintf(out,
		*unit               ? "  (self and longest call in%s)\n"
		: totals->estimated ? "  (times are estimates)\n"
				    : "\n",
		unit);
	for (size_t i = 0; i < MIN(count, TOP_FUNCTIONS); i++) {
		const struct slowest_call *call = &functions[i].slowest;
		char thread[16] = "?";

		if (call->track->tid > 0)
			snprintf(thread, sizeof(thread), "%" PRId32, call->track->tid);
		printable_printf(out, "  %10s %5.1f%% %14s %20s %8s  %s\n",
				 amount_text(by_insns, functions[i].self).text,
				 100 * (double)functions[i].self / (double)all,
				 amount_text(by_insns, call->rank).text,
				 moment_text(call->begin).text, thread,
				 function_label(&labels, functions[i].symbol)->text);
	}
	if (totals->with_tails)
		print_tail(totals, options, &labels, all, out);
	alloc_close_text(out, &text);
	function_labels_release(&labels);
	free(functions);
	return text;
}
