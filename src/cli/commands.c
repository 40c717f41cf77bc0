/* SPDX-License-Identifier: MIT */
/* The table of commands, their help, and the versions. */
#include "src/cli/commands.h"

#include <elfutils/libdwfl.h>
#include <intel-pt.h>
#include <jansson.h>
#include <libdeflate.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "config.h"

#define GROUP(name) (1U << GROUP_##name)
#define READING     (GROUP(INPUT) | GROUP(SELECTION) | GROUP(SYMBOLS) | GROUP(EXPERT))
#define CONVERSION  (READING | GROUP(OUTPUT) | GROUP(DECODING))

const struct command_spec command_specs[COMMANDS] = {
	[COMMAND_CONVERT] = {
		NULL, "[INPUT...]",
		"Convert an Intel PT recording of perf into a trace that Perfetto opens: "
		"every function call as a slice, with its source line",
		"Exit status: 0 all converted; 2 converted, with gaps or warnings; 1 failed, "
		"nothing written; 64 wrong usage; 130 interrupted, the rest left out.",
		CONVERSION | GROUP(OCAML) | GROUP(GENERAL) | GROUP(BATCHES),
	},
	[COMMAND_OPEN] = {
		"open", "[INPUT...]", "Show a recording or a trace in the browser",
		"The page fetches the trace from this host; nothing is uploaded.  Without --output "
		"the trace is not kept.",
		CONVERSION | GROUP(OCAML) | GROUP(GENERAL),
		"format", "ftf (default), html: a page that needs no network",
	},
	[COMMAND_RECORD] = {
		"record", "-- PROGRAM", "Record a program with perf, and convert it",
		"Exit status: that of PROGRAM, unless the conversion fails.",
		CONVERSION | GROUP(RECORDING) | GROUP(GENERAL),
	},
	[COMMAND_LIST] = {
		"list", "[INPUT...]",
		"Show what a recording holds, without decoding it",
		"The list has threads, times, shares of the trace, CPUs, losses, and files with and "
		"without code and names.",
		READING | GROUP(OUTPUT) | GROUP(GENERAL),
	},
	[COMMAND_DIFF] = {
		"diff", "[A B]", "Compare two recordings, function by function",
		"An option with -a or -b at the end of its name is for A or B only.  "
		"Exit status: as of a conversion; 3 if a condition of --fail-if is met.",
		CONVERSION | GROUP(GENERAL),
		"format", "folded: stacks instead of the table",
	},
	[COMMAND_ANNOTATE] = {
		"annotate", "FUNCTION [INPUT]",
		"Show how often each line and instruction ran",
		"FUNCTION is a pattern, as of --symbol.  objdump, if it is installed, disassembles.",
		READING | GROUP(OUTPUT) | GROUP(DECODING) | GROUP(GENERAL),
	},
	[COMMAND_WHY] = {
		"why", "[INPUT...]", "Show why some calls are slow",
		"Without --symbol: of the functions whose slow calls take most time.  Slow calls "
		"take longer than twice the 95th percentile, or than --slow says.  Several recordings are "
		"separate incidents: the causes that they share.",
		READING | GROUP(OUTPUT) | GROUP(DECODING) | GROUP(GENERAL),
		"slow", "Explain calls longer than TIME, or p99; a percentile of all calls",
	},
	[COMMAND_PACK] = {
		"pack", "[INPUT]", "Cut a recording, with its code and names, to one file",
		"ptrace2ftf reads the file on any machine, as a recording.",
		READING | GROUP(OUTPUT) | GROUP(DECODING) | GROUP(GENERAL),
	},
	[COMMAND_WATCH] = {
		"watch", "-p PID", "Record slow calls of a process, with their causes",
		"--slow='F>T' says which: calls of F that take longer than T.  Ctrl-C ends it; "
		"every hour and at the end, it prints the causes that the recordings share.",
		CONVERSION | GROUP(RECORDING) | GROUP(GENERAL),
		"snapshots", "Keep N recordings in -o DIR/ (default: forever, in incidents/); at most M a "
		"minute (6)",
	},
	[COMMAND_CLOCK_SYNC] = {
		"clock-sync", "", "Print this machine's clocks, for --clock-sync", "", 0,
	},
	[COMMAND_HELP] = {
		"help", "[COMMAND]", "Show the options of a command", "", 0,
	},
};

enum command command_find(const char *word)
{
	for (int i = 0; i < COMMANDS; i++)
		if (command_specs[i].name && strcmp(command_specs[i].name, word) == 0)
			return (enum command)i;
	return COMMAND_CONVERT;
}

bool command_takes(enum command command, const struct option_spec *option)
{
	unsigned bit = 1U << command;

	if (command == COMMAND_PACK && !option->only) /* it selects as `list` does */
		bit |= 1U << COMMAND_LIST;
	if (command == COMMAND_WATCH)
		bit |= 1U << COMMAND_RECORD;
	if (option->only)
		return (option->only & bit) != 0;
	return command_specs[command].groups >> option->group & 1 && !(option->flags & bit);
}

