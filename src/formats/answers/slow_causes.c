/* SPDX-License-Identifier: MIT */
/* Compare slow calls with the others. */
#include "src/formats/answers/slow_causes.h"

#include "src/slices/slice_args.h"
#include "symbols/dso/dso_store.h"

/* Share of the extra that a cause has, and the minimum share if no function has it. */
#define CAUSE_SHARE 0.5
#define CAUSE_LEAST 0.1
/* Share of all extra by which a callee is the cause instead of its caller. */
#define CAUSE_OF_ALL 0.6
/* Shares of a callee for which its caller is a wrapper. */
#define WRAPPER_SHARE  0.8
#define WRAPPER_EXCESS 0.7
/* Least share of all time, or of the excess of another function, with which slow calls matter. */
#define MATTERS_LEAST 0.015
/* Least share of the excess of outermost calls for which each call is compared on its own. */
#define LEVELS_SHARE 0.25

/* Minimum share, and extra calls, of a callee that is named because it is called more often. */
#define CALLEE_SHARE 0.05
#define CALLEE_CALLS 8

/* Share of a cluster's stops in a function for which these are likely page faults. */
#define FAULTS_SHARE 0.6
#define FAULTS_LEAST 4
/* Ratio of stops to time, to that of all code, above which these are not alike. */
#define STOPS_RATIO 3
/* Share of the extra by which other clusters come before stops that hit all code alike. */
#define CODE_LEAST 0.02

/* Functions with the largest excess whose answers are compared. */
#define CANDIDATES 24

/* For a search of causes; owned. */
struct cause_scratch {
	struct row_extra *extras; /* by row */
	struct row_extra *sums;   /* by function: of all its rows */
	struct row_extra *chain;  /* room for all rows */
};

static uint64_t amount_of(const struct slow_calls *calls, const struct call_costs *costs)
{
	return calls->by_insns ? costs->insns : costs->ns;
}

static enum code_owner owner_of(const struct slow_answer *answer, uint32_t function)
{
	struct slow_function *of = &answer->calls->functions[function];

	if (!of->owner && of->symbol->dso != answer->calls->program)
		of->owner = OWNER_LIBRARY;
	if (!of->owner)
		of->owner = slice_source_line(of->symbol).line ? OWNER_SOURCE : OWNER_PROGRAM;
	return of->owner;
}

/* ---- The bound ----------------------------------------------------------- */

/* Returns the sum of the excesses of slow calls over usual ones. */
static double find_excess(const struct slow_calls *calls, const struct slow_function *of)
{
	struct call_split split;

	call_split_find(calls, of, &split);
	return durations_excess(&of->durations, split.bound, split.base) +
	       durations_excess(&of->bounds, split.bound, split.base);
}

/*
 * Returns the calls of a function to compare: the outermost ones of a recursive function, with all
 * nested ones, if single calls have little of their excess; or if they have little excess, and one
 * nested call each, as a function has that is inlined into itself.
 */
static const struct slow_function *choose_calls(const struct slow_calls *calls, uint32_t function,
						const struct slow_choice *choice)
{
	const struct slow_function *of = &calls->functions[function], *whole = of->whole;

	if (!whole || choice->has_bound ||
	    (find_excess(calls, of) >= LEVELS_SHARE * find_excess(calls, whole) &&
	     (of->nested > whole->durations.count ||
	      find_excess(calls, whole) >= LEVELS_SHARE * find_excess(calls, of))))
		return of;
	return whole;
}

/* If no call of a tail is slow, the slowest hundredth is. */
static uint64_t find_bound(const struct slow_calls *calls, const struct slow_answer *answer,
			   const struct slow_choice *choice)
{
	const struct durations *all = &answer->of->durations;
	uint64_t bound = answer->split.bound, high = durations_percentile(all, 99);

	if (choice->has_bound)
		return choice->percentile ? durations_quantile(all, choice->percentile)
					  : choice->longer;
	if (answer->split.shape != SHAPE_TAIL || durations_longer(all, bound))
		return bound;
	return MAX(high > answer->median ? high - 1 : all->max, answer->median + calls->resolution);
}

/* ---- Rows ---------------------------------------------------------------- */

static uint32_t add_row(struct slow_answer *answer, uint32_t parent, uint32_t function)
{
	size_t known = answer->rows.count;
	uint32_t row = call_tree_child(&answer->rows, parent, function + 1, NULL);

	if (row < known)
		return row;
	ARRAY_GROW(answer->info, answer->info_room, (size_t)row + 1);
	answer->info[row] = (struct cause_row){
		.parent = parent,
		.function = function,
		.depth = parent ? answer->info[parent].depth + 1 : 0,
		.syscall = parent ? answer->info[parent].syscall : 0,
	};
	if (!answer->info[row].syscall && symbol_is_syscall(slow_symbol(answer, function)))
		answer->info[row].syscall = row;
	answer->info[row].stop =
		!answer->info[row].syscall && symbol_is_stop(slow_symbol(answer, function));
	return row;
}

