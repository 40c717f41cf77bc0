/* SPDX-License-Identifier: MIT */
/*
 * The answer of `ptrace2ftf why`: the causes of the slow calls of the functions of --symbol, or of
 * the functions whose slow calls take most time.
 */
#include <math.h>

#include "src/formats/answers/why.h"

#include "decoder/history.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/time_note.h"
#include "src/slices/slice_args.h"

/* Limits of slow calls kept per function: of chosen functions, and of all functions. */
#define KEPT_CHOSEN 1000
#define KEPT_OF_ALL 128

/* Limits of functions with an answer, and of clusters of each. */
#define ANSWERS_MOST  3
#define CLUSTERS_MOST 3

/* Columns of a line, and lines of an answer. */
#define COLUMNS 80
#define LINES   40

/*
 * How much is shown, less and less until all fits: lines of the tree of the first cluster, and of
 * each other tree; clusters of an answer but the first; commands of the first answer, and of each
 * other one; answers.
 */
static const struct detail {
	size_t tree, trees, clusters, commands, more_commands, answers;
} details[] = {
	{ CAUSE_LINES, CAUSE_LINES, CLUSTERS_MOST, 9, 9, ANSWERS_MOST },
	{ 10, 5, CLUSTERS_MOST, 3, 1, ANSWERS_MOST },
	{ 8, 3, CLUSTERS_MOST, 3, 0, ANSWERS_MOST },
	{ 6, 1, CLUSTERS_MOST, 3, 0, ANSWERS_MOST },
	{ 5, 0, 2, 2, 0, ANSWERS_MOST },
	{ 4, 0, 1, 2, 0, ANSWERS_MOST },
	{ 3, 0, 1, 1, 0, 2 },
	{ 0, 0, 1, 1, 0, 1 },
};

/* Minimum causes with the same code and more time that are noise. */
#define NOISE_LEAST 3

/* Share of the largest excess below which an answer is only in the list of functions. */
#define ANSWER_LEAST 0.01

void why_open(struct format_output *output, const struct format_request *request)
{
	struct why_output *why = (struct why_output *)output;

	why->options = request->options;
	why->names = request->names;
	slow_calls_init(&why->calls, request->options, &request->facts,
			why_has_chosen(request->options) ? KEPT_CHOSEN : KEPT_OF_ALL);
	output->slices = &why->calls.tree.slices;
	/* Threads that begin within calls several times do so in recursions, too. */
	why->calls.sink.late = !request->options->fits && !request->facts.has_copies;
	why->calls.sink.sums = why->calls.sink.late;
	why->calls.sink.again = &request->output->err;
	why->calls.unseen = symbol_special(request->names, TRUNCATED_NAME, SPECIAL_OTHER);
	output->sink = why->calls.sink;
}

/* ---- Sentences ----------------------------------------------------------- */

/* Print lines of text, at most `most`, and release the text. */
static void print_text_lines(const char *prefix, char *lines, size_t most, FILE *out)
{
	for (char *line = lines, *end; most-- && (end = strchr(line, '\n')); line = end + 1)
		fprintf(out, "%s%.*s\n", prefix, (int)(end - line), line);
	free(lines);
}

void symbol_line_print(const struct symbol *symbol, struct source_line at, FILE *out)
{
	if (at.file && at.line)
		escaped_printf(out, " (%s%s:%" PRIu32 ")", symbol->inlined ? "inlined at " : "",
			       base_name(at.file->text), at.line);
}

static double percent(const struct slow_answer *answer, const struct slow_cluster *cluster,
		      double extra)
{
	return round(1000 * slow_share(answer, cluster, extra)) / 10 + 0.0; /* never -0 */
}

/* Print the cause of a cluster in words, with its share; `whole`: also of what. */
static void print_cause(const struct slow_answer *answer, const struct slow_cluster *cluster,
			bool whole, FILE *out)
{
	const struct symbol *leaf = slow_symbol(answer, cluster->leaf);
	const char *unit = amount_unit(answer->calls->by_insns);
	bool own = cluster->cause == answer->function;

	if (cluster->stops) {
		bool preempted = slow_symbol(answer, cluster->cause)->special == SPECIAL_OFF_CPU;

		/* Stops that are a cause: of what kind they are, and whether they hit all code. */
		if (!cluster->faults || preempted)
			fputs(preempted ? "preempted" : "interrupts or page faults", out);
		if (cluster->alike) {
			/* Few stops are no evidence. */
			fputs(cluster->often > 0 ? ", as all code" : "", out);
		} else if (cluster->faults && !preempted) {
			fputs("likely page faults in ", out);
			short_name_print(slow_name(answer, cluster->within), out);
			symbol_line_print(slow_symbol(answer, cluster->within),
					  slice_source_line(slow_symbol(answer, cluster->within)),
					  out);
		} else if (!cluster->faults) {
			fprintf(out, ", %.1f times as often as other code", cluster->often);
		}
	} else {
		fputs(own ? "own code of " : "", out);
		short_name_print(slow_name(answer, cluster->cause), out);
	}
	symbol_line_print(slow_symbol(answer, cluster->cause), cluster->line, out);
	fprintf(out, ", %.0f %%",
		percent(answer, cluster, own ? cluster->own_extra : cluster->cause_extra));
	if (whole)
		fprintf(out, " of the%s%s", answer->others ? " extra" : "", *unit ? unit : " time");
	if (cluster->leaf == cluster->cause || cluster->stops)
		return;
	fprintf(out, ", %.0f %% in ", percent(answer, cluster, cluster->leaf_extra));
	if (symbol_is_syscall(leaf) && leaf->linkage != leaf->name)
		fprintf(out, "%s()", leaf->linkage->text);
	else
		short_name_print(slow_name(answer, cluster->leaf), out);
}

