/* SPDX-License-Identifier: MIT */
/*
 * The answer of `ptrace2ftf why`: the causes of the slow calls of the functions of --symbol, or of
 * the functions whose slow calls take most time.
 */
#include <math.h>

#include "src/formats/answers/why.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/time_note.h"
#include "src/slices/slice_args.h"

/* Limits of slow calls kept per function: of chosen functions, and of all functions. */
#define KEPT_CHOSEN 1000
#define KEPT_OF_ALL 128

/* Limits of functions with an answer, and of clusters of each. */
#define ANSWERS_MOST  3
#define CLUSTERS_MOST 3

/* Columns of a line, and a name in a sentence. */
#define COLUMNS    80
#define SHORT_NAME "%.36s"

void why_open(struct format_output *output, const struct format_request *request)
{
	struct why_output *why = (struct why_output *)output;

	why->options = request->options;
	why->names = request->names;
	slow_calls_init(&why->calls, request->options, &request->facts,
			why_has_chosen(request->options) ? KEPT_CHOSEN : KEPT_OF_ALL);
	output->slices = &why->calls.tree.slices;
	output->sink = why->calls.sink;
}

/* ---- Sentences ----------------------------------------------------------- */

/* Print lines of text, and release the text. */
static void print_text_lines(const char *prefix, char *lines, FILE *out)
{
	for (char *line = lines, *end; (end = strchr(line, '\n')); line = end + 1)
		fprintf(out, "%s%.*s\n", prefix, (int)(end - line), line);
	free(lines);
}

void symbol_line_print(const struct symbol *symbol, FILE *out)
{
	struct source_line at = slice_source_line(symbol);

	if (at.file && at.line)
		escaped_printf(out, " (%s%s:%" PRIu32 ")", symbol->inlined ? "inlined at " : "",
			       base_name(at.file->text), at.line);
}

static double percent(const struct slow_answer *answer, const struct slow_cluster *cluster,
		      double extra)
{
	return round(1000 * slow_share(answer, cluster, extra)) / 10 + 0.0; /* never -0 */
}

static double mean(uint64_t sum, uint64_t calls)
{
	return calls ? (double)sum / (double)calls : 0;
}

/* Print the cause of a cluster in words, with its share; `whole`: also of what. */
static void print_cause(const struct slow_answer *answer, const struct slow_cluster *cluster,
			bool whole, FILE *out)
{
	const struct symbol *leaf = slow_symbol(answer, cluster->leaf);
	const char *unit = amount_unit(answer->calls->by_insns);
	bool own = cluster->cause == answer->function;

	escaped_printf(out, "%s" SHORT_NAME, own ? "own code of " : "",
		       slow_name(answer, cluster->cause)->text);
	symbol_line_print(slow_symbol(answer, cluster->cause), out);
	fprintf(out, ", %.0f %%",
		percent(answer, cluster, own ? cluster->own_extra : cluster->cause_extra));
	if (whole)
		fprintf(out, " of the%s%s", answer->others ? " extra" : "", *unit ? unit : " time");
	if (cluster->leaf == cluster->cause)
		return;
	fprintf(out, ", %.0f %% in ", percent(answer, cluster, cluster->leaf_extra));
	if (symbol_is_syscall(leaf) && leaf->linkage != leaf->name)
		fprintf(out, "%s()", leaf->linkage->text);
	else
		escaped_printf(out, SHORT_NAME, slow_name(answer, cluster->leaf)->text);
}