/* Add the paths from the function on, with the costs of all calls. */
static void add_rows(struct slow_answer *answer)
{
	const struct slow_calls *calls = answer->calls;

	for (uint32_t i = NODE_NONE + 1; i < calls->tree.count; i++) {
		const struct call_node *node = &calls->tree.nodes[i];
		uint32_t above = answer->row_of[node->caller];
		const struct slow_path *path = &calls->paths[i];
		uint64_t ran = path->stop || path->in_syscall ? 0 : node->own.ns;
		struct call_node *row;

		answer->all_ran += ran;
		if (calls->paths[i].fold != i ||
		    (!above && calls->paths[i].function != answer->function))
			continue;
		answer->ran += ran;
		answer->stops += calls->paths[i].stop ? node->calls : 0;
		answer->row_of[i] = add_row(answer, above, calls->paths[i].function);
		row = &answer->rows.nodes[answer->row_of[i]];
		row->calls += node->calls;
		call_tree_add(&row->own, &node->own, true);
	}
}

static void subtract(struct slow_answer *answer, const struct path_cost *costs, size_t count)
{
	EACH_COST(cost, costs, count)
	{
		struct call_node *row = &answer->rows.nodes[answer->row_of[cost->path]];

		row->calls -= cost->calls;
		row->own.ns -= cost->own.ns;
		row->own.insns -= cost->own.insns;
		row->own.cycles -= cost->own.cycles;
	}
}

static double usual(const struct slow_answer *answer, uint64_t sum)
{
	return mean_of(sum, answer->others);
}

/*
 * Fill the extras of all rows in slow calls; `extras` has room for them.  Code that was faster than
 * usual has no extra, so that shares add up; without `stops`, neither have these.  Returns the
 * extra with that code.
 */
static double find_extras(const struct slow_answer *answer, const struct slow_call *const *slow,
			  size_t count, bool stops, struct row_extra *extras)
{
	size_t rows = answer->rows.count;
	double more = 0;

	memset(extras, 0, rows * sizeof(*extras));
	for (size_t i = 0; i < count; i++) {
		EACH_COST(cost, slow[i]->costs, slow[i]->count)
		{
			struct row_extra *row = &extras[answer->row_of[cost->path]];

			row->own += (double)amount_of(answer->calls, &cost->own) / (double)count;
			row->calls += (double)cost->calls / (double)count;
		}
	}
	for (size_t i = 1; i < rows; i++) {
		const struct call_node *row = &answer->rows.nodes[i];

		extras[i].own -= usual(answer, amount_of(answer->calls, &row->own));
		extras[i].calls -= usual(answer, row->calls);
		if (answer->info[i].stop && !stops)
			extras[i].own = 0;
		more += extras[i].own;
		extras[i].own = extras[i].own > 0 ? extras[i].own : 0;
	}
	for (size_t i = rows - 1; i > 0; i--) {
		extras[i].all += extras[i].own;
		extras[answer->info[i].parent].all += extras[i].all;
	}
	return more;
}

/* ---- The cause ----------------------------------------------------------- */

COMPARE_WITHIN(compare_depth, struct row_extra, struct cause_row,
	       COMPARE(context[a->row].depth, context[b->row].depth) ?: COMPARE(b->all, a->all) ?:
	       COMPARE(a->row, b->row))

static bool is_inside(const struct slow_answer *answer, uint32_t row, uint32_t outer)
{
	while (answer->info[row].depth > answer->info[outer].depth)
		row = answer->info[row].parent;
	return row == outer;
}

/*
 * Fill the scratch's chain with the functions that have a share of the extra, outermost first: the
 * function itself, then mostly callees of the previous one.  Other functions are left out if they
 * have less than half of the extra.  Returns their number.
 */
static size_t find_chain(const struct slow_answer *answer, const struct row_extra *extras,
			 double share, const struct cause_scratch *scratch)
{
	struct row_extra *chain = scratch->chain;
	size_t count = 0, found;

	for (uint32_t i = 1; i < answer->rows.count; i++)
		scratch->sums[answer->info[i].function] = (struct row_extra){ .row = 0 };
	for (uint32_t i = 1; i < answer->rows.count; i++) {
		struct row_extra *sum = &scratch->sums[answer->info[i].function];

		sum->all += extras[i].all;
		sum->own += extras[i].own;
		if (!sum->row || extras[i].all > extras[sum->row].all)
			sum->row = i;
	}
	for (uint32_t i = 1; i < answer->rows.count; i++) {
		const struct row_extra *sum = &scratch->sums[answer->info[i].function];

		if (sum->row == i && sum->all >= share * extras[1].all)
			chain[count++] = *sum;
	}
	SORT_WITHIN(chain, count, compare_depth, answer->info);
	found = count;
	for (size_t i = count = 1; i < found; i++)
		if (share >= CAUSE_SHARE || is_inside(answer, chain[i].row, chain[count - 1].row))
			chain[count++] = chain[i];
	return count;
}

static bool is_own(const struct slow_answer *answer, uint32_t function)
{
	const struct symbol *symbol = slow_symbol(answer, function);
	enum code_owner owner = owner_of(answer, answer->function);

	if (symbol->kind == SYMBOL_SPECIAL || owner_of(answer, function) < owner)
		return false;
	return owner > OWNER_LIBRARY || symbol->dso == slow_symbol(answer, answer->function)->dso;
}

/*
 * Returns the index of the cause in a chain.  Candidates are functions that belong to the user's
 * code as much as the slow function does.  The cause is the first candidate with more calls than
 * usual, or else the innermost candidate.  A stop that can hit any function comes before both;
 * without candidates, the cause is the first callee.
 */