/* A difference in calls of the cause. */
struct difference {
	const char *what; /* "calls" or "instructions"; NULL: none */
	double slow, usual;
};

static struct difference find_difference(const struct slow_answer *answer,
					 const struct slow_cluster *cluster)
{
	static const char *const words[] = { "calls", "instructions" };
	const struct path_cost *own = cluster->own;
	const uint64_t pairs[][2] = { { own[0].calls, own[1].calls },
				      { own[0].own.insns, own[1].own.insns } };
	bool is_own = cluster->own_extra >= 0.5 * cluster->extra;

	for (int i = cluster->cause == answer->function; i < 2 && answer->others && !cluster->stops;
	     i++) {
		double slow = mean_of(pairs[i][0], cluster->count);
		double usual = mean_of(pairs[i][1], answer->others);

		if (slow >= 1.2 * usual && slow >= usual + 1 && (!i || is_own))
			return (struct difference){ words[i], slow, usual };
	}
	return (struct difference){ NULL };
}

static void print_difference(const struct slow_answer *answer, const struct slow_cluster *cluster,
			     FILE *out)
{
	struct difference found = find_difference(answer, cluster);

	if (!found.what)
		return;
	if (*found.what != 'c')
		fprintf(out, "; %.0f %s, usually %.*f", found.slow, found.what,
			found.usual > 0 && found.usual < 9.95, found.usual);
	else if (found.slow < 1.5)
		fprintf(out, "; called once, usually %s", usual_calls_text(found.usual).text);
	else
		fprintf(out, "; called %.0f times, usually %s", found.slow,
			usual_calls_text(found.usual).text);
}

char *why_cause_text(const struct slow_answer *answer, const struct slow_cluster *cluster)
{
	char *text;
	FILE *out = OPEN_TEXT(text);

	print_cause(answer, cluster, true, out);
	print_difference(answer, cluster, out);
	alloc_close_text(out, &text);
	return text;
}

/* ---- Lines --------------------------------------------------------------- */

static const struct name *name_of(const struct slow_answer *answer, uint32_t row)
{
	return slow_name(answer, answer->info[row].function);
}

static int columns_of(const struct slow_answer *answer, uint32_t row)
{
	return (int)strlen(short_name(name_of(answer, row)->text).text);
}

/* Print the functions of a line up to a row: the first one, and as many of the innermost as fit. */
static void print_path(const struct slow_answer *answer, const struct cause_line *line,
		       uint32_t row, int columns, FILE *out)
{
	columns -= columns_of(answer, row) + 3;
	if (row != line->first && (columns >= 0 || row == line->last)) {
		print_path(answer, line, answer->info[row].parent, columns, out);
		fputs(" > ", out);
		short_name_print(name_of(answer, row), out);
	} else {
		short_name_print(name_of(answer, line->first), out);
		fputs(row == line->first ? "" : " > ...", out);
	}
}

static void print_line(const struct slow_answer *answer, const struct slow_cluster *cluster,
		       const struct cause_line *line, FILE *out)
{
	int indent = line->depth < 16 ? 2 * (int)line->depth : 32;

	fprintf(out, "%8.1f%% %10s  %*s", percent(answer, cluster, line->extra),
		extra_text(answer->calls->by_insns, line->extra).text, indent, "");
	if (line->remainder)
		fputs("own code and other callees", out);
	else
		print_path(answer, line, line->last,
			   COLUMNS - 27 - indent - columns_of(answer, line->first), out);
	putc('\n', out);
}

/* Format and arguments of a thread of the chain of waits. */
#define HOP_FORMAT   "the wait for %s/%" PRId32
#define HOP_OF(hop_) thread_last_name((hop_)->thread) ?: "", (hop_)->thread->tid

/* Print a tree: its outer levels that have at most `most` lines. */
static void print_tree(const struct slow_answer *answer, const struct slow_cluster *cluster,
		       size_t most, FILE *out)
{
	size_t counts[CAUSE_LINES + 1] = { 0 }, lines = 0;
	unsigned depth = 0;

	for (size_t i = 0; i < cluster->line_count; i++)
		counts[MIN(cluster->lines[i].depth, (unsigned)CAUSE_LINES)]++;
	while (depth <= CAUSE_LINES && lines + counts[depth] <= most)
		lines += counts[depth++];
	for (size_t i = 0; i < cluster->line_count; i++)
		if (cluster->lines[i].depth < depth)
			print_line(answer, cluster, &cluster->lines[i], out);
	if (depth && percent(answer, cluster, cluster->rest) > 0)
		fprintf(out, "%8.1f%% %10s  rest\n", percent(answer, cluster, cluster->rest), "");
}

