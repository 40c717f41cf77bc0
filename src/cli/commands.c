/* SPDX-License-Identifier: MIT */
/* The table of commands. */
#include "src/cli/commands.h"

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
		"ftf (default), html: a page that needs no network",
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
		"folded: stacks instead of the table",
	},
	[COMMAND_ANNOTATE] = {
		"annotate", "FUNCTION [INPUT]",
		"Show how often each line and instruction ran",
		"FUNCTION is a pattern, as of --symbol.  objdump, if it is installed, disassembles.",
		READING | GROUP(OUTPUT) | GROUP(DECODING) | GROUP(GENERAL),
	},
	[COMMAND_WHY] = {
		"why", "[INPUT...]", "Show why some calls are slow",
		"Without --symbol, of the functions whose slow calls take most.  Calls are slow that "
		"take longer than twice the 95th percentile, or than --slow says.  Several recordings are "
		"incidents of their own: the causes that they have in common.",
		READING | GROUP(OUTPUT) | GROUP(DECODING) | GROUP(GENERAL),
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