static size_t choose_cause(const struct slow_answer *answer, const struct row_extra *extras,
			   const struct row_extra *chain, size_t count)
{
	size_t cause = 0, first = 0;
	bool in_syscall = false, ended = false;

	for (size_t i = 1; i < count; i++) {
		uint32_t function = answer->info[chain[i].row].function;
		const struct symbol *symbol = slow_symbol(answer, function);

		in_syscall |= symbol_is_syscall(symbol);
		if (symbol->kind == SYMBOL_SPECIAL && !in_syscall)
			return i;
		if (symbol->kind == SYMBOL_PLT)
			continue;
		first = first ? first : i;
		if (ended || !is_own(answer, function) ||
		    chain[i].all < CAUSE_OF_ALL * chain[0].all)
			continue;
		cause = i;
		ended = extras[chain[i].row].calls >= 0.5 &&
			extras[chain[i].row].calls >=
				0.5 * usual(answer, answer->rows.nodes[chain[i].row].calls);
	}
	return cause ? cause : first;
}

/* Find the cause of some slow calls. */
static void find_cause(const struct slow_answer *answer, const struct cause_scratch *scratch,
		       struct slow_cluster *cluster)
{
	const struct row_extra *extras = scratch->extras;
	const struct row_extra *chain = scratch->chain;
	size_t count, cause, leaf;
	double share = CAUSE_SHARE;

	if (extras[1].all <= 0)
		return;
	do {
		count = find_chain(answer, extras, share, scratch);
		share /= 2;
	} while (count == 1 && chain[0].own < 2 * share * extras[1].all && share >= CAUSE_LEAST);
	leaf = count - 1;
	cause = choose_cause(answer, extras, chain, count);
	while (leaf > cause &&
	       symbol_is_syscall(slow_symbol(answer, answer->info[chain[leaf - 1].row].function)))
		leaf--;
	cluster->extra = extras[1].all;
	cluster->cause = answer->info[chain[cause].row].function;
	cluster->cause_extra = chain[cause].all;
	cluster->own_extra = chain[cause].own;
	cluster->leaf = answer->info[chain[leaf].row].function;
	cluster->leaf_extra = chain[leaf].all;
}

/* ---- Clusters ------------------------------------------------------------ */

/*
 * Find the callee whose number of calls grew most: in the slow calls, and in each call of the
 * cause, which can itself be called more often.
 */
static void find_callee(const struct slow_answer *answer, const struct cause_scratch *scratch,
			struct slow_cluster *cluster)
{
	double slow = mean_of(cluster->own[0].calls, cluster->count);
	double usual_calls = mean_of(cluster->own[1].calls, answer->others);
	double most = CALLEE_CALLS;

	if (!cluster->own[1].calls)
		return;
	for (uint32_t i = 1; i < answer->rows.count; i++)
		scratch->sums[answer->info[i].function] = (struct row_extra){ .row = 0 };
	for (uint32_t i = 1; i < answer->rows.count; i++) {
		struct row_extra *sum = &scratch->sums[answer->info[i].function];

		sum->calls += scratch->extras[i].calls;
		sum->own += usual(answer, answer->rows.nodes[i].calls);
		sum->all += scratch->extras[i].all;
	}
	for (uint32_t i = 1; i < answer->rows.count; i++) {
		uint32_t function = answer->info[i].function;
		const struct symbol *symbol = slow_symbol(answer, function);
		const struct row_extra *sum = &scratch->sums[function];
		double calls = sum->calls + sum->own;

		if (function == cluster->cause || function == answer->function ||
		    symbol->kind >= SYMBOL_SPECIAL || symbol->kind == SYMBOL_PLT ||
		    sum->calls <= most || calls < 2 * sum->own ||
		    calls * usual_calls < 2 * sum->own * slow ||
		    sum->all < CALLEE_SHARE * cluster->extra)
			continue;
		most = sum->calls;
		cluster->callee.function = function;
		cluster->callee.slow = calls;
		cluster->callee.usual = sum->own;
		cluster->callee.extra = sum->all;
	}
}

COMPARE_WITH(compare_clusters, struct slow_cluster,
	     COMPARE(a->last, b->last)
		     ?: COMPARE(a->first, b->first)
		     ?: COMPARE((double)b->count * b->extra * b->weight,
				(double)a->count * a->extra * a->weight)
		     ?: COMPARE(a->cause, b->cause)
		     ?: COMPARE(a->cut, b->cut))

/*
 * Find whether stops hit all code alike: no single callee has most of them, and they are not much
 * more frequent in the calls than in other code.
 */
static void judge_stops(const struct slow_answer *answer, const struct cause_scratch *scratch,
			struct slow_cluster *cluster)
{
	const struct slow_calls *calls = answer->calls;
	double stops = 0, ran = 0, all = 0;
	uint32_t most = 0;