static void print_cluster(struct slow_answer *answer, size_t number, size_t shown, size_t lines,
			  FILE *out)
{
	struct slow_cluster *cluster = &answer->clusters[number];
	bool one = cluster->count == 1;

	fprintf(out, "%zu. ", shown);
	print_cause(answer, cluster, true, out);
	fprintf(out, "\n   %zu call%s%s, %s%s more%s%s", cluster->count, one ? "" : "s",
		one && cluster->calls[0]->begin == answer->of->first_begin ? " (the first one)"
									   : "",
		cluster->cut ? ">" : "", extra_text(answer->calls->by_insns, cluster->more).text,
		amount_unit(answer->calls->by_insns), one ? "" : " each");
	print_difference(answer, cluster, out);
	putc('\n', out);
	for (size_t i = 0; i < cluster->fact_count; i++)
		fprintf(out, "   %s\n", cluster->facts[i].words);
	if (!number) {
		const struct slow_cluster *clusters = answer->clusters;
		bool by_insns = answer->calls->by_insns;
		struct slow_gain gain = slow_answer_gain(answer, clusters);

		/* Print the quantile that falls if this cause is mended, and the next cause. */
		if (gain.of) {
			fputs("   without ", out);
			if (gain.root)
				escaped_printf(out, HOP_FORMAT, HOP_OF(gain.root));
			else
				fputs("it", out);
			fprintf(out, ": %s %s -> %s%s", gain.of,
				amount_text(by_insns, gain.now).text,
				amount_text(by_insns, gain.then).text, amount_unit(by_insns));
			if (gain.root > clusters->wait.hops) {
				escaped_printf(out, "; next: " HOP_FORMAT, HOP_OF(gain.root - 1));
			} else if (answer->count > 1 && !clusters[1].stops &&
				   why_shows(answer, 1)) {
				fputs("; next: ", out);
				short_name_print(slow_name(answer, clusters[1].cause), out);
			}
			putc('\n', out);
		}
	}
	if (!cluster->alike) /* else the places of stops say nothing */
		print_tree(answer, cluster, lines, out);
}

bool why_shows(const struct slow_answer *answer, size_t number)
{
	return number < CLUSTERS_MOST &&
	       (!number || slow_share(answer, &answer->clusters[number],
				      answer->clusters[number].extra) >= 0.05);
}

/* Print how many calls are slow, of which calls. */
static void print_counts(const struct slow_answer *answer, FILE *out)
{
	bool by_insns = answer->calls->by_insns;
	const char *unit = amount_unit(by_insns);
	enum slow_nesting nesting = slow_answer_nesting(answer);

	short_name_print(slow_name(answer, answer->function), out);
	fputs(": ", out);
	if (answer->all == 1 && !answer->slow) {
		fprintf(out, "1 call, of %s%s; there is no other one to compare it with\n",
			amount_text(by_insns, answer->median).text, unit);
		return;
	}
	fprintf(out, "%" PRIu64 " of %" PRIu64 " ", answer->slow, answer->all);
	if (nesting == NESTING_WHOLE)
		fprintf(out, "outermost calls (%" PRIu64 " are nested in them)",
			answer->calls->functions[answer->function].nested);
	else
		fputs("calls", out);
	fprintf(out, " longer than %s%s; median %s", amount_text(by_insns, answer->bound).text,
		nesting == NESTING_APART ? " without nested ones" : "",
		amount_text(by_insns, answer->median).text);
	fprintf(out, *unit ? " (%s)\n" : "\n", unit + 1);
}

char *why_verdict_text(const struct slow_answer *answer)
{
	const struct call_split *split = &answer->split;
	bool by_insns = answer->calls->by_insns;
	char *verdict;
	FILE *out = OPEN_TEXT(verdict);

	if (split->shape == SHAPE_KINDS) {
		fprintf(out, "two kinds of calls: %" PRIu64 " of about %s, ", answer->slow,
			amount_text(by_insns, split->high).text);
		fprintf(out, "%" PRIu64 " of about %s", answer->all - answer->slow,
			amount_text(by_insns, split->base).text);
	} else if (split->shape == SHAPE_TREND) {
		fputs("the calls become slower: medians of the quarters", out);
		for (size_t i = 0; i < 4; i++)
			fprintf(out, "%s %s", i ? "," : "",
				amount_text(by_insns, (uint64_t)split->quarters[i]).text);
	} else if (answer->period || (answer->even && answer->all > 1)) {
		fputs(answer->stretched ? "without interruptions, " : "", out);
		if (answer->period)
			fprintf(out, "one in %" PRIu64 " calls is slow, at equal distances",
				answer->period);
		else
			fputs("no call is much slower than the others", out);
	} else if (answer->count == 1 && answer->clusters[0].first) {
		fputs("only the first call is slow", out);
	}
	alloc_close_text(out, &verdict);
	return verdict;
}

/* The words for parts of the budget; a system call has its own. */
static const char *const budget_words[] = {
	"own code",   "callees", "system calls", "preempted", "interrupts or page faults",
	"lost trace", "parked",  "other",
};