/* Print the differences in calls of the cause. */
static void print_difference(const struct slow_answer *answer, const struct slow_cluster *cluster,
			     FILE *out)
{
	const struct path_cost *own = cluster->own;
	const uint64_t pairs[][2] = { { own[0].calls, own[1].calls },
				      { own[0].own.insns, own[1].own.insns } };
	static const char *const words[] = { "calls of it", "instructions" };
	bool is_own = cluster->own_extra >= 0.5 * cluster->extra;

	for (int i = cluster->cause == answer->function; i < 2 && answer->others; i++) {
		double slow = mean(pairs[i][0], cluster->count);
		double usual = mean(pairs[i][1], answer->others);

		if (slow < 1.2 * usual || slow < usual + 1 || (i && !is_own))
			continue;
		fprintf(out, "; %.0f %s, usually %.*f", slow,
			i == 0 && slow < 1.5 ? "call of it" : words[i], usual && usual < 9.95,
			usual);
		return;
	}
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

/* Print the functions of a line up to a row: the first one, and as many of the innermost as fit. */
static void print_path(const struct slow_answer *answer, const struct cause_line *line,
		       uint32_t row, int columns, FILE *out)
{
	columns -= (int)name_of(answer, row)->length + 3;
	if (row != line->first && (columns >= 0 || row == line->last)) {
		print_path(answer, line, answer->info[row].parent, columns, out);
		escaped_printf(out, " > " SHORT_NAME, name_of(answer, row)->text);
	} else {
		escaped_printf(out, SHORT_NAME "%s", name_of(answer, line->first)->text,
			       row == line->first ? "" : " > ...");
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
			   COLUMNS - 28 - indent - (int)name_of(answer, line->first)->length, out);
	putc('\n', out);
}

/* Print the quantile that falls if the first cause is mended, and the next cause. */
static void print_gain(const struct slow_answer *answer, FILE *out)
{
	const struct slow_cluster *clusters = answer->clusters;
	bool by_insns = answer->calls->by_insns;
	struct slow_gain gain = slow_answer_gain(answer, clusters);

	if (!gain.of)
		return;
	fprintf(out, "   without it: %s %s -> %s%s", gain.of, amount_text(by_insns, gain.now).text,
		amount_text(by_insns, gain.then).text, amount_unit(by_insns));
	if (answer->count > 1)
		escaped_printf(out, "; next: " SHORT_NAME,
			       slow_name(answer, clusters[1].cause)->text);
	putc('\n', out);
}

static void print_cluster(struct slow_answer *answer, size_t number, FILE *out)
{
	const struct slow_cluster *cluster = &answer->clusters[number];
	bool one = cluster->count == 1;

	fprintf(out, "%zu. ", number + 1);
	print_cause(answer, cluster, true, out);
	fprintf(out, "\n   %zu call%s%s, %s%s more%s%s", cluster->count, one ? "" : "s",
		one && cluster->calls[0]->begin == answer->of->first_begin ? " (the first one)"
									   : "",
		cluster->cut ? ">" : "", extra_text(answer->calls->by_insns, cluster->more).text,
		amount_unit(answer->calls->by_insns), one ? "" : " each");
	print_difference(answer, cluster, out);
	putc('\n', out);
	print_text_lines("   ", cause_words(answer, cluster), out);
	if (!number)
		print_gain(answer, out);
	for (size_t i = 0; i < cluster->line_count; i++)
		print_line(answer, cluster, &cluster->lines[i], out);
	fprintf(out, "%8.1f%% %10s  rest\n", percent(answer, cluster, cluster->rest), "");
}

/* Returns the number of clusters that are shown: all with a part that counts. */
static size_t shown_clusters(const struct slow_answer *answer)
{
	size_t count = 0;

	while (count < answer->count && count < CLUSTERS_MOST &&
	       slow_share(answer, &answer->clusters[count], answer->clusters[count].extra) >= 0.05)
		count++;
	return count;
}

/* Print how many calls are slow, of which calls. */
static void print_counts(const struct slow_answer *answer, FILE *out)
{
	bool by_insns = answer->calls->by_insns;
	const char *unit = amount_unit(by_insns);
	enum slow_nesting nesting = slow_answer_nesting(answer);

	escaped_printf(out, SHORT_NAME ": ", slow_name(answer, answer->function)->text);
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
	} else if (answer->period) {
		fprintf(out, "one in %" PRIu64 " calls is slow, at equal distances",
			answer->period);
	} else if (answer->even && answer->all > 1) {
		fputs("no call is much slower than the others", out);
	} else if (answer->count == 1 && answer->clusters[0].first) {
		fputs("only the first call is slow", out);
	}
	alloc_close_text(out, &verdict);
	return verdict;
}