	memset(scratch->sums, 0, calls->function_count * sizeof(*scratch->sums));
	for (uint32_t i = 2; i < answer->rows.count; i++) {
		double extra = answer->info[i].stop ? scratch->extras[i].own : 0;
		uint32_t function = answer->info[answer->info[i].parent].function;

		scratch->sums[function].all += extra;
		stops += extra;
		if (extra > 0 && scratch->sums[function].all > scratch->sums[most].all)
			most = function;
	}
	for (uint32_t i = 1; i < answer->rows.count; i++) {
		double own = (double)answer->rows.nodes[i].own.ns;

		if (slow_symbol(answer, answer->info[i].function)->kind == SYMBOL_SPECIAL)
			continue;
		all += own;
		ran += answer->info[i].function == most ? own : 0;
	}
	cluster->within = most;
	cluster->faults = cluster->count >= FAULTS_LEAST &&
			  scratch->sums[most].all >= FAULTS_SHARE * stops &&
			  ran * STOPS_RATIO <= all * FAULTS_SHARE;
	if (answer->stops >= STOPS_LEAST && answer->ran)
		cluster->often = (double)answer->stops * (double)answer->all_ran /
				 ((double)calls->stops * (double)answer->ran);
	cluster->alike = !cluster->faults && cluster->often <= STOPS_RATIO;
}

static enum budget_kind budget_kind_of(const struct slow_answer *answer, uint32_t row)
{
	const struct cause_row *info = &answer->info[row];
	const struct symbol *symbol = slow_symbol(answer, info->function);

	if (info->syscall)
		return BUDGET_SYSCALL;
	if (info->stop)
		return symbol->special == SPECIAL_OFF_CPU ? BUDGET_PREEMPTED : BUDGET_INTERRUPTS;
	if (symbol->kind == SYMBOL_SPECIAL)
		return symbol->special == SPECIAL_GAP      ? BUDGET_LOST
		       : symbol->special == SPECIAL_PARKED ? BUDGET_PARKED
							   : BUDGET_OTHER;
	return info->function == answer->function ? BUDGET_OWN : BUDGET_CALLEES;
}

/* Add the extra of a cluster's calls to the budget. */
static void add_to_budget(struct slow_answer *answer, const struct slow_cluster *cluster,
			  const struct row_extra *extras)
{
	for (uint32_t i = 1; i < answer->rows.count; i++) {
		struct budget_part *part = answer->budget, *end = part + answer->budget_count;
		enum budget_kind kind = budget_kind_of(answer, i);
		const struct symbol *syscall =
			kind == BUDGET_SYSCALL
				? slow_symbol(answer,
					      answer->info[answer->info[i].syscall].function)
				: NULL;

		if (extras[i].own <= 0)
			continue;
		while (part < end && (part->kind != kind || part->syscall != syscall))
			part++;
		if (part == answer->budget + BUDGET_MOST)
			(--part)->kind = BUDGET_OTHER;
		else if (part == end)
			*(answer->budget_count++, part) =
				(struct budget_part){ kind, syscall, 0, 0 };
		part->extra += extras[i].own * (double)cluster->count * cluster->weight;
	}
}

COMPARE_WITH(compare_parts, struct budget_part,
	     COMPARE(b->extra, a->extra) ?: COMPARE(a->kind, b->kind))

/* Fill a cluster whose calls are known. */
static void fill_cluster(struct slow_answer *answer, const struct cause_scratch *scratch,
			 struct slow_cluster *cluster)
{
	uint32_t cause = cluster->cause;

	cluster->stops = symbol_is_stop(slow_symbol(answer, cause));
	cluster->weight =
		cluster->stops && answer->stretched_weight > 1 ? answer->stretched_weight : 1;
	cluster->more = find_extras(answer, cluster->calls, cluster->count, cluster->stops,
				    scratch->extras);
	find_cause(answer, scratch, cluster);
	cluster->cause = cause;
	cluster->first = cluster->count == 1 && cluster->calls[0]->begin == answer->of->first_begin;
	/* Sum up the own costs of the cause. */
	for (size_t i = 0; i < cluster->count; i++) {
		EACH_COST(cost, cluster->calls[i]->costs, cluster->calls[i]->count)
		{
			if (answer->calls->paths[cost->path].function != cluster->cause)
				continue;
			cluster->own[0].calls += cost->calls;
			call_tree_add(&cluster->own[0].own, &cost->own, true);
		}
	}
	for (uint32_t i = 1; i < answer->rows.count; i++)
		if (answer->info[i].function == cluster->cause) {
			cluster->own[1].calls += (uint32_t)answer->rows.nodes[i].calls;
			call_tree_add(&cluster->own[1].own, &answer->rows.nodes[i].own, true);
		}
	find_callee(answer, scratch, cluster);
	if (cluster->stops)
		judge_stops(answer, scratch, cluster);
	cause_lines_make(answer, scratch->extras, cluster);
	if (!cluster->stops)
		find_extras(answer, cluster->calls, cluster->count, true, scratch->extras);
	add_to_budget(answer, cluster, scratch->extras);
	answer->extra += scratch->extras[1].all * (double)cluster->count * cluster->weight;
}

/* Sort clusters; stops that hit all code alike come last, unless less than `least` of the extra
 * has other causes. */
static void sort_clusters(struct slow_answer *answer, double least)
{
	double code = 0;

	for (size_t i = 0; i < answer->count; i++)
		if (!answer->clusters[i].alike)
			code += answer->clusters[i].extra * answer->clusters[i].weight *
				(double)answer->clusters[i].count;
	for (size_t i = 0; i < answer->count; i++)
		answer->clusters[i].last =
			answer->clusters[i].alike && code >= least * answer->extra;
	SORT(answer->clusters, answer->count, compare_clusters);
}