/* Returns whether a system call waits, by the recorded switches of a slow call. */
static bool part_waits(const struct slow_answer *answer, const struct budget_part *part)
{
	for (size_t i = 0; part->syscall && i < answer->count; i++)
		if (slow_symbol(answer, answer->clusters[i].leaf) == part->syscall &&
		    answer->clusters[i].wait.off.end)
			return true;
	return false;
}

/* Print where the extra time of all slow calls was spent. */
static void print_budget(const struct slow_answer *answer, FILE *out)
{
	if (!answer->budget_count)
		return;
	fputs(answer->calls->by_insns ? "extra instructions:" : "extra time:", out);
	for (size_t i = 0; i < answer->budget_count; i++) {
		const struct budget_part *part = &answer->budget[i];
		bool named;

		if (!part->percent)
			continue;
		named = part->syscall && part->syscall->linkage != part->syscall->name;
		fprintf(out, "%s%d %% %s%s%s", i ? ", " : " ", part->percent,
			part_waits(answer, part) ? "waiting in "
			: part->syscall          ? "in "
						 : "",
			named ? part->syscall->linkage->text : budget_words[part->kind],
			named ? "()" : "");
	}
	putc('\n', out);
}

static void print_answer(const struct why_output *why, struct slow_answer *answer,
			 const struct detail *detail, FILE *out)
{
	bool first = answer == why->answers;
	size_t rest = 0, shown = 0;
	char *verdict = why_verdict_text(answer);

	print_counts(answer, out);
	fprintf(out, *verdict ? "%s\n" : "", verdict);
	free(verdict);
	/* Print where the time of usual calls is, if that is the question that remains. */
	if (answer->usual.line_count) {
		fprintf(out, "%s call takes %s%s:\n", answer->all == 1 ? "the" : "a usual",
			extra_text(answer->calls->by_insns, answer->usual.extra).text,
			amount_unit(answer->calls->by_insns));
		for (size_t i = 0; i < answer->usual.line_count; i++)
			print_line(answer, &answer->usual, &answer->usual.lines[i], out);
	}
	print_budget(answer, out);
	for (size_t i = 0; i < answer->count; i++)
		if (why_shows(answer, i) && i < (first ? CLUSTERS_MOST : detail->clusters))
			print_cluster(answer, i, ++shown,
				      first && !i ? detail->tree : detail->trees, out);
		else
			rest += answer->clusters[i].count;
	if (rest)
		fprintf(out, "other causes made %zu call%s slow\n", rest, rest == 1 ? "" : "s");
	if (answer->outer)
		fprintf(out,
			"%" PRIu64 " more slow call%s nested slow calls of it, which have the "
			"extra time\n",
			answer->outer, answer->outer == 1 ? " has" : "s have");
	if (answer->slow > answer->compared + answer->outer)
		fprintf(out,
			"%" PRIu64 " more slow calls %s: the slowest %" PRIu64 " are compared\n",
			answer->slow - answer->compared - answer->outer,
			answer->split.shape == SHAPE_TAIL ? "count as usual"
							  : "are taken to be alike",
			answer->compared);
	print_text_lines("next: ", why_commands(why, answer),
			 first ? detail->commands : detail->more_commands, out);
}

/* ---- The answer ---------------------------------------------------------- */

/* Without chosen functions: a line for each answer, up to the largest if it matters little. */
static void print_ranking(const struct why_output *why, double most, FILE *out)
{
	fputs("slow calls take this much more than usual:\n", out);
	for (size_t i = 0; i < why->count; i++) {
		const struct slow_answer *answer = &why->answers[i];

		fprintf(out, "%10s  ", extra_text(answer->calls->by_insns, answer->excess).text);
		short_name_print(slow_name(answer, answer->function), out);
		fputs(": ", out);
		print_cause(answer, &answer->clusters[0], false, out);
		putc('\n', out);
		if (why->most.calls && answer->excess >= most)
			break;
	}
}

/* Called after the last slice. */
static void make_answers(struct why_output *why)
{
	const struct callstack_machine *machine = why->output.machine;

	if (why->answers)
		return;
	if (!why->calls.by_insns && machine->times == TIMES_MEASURED)
		why->calls.resolution = machine->resolution;
	function_labels_make(&why->calls.labels, &why->calls.table, why->names);
	why->answers = alloc_zeroed(ANSWERS_MOST, sizeof(*why->answers));
	why->count = slow_answers_rank(why->answers, ANSWERS_MOST, &why->calls,
				       why_has_chosen(why->options), &why->options->slow);
	if (!why_has_chosen(why->options))
		slow_most_make(&why->most, &why->calls, why->answers, why->count);
	why->look = (struct slow_look){ .answers = why->answers,
					.count = why->count,
					.timeline = why->output.timeline };
	syscall_symbols_init(&why->look.syscalls, why->names, NULL);
}

bool why_look(struct format_output *output, struct look_window *window)
{
	struct why_output *why = (struct why_output *)output;

	make_answers(why);
	/* A window has all stacks of a thread, and a call with --fibers is one of a stack. */
	return !why->options->fibers && slow_look_next(&why->look, window);
}

void why_see(struct format_output *output, const struct branch_event *event,
	     const struct location_pair *places)
{
	slow_look_see(&((struct why_output *)output)->look, event, places);
}

