/* SPDX-License-Identifier: MIT */
/* List reasons to doubt an answer, and commands that show more. */
#include "src/formats/answers/why.h"

#include "base/utf8.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/json_print.h"
#include "src/formats/text/time_note.h"

/* ---- Doubts -------------------------------------------------------------- */

/* Find a function of the answers that is called in another one; NULL: none. */
static void find_nested(const struct why_output *why, const struct slow_answer **outer,
			const struct slow_answer **inner)
{
	for (size_t i = 0; i < why->count; i++)
		for (uint32_t row = 2; row < why->answers[i].rows.count; row++)
			for (size_t j = 0; j < why->count && !*inner; j++)
				if (why->answers[i].info[row].function ==
				    why->answers[j].function) {
					*outer = &why->answers[i];
					*inner = &why->answers[j];
				}
}

/* Returns the number of gaps of the trace in calls of the answers. */
static uint64_t count_gaps_inside(const struct why_output *why)
{
	const struct slow_calls *calls = &why->calls;
	uint64_t count = 0;

	for (uint32_t i = NODE_NONE + 1; i < calls->tree.count; i++) {
		const struct symbol *symbol = calls->functions[calls->paths[i].function].symbol;
		bool inside = false;

		for (size_t j = 0; j < why->count && symbol->special == SPECIAL_GAP; j++)
			inside |= why->answers[j].row_of[i] != 0;
		count += inside ? calls->tree.nodes[i].calls : 0;
	}
	return count;
}

json_t *why_doubts(const struct why_output *why)
{
	const struct slow_answer *outer, *inner = NULL;
	uint64_t cut = 0;

	for (size_t i = 0; i < why->count; i++)
		cut += why->answers[i].cut;
	find_nested(why, &outer, &inner);
	return json_pack("{sI sI sI sI sI sI sb sI}", "left_out", json_value_of(cut), "gaps",
			 json_value_of(why->output.gaps ? gap_reasons_sum(why->output.gaps) : 0),
			 "gaps_inside", json_value_of(count_gaps_inside(why)), "calls_without_code",
			 json_value_of(why->output.machine->doubts.opaque_frames), "decoded_again",
			 json_value_of(why->look.windows - why->look.left_out), "too_long",
			 json_value_of(why->look.left_out), "nested", inner != NULL, "noise",
			 json_value_of(why->noise));
}

char *why_doubts_text(const struct why_output *why)
{
	const struct slow_answer *outer, *inner = NULL;
	json_t *doubts = why_doubts(why);
	char *text;
	FILE *out = OPEN_TEXT(text);

	time_note_print(why->output.machine, out);
	json_print(
		out, doubts, 0,
		"{left_out?}calls left out, whose begin or return was not traced: {left_out}\n"
		"{gaps?}gaps in the trace: {gaps}; in these calls: {gaps_inside}\n"
		"{too_long?}lines and other threads were looked for in {decoded_again} calls; "
		"the trace of {too_long} more is too long; choose a callee with --symbol\n"
		"{noise?}causes with the same instructions and more time: {noise}; likely noise "
		"of the machine\n"
		"{calls_without_code?}calls of code without bytes, whose callees may be missing: "
		"{calls_without_code}\n");
	json_decref(doubts);
	find_nested(why, &outer, &inner);
	if (inner)
		escaped_printf(out, "%s is called in %s: their extra amounts overlap\n",
			       slow_name(inner, inner->function)->text,
			       slow_name(outer, outer->function)->text);
	alloc_close_text(out, &text);
	return text;
}

/* ---- Commands ------------------------------------------------------------ */

/* ns: shown before and after a call. */
#define WHY_CONTEXT 10000

void why_word_print(const char *text, bool is_name, FILE *out)
{
	if (strspn(text,
		   "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=:.,/@%") ==
	    strlen(text)) {
		fputs(text, out);
		return;
	}
	putc('\'', out);
	for (size_t controls = 0; *text; text++, controls -= controls > 0) {
		if (!controls) /* the NUL ends a character that is cut */
			controls = utf8_control(text, sizeof("\U0010ffff") - 1);
		if (is_name && strchr("*?[\\", *text))
			putc('\\', out);
		if (*text == '\'')
			fputs("'\\''", out);
		else
			putc(controls ? '?' : *text, out);
	}
	putc('\'', out);
}

/*
 * Print the options of the run that begin with one of `count` words, or all but these, then an
 * output, and the inputs.
 */
static void print_run(const struct options *options, const char *const words[], size_t count,
		      bool chosen, const char *output, FILE *out)
{
	for (int i = options->setting_count; i < options->word_count; i++) {
		size_t j = 0;

		while (j < count && !starts_with(options->words[i], words[j]))
			j++;
		if ((j < count) != chosen)
			continue;
		putc(' ', out);
		why_word_print(options->words[i], false, out);
	}
	fputs(output, out);
	for (int i = 0; i < options->input_count; i++) {
		putc(' ', out);
		why_word_print(options->inputs[i], false, out);
	}
}

void why_input_words_print(const struct options *options, FILE *out)
{
	static const char *const kept[] = {
		"--symfs=",     "--vdso=",      "--core=",     "--kcore=",    "--vmlinux=",
		"--debug-dir=", "--debuginfod", "--force-dso", "--kallsyms=", "--perf-map-dir=",
		"--input=",     "--time=",      "--pid=",      "--tid=",      "--comm=",
		"--cpu=",       "--mode=",      "--no-cache",
	};

	print_run(options, kept, COUNT_OF(kept), true, "", out);
}