/* Returns the function of the stop with the most time in a call. */
static uint32_t longest_stop(const struct slow_answer *answer, const struct slow_call *call)
{
	uint32_t function = answer->function;
	uint64_t longest = 0;

	EACH_COST(cost, call->costs, call->count)
	{
		const struct slow_path *path = &answer->calls->paths[cost->path];

		if (!path->stop || cost->own.ns < longest)
			continue;
		longest = cost->own.ns;
		function = path->function;
	}
	return function;
}

static void make_clusters(struct slow_answer *answer, const struct slow_call **slow, size_t count)
{
	struct cause_scratch scratch = {
		.extras = alloc_zeroed(answer->rows.count, sizeof(struct row_extra)),
		.sums = alloc_zeroed(answer->calls->function_count, sizeof(struct row_extra)),
		.chain = alloc_zeroed(answer->rows.count, sizeof(struct row_extra)),
	};
	int rest = 100;

	for (size_t i = 0; i < count; i++) {
		struct slow_cluster one = { .cause = answer->function };
		struct slow_cluster *cluster, *end;

		/* Stops are the cause only if they have most of the extra time. */
		if (answer->calls->with_stops || !slow[i]->with_stops ||
		    2 * slow[i]->stopped < slow[i]->amount - answer->split.base) {
			find_extras(answer, &slow[i], 1, slow[i]->with_stops, scratch.extras);
			find_cause(answer, &scratch, &one);
		} else {
			one.cause = longest_stop(answer, slow[i]);
		}
		cluster = answer->clusters;
		end = cluster + answer->count;
		while (cluster < end &&
		       (cluster->cause != one.cause || cluster->cut != slow_call_is_cut(slow[i])))
			cluster++;
		if (cluster == end) {
			cluster = ARRAY_ADD(answer->clusters, answer->count, answer->room);
			*cluster = (struct slow_cluster){ .cause = one.cause,
							  .cut = slow_call_is_cut(slow[i]) };
		}
		*ARRAY_ADD(cluster->calls, cluster->count, cluster->room) = slow[i];
	}
	for (size_t i = 0; i < answer->count; i++)
		fill_cluster(answer, &scratch, &answer->clusters[i]);
	sort_clusters(answer, CODE_LEAST);
	/* Round the shares so that they add up: the largest one gets the rest. */
	SORT(answer->budget, answer->budget_count, compare_parts);
	for (size_t i = answer->budget_count; i-- > 0;) {
		struct budget_part *part = &answer->budget[i];

		part->percent = i ? (int)(100 * part->extra / answer->extra + 0.5) : rest;
		rest -= part->percent;
	}
	free(scratch.extras);
	free(scratch.sums);
	free(scratch.chain);
}

COMPARE_WITH(compare_calls, const struct slow_call *, slow_call_compare(*a, *b))

/*
 * Fill the counts of calls.  `count` slow ones are kept, `cut` of these were cut: all, if a kept
 * call is not slow.
 */
static void count_calls(struct slow_answer *answer, size_t count, size_t cut)
{
	const struct slow_function *of = answer->of;
	uint64_t slow = durations_longer(&of->durations, answer->bound);
	uint64_t slow_cut = durations_longer(&of->bounds, answer->bound);

	if (count < of->slow.count || slow < count - cut + of->outer[0])
		slow = count - cut + of->outer[0];
	if (count < of->slow.count || slow_cut < cut + of->outer[1])
		slow_cut = cut + of->outer[1];
	answer->slow = slow + slow_cut;
	answer->slow_cut = slow_cut;
	answer->compared = count;
	answer->outer = of->outer[0] + of->outer[1];
	answer->all = of->durations.count + slow_cut;
	answer->cut = of->bounds.count - slow_cut;
	answer->others = of->durations.count - (count - cut) - of->outer[0] - of->absorbed;
}

/*
 * Subtract the costs of slow calls that are not kept from the costs of usual calls: they are of one
 * kind, so the mean of the kept ones estimates them.
 */
static void subtract_lost(struct slow_answer *answer, const struct slow_call *const *slow,
			  size_t count)
{
	uint64_t alike = answer->slow - answer->slow_cut - answer->stretched;
	uint64_t lost = alike - MIN(alike, count);

	if (answer->split.shape == SHAPE_TAIL || !lost || lost >= answer->others)
		return;
	for (size_t i = 0; i < count; i++) {
		EACH_COST(cost, slow[i]->costs, slow[i]->count)
		{
			struct call_node *row = &answer->rows.nodes[answer->row_of[cost->path]];

			row->calls -= MIN(row->calls, cost->calls * lost / count);
			row->own.ns -= MIN(row->own.ns, cost->own.ns * lost / count);
			row->own.insns -= MIN(row->own.insns, cost->own.insns * lost / count);
		}
	}
	answer->others -= lost;
}

/*
 * Add the kept calls that are slow by their stops only to `count` others, and count all.  Returns
 * the number with the added calls.
 */