/* Print the cost of the first calls of library functions, unless slow calls cost much more. */
static void print_bindings(const struct why_output *why, FILE *out)
{
	uint64_t ns, count = slow_calls_bindings(&why->calls, &ns);

	if (count && !why->calls.by_insns &&
	    (!why->count || (double)ns >= why->answers[0].excess / 20))
		fprintf(out,
			"lazy binding of library functions took %s in %" PRIu64
			" call%s; link with -z now\n",
			short_time(ns).text, count, count == 1 ? "" : "s");
}

/*
 * Returns the function of the call with the longest stops, if they exceed all slow calls, and a few
 * usual interrupts; else NULL.
 */
static const struct slow_function *find_long_stop(const struct why_output *why)
{
	const struct slow_calls *calls = &why->calls;
	const struct slow_function *longest = NULL;

	for (size_t i = 0; i < calls->function_count && !calls->by_insns; i++) {
		const struct slow_function *function = &calls->functions[i];

		if (function->durations.count >= TAIL_CALLS_LEAST && function->stopped &&
		    function->stopped->longest > function->durations.max &&
		    (!longest || function->stopped->longest >= longest->stopped->longest))
			longest = function; /* the callee, if equal */
	}
	if (!longest ||
	    (why->count && (double)longest->stopped->longest <= why->answers[0].excess) ||
	    (double)longest->stopped->longest * (double)calls->stops <= 4 * (double)calls->stopped)
		return NULL;
	return longest;
}

static void print_stop(const struct why_output *why, FILE *out)
{
	const struct slow_function *longest = find_long_stop(why);

	if (!longest)
		return;
	fputs("a call of ", out);
	short_name_print(function_label(&why->calls.labels, longest->symbol), out);
	escaped_printf(out, " was stopped for %s: by interrupts, page faults or threads\n",
		       short_time(longest->stopped->longest).text);
	fprintf(out, "next: ptrace2ftf why --slow=%s",
		short_time(longest->stopped->longest / 2).text);
	why_command_print(why, "", NULL, out);
	putc('\n', out);
}

char *why_most_text(const struct why_output *why)
{
	const struct slow_answer *most = &why->most;
	char *text;
	FILE *out = OPEN_TEXT(text);

	escaped_printf(
		out,
		"most time is in %s: %.0f %% of the time outside system calls; calls: %" PRIu64
		"; a usual one takes %s",
		short_name(slow_name(most, most->function)->text).text,
		100 * (double)most->ran / (double)most->all_ran, most->all,
		extra_text(false, most->usual.extra).text);
	for (size_t i = 1; i < most->usual.line_count; i++) {
		const struct cause_line *line = &most->usual.lines[i];
		uint32_t function = most->info[line->first].function;

		if (!line->remainder &&
		    (line->depth == 1 || slow_symbol(most, function)->dso == most->of->symbol->dso))
			escaped_printf(out, ", %.0f %% in %s",
				       percent(most, &most->usual, line->extra),
				       short_name(slow_name(most, function)->text).text);
	}
	alloc_close_text(out, &text);
	return text;
}

/* Returns the answer, owned by the caller, in long lines. */
static char *make_text(const struct why_output *why, const struct detail *detail)
{
	bool chosen = why_has_chosen(why->options);
	double most = 0;
	char *text;
	FILE *out = OPEN_TEXT(text);

	for (size_t i = 0; i < why->count; i++)
		most = MAX(most, why->answers[i].excess);
	if (why->count && !chosen)
		print_ranking(why, most, out);
	else if (!why->count && !chosen)
		fprintf(out, "no function with %d calls or more has slow ones; choose %s\n",
			TAIL_CALLS_LEAST,
			why->options->slow.has_bound ? "a shorter --slow"
						     : "a function with --symbol");
	if (why->most.calls) {
		char *line = why_most_text(why);

		fprintf(out, "%s\n", line);
		free(line);
	}
	fputs(why->count && !chosen ? "\n" : "", out);
	print_stop(why, out);
	for (size_t i = 0; i < why->count; i++) {
		if (!chosen && i &&
		    (i >= detail->answers || why->answers[i].excess < ANSWER_LEAST * most))
			continue;
		print_answer(why, &why->answers[i], detail, out);
		putc('\n', out);
	}
	alloc_close_text(out, &text);
	return text;
}

/* Returns the lines after the answers, owned by the caller. */
static char *make_end(const struct why_output *why)
{
	char *text;
	FILE *out = OPEN_TEXT(text);
	const struct slow_calls *calls = &why->calls;
	double ran = why->count ? (double)why->answers[0].all_ran : 0;
	bool alike = calls->stops >= STOPS_LEAST && calls->stopped >= ran / 200;

	/*
	 * Print the share of stops in the time of all code, once, if they hit all answers'
	 * calls alike.
	 */
	for (size_t i = 0; i < why->count; i++)
		for (size_t j = 0; j < why->answers[i].count; j++)
			alike &= !why->answers[i].clusters[j].stops ||
				 why->answers[i].clusters[j].alike;
	if (alike && ran > 0 && !calls->by_insns)
		fprintf(out,
			"all code alike was interrupted %" PRIu64 " times: %.0f %% of the time "
			"outside system calls\n",
			calls->stops,
			100 * (double)calls->stopped / (ran + (double)calls->stopped));
	print_bindings(why, out);
	if (why->count)
		print_text_lines("", why_doubts_text(why), SIZE_MAX, out);
	alloc_close_text(out, &text);
	return text;
}

