/* SPDX-License-Identifier: MIT */
/* Suggestions for misspelt options and arguments. */

#include <stdarg.h>
#include <unistd.h>

#include "base/spelling.h"
#include "src/cli/commands.h"
#include "src/formats/output_format.h"

void usage_error(const char *format, ...)
{
	va_list args;

	message_begin_error(stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	putc('\n', stderr);
	exit(EXIT_USAGE);
}

/* Words of perf and of other tools, and their meanings here: an option, a command or a format. */
static const struct {
	const char *word, *ours;
} foreign_words[] = {
	{ "callers", "ptrace2ftf -f functions --by=caller --symbol=F" },
	{ "convert", "ptrace2ftf FILE" },
	{ "compare", "ptrace2ftf diff" },
	{ "evlist", "ptrace2ftf list" },
	{ "explain", "ptrace2ftf why" },
	{ "flame", "folded" },
	{ "flame-graph", "folded" },
	{ "flamegraph", "folded" },
	{ "autofdo", "llvm-profile" },
	{ "coverage", "lcov" },
	{ "disasm", "insns" },
	{ "disassemble", "insns" },
	{ "gcov", "lcov" },
	{ "info", "ptrace2ftf list" },
	{ "json", "chrome" },
	{ "ls", "ptrace2ftf list" },
	{ "perfetto", "ftf" },
	{ "report", "functions" },
	{ "script", "branches" },
	{ "show", "ptrace2ftf open" },
	{ "source", "lines" },
	{ "stat", "ptrace2ftf list" },
	{ "svg", "html" },
	{ "text", "slices" },
	{ "top", "functions" },
	{ "version", "ptrace2ftf --version" },
	{ "outliers", "ptrace2ftf why" },
	{ "--call", "--within=F>#N" },
	{ "--filter", "--symbol" },
	{ "--function", "--symbol" },
	{ "--hide-dso", "--hide=LIBRARY:*" },
	{ "--no-callers", "--from" },
	{ "--process", "--pid" },
	{ "--slower", "--slow" },
	{ "--slower-than", "--slow" },
	{ "--start", "--time" },
	{ "--thread", "--comm' (names), '--tid' (numbers) or '--threads" },
	{ "--to", "--time" },
	{ "-C", "--cpu" },
	{ "-S", "--symbol" },
	{ "-e", "ptrace2ftf record -- PROGRAM" },
	{ "-s", "--symbol" },
};

static bool is_word(const char *word, size_t length, const char *known)
{
	return strlen(known) == length && memcmp(known, word, length) == 0;
}

static const char *find_foreign(const char *word, size_t length)
{
	for (size_t i = 0; i < COUNT_OF(foreign_words); i++)
		if (is_word(word, length, foreign_words[i].word))
			return foreign_words[i].ours;
	return NULL;
}

/* The meaning of a word: to type `before` and `word`. NULL: unknown. */
struct meaning {
	const char *before, *word;
};

/* A word of another tool, or a command, a format or, without --, an option of ours. */
static struct meaning find_meaning(const char *word, size_t length)
{
	bool option = length > 2 && memcmp(word, "--", 2) == 0;
	struct meaning meaning = { "", find_foreign(word, length) };

	word += 2 * option;
	length -= 2 * option;
	if (!meaning.word && option)
		meaning.word = find_foreign(word, length);
	for (int i = COMMAND_CONVERT + 1; i < COMMANDS && !meaning.word; i++)
		if (is_word(word, length, command_specs[i].name))
			return (struct meaning){ "ptrace2ftf ", command_specs[i].name };
	for (int i = 0; output_formats[i]; i++) {
		const char *format = output_formats[i]->name;

		if (meaning.word ? strcmp(meaning.word, format) == 0
				 : is_word(word, length, format))
			return (struct meaning){ "ptrace2ftf -f ", format };
	}
	for (const struct option_spec *spec = option_specs; spec->name && !option; spec++)
		if (!meaning.word && is_word(word, length, spec->name))
			return (struct meaning){ "--", spec->name };
	return meaning;
}

/* Print an error with the suggestion for a word: its meaning, or else the nearest word. */
static void suggest(const char *what, const char *word, size_t length, const char *nearest)
{
	struct meaning meaning = find_meaning(word, length);

	if (!meaning.word && nearest)
		meaning = (struct meaning){ word[0] == '-' ? "--" : "", nearest };
	if (meaning.word)
		usage_error("%s '%.*s'; did you mean '%s%s'?", what, (int)length, word,
			    meaning.before, meaning.word);
}

int choose_value(const struct option_spec *spec, const char *word)
{
	bool format = strcmp(spec->name, "format") == 0;
	struct meaning meant = format ? find_meaning(word, strlen(word)) : (struct meaning){ 0 };
	struct nearest nearest;
	char known[400] = "";
	size_t used = 0;

	spelling_init(&nearest, word, strlen(word));
	for (const struct option_choice *choice = spec->choices; choice->word; choice++) {
		if (strcmp(choice->word, word) == 0)
			return choice->value;
		if (meant.word && strcmp(choice->word, meant.word) == 0)
			meant.before = "";
		spelling_consider(&nearest, choice->word);
		if (used < sizeof(known))
			used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
						 used ? ", " : "", choice->word);
	}
	if (!meant.word)
		meant = (struct meaning){ "", nearest.best };
	if (meant.word)
		usage_error("unknown --%s '%s'; choose from %s; did you mean '%s%s'?", spec->name,
			    word, known, meant.before, meant.word);
	usage_error("unknown --%s '%s'; choose from %s", spec->name, word, known);
}

void suggest_command(const char *word)
{
	struct nearest nearest;

	if (access(word, F_OK) == 0)
		return;
	if (command_find(word) != COMMAND_CONVERT)
		usage_error("'%s' is a command; write it before its options", word);
	spelling_init(&nearest, word, strlen(word));
	/* One letter may be the name of a missing file. */
	for (int i = COMMAND_CONVERT + 1; i < COMMANDS && word[0] && word[1]; i++)
		spelling_consider(&nearest, command_specs[i].name);
	suggest("unknown command", word, strlen(word), nearest.best);
}

void suggest_option(enum command command, const char *word, size_t length)
{
	struct nearest nearest;

	spelling_init(&nearest, word + 2, length - 2);
	for (const struct option_spec *option = option_specs; option->name; option++)
		if (command_takes(command, option))
			spelling_consider(&nearest, option->name);
	suggest("unrecognized option", word, length, nearest.best);
	usage_error("unrecognized option '%.*s'; `ptrace2ftf%s --help=all` lists all", (int)length,
		    word, command_word(command));
}

void suggest_command_of(enum command command, const struct option_spec *option)
{
	int other = 0;

	while (!command_takes((enum command)other, option))
		other++;
	if (other == COMMAND_CONVERT)
		usage_error("`ptrace2ftf%s` takes no --%s; leave it out", command_word(command),
			    option->name);
	usage_error("--%s needs `ptrace2ftf%s`", option->name, command_word((enum command)other));
}