static size_t add_stretched(struct slow_answer *answer, const struct slow_call **slow, size_t count)
{
	const struct slow_stops *stops = answer->of->stopped;
	double all = 0, kept = 0;
	size_t added = 0;

	/* A single call has no other one to compare it with. */
	for (size_t i = 0; stops && i < stops->slow.count && answer->all > 1; i++) {
		const struct slow_call *call = &stops->slow.calls[i];

		if (call->amount <= answer->bound || call->amount - call->stopped > answer->bound)
			continue;
		slow[count + added++] = call;
		kept += (double)(call->amount - answer->split.base);
		subtract(answer, call->costs, call->count);
	}
	if (!stops || answer->all == 1)
		return count;
	answer->stretched = added;
	if (stops->slow.count == slow_stops_most(answer->calls)) {
		answer->stretched =
			MAX(added, durations_longer(&stops->with, answer->bound) -
					   durations_longer(&stops->without, answer->bound));
		for (size_t i = 0; i < count; i++)
			all -= (double)slow[i]->stopped;
		all += durations_excess(&stops->with, answer->bound, answer->split.base) -
		       durations_excess(&stops->without, answer->bound, answer->split.base);
		answer->stretched_weight = kept > 0 ? all / kept : 1;
	}
	answer->slow += answer->stretched;
	answer->compared += added;
	answer->others -= added;
	return count + added;
}

/* Make the lines of a usual call. */
static void describe_usual(struct slow_answer *answer)
{
	size_t rows = answer->rows.count;
	struct row_extra *extras = alloc_zeroed(rows, sizeof(*extras));

	for (size_t i = rows - 1; i > 0; i--) {
		if (!answer->info[i].stop)
			extras[i].own =
				usual(answer, amount_of(answer->calls, &answer->rows.nodes[i].own));
		extras[i].all += extras[i].own;
		extras[answer->info[i].parent].all += extras[i].all;
	}
	answer->usual.extra = rows > 1 ? extras[1].all : 0;
	cause_lines_make(answer, extras, &answer->usual);
	free(extras);
}

void slow_answer_make(struct slow_answer *answer, const struct slow_calls *calls, uint32_t function,
		      const struct slow_choice *choice)
{
	const struct slow_function *of = choose_calls(calls, function, choice);
	size_t stopped = of->stopped ? of->stopped->slow.count : 0, count = 0, cut = 0, all;
	const struct slow_call **slow =
		alloc_zeroed(of->slow.count + stopped + 1, sizeof(struct slow_call *));

	*answer = (struct slow_answer){ .calls = calls, .function = function, .of = of };
	answer->row_of = alloc_zeroed(calls->tree.count, sizeof(*answer->row_of));
	answer->median = durations_percentile(&of->durations, 50);
	if (choice->has_bound)
		answer->split.base = answer->median;
	else
		call_split_find(calls, of, &answer->split);
	answer->bound = find_bound(calls, answer, choice);
	answer->excess = find_excess(calls, of);
	call_tree_init(&answer->rows, NULL, UINT64_MAX);
	add_rows(answer);
	subtract(answer, of->lost.costs, of->lost.count);
	for (size_t i = 0; i < of->slow.count; i++) {
		const struct slow_call *call = &of->slow.calls[i];
		bool is_slow = call->amount > answer->bound;

		if (is_slow)
			slow[count++] = call;
		cut += is_slow && slow_call_is_cut(call);
		if (is_slow || slow_call_is_cut(call))
			subtract(answer, call->costs, call->count);
	}
	SORT(slow, count, compare_calls);
	count_calls(answer, count, cut);
	answer->even = !choice->has_bound && !answer->split.shape && !answer->slow_cut &&
		       of->durations.max <= 2 * answer->median;
	if (!answer->even && count == answer->slow)
		answer->period = slow_calls_period(slow, count);
	all = add_stretched(answer, slow, count);
	subtract_lost(answer, slow, count);
	count = all;
	/*
	 * Callees that call a caller of the function continue the caller's path, which is outside
	 * of its rows: show them below the function.  Their usual costs are not known.
	 */
	for (size_t i = 0; i < count; i++) {
		EACH_COST(cost, slow[i]->costs, slow[i]->count)
		{
			uint32_t *row = &answer->row_of[cost->path];

			*row = *row ? *row : add_row(answer, 1, calls->paths[cost->path].function);
		}
	}
	SORT(slow, count, compare_calls);
	if (answer->others || choice->has_bound)
		make_clusters(answer, slow, count);
	if (answer->count && answer->clusters[0].stops && !answer->clusters[0].alike)
		answer->even = false;
	if (answer->even)
		describe_usual(answer);
	free(slow);
}

void slow_function_durations(const struct slow_function *function, struct durations *durations)
{
	durations_copy(durations, &function->durations);
	if (function->stopped)
		durations_replace_all(durations, &function->stopped->without,
				      &function->stopped->with);
}