/*
 * Returns the length of the part of a line that fits, up to a blank; a command is not broken within
 * quotes. A part that is too long is whole.
 */
static size_t fitting(const char *line, size_t length, size_t columns, bool command)
{
	size_t found = 0, column = 0;
	bool quoted = false;

	if (length <= columns)
		return length;
	for (size_t i = 0; i < length && (column <= columns || !found); i++) {
		column += ((uint8_t)line[i] & 0xc0) != 0x80;
		quoted ^= command && line[i] == '\'';
		if (command && !quoted && line[i] == '\\')
			i++;
		else if (line[i] == ' ' && line[i + 1] != '%' && !quoted &&
			 (!found || column + 2 * command <= columns))
			found = i;
	}
	return found && column > columns ? found : length;
}

/* Print lines broken at COLUMNS; a broken command runs, too. Returns their number. */
static size_t print_broken(const char *text, FILE *out)
{
	size_t lines = 0;

	for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		bool command = starts_with(line, "next: ");
		size_t indent = strspn(line, " ");

		for (bool first = true; line < end || first; first = false, lines++) {
			size_t more = first ? 0 : indent + 6;
			size_t skip = first ? indent + (command ? 6 : 0) : 0;
			size_t part = skip + fitting(line + skip, (size_t)(end - line) - skip,
						     COLUMNS - more - skip, command);

			fprintf(out, "%*s%.*s%s\n", (int)more, "", (int)part, line,
				line + part < end && command ? " \\" : "");
			line += part;
			line += line < end;
		}
		line = end;
	}
	return lines;
}

static void print_why(struct format_output *output)
{
	struct why_output *why = (struct why_output *)output;
	char *text, *end;
	FILE *out;
	size_t count = 0;

	make_answers(why);
	/*
	 * Find all facts. Several causes with the same code and more time, at random places,
	 * are noise: remove these facts, and count them.
	 */
	for (int remove = 0; remove < 2; remove++)
		for (size_t i = 0; i < why->count; i++)
			for (size_t j = 0; j < why->answers[i].count; j++) {
				struct slow_cluster *cluster = &why->answers[i].clusters[j];

				why->answers[i].timeline = why->output.timeline;
				cause_facts_find(&why->answers[i], cluster);
				for (size_t k = cluster->fact_count; k-- > 0;) {
					if (strcmp(cluster->facts[k].kind, "memory") != 0)
						continue;
					count += !remove;
					if (remove && count >= NOISE_LEAST)
						cause_fact_remove(cluster, k);
				}
			}
	why->noise = count >= NOISE_LEAST ? count : why->noise;
	if (why_has_chosen(why->options))
		function_choice_warn(&why->calls.choice, why->count, output->machine->diag);
	end = make_end(why);
	for (size_t i = 0; output->text && i < COUNT_OF(details); i++) {
		char *lines = make_text(why, &details[i]);
		bool last = i + 1 == COUNT_OF(details);

		out = OPEN_TEXT(text);
		last |= print_broken(lines, out) + print_broken(end, out) <= LINES;
		alloc_close_text(out, &text);
		if (last)
			fputs(text, output->text);
		free(lines);
		free(text);
		if (last)
			break;
	}
	free(end);
}

/* ---- JSON (doc/summary.schema.json) -------------------------------------- */

static json_t *name_json(const struct slow_answer *answer, uint32_t function)
{
	return json_name(slow_name(answer, function));
}

/* Returns a text that is the same in all recordings of the function's file. */
static json_t *identity_json(const struct slow_answer *answer, uint32_t function)
{
	const struct symbol *symbol = slow_symbol(answer, function);
	const struct name *library = symbol->dso ? symbol->dso->short_name : NULL;
	char *identity = function_identity(&answer->calls->labels, symbol);
	char *text =
		alloc_text("%s%s%s", library ? library->text : "", library ? ":" : "", identity);
	json_t *json = json_any_text(text, strlen(text));

	free(identity);
	free(text);
	return json;
}

static json_t *line_json(const struct slow_answer *answer, const struct slow_cluster *cluster,
			 const struct cause_line *line)
{
	json_t *path = json_array();

	for (uint32_t at = line->last; at; at = answer->info[at].parent)
		json_array_insert_new(path, 0, name_json(answer, answer->info[at].function));
	return json_pack("{so si sb sb sf sf}", "path", path, "depth", (int)line->depth, "leaf",
			 (int)line->leaf, "remainder", (int)line->remainder, "extra", line->extra,
			 "share", slow_share(answer, cluster, line->extra));
}

/* Returns lines of text, which it releases, as an array. */
static json_t *lines_json(char *lines)
{
	json_t *list = json_array();

	for (char *line = lines, *end; (end = strchr(line, '\n')); line = end + 1)
		json_array_append_new(list, json_any_text(line, (size_t)(end - line)));
	free(lines);
	return list;
}

