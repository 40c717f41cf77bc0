/* SPDX-License-Identifier: MIT */
/* Choose the functions with the most self time or instructions. */
#include "src/report/summary.h"

#include "src/formats/text/time_note.h"
#include "src/slices/slice_totals.h"

#define TOP_FUNCTIONS 5u

/* Functions of one name are one function, as in --format=functions. */
struct top_function {
	const struct name *name;
	uint64_t self; /* ns, or instructions */
	struct slowest_call slowest;
};

/* Returns the sum of all functions of a name; the last one has number `at` - 1. */
static struct top_function sum_of(const struct slice_totals *totals, uint32_t at)
{
	const struct table_function *functions = totals->functions.functions;
	struct top_function sum = { .name = functions[at - 1].symbol->name };

	for (; at; at = functions[at - 1].next_named) {
		const struct call_node *node = &totals->tree.nodes[at];

		uint64_t rank = totals->with_tails ? node->slowest.duration : node->slowest.rank;

		sum.self += slice_totals_rank(totals, &node->own);
		if (rank <= sum.slowest.rank)
			continue;
		sum.slowest = node->slowest;
		sum.slowest.rank = rank;
	}
	return sum;
}

/* The order does not depend on the numbers of names. */
COMPARE_WITH(compare_functions, struct top_function,
	     COMPARE(b->self, a->self) ?: strcmp(a->name->text, b->name->text))

static void print_function(const struct top_function *function, uint64_t all, bool by_insns,
			   FILE *out)
{
	const struct slowest_call *call = &function->slowest;
	char self[SHORT_TIME_SIZE], slowest[SHORT_TIME_SIZE], thread[16] = "?";

	if (call->track->tid > 0)
		snprintf(thread, sizeof(thread), "%" PRId32, call->track->tid);
	fprintf(out, "  %10s %5.1f%% %14s %10" PRIu64 ".%09" PRIu64 " %8s  ",
		amount_text(self, by_insns, function->self),
		100 * (double)function->self / (double)all,
		amount_text(slowest, by_insns, call->rank), SECONDS_OF(call->begin), thread);
	printable_print(function->name->text, out);
	putc('\n', out);
}

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
static void print_tail(const struct slice_totals *totals, uint64_t all, FILE *out)
{
	uint32_t found = NODE_NONE;

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = NODE_NONE + 1; i < totals->tree.count; i++)
			if (pass ? says_more(totals, i, found)
				 : slice_totals_excess(totals, i) >
					    slice_totals_excess(totals, found))
				found = i;
	if (!found || slice_totals_excess(totals, found) * TAIL_PARTS < all)
		return;
	fputs("  some calls of ", out);
	printable_print(totals->functions.functions[found - 1].symbol->name->text, out);
	fputs(" take much longer than usual; `ptrace2ftf why` shows which, and the cause\n", out);
}

char *top_functions_make(const struct slice_totals *totals)
{
	const struct function_table *table = &totals->functions;
	struct top_function *functions = alloc_zeroed(table->name_room + 1, sizeof(*functions));
	bool by_insns = totals->by_insns;
	uint64_t all = 0;
	size_t count = 0;
	char *text;
	FILE *out;

	for (size_t i = 0; i < table->name_room; i++) {
		uint32_t last = table->by_name[i].last;

		if (!last)
			continue;
		functions[count] = sum_of(totals, last);
		all += functions[count].self;
		count += functions[count].self &&
			 table->functions[last - 1].symbol->kind < SYMBOL_SPECIAL;
	}
	if (!count) {
		free(functions);
		return NULL;
	}
	SORT(functions, count, compare_functions);
	out = OPEN_TEXT(text);
	fprintf(out, "  %10s %6s %14s %20s %8s  function%s\n", "self", "share",
		by_insns ? "longest call" : "slowest call", "at", "thread",
		by_insns            ? "  (self and longest call in instructions)"
		: totals->estimated ? "  (times are estimates)"
				    : "");
	for (size_t i = 0; i < MIN(count, TOP_FUNCTIONS); i++)
		print_function(&functions[i], all, by_insns, out);
	if (totals->with_tails)
		print_tail(totals, all, out);
	alloc_close_text(out, &text);
	free(functions);
	return text;
}