struct slow_gain slow_answer_gain(const struct slow_answer *answer,
				  const struct slow_cluster *cluster)
{
	static const struct {
		const char *name;
		uint32_t millionths;
	} quantiles[] = { { "p99", 990000 }, { "p99.9", 999000 }, { "longest", 1000000 } };
	const struct thread_wait *wait = &cluster->wait;
	double share = cluster->extra > 0 ? cluster->cause_extra / cluster->extra : 0;
	struct slow_gain gain = { 0 };
	struct durations now, then;

	/* Not all of its calls are known, or nested calls are in the amounts of those around. */
	if (cluster->cut || answer->slow != answer->compared || answer->calls->bound)
		return gain;
	if (wait->hop_count && wait->hops[0].ns && share > 0) {
		gain.root = &wait->hops[wait->hop_count - 1];
		share = cluster->leaf_extra / cluster->extra *
			MIN((double)gain.root->ns / (double)wait->hops[0].ns, 1);
	}
	slow_function_durations(answer->of, &now);
	durations_copy(&then, &now);
	for (size_t i = 0; i < cluster->count; i++) {
		const struct slow_call *call = cluster->calls[i];
		uint64_t more = call->amount - MIN(call->amount, answer->split.base);
		uint64_t whole = slow_call_whole(call);

		durations_replace(&then, whole, whole - (uint64_t)(share * (double)more));
	}
	for (size_t i = 0; i < COUNT_OF(quantiles) && !gain.of; i++) {
		/* With few calls, a high percentile is the longest one. */
		if (now.count * (1000000 - quantiles[i].millionths) < 1000000 && i < 2)
			continue;
		gain.now = i < 2 ? durations_quantile(&now, quantiles[i].millionths) : now.max;
		gain.then = durations_quantile(&then, quantiles[i].millionths);
		if ((double)gain.then <= 0.9 * (double)gain.now)
			gain.of = quantiles[i].name;
	}
	durations_release(&now);
	durations_release(&then);
	return gain;
}

void slow_answer_release(struct slow_answer *answer)
{
	for (size_t i = 0; i < answer->count; i++) {
		while (answer->clusters[i].fact_count)
			cause_fact_remove(&answer->clusters[i], 0);
		free(answer->clusters[i].calls);
		code_counts_release(&answer->clusters[i].code);
	}
	code_counts_release(&answer->code);
	call_tree_release(&answer->rows);
	free(answer->info);
	free(answer->row_of);
	free(answer->clusters);
	*answer = (struct slow_answer){ 0 };
}

/* ---- Ranking ------------------------------------------------------------- */

/*
 * Returns by function the share of the stops in its calls that hit a function which has most stops
 * but not most time: likely page faults.
 */
static double *find_faults(const struct slow_calls *calls)
{
	struct {
		double ran, stops, faults; /* ns; first in the function itself, then in its calls */
		bool hit;
	} *sums = alloc_zeroed(calls->function_count + 1, sizeof(*sums));
	double *shares = alloc_zeroed(calls->function_count + 1, sizeof(*shares)), ran = 0;

	for (uint32_t i = NODE_NONE + 1; i < calls->tree.count; i++) {
		const struct call_node *node = &calls->tree.nodes[i];
		uint32_t function = calls->paths[calls->paths[i].stop ? node->caller : i].function;

		if (calls->paths[i].stop)
			sums[function].stops += node->caller ? (double)node->own.ns : 0;
		else if (calls->functions[function].symbol->kind != SYMBOL_SPECIAL)
			sums[function].ran += (double)node->own.ns;
	}
	for (size_t i = 0; i < calls->function_count; i++)
		ran += sums[i].ran;
	for (size_t i = 0; i < calls->function_count; i++)
		sums[i].hit = calls->stops >= STOPS_LEAST &&
			      sums[i].stops >= FAULTS_SHARE * (double)calls->stopped &&
			      sums[i].ran * STOPS_RATIO < FAULTS_SHARE * ran;
	for (size_t i = 0; i < calls->function_count; i++)
		sums[i].stops = 0;
	for (uint32_t i = NODE_NONE + 1; i < calls->tree.count; i++) {
		uint32_t at = calls->tree.nodes[i].caller;
		double ns = (double)calls->tree.nodes[i].own.ns;
		bool hit = at && sums[calls->paths[at].function].hit;

		for (; at && calls->paths[i].stop; at = calls->tree.nodes[at].caller) {
			sums[calls->paths[at].function].stops += ns;
			sums[calls->paths[at].function].faults += hit ? ns : 0;
		}
	}
	for (size_t i = 0; i < calls->function_count; i++)
		shares[i] = sums[i].stops > 0 ? sums[i].faults / sums[i].stops : 0;
	free(sums);
	return shares;
}

/*
 * Returns the class of an answer: functions of which the first call alone is slow come after causes
 * that recur, and last the loader's, which run before main() or for a first call.
 */
static unsigned find_class(const struct slow_calls *calls, const struct slow_function *of,
			   const struct call_split *split)
{
	const struct dso *dso = of->symbol->dso;

	if (dso && dso != calls->program && starts_with(dso->short_name->text, "ld-"))
		return 2;
	if (durations_longer(&of->durations, split->bound) != 1)
		return 0;
	for (size_t i = 0; i < of->slow.count; i++)
		if (!of->slow.calls[i].number && of->slow.calls[i].amount > split->bound)
			return 1;
	return 0;
}

COMPARE_WITH(compare_answers, struct slow_answer,
	     COMPARE(a->class, b->class) ?: COMPARE(b->excess, a->excess) ?:
	     COMPARE(a->function, b->function))

/*
 * Returns the depth of a function in the first cluster of an answer, if its calls have a share of
 * the extra; else -1.
 */