const char *command_word(enum command command)
{
	static char word[32];
	const char *name = command_specs[command].name;

	snprintf(word, sizeof(word), "%s%s", name ? " " : "", name ? name : "");
	return word;
}

/* ---- Help ---------------------------------------------------------------- */

enum { WIDTH = 79, HELP_COLUMN = 28 };

/* Print `length` bytes of words in lines from column `left`, where the cursor is. */
static void print_words(const char *text, size_t length, int left)
{
	const char *end = text + length;
	int column = left;

	while (text < end) {
		size_t width = strcspn(text, " ");

		width = MIN(width, (size_t)(end - text));
		if (column > left && column + 1 + (int)width > WIDTH)
			column = printf("\n%*s", left, "") - 1;
		else if (column > left)
			column += printf(" ");
		column += printf("%.*s", (int)width, text);
		text += width + strspn(text + width, " ");
	}
	putchar('\n');
}

static void print_paragraph(const char *text)
{
	if (*text)
		print_words(text, strlen(text), 0);
}

static void print_option(enum command command, const struct option_spec *option, bool all)
{
	const struct command_spec *spec = &command_specs[command];
	bool own = spec->own_option && strcmp(spec->own_option, option->name) == 0;
	const char *help = own ? spec->own_help : option->help;
	const char *end = all ? NULL : strstr(help, "; ");
	size_t length = end ? (size_t)(end - help) : strlen(help);
	const char *argument = option->argument ? option->argument : "";
	/* "--memtrace=FILE" of "FILE[,pid=N][,lives]", except in the full help. */
	size_t width = all ? strlen(argument) : strcspn(argument, "[@");
	char letter[] = { '-', option->letter, ',', 0 };
	int column = printf("  %3s --%s%s%.*s%s ", option->letter ? letter : "", option->name,
			    !option->argument    ? ""
			    : option->if_omitted ? "[="
						 : "=",
			    (int)width, argument, option->if_omitted ? "]" : "");

	if (column > HELP_COLUMN)
		putchar('\n');
	printf("%*s", column > HELP_COLUMN ? HELP_COLUMN : HELP_COLUMN - column, "");
	print_words(help, length, HELP_COLUMN);
}

static void print_commands(void)
{
	puts("\nCommands:");
	for (const struct command_spec *command = command_specs; command < command_specs + COMMANDS;
	     command++)
		if (command->name)
			printf("  %-10s %-11s  %s\n", command->name, command->arguments,
			       command->summary);
}

void help_print(enum command command, bool all)
{
	const struct command_spec *spec = &command_specs[command];
	bool has_options = spec->groups != 0;
	static const char *const headings[OPTION_GROUPS] = {
		[GROUP_RECORDING] = "Recording", [GROUP_INPUT] = "Input",
		[GROUP_SELECTION] = "Selection", [GROUP_SYMBOLS] = "Symbols",
		[GROUP_OUTPUT] = "Output",       [GROUP_OCAML] = "OCaml",
		[GROUP_DECODING] = "Decoding",   [GROUP_BATCHES] = "Batches",
		[GROUP_GENERAL] = "General",     [GROUP_EXPERT] = "Expert",
	};

	printf("Usage: ptrace2ftf%s%s%s%s\n", command_word(command),
	       has_options ? " [OPTION...]" : "", *spec->arguments ? " " : "", spec->arguments);
	print_paragraph(spec->summary);
	if (command == COMMAND_CONVERT)
		print_commands();
	if (has_options)
		putchar('\n');
	for (int group = 1; group < OPTION_GROUPS; group++) {
		bool any = false;

		for (const struct option_spec *option = option_specs; option->name; option++) {
			if ((int)option->group != group || !command_takes(command, option) ||
			    !(all || option->flags & COMMON))
				continue;
			if (!any)
				printf("%s:\n", headings[group]);
			any = true;
			print_option(command, option, all);
		}
	}
	if (has_options)
		printf("\n%s%s%sSee ptrace2ftf%s%s(1).\n", all ? "" : "`ptrace2ftf",
		       all ? "" : command_word(command),
		       all ? "" : " --help=all` has all options.  ", spec->name ? "-" : "",
		       spec->name ? spec->name : "");
	print_paragraph(spec->more);
}

void versions_print(void)
{
	struct pt_version ipt = pt_library_version();

	puts(PACKAGE_STRING);
	printf("libipt %u.%u.%u\n", ipt.major, ipt.minor, (unsigned)ipt.build);
	printf("elfutils %s\n", dwfl_version(NULL));
	printf("jansson %s\n", jansson_version_str());
	printf("zlib %s\n", zlibVersion());
	printf("libdeflate %s\n", LIBDEFLATE_VERSION_STRING);
	printf("zstd %s\n", ZSTD_versionString());
	printf("liblzma %s\n", lzma_version_string());
#ifdef STATIC_PROGRAM
	puts("static: without --debuginfod");
#endif
#ifndef HAVE_SQLITE
	puts("without libsqlite3: no --format=sqlite");
#endif
#ifndef HAVE_CAPSTONE
	puts("without capstone: no --format=insns");
#endif
#ifndef HAVE_MHD
	puts("without libmicrohttpd: no `ptrace2ftf open`");
#endif
}