/* Returns where a call was when the trace ended or was missing; null: its end was traced. */
static json_t *place_json(const struct slow_answer *answer, const struct slow_call *call)
{
	struct call_place place;
	struct source_line at;

	if (!slow_call_place(answer, call, &place))
		return json_null();
	at = slice_source_line(place.own);
	return json_pack("{so so so sI sb}", "function", json_name(place.function->name), "own",
			 json_name(place.own->name), "file", json_name(at.file), "line",
			 (json_int_t)at.line, "open", (int)place.open);
}

static json_t *gain_json(const struct slow_answer *answer, const struct slow_cluster *cluster)
{
	struct slow_gain gain = slow_answer_gain(answer, cluster);

	if (!gain.of)
		return json_null();
	return json_pack("{ss sI sI}", "of", gain.of, "now", json_value_of(gain.now), "then",
			 json_value_of(gain.then));
}

/* Returns a thread of the chain of waits. */
static json_t *hop_json(const struct slow_answer *answer, const struct thread_hop *hop)
{
	const char *name = thread_last_name(hop->thread) ?: "";

	return json_pack("{so sI so sb sb sb sI so so}", "thread",
			 json_any_text(name, strlen(name)), "tid", (json_int_t)hop->thread->tid,
			 "path",
			 JSON_LIST(i, hop->path_count,
				   json_name(function_label(&answer->calls->labels, hop->path[i]))),
			 "path_cut", (int)hop->path_cut, "proved", (int)hop->proved, "lock",
			 (int)hop->held, "ns", json_value_of(hop->ns), "waited_in",
			 json_name(hop->blocked ? hop->blocked->name : NULL), "cpu_of",
			 hop->instead ? json_integer(hop->instead->tid) : json_null());
}

static json_t *fact_json(const struct slow_answer *answer, const struct slow_cluster *cluster,
			 const struct cause_fact *fact)
{
	const struct shared_trait *shared = &fact->shared;
	bool loop = strcmp(fact->kind, "loop") == 0;
	json_t *object =
		json_pack("{ss so so sI sn sn sn so sf so sn ss}", "kind", fact->kind, "function",
			  json_name(fact->function), "file", json_name(fact->file), "line",
			  (json_int_t)fact->line, "rounds", "calls", "usual", "extra_ns",
			  fact->extra > 0 ? json_real(fact->extra) : json_null(), "share",
			  slow_share(answer, cluster, fact->extra), "thread",
			  fact->thread ? json_integer(fact->thread->tid) : json_null(), "shared",
			  "words", fact->words);

	if (fact->counts) {
		json_object_set_new(object, loop ? "rounds" : "calls", json_real(fact->slow));
		json_object_set_new(object, "usual", json_real(fact->usual));
	}
	if (shared->call)
		json_object_set_new(
			object, "shared",
			json_pack("{sf sf sI sb sI sI}", "slow_calls", shared->same, "usual_share",
				  shared->share, "usual_calls", (json_int_t)shared->usual_calls,
				  "sampled", (int)shared->sampled, "value",
				  shared->trait < TRAIT_THREAD ? 0
				  : shared->trait == TRAIT_THREAD
					  ? shared->call->track->tid
					  : json_value_of(shared->value -
							  (shared->trait == TRAIT_CPU)),
				  "usual_value",
				  shared->trait == TRAIT_PAUSE ? json_value_of(shared->usual) : 0));
	return object;
}

static const char *cluster_kind(const struct slow_answer *answer,
				const struct slow_cluster *cluster)
{
	if (cluster->stops)
		return slow_symbol(answer, cluster->cause)->special == SPECIAL_OFF_CPU ? "preempted"
		       : cluster->faults ? "page faults"
					 : "interrupts";
	if (slow_symbol(answer, cluster->leaf)->special == SPECIAL_PARKED)
		return "parked";
	return symbol_is_syscall(slow_symbol(answer, cluster->leaf)) ? "system call"
	       : cluster->cut                                        ? "open"
	       : cluster->first                                      ? "first call"
	       : cluster->cause == answer->function                  ? "own code"
								     : "callee";
}

static json_t *part_json(const struct slow_answer *answer, const struct budget_part *part)
{
	bool named = part->syscall && part->syscall->linkage != part->syscall->name;

	return json_pack("{ss so sf sf sI sb}", "kind", budget_words[part->kind], "system_call",
			 json_name(named ? part->syscall->linkage : NULL), "extra", part->extra,
			 "share", part->extra / answer->extra, "percent", (json_int_t)part->percent,
			 "waiting", (int)part_waits(answer, part));
}

