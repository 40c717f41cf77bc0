/* SPDX-License-Identifier: MIT */
/* Commands that show more than an answer. */
#include "src/formats/answers/why.h"

/* ns: shown before and after a call. */
#define WHY_CONTEXT 10000

void why_word_print(const char *text, FILE *out)
{
	if (strspn(text,
		   "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=:.,/@%") ==
	    strlen(text)) {
		fputs(text, out);
		return;
	}
	putc('\'', out);
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else
			putc((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text, out);
	}
	putc('\'', out);
}

/* Print the options of the run, without the first `count` of these, and its inputs. */
static void print_words(const struct options *options, size_t count, const char *output, FILE *out)
{
	static const char *const left_out[] = { "--symbol=", "--slow=", "--dso=", "--time=" };

	for (int i = options->setting_count; i < options->word_count; i++) {
		size_t j = 0;

		while (j < count && !starts_with(options->words[i], left_out[j]))
			j++;
		if (j < count)
			continue;
		putc(' ', out);
		why_word_print(options->words[i], out);
	}
	fputs(output, out);
	for (int i = 0; i < options->input_count; i++) {
		putc(' ', out);
		why_word_print(options->inputs[i], out);
	}
	putc('\n', out);
}

/* A trace around the slowest call of a cluster. */
static void print_trace(const struct why_output *why, const struct slow_answer *answer,
			size_t number, FILE *out)
{
	const struct slow_call *call = answer->clusters[number].calls[0];
	uint64_t from = call->begin > WHY_CONTEXT ? call->begin - WHY_CONTEXT : 0;
	uint64_t to = call->begin + call->duration + WHY_CONTEXT;
	char output[48];

	fprintf(out, "ptrace2ftf --time=%" PRIu64 ".%09" PRIu64 ",%" PRIu64 ".%09" PRIu64,
		from / 1000000000, from % 1000000000, to / 1000000000, to % 1000000000);
	snprintf(output, sizeof(output), " -o cause-%zu.ftf", number + 1);
	print_words(why->options, 4, output, out);
}

char *why_commands(const struct why_output *why, const struct slow_answer *answer, size_t clusters)
{
	const struct options *options = why->options;
	bool recording = options->input_kind == INPUT_PERF_DATA;
	char *text;
	size_t size;
	FILE *out = ALLOC_CHECKED(open_memstream(&text, &size));

	for (int i = 0; i < options->input_count; i++)
		if (strcmp(options->inputs[i], "-") == 0)
			clusters = 0; /* can be read only once */
	if (clusters) {
		fputs("ptrace2ftf --slowest=3 --symbol=", out);
		why_word_print(slow_symbol(answer, answer->function)->name->text, out);
		print_words(options, 2, recording ? " -o slow/" : "", out);
	}
	for (size_t i = 1; i < clusters; i++)
		print_trace(why, answer, i, out);
	for (size_t i = 0; recording && i < clusters; i++) {
		const struct slow_cluster *cluster = &answer->clusters[i];
		const struct symbol *symbol = slow_symbol(answer, cluster->cause);

		if (cluster->own_extra < 0.5 * cluster->extra || symbol->kind == SYMBOL_SPECIAL)
			continue;
		fputs("ptrace2ftf annotate ", out);
		why_word_print(symbol->name->text, out);
		print_words(options, 2, "", out);
		break;
	}
	alloc_close_text(out, &text);
	return text;
}
