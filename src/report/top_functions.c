/* SPDX-License-Identifier: MIT */
/* Choose the functions with the most self time or instructions. */
#include "src/report/summary.h"

#include "src/formats/text/time_note.h"
#include "src/slices/slice_totals.h"

#define TOP_FUNCTIONS 5

struct top_functions {
	/* Those of one name are one function, as in --format=functions. */
	struct top_function {
		const struct name *name;
		uint64_t self; /* ns, or instructions */
		struct slowest_call slowest;
	} functions[TOP_FUNCTIONS + 1]; /* one more, that falls off */
	size_t count;
	uint64_t all; /* sum of all slices */
	bool by_insns;
	const char *note; /* last words of the heading */
};

static bool is_function(const struct symbol *symbol)
{
	return symbol->kind != SYMBOL_SPECIAL && symbol->kind != SYMBOL_MARK;
}

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

/* The order must not depend on the numbers of names. */
static bool is_before(const struct top_function *a, const struct top_function *b)
{
	if (a->self != b->self)
		return a->self > b->self;
	return strcmp(a->name->text, b->name->text) < 0;
}

static void insert(struct top_functions *top, const struct top_function *function)
{
	size_t at = top->count;

	for (; at && is_before(function, &top->functions[at - 1]); at--)
		top->functions[at] = top->functions[at - 1];
	top->functions[at] = *function;
	top->count += top->count < TOP_FUNCTIONS;
}

static void print_function(const struct top_functions *top, const struct top_function *function,
			   FILE *out)
{
	const struct slowest_call *call = &function->slowest;
	char self[SHORT_TIME_SIZE], slowest[SHORT_TIME_SIZE], thread[16] = "?";

	if (call->track->tid > 0)
		snprintf(thread, sizeof(thread), "%" PRId32, call->track->tid);
	fprintf(out, "  %10s %5.1f%% %14s %10" PRIu64 ".%09" PRIu64 " %8s  ",
		amount_text(self, top->by_insns, function->self),
		100 * (double)function->self / (double)top->all,
		amount_text(slowest, top->by_insns, call->rank), call->begin / 1000000000,
		call->begin % 1000000000, thread);
	printable_print(function->name->text, out);
	putc('\n', out);
}

static void print_table(const struct top_functions *top, FILE *out)
{
	fprintf(out, "  %10s %6s %14s %20s %8s  %s\n", "self", "share",
		top->by_insns ? "longest call" : "slowest call", "at", "thread", top->note);
	for (size_t i = 0; i < top->count; i++)
		print_function(top, &top->functions[i], out);
}

/* ---- The tail ------------------------------------------------------------ */

/* Share of the traced time that the longest calls of a function exceed its median by. */
#define TAIL_PARTS 200
/* Share of its excess with which a function called by another one has the cause, or its reason. */
#define TAIL_SAME 0.7

static double tail_of(const struct slice_totals *totals, uint32_t node)
{
	const struct call_tail *tail = call_tails_borrow(&totals->tails, &totals->tree, node);

	return tail ? (double)call_tail_excess(tail) : 0;
}

static bool is_in(const struct slowest_call *inner, const struct slowest_call *outer)
{
	return inner->track == outer->track && inner->begin >= outer->begin &&
	       inner->begin + inner->duration <= outer->begin + outer->duration;
}

/*
 * Returns whether a function is to be named instead of another one, whose slowest call is around
 * or inside of its own: the callee in one file, and the caller of another file's.
 */
static bool says_more(const struct slice_totals *totals, uint32_t node, uint32_t than)
{
	const struct table_function *functions = totals->functions.functions;
	bool same = functions[node - 1].symbol->dso == functions[than - 1].symbol->dso;
	const struct slowest_call *mine = &totals->tree.nodes[node].slowest;
	const struct slowest_call *others = &totals->tree.nodes[than].slowest;

	if (!than || tail_of(totals, node) < TAIL_SAME * tail_of(totals, than))
		return false;
	return same ? is_in(mine, others) : is_in(others, mine);
}

/* Print the function whose long calls take the most time beyond its median. */
static void print_tail(const struct slice_totals *totals, uint64_t all, FILE *out)
{
	char text[SHORT_TIME_SIZE];
	uint32_t found = NODE_NONE;

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = NODE_NONE + 1; i < totals->tree.count; i++)
			if (pass ? says_more(totals, i, found)
				 : tail_of(totals, i) > tail_of(totals, found))
				found = i;
	if (!found || tail_of(totals, found) * TAIL_PARTS < (double)all)
		return;
	fputs("  slow calls of ", out);
	printable_print(totals->functions.functions[found - 1].symbol->name->text, out);
	fprintf(out,
		": %" PRIu64 " of %" PRIu64
		", %s more than usual; `ptrace2ftf why` shows the cause\n",
		call_tails_borrow(&totals->tails, &totals->tree, found)->count,
		totals->tree.nodes[found].calls, short_time(text, (int64_t)tail_of(totals, found)));
}

char *top_functions_make(const struct slice_totals *totals)
{
	struct top_functions top = {
		.by_insns = totals->by_insns,
		.note = totals->by_insns    ? "function  (self and longest call in instructions)"
			: totals->estimated ? "function  (times are estimates)"
					    : "function",
	};
	char *text = NULL;
	size_t size;
	FILE *out;

	for (size_t i = 0; i < totals->functions.name_room; i++) {
		uint32_t last = totals->functions.by_name[i];
		struct top_function sum;

		if (!last)
			continue;
		sum = sum_of(totals, last);
		top.all += sum.self;
		if (sum.self && is_function(totals->functions.functions[last - 1].symbol))
			insert(&top, &sum);
	}
	if (!top.count)
		return NULL;
	out = ALLOC_CHECKED(open_memstream(&text, &size));
	print_table(&top, out);
	if (totals->with_tails)
		print_tail(totals, top.all, out);
	alloc_close_text(out, &text);
	return text;
}