/* Print where the time of usual calls is, if that is the question that remains. */
static void print_usual(const struct slow_answer *answer, FILE *out)
{
	if (!answer->usual.line_count)
		return;
	fprintf(out, "a usual call takes %s%s:\n",
		extra_text(answer->calls->by_insns, answer->usual.extra).text,
		amount_unit(answer->calls->by_insns));
	for (size_t i = 0; i < answer->usual.line_count; i++)
		print_line(answer, &answer->usual, &answer->usual.lines[i], out);
}

static void print_verdict(const struct slow_answer *answer, FILE *out)
{
	char *verdict = why_verdict_text(answer);

	fprintf(out, *verdict ? "%s\n" : "", verdict);
	free(verdict);
}

static void print_answer(const struct why_output *why, struct slow_answer *answer, FILE *out)
{
	const struct slow_function *function = answer->of;
	size_t shown = shown_clusters(answer), rest = 0;

	print_counts(answer, out);
	print_verdict(answer, out);
	print_usual(answer, out);
	for (size_t i = 0; i < shown; i++)
		print_cluster(answer, i, out);
	for (size_t i = shown; i < answer->count; i++)
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
	if (function->stopped_calls)
		fprintf(out,
			"%" PRIu64
			" call%s stopped, %s at most: by interrupts, page faults or threads\n",
			function->stopped_calls, function->stopped_calls == 1 ? " was" : "s were",
			short_time(function->longest).text);
	print_text_lines("next: ", why_commands(why, answer, shown), out);
}

/* ---- The answer ---------------------------------------------------------- */

/* Without chosen functions: a line for each answer. */
static void print_ranking(const struct why_output *why, FILE *out)
{
	fputs("slow calls take this much more than usual:\n", out);
	for (size_t i = 0; i < why->count; i++) {
		const struct slow_answer *answer = &why->answers[i];

		escaped_printf(out, "%10s  " SHORT_NAME ": ",
			       extra_text(answer->calls->by_insns, answer->excess).text,
			       slow_name(answer, answer->function)->text);
		print_cause(answer, &answer->clusters[0], false, out);
		putc('\n', out);
	}
	putc('\n', out);
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
	why->look = (struct slow_look){ .answers = why->answers,
					.count = why->count,
					.timeline = why->output.timeline };
	syscall_symbols_init(&why->look.syscalls, why->names, NULL);
}

bool why_look(struct format_output *output, struct look_window *window)
{
	struct why_output *why = (struct why_output *)output;

	make_answers(why);
	return slow_look_next(&why->look, window);
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

		if (function->durations.count >= TAIL_CALLS_LEAST &&
		    function->longest > function->durations.max &&
		    (!longest || function->longest >= longest->longest))
			longest = function; /* the callee, if equal */
	}
	if (!longest || (why->count && (double)longest->longest <= why->answers[0].excess) ||
	    (double)longest->longest * (double)calls->stops <= 4 * (double)calls->stopped)
		return NULL;
	return longest;
}

static void print_stop(const struct why_output *why, FILE *out)
{
	const struct slow_function *longest = find_long_stop(why);

	if (!longest)
		return;
	escaped_printf(out,
		       "a call of " SHORT_NAME
		       " was stopped for %s: by interrupts, page faults or threads\n",
		       function_label(&why->calls.labels, longest->symbol)->text,
		       short_time(longest->longest).text);
	fprintf(out, "next: ptrace2ftf why --slow=%s", short_time(longest->longest / 2).text);
	why_command_print(why, "", NULL, out);
	putc('\n', out);
}

static void print_why(struct format_output *output)
{
	struct why_output *why = (struct why_output *)output;
	bool chosen = why_has_chosen(why->options);
	FILE *out = output->text;

	make_answers(why);
	if (chosen)
		function_choice_warn(&why->calls.choice, why->count, output->machine->diag);
	if (!out)
		return;
	if (why->count && !chosen)
		print_ranking(why, out);
	else if (!why->count && !chosen)
		fprintf(out, "no function with %d calls or more has slow ones; choose %s\n",
			TAIL_CALLS_LEAST,
			why->options->slow.has_bound ? "a shorter --slow"
						     : "a function with --symbol");
	print_stop(why, out);
	for (size_t i = 0; i < why->count; i++) {
		print_answer(why, &why->answers[i], out);
		putc('\n', out);
	}
	print_bindings(why, out);
	if (why->count)
		print_text_lines("", why_doubts_text(why), out);
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
			 json_name(place.own->name), "file",
			 at.file ? json_name(at.file) : json_null(), "line", (json_int_t)at.line,
			 "open", (int)place.open);
}

