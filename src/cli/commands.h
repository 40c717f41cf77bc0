/* SPDX-License-Identifier: MIT */
/* The commands, and the options that they take: their help, and how they are parsed. */
#pragma once

#include "src/options/options.h"

/* In the order of --help. */
enum option_group {
	GROUP_RECORDING = 1,
	GROUP_INPUT,
	GROUP_SELECTION,
	GROUP_SYMBOLS,
	GROUP_OUTPUT,
	GROUP_OCAML,
	GROUP_DECODING,
	GROUP_BATCHES,
	GROUP_GENERAL,
	GROUP_EXPERT,
	OPTION_GROUPS
};

/* How an argument is parsed, and the type of its field. */
enum option_type {
	OPTION_FLAG,           /* bool: set; no argument */
	OPTION_REPEATED,       /* int: incremented; no argument */
	OPTION_TEXT,           /* const char *: borrowed from the command line */
	OPTION_CHOICE,         /* an enum: the value of one of `choices` */
	OPTION_CHOICES,        /* struct choice_list: values of several of them, "A,B" */
	OPTION_FORMAT,         /* const struct output_format *: by name */
	OPTION_NUMBER,         /* unsigned, from `least` to `most` */
	OPTION_NUMBERS,        /* struct number_list: added to */
	OPTION_CPUS,           /* struct options: numbers, or the processor */
	OPTION_MAP,            /* struct pattern_list: see raw_map_read() */
	OPTION_PATTERN,        /* struct pattern_list: added to */
	OPTION_TIME_RANGE,     /* struct selection: from, to */
	OPTION_BETWEEN,        /* struct selection: start, stop */
	OPTION_WITHIN,         /* struct selection: within */
	OPTION_DURATION,       /* uint64_t: ns */
	OPTION_BYTES,          /* uint64_t */
	OPTION_SPLIT_SIZE,     /* struct split_size */
	OPTION_FIT,            /* uint64_t: a limit, see selection_fit() */
	OPTION_SLOWER_THAN,    /* struct slow_choice; record: also struct watched_calls */
	OPTION_SNAPSHOTS,      /* options_read_snapshots() */
	OPTION_CLOCK_SYNC,     /* struct options: clock_sync or clock_offsets */
	OPTION_KERNEL,         /* struct options: kcore, vmlinux or kallsyms */
	OPTION_OUTPUT,         /* struct options: output or output_pattern */
	OPTION_RUNTIME_EVENTS, /* struct options: appended to its overlays */
	OPTION_MEMTRACE,       /* struct options: appended to its overlays */
	OPTION_HELP,           /* ends the program, as does the next one */
	OPTION_VERSION,
};

/* The low bits of the flags are commands that do not take the option, by enum command. */
#define NEUTRAL (1U << 16) /* does not affect the content of outputs */
#define SETTING (1U << 17) /* allowed in the user's configuration */
#define COMMON  (1U << 18) /* shown by --help without =all */

struct option_spec {
	const char *name;     /* without "--" */
	char letter;          /* 0: no short option */
	const char *argument; /* as shown by --help; NULL: no argument */
	enum option_group group;
	enum option_type type;
	size_t field; /* offset in struct options */
	unsigned flags;
	const char *help; /* the short help ends at the first semicolon */
	/* A word that an option takes, and its value. Lists end with a NULL word. */
	const struct option_choice {
		const char *word;
		int value;
	} * choices;            /* choices of OPTION_CHOICE */
	unsigned least, most;   /* limits of OPTION_NUMBER */
	const char *if_omitted; /* default of an optional argument; NULL: required */
	unsigned only;          /* bit set of commands that take it; 0: the commands of its group */
	unsigned was;           /* bit set of commands that still take it, with a message */
	/* Names with blanks between. Formats that take it, or that do not ("-NAME"); NULL: all do.
	 */
	const char *formats;
	const char *without; /* options that exclude it; may be NULL */
	const char *with;    /* options of which it needs one; may be NULL */
};

extern const struct option_spec option_specs[]; /* ends with a NULL name */

/* An option with another name now. */
struct renamed_option {
	const char *old, *argument; /* old name and argument; argument NULL: any */
	const char *name, *value;   /* new name and argument; value NULL: the old one */
};

extern const struct renamed_option renamed_options[]; /* ends with a NULL name */

/* Returns the option with a long name of `length` bytes, or with a letter; NULL: unknown. */
const struct option_spec *option_find(const char *name, size_t length);
const struct option_spec *option_find_letter(char letter);

/* ---- Commands ------------------------------------------------------------ */

struct command_spec {
	const char *name;      /* first word of the command line; NULL: a conversion */
	const char *arguments; /* as shown by --help */
	const char *summary;   /* line in the list of commands, and first line of --help */
	const char *more;      /* last lines of --help */
	unsigned groups;       /* bit set of option groups that it takes */
	/* An option whose help differs from the table's, and its help; or NULL. */
	const char *own_option, *own_help;
};

/* By enum command. */
extern const struct command_spec command_specs[COMMANDS];

/* Returns the command of this name, or COMMAND_CONVERT. */
enum command command_find(const char *word);

/* Returns whether a command takes an option. */
bool command_takes(enum command command, const struct option_spec *option);

/* Returns the text after "ptrace2ftf" in the command's name, valid until the next call. */
const char *command_word(enum command command);

/*
 * Print the help of a command to standard output. `all`: every option; otherwise the common ones,
 * each up to the first semicolon of its help.
 */
void help_print(enum command command, bool all);

/* Print the versions of the program and its libraries, and the features that this build lacks. */
void versions_print(void);

/* ---- Usage errors for misspelt words, with suggestions -------------------- */

/* Print a usage error and exit with EXIT_USAGE. */
void usage_error(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/*
 * Returns the value of `word` among the choices of an option. For other words, exits with "unknown
 * --OPTION 'WORD'; choose from A, B, C" and the nearest choice. The shells' completions read the
 * choices from that line.
 */
int choose_value(const struct option_spec *spec, const char *word);

/*
 * If the first input is not a file, but a command, a misspelt command, or a word of other tools,
 * print a suggestion and exit with EXIT_USAGE.
 */
void suggest_command(const char *word);

/* Suggest the option of a command that is nearest to an unknown word of `length` bytes; exit. */
void suggest_option(enum command command, const char *word, size_t length)
	__attribute__((noreturn));

/* Report that a command does not take an option, and suggest a command that does; exit. */
void suggest_command_of(enum command command, const struct option_spec *option)
	__attribute__((noreturn));