/*
 * Print the options of the run, without the first `count` of these, and its inputs. `slices`: the
 * command takes --fibers.
 */
static void print_words(const struct options *options, size_t count, bool slices,
			const char *output, FILE *out)
{
	static const char *const left_out[] = { "--fibers",
						"--symbol=", "--slow=", "--dso=", "--time=" };

	print_run(options, left_out + slices, count + !slices, false, output, out);
}

void why_command_print(const struct why_output *why, const char *command,
		       const struct symbol *function, FILE *out)
{
	fputs(command, out);
	if (function)
		why_word_print(function_pattern(&why->calls.labels, function)->text, true, out);
	print_words(why->options, function ? 2 : 0, !strstr(command, "annotate"), "", out);
	putc('\n', out);
}

const struct symbol *why_symbol_of_code(const struct slow_answer *answer, uint32_t function)
{
	uint32_t row = 1;

	while (row < answer->rows.count && answer->info[row].function != function)
		row++;
	while (row && row < answer->rows.count &&
	       slow_symbol(answer, answer->info[row].function)->inlined)
		row = answer->info[row].parent;
	return row && row < answer->rows.count ? slow_symbol(answer, answer->info[row].function)
					       : NULL;
}

/* Print the command for the slowest call of a cluster: a trace around it or, of the first one, its
 * branches, from its first one on. */
static void print_example(const struct why_output *why, const struct slow_answer *answer,
			  size_t number, size_t shown, FILE *out)
{
	const struct slow_cluster *cluster = &answer->clusters[number];
	const struct slow_call *call = cluster->calls[0];
	uint64_t context = number ? MIN(call->begin, (uint64_t)WHY_CONTEXT) : 0;
	uint64_t from =
		!number && cluster->entry_number ? cluster->entry_ns : call->begin - context;
	uint64_t to = call->begin + call->duration + context;
	char output[48] = "";

	fprintf(out, "ptrace2ftf --time=" SECONDS_FORMAT "," SECONDS_FORMAT, SECONDS_OF(from),
		SECONDS_OF(to));
	if (number)
		snprintf(output, sizeof(output), " -o cause-%zu.ftf", shown + 1);
	else if (!why->options->fibers)
		fprintf(out, " --tid=%" PRId32, call->track->tid);
	fputs(number ? "" : " --format=branches", out);
	print_words(why->options, 4, number, output, out);
	if (!number && cluster->entry_number > 1)
		fprintf(out, " | tail -n +%zu", cluster->entry_number);
	putc('\n', out);
}

/*
 * Returns the callee with the most time that is called often enough to have slow calls, of a
 * function that has no other call to compare with; NULL: none.
 */
static const struct symbol *find_frequent(const struct slow_answer *answer)
{
	const struct slow_function *functions = answer->calls->functions;
	uint64_t *ns = alloc_zeroed(answer->rows.count + 1, sizeof(*ns));
	uint32_t found = 0;

	for (size_t i = answer->rows.count; i-- > 2;) {
		const struct slow_function *function = &functions[answer->info[i].function];

		ns[i] += answer->rows.nodes[i].own.ns;
		ns[answer->info[i].parent] += ns[i];
		if (answer->rows.nodes[i].calls >= TAIL_CALLS_LEAST &&
		    function->symbol->kind < SYMBOL_SPECIAL &&
		    function->symbol->dso == slow_symbol(answer, answer->function)->dso &&
		    ns[i] >= ns[found])
			found = (uint32_t)i;
	}
	free(ns);
	return found ? slow_symbol(answer, answer->info[found].function) : NULL;
}

char *why_commands(const struct why_output *why, const struct slow_answer *answer)
{
	const struct options *options = why->options;
	bool recording = options->input_kind == INPUT_PERF_DATA, once = false;
	size_t shown = 0;
	const struct symbol *symbol = NULL;
	char *text;
	FILE *out = OPEN_TEXT(text);

	for (int i = 0; i < options->input_count; i++)
		once |= strcmp(options->inputs[i], "-") == 0; /* can be read only once */
	if (answer->all == 1 && !answer->slow && !once) {
		symbol = find_frequent(answer);
		why_command_print(why, symbol ? "ptrace2ftf why --symbol=" : "ptrace2ftf annotate ",
				  symbol ?: why_symbol_of_code(answer, answer->function), out);
	}
	if (answer->count && !once) {
		symbol = slow_symbol(answer, answer->function);
		fputs("ptrace2ftf --slowest=3 --symbol=", out);
		why_word_print(function_pattern(&why->calls.labels, symbol)->text, true, out);
		print_words(options, 2, true, recording ? " -o slow/" : "", out);
		putc('\n', out);
	}
	if (recording && answer->count && !once)
		print_example(why, answer, 0, 0, out);
	for (size_t i = 0; recording && !once && i < answer->count; i++) {
		const struct slow_cluster *cluster = &answer->clusters[i];

		symbol = why_symbol_of_code(answer, cluster->cause);
		if (!why_shows(answer, i) || cluster->own_extra < 0.5 * cluster->extra || !symbol ||
		    symbol->kind == SYMBOL_SPECIAL)
			continue;
		why_command_print(why, "ptrace2ftf annotate ", symbol, out);
		break;
	}
	for (size_t i = 1; i < answer->count && !once; i++)
		if (why_shows(answer, i))
			print_example(why, answer, i, ++shown, out);
	alloc_close_text(out, &text);
	return text;
}