static json_t *gain_json(const struct slow_answer *answer, const struct slow_cluster *cluster)
{
	struct slow_gain gain = slow_answer_gain(answer, cluster);

	if (!gain.of)
		return json_null();
	return json_pack("{ss sI sI}", "of", gain.of, "now", json_value_of(gain.now), "then",
			 json_value_of(gain.then));
}

static json_t *cluster_json(struct slow_answer *answer, const struct slow_cluster *cluster)
{
	struct source_line at = slice_source_line(slow_symbol(answer, cluster->cause));
	char *text = why_cause_text(answer, cluster);
	const struct slow_call *slowest = cluster->calls[0];
	json_t *object;

	object = json_pack(
		"{so so so sI so so sI sb sf s{sI sI sI sb sb so} so sf so so}", "cause",
		name_json(answer, cluster->cause), "cause_identity",
		identity_json(answer, cluster->cause), "file",
		at.file ? json_name(at.file) : json_null(), "line", (json_int_t)at.line, "words",
		json_text_or_null(text), "in", name_json(answer, cluster->leaf), "calls",
		(json_int_t)cluster->count, "cut", (int)cluster->cut, "extra", cluster->more,
		"slowest", "begin_ns", json_value_of(slowest->begin), "duration_ns",
		json_value_of(slowest->duration), "tid", (json_int_t)slowest->track->tid,
		"begin_seen", (int)slowest->begin_seen, "end_seen", (int)slowest->end_seen, "at",
		place_json(answer, slowest), "lines",
		JSON_LIST(i, cluster->line_count, line_json(answer, cluster, &cluster->lines[i])),
		"rest_share", slow_share(answer, cluster, cluster->rest), "details",
		lines_json(cause_words(answer, cluster)), "without", gain_json(answer, cluster));
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
		"{so so so sI sI sI sI sI ss sI sI sI sI sI sf so so so so}", "function",
		name_json(answer, answer->function), "symbol",
		json_name(function_pattern(&why->calls.labels,
					   answer->calls->functions[answer->function].symbol)),
		"identity", identity_json(answer, answer->function), "calls",
		json_value_of(answer->all), "slow_calls", json_value_of(answer->slow),
		"compared_calls", json_value_of(answer->compared), "left_out",
		json_value_of(answer->cut), "slow_outside", json_value_of(answer->outer), "nesting",
		nestings[slow_answer_nesting(answer)], "nested_calls",
		json_value_of(answer->calls->functions[answer->function].nested), "stopped_calls",
		json_value_of(function->stopped_calls), "longest_stop_ns",
		json_value_of(function->longest), "median", json_value_of(answer->median), "bound",
		json_value_of(answer->bound), "excess", answer->excess, "clusters",
		JSON_LIST(i, answer->count, cluster_json(answer, &answer->clusters[i])), "next",
		lines_json(why_commands(why, answer, shown_clusters(answer))), "verdict",
		verdict_json(answer), "usual",
		JSON_LIST(i, answer->usual.line_count,
			  line_json(answer, &answer->usual, &answer->usual.lines[i])));
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
				    "ns", json_value_of(stopped->longest))
			: json_null());
	why_doubts_add(why, answer);
	return answer;
}

void why_release(struct format_output *output)
{
	struct why_output *why = (struct why_output *)output;

	for (size_t i = 0; i < why->count; i++)
		slow_answer_release(&why->answers[i]);
	free(why->answers);
	slow_look_release(&why->look);
	slow_calls_release(&why->calls);
}

/* Not a word of --format. */
const struct output_format format_why = { WHY_FORMAT, .suffix = "txt", .lines = true,
					  .finish = print_why };