static int depth_inside(const struct slow_answer *answer, uint32_t function, double least)
{
	const struct slow_cluster *cluster = answer->clusters;
	struct row_extra *extras;
	double all = 0;
	uint32_t row = 0;

	if (!answer->count)
		return -1;
	extras = alloc_zeroed(answer->rows.count, sizeof(*extras));
	find_extras(answer, cluster->calls, cluster->count, cluster->stops, extras);
	for (uint32_t i = 1; i < answer->rows.count; i++)
		if (answer->info[i].function == function) {
			all += extras[i].all;
			row = row && extras[row].all >= extras[i].all ? row : i;
		}
	free(extras);
	return row && all >= least * cluster->extra ? (int)answer->info[row].depth : -1;
}

/*
 * Returns whether an answer says less than another one: it is of a wrapper, whose cause is in the
 * other function; of a function that the other one called for an unusual reason; or of a library
 * that the other one calls.
 */
static bool yields(const struct slow_answer *answer, const struct slow_answer *other)
{
	enum code_owner own = owner_of(answer, answer->function);
	enum code_owner owner = owner_of(other, other->function);
	int below = depth_inside(answer, other->function, WRAPPER_SHARE);
	int above = depth_inside(other, answer->function, WRAPPER_SHARE);

	if (other->excess < WRAPPER_EXCESS * answer->excess)
		return false;
	if (own != owner)
		return owner > own && above > 0;
	if (below > 0)
		return below <= depth_inside(answer, answer->clusters->cause, 0);
	return above > 0 && above > depth_inside(other, other->clusters->cause, 0);
}

/* Returns whether half of the extra of a function of the program is in a library's function. */
static bool explains(const struct slow_answer *other, const struct slow_answer *answer)
{
	return owner_of(other, other->function) > OWNER_LIBRARY &&
	       owner_of(answer, answer->function) == OWNER_LIBRARY &&
	       other->excess >= MATTERS_LEAST * answer->excess &&
	       depth_inside(other, answer->function, CAUSE_SHARE) > 0;
}

size_t slow_answers_rank(struct slow_answer *answers, size_t most, const struct slow_calls *calls,
			 bool chosen, const struct slow_choice *choice)
{
	struct slow_answer *found = alloc_zeroed(calls->function_count + 1, sizeof(*found));
	double *faults = find_faults(calls);
	size_t count = 0, kept = 0;

	for (uint32_t i = 0; i < calls->function_count; i++) {
		const struct slow_function *of = choose_calls(calls, i, choice);
		struct call_split *split = &found[count].split;

		found[count].function = i;
		call_split_find(calls, of, split);
		found[count].excess = find_excess(calls, of);
		found[count].class = find_class(calls, of, split);
		if (faults[i] > 0 && of->stopped)
			found[count].excess +=
				faults[i] *
				(durations_excess(&of->stopped->with, split->bound, split->base) -
				 durations_excess(&of->stopped->without, split->bound,
						  split->base));
		count +=
			chosen ? of->durations.count || (of->bounds.count && choice->has_bound)
			       : of->durations.count >= TAIL_CALLS_LEAST && found[count].excess > 0;
	}
	SORT(found, count, compare_answers);
	count = MIN(count, (size_t)CANDIDATES);
	for (size_t i = 0; i < count; i++) {
		double excess = found[i].excess;

		slow_answer_make(&found[i], calls, found[i].function, choice);
		found[i].excess = excess;
		if (!chosen) /* the excess has no such stops */
			sort_clusters(&found[i], 0);
	}
	free(faults);
	for (size_t i = 0; i < count; i++)
		for (size_t j = i; j < count; j++)
			if (j == i || (!chosen && explains(&found[j], &found[i])))
				found[i].class = 2 * (unsigned)j + (j > i);
	SORT(found, count, compare_answers);
	for (size_t i = 0; i < count; i++) {
		bool yielded = kept == most || (!chosen && !found[i].count);

		for (size_t j = 0; j < count && !chosen && !yielded; j++)
			yielded = j != i && found[j].calls && yields(&found[i], &found[j]);
		if (!yielded)
			answers[kept++] = found[i];
		else
			slow_answer_release(&found[i]);
	}
	free(found);
	return kept;
}

void slow_most_make(struct slow_answer *most, const struct slow_calls *calls,
		    const struct slow_answer *answers, size_t count)
{
	uint64_t *ns = alloc_zeroed(calls->tree.count + 1, sizeof(*ns));
	uint32_t found = 0;

	for (size_t i = calls->tree.count; i-- > NODE_NONE + 1;) {
		if (!calls->paths[i].stop && !calls->paths[i].in_syscall)
			ns[i] += calls->tree.nodes[i].own.ns;
		ns[calls->tree.nodes[i].caller] += ns[i];
	}
	for (uint32_t i = NODE_NONE + 1; i < calls->tree.count; i++) {
		const struct slow_function *of = &calls->functions[calls->paths[i].function];

		if (2 * ns[i] > ns[NODE_NONE] && of->symbol->kind == SYMBOL_FUNCTION &&
		    of->symbol->dso == calls->program && of->durations.count)
			found = i;
	}
	free(ns);
	if (!found)
		return;
	slow_answer_make(most, calls, calls->paths[found].function, &(struct slow_choice){ 0 });
	describe_usual(most);
	if (count && answers->excess >= MATTERS_LEAST * (double)most->all_ran &&
	    (!most->even || most->all < TAIL_CALLS_LEAST ||
	     owner_of(answers, answers->function) > OWNER_LIBRARY))
		slow_answer_release(most);
}