static json_t *cluster_json(struct slow_answer *answer, struct slow_cluster *cluster)
{
	struct difference found = find_difference(answer, cluster);
	struct source_line at = cluster->line;
	char *text = why_cause_text(answer, cluster);
	const struct slow_call *slowest = cluster->calls[0];
	json_t *object;

	object = json_pack(
		"{so so so sI so so sI sb sf s{sI sI sI sb sb so} so sf so so ss sf sf so so so}",
		"cause", name_json(answer, cluster->cause), "cause_identity",
		identity_json(answer, cluster->cause), "file", json_name(at.file), "line",
		(json_int_t)at.line, "words", json_text_or_null(text), "in",
		name_json(answer, cluster->leaf), "calls", (json_int_t)cluster->count, "cut",
		(int)cluster->cut, "extra", cluster->more, "slowest", "begin_ns",
		json_value_of(slowest->begin), "duration_ns", json_value_of(slowest->duration),
		"tid", (json_int_t)slowest->track->tid, "begin_seen", (int)slowest->begin_seen,
		"end_seen", (int)slowest->end_seen, "at", place_json(answer, slowest), "lines",
		JSON_LIST(i, cluster->line_count, line_json(answer, cluster, &cluster->lines[i])),
		"rest_share", slow_share(answer, cluster, cluster->rest), "details",
		JSON_LIST(i, cluster->fact_count, json_text_or_null(cluster->facts[i].words)),
		"without", gain_json(answer, cluster), "kind", cluster_kind(answer, cluster),
		"share", slow_share(answer, cluster, cluster->cause_extra), "in_share",
		slow_share(answer, cluster, cluster->leaf_extra), "differs",
		found.what ? json_pack("{ss sf sf}", "what", found.what, "slow", found.slow,
				       "usual", found.usual)
			   : json_null(),
		"facts",
		JSON_LIST(i, cluster->fact_count, fact_json(answer, cluster, &cluster->facts[i])),
		"waited_for",
		JSON_LIST(i, cluster->wait.hop_count, hop_json(answer, &cluster->wait.hops[i])));
	free(text);
	return object;
}

static json_t *verdict_json(const struct slow_answer *answer)
{
	static const char *const shapes[] = { "tail", "two kinds", "trend" };
	const struct call_split *split = &answer->split;
	bool first = answer->count == 1 && answer->clusters[0].first;
	json_t *verdict;
	char *words = why_verdict_text(answer);

	verdict = json_pack(
		"{ss so sI sI sI so}", "kind",
		split->shape   ? shapes[split->shape]
		: answer->even ? "even"
		: first        ? "first"
			       : shapes[0],
		"words", json_text_or_null(words), "period", json_value_of(answer->period), "base",
		json_value_of(split->base), "high", json_value_of(split->high), "quarters",
		JSON_LIST(i, split->shape == SHAPE_TREND ? 4 : 0, json_real(split->quarters[i])));
	free(words);
	return verdict;
}

static json_t *answer_json(const struct why_output *why, struct slow_answer *answer)
{
	static const char *const nestings[] = { "none", "apart", "whole", "slow" };
	const struct slow_function *function = answer->of;

	return json_pack(
		"{so so so sI sI sI sI sI ss sI sI sI sI sI sf so so so so so sI}", "function",
		name_json(answer, answer->function), "symbol",
		json_name(function_pattern(&why->calls.labels,
					   answer->calls->functions[answer->function].symbol)),
		"identity", identity_json(answer, answer->function), "calls",
		json_value_of(answer->all), "slow_calls", json_value_of(answer->slow),
		"compared_calls", json_value_of(answer->compared), "left_out",
		json_value_of(answer->cut), "slow_outside", json_value_of(answer->outer), "nesting",
		nestings[slow_answer_nesting(answer)], "nested_calls",
		json_value_of(answer->calls->functions[answer->function].nested), "stopped_calls",
		json_value_of(function->stopped ? function->stopped->with.count : 0),
		"longest_stop_ns",
		json_value_of(function->stopped ? function->stopped->longest : 0), "median",
		json_value_of(answer->median), "bound", json_value_of(answer->bound), "excess",
		answer->excess, "clusters",
		JSON_LIST(i, answer->count, cluster_json(answer, &answer->clusters[i])), "next",
		lines_json(why_commands(why, answer)), "verdict", verdict_json(answer), "usual",
		JSON_LIST(i, answer->usual.line_count,
			  line_json(answer, &answer->usual, &answer->usual.lines[i])),
		"budget", JSON_LIST(i, answer->budget_count, part_json(answer, &answer->budget[i])),
		"slow_by_stops", json_value_of(answer->stretched));
}

json_t *why_answer(const struct format_output *output)
{
	const struct why_output *why = (const struct why_output *)output;
	const struct slow_function *stopped = find_long_stop(why);
	json_t *answer;

	answer = json_pack(
		"{ss ss so so}", "format", "why", "unit",
		why->calls.by_insns ? "instructions" : "ns", "functions",
		JSON_LIST(i, why->count, answer_json(why, &why->answers[i])), "long_stop",
		stopped ? json_pack("{so sI}", "function",
				    json_name(function_label(&why->calls.labels, stopped->symbol)),
				    "ns", json_value_of(stopped->stopped->longest))
			: json_null());
	if (why->most.calls)
		json_object_set_new(answer, "most_time",
				    answer_json(why, (struct slow_answer *)&why->most));
	json_object_set_new(answer, "doubts", why_doubts(why));
	time_note_add(answer, why->output.machine);
	return answer;
}

void why_release(struct format_output *output)
{
	struct why_output *why = (struct why_output *)output;

	for (size_t i = 0; i < why->count; i++)
		slow_answer_release(&why->answers[i]);
	free(why->answers);
	slow_answer_release(&why->most);
	slow_look_release(&why->look);
	slow_calls_release(&why->calls);
}

/* Not a word of --format. */
const struct output_format format_why = { WHY_FORMAT, .suffix = "txt", .lines = true,
					  .finish = print_why };
