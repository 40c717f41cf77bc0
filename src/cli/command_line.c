/* SPDX-License-Identifier: MIT */
/* The argp parser of the option table. */
#include "src/cli/command_line.h"

#include <argp.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/io/output_path.h"
#include "src/cli/input_list.h"
#include "src/cli/option_conflicts.h"
#include "src/cli/option_table.h"
#include "src/cli/output_suffix.h"
#include "src/cli/suggest.h"
#include "src/cli/usage_error.h"
#include "src/cli/versions.h"
#include "src/formats/output_format.h"

/* Keys of options without a letter: this and their index in the table. */
#define FIRST_KEY 256

/* argp itself takes -? and --help only. */
#define HELP_KEY 'h'

static const char doc[] =
	"Convert an Intel PT recording of perf into a trace that Perfetto opens: "
	"every function call as a slice, to the nanosecond, with its source line."
	"\v"
	"Record with `perf record -e intel_pt//u PROGRAM`, look at it with "
	"`ptrace2ftf open perf.data`, which shows a recording or a trace in the browser; or "
	"convert with `ptrace2ftf perf.data -o out.ftf`, and open out.ftf at "
	"https://ui.perfetto.dev.  `ptrace2ftf diff A B` compares two recordings.\n\n"
	"Exit status: 0 all converted; 2 converted, with gaps or warnings; "
	"1 failed, nothing written; 3 a condition of --fail-if; 64 wrong usage; "
	"130 interrupted, the rest left out.";

/* ---- Arguments ----------------------------------------------------------- */

static void parse_number(struct argp_state *state, const struct option_spec *spec, const char *text,
			 unsigned *number)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || value < spec->least ||
	    value > spec->most)
		usage_error(state, "invalid --%s '%s'; expected a number from %u to %u", spec->name,
			    text, spec->least, spec->most);
	*number = (unsigned)value;
}

static const struct output_format *choose_format(struct argp_state *state,
						 const struct option_spec *spec, const char *name)
{
	struct option_choice choices[32] = { 0 };
	struct option_spec with_choices = *spec;

	for (int i = 0; output_formats[i]; i++)
		choices[i] = (struct option_choice){ output_formats[i]->name, i };
	with_choices.choices = choices;
	return output_formats[choose_value(state, &with_choices, name)];
}

/* Returns `text`, which a script may have made of a variable that is not set. */
static const char *non_empty(const struct argp_state *state, const struct option_spec *spec,
			     const char *text)
{
	if (!*text)
		usage_error(state, "invalid --%s ''; expected a non-empty %s", spec->name,
			    spec->argument);
	return text;
}

static void add_overlay(struct options *options, enum overlay_kind kind, const char *text)
{
	options->overlays = alloc_grow(options->overlays, &options->overlay_room,
				       options->overlay_count + 1, sizeof(*options->overlays));
	options->overlays[options->overlay_count++] = (struct overlay_option){ kind, text };
}

static const char *const expected[] = {
	[OPTION_NUMBERS] = "a list of numbers like 1,2,5-7",
	[OPTION_TIME_RANGE] = "FROM,TO like 12.5,12.75 or +1ms,+2ms or 10%,20%",
	[OPTION_BETWEEN] = "START,STOP",
	[OPTION_DURATION] = "a time like 500ns or 1.5us",
	[OPTION_FIT] = "a number like 2M, or none",
	[OPTION_BYTES] = "a size like 500MB or 2GB",
	[OPTION_SPLIT_SIZE] = "a size like 2M (slices), 500MB or 10ms",
	[OPTION_SLOWER_THAN] = "a time like 1ms, or a percentile like p99",
	[OPTION_PAIR] = "two times like 12.5,12.75",
	[OPTION_CLOCK_OFFSET] = "mono=TIME or real=TIME",
};

static void parse_argument(struct argp_state *state, const struct option_spec *spec, char *text)
{
	struct options *options = state->input;
	void *field = (char *)options + spec->field;
	bool valid = true;

	switch (spec->type) {
	case OPTION_FLAG:
		*(bool *)field = true;
		break;
	case OPTION_REPEATED:
		++*(int *)field;
		break;
	case OPTION_TEXT:
		*(const char **)field = non_empty(state, spec, text);
		break;
	case OPTION_CHOICE:
		*(int *)field = choose_value(state, spec, text);
		break;
	case OPTION_FORMAT:
		*(const struct output_format **)field = choose_format(state, spec, text);
		break;
	case OPTION_NUMBER:
		parse_number(state, spec, text, field);
		break;
	case OPTION_NUMBERS:
		valid = number_list_add(field, text);
		break;
	case OPTION_PATTERN:
		pattern_list_add(field, text);
		break;
	case OPTION_TIME_RANGE:
		valid = selection_time(field, text);
		break;
	case OPTION_BETWEEN:
		valid = selection_between(field, text);
		break;
	case OPTION_DURATION:
		valid = selection_duration(text, field);
		break;
	case OPTION_BYTES:
		valid = selection_bytes(text, field);
		break;
	case OPTION_SPLIT_SIZE:
		valid = selection_split(field, text);
		break;
	case OPTION_FIT:
		valid = selection_fit(field, text);
		break;
	case OPTION_SLOWER_THAN:
		valid = slow_choice_read(field, text);
		break;
	case OPTION_PAIR:
		valid = selection_pair(field, text);
		break;
	case OPTION_CLOCK_OFFSET:
		valid = clock_offsets_read(field, text);
		break;
	case OPTION_RUNTIME_EVENTS:
		add_overlay(options, OVERLAY_RUNTIME_EVENTS, non_empty(state, spec, text));
		break;
	case OPTION_MEMTRACE:
		add_overlay(options, OVERLAY_MEMTRACE, non_empty(state, spec, text));
		break;
	}
	if (!valid)
		usage_error(state, "invalid --%s '%s'; expected %s", spec->name, text,
			    expected[spec->type]);
}

/* Keep "--NAME" or "--NAME=ARGUMENT" for the stamps of outputs. */
static void add_word(struct options *options, const struct option_spec *spec, const char *argument)
{
	size_t count = (size_t)options->word_count++;

	options->words = alloc_grow(options->words, &options->word_room, count + 1, sizeof(char *));
	if (asprintf(&options->words[count], "--%s%s%s", spec->name, argument ? "=" : "",
		     argument ? argument : "") < 0)
		alloc_fail(0);
}

/*
 * Without --demangle (which has no word for DEMANGLE_PERF), branches have the names of
 * symbols that perf prints, and magic-trace's rules are about perf's names, which
 * distinguish instances of a template and do not know functions without a symbol.
 */
static void choose_default_names(struct options *options)
{
	bool as_perf = options->format->as_perf || options->stacks == STACKS_MAGIC_TRACE;

	if (options->names == DEMANGLE_PERF && !as_perf)
		options->names = DEMANGLE_SHORT;
	if (options->unnamed == UNNAMED_DEFAULT && options->stacks == STACKS_MAGIC_TRACE)
		options->unnamed = UNNAMED_FILES;
}

/* Without INPUT it is what perf record writes if nothing else is asked of it, as for perf. */
static void choose_default_input(struct argp_state *state, struct options *options)
{
	static char name[] = "perf.data", *inputs[] = { name, NULL };

	if (!options->record && access(name, F_OK) < 0)
		usage_error(state, "no input: there is no perf.data in this directory; name a "
				   "recording");
	options->inputs = inputs;
	options->input = name;
	options->input_count = 1;
}

/* Without -o a trace is beside its input, and text goes to standard output. */
static void choose_default_output(struct options *options)
{
	const struct output_format *format = options->format;

	if (options_is_batch(options) || options->diff || (options->open_only && !options->output))
		return;
	if (format->default_output == DEFAULT_NONE)
		options->output = NULL;
	else if (options->output)
		return;
	else if (format->default_output == DEFAULT_STDOUT)
		options->output = "-";
	else
		options->output = options->beside =
			output_path_beside(options->input, output_format_suffix(format));
}

/* ---- argp ---------------------------------------------------------------- */

static int option_key(size_t index)
{
	return option_specs[index].letter ? option_specs[index].letter : FIRST_KEY + (int)index;
}

/* Returns the option of an argp key; NULL: the key is none. */
static const struct option_spec *find_option(int key)
{
	for (size_t i = 0; i < option_count; i++)
		if (option_key(i) == key)
			return &option_specs[i];
	return NULL;
}

static error_t parse_key(int key, char *argument, struct argp_state *state)
{
	const struct option_spec *spec = find_option(key);
	struct options *options = state->input;

	if (spec) {
		if (!spec->neutral)
			add_word(options, spec, argument);
		parse_argument(state, spec, argument ? argument : (char *)spec->if_omitted);
		message_color(options->color);
		return 0;
	}
	switch (key) {
	case ARGP_KEY_ARG:
		if (options->record)
			usage_error(state, "unexpected '%s'; write -- before the program",
				    argument);
		if (!*argument)
			usage_error(state,
				    "cannot read an input with an empty name; name a recording");
		/* argp moves all inputs behind the options before it passes the first. */
		if (!options->input_count++)
			options->inputs = &state->argv[state->next - 1];
		options->input = options->inputs[0];
		return 0;
	case ARGP_KEY_NO_ARGS:
		if (!options->overlay_count && !options->files_from)
			choose_default_input(state, options);
		return 0;
	case HELP_KEY:
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_END:
		option_conflicts_choose_format(state, options);
		output_suffix_choose(state, options);
		if (options->files_from)
			input_list_read(state, options);
		option_conflicts_refuse(state, options);
		choose_default_names(options);
		choose_default_output(options);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Returns the table as argp wants it, owned by the caller. */
static struct argp_option *make_argp_options(void)
{
	static const char *const headings[OPTION_GROUPS] = {
		[GROUP_RECORDING] = "Recording (ptrace2ftf record [OPTION...] -- PROGRAM):",
		[GROUP_INPUT] = "Input:",
		[GROUP_SELECTION] = "Selection:",
		[GROUP_STACKS] = "Stacks:",
		[GROUP_SYMBOLS] = "Symbols:",
		[GROUP_OUTPUT] = "Output:",
		[GROUP_OCAML] = "OCaml:",
		[GROUP_DIAGNOSTICS] = "Diagnostics:",
		[GROUP_DECODING] = "Decoding:",
		[GROUP_BATCHES] = "Batches:",
	};
	struct argp_option *rows = alloc_zeroed(option_count + OPTION_GROUPS + 1, sizeof(*rows));
	struct argp_option *row = rows;

	for (int group = 1; group < OPTION_GROUPS; group++)
		*row++ = (struct argp_option){ .doc = headings[group], .group = group };
	for (size_t i = 0; i < option_count; i++) {
		const struct option_spec *spec = &option_specs[i];

		*row++ = (struct argp_option){
			spec->name,     option_key(i),
			spec->argument, spec->if_omitted ? OPTION_ARG_OPTIONAL : 0,
			spec->help,     spec->group
		};
	}
	*row = (struct argp_option){ .key = HELP_KEY, .flags = OPTION_HIDDEN, .group = -1 };
	return rows;
}

static bool is_command(int argc, char **argv, const char *word)
{
	return argc > 1 && strcmp(argv[1], word) == 0;
}

/* Take the recorded program and its arguments off the command line.  Returns how many words are
 * left. */
static int take_program(struct options *options, int argc, char **argv)
{
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--") != 0)
			continue;
		options->program = i + 1 < argc ? &argv[i + 1] : NULL;
		argv[i] = NULL;
		return i;
	}
	return argc;
}

void command_line_parse(struct options *options, int argc, char **argv)
{
	struct argp_option *rows = make_argp_options();
	const struct argp argp = { rows, parse_key, "[INPUT...]", doc, NULL, NULL, NULL };
	static const char order_variable[] = "POSIXLY_CORRECT";
	const char *order = getenv(order_variable);

	*options = (struct options){ .jobs = 1,
				     .names = DEMANGLE_PERF,
				     .slow.context = SLOW_CONTEXT_DEFAULT };
	/* A command is the first word; a file of that name is ./open. */
	options->diff = is_command(argc, argv, "diff");
	options->open = options->open_only = is_command(argc, argv, "open");
	options->record = is_command(argc, argv, "record");
	if (options->record)
		argc = take_program(options, argc, argv);
	if (!options->diff && !options->open && !options->record)
		suggest_command(argc, argv);
	else {
		argv[1] = argv[0];
		argc--;
		argv++;
	}
	argp_err_exit_status = EXIT_USAGE;
	argp_program_version_hook = versions_print;
	suggest_option(argc, argv);
	/* Options may follow inputs; a recorded program gets the variable all the same. */
	unsetenv(order_variable);
	if (argp_parse(&argp, argc, argv, 0, NULL, options) != 0)
		alloc_fail(0); /* the only error that argp does not print */
	if (order && setenv(order_variable, order, 1) < 0)
		alloc_fail(0);
	free(rows);
}

/* ---- Two recordings ------------------------------------------------------ */

static const struct option_spec *find_long(const char *name, size_t length)
{
	for (size_t i = 0; i < option_count; i++) {
		if (strlen(option_specs[i].name) == length &&
		    strncmp(option_specs[i].name, name, length) == 0)
			return &option_specs[i];
	}
	return NULL;
}

/* Returns 'a' or 'b' if the word is "--NAME-a" or "--NAME-b", perhaps with "=ARGUMENT"; else 0. */
static char side_of(const char *word, const struct option_spec **spec)
{
	size_t length = strcspn(word, "=");
	char side;

	if (length < 5 || strncmp(word, "--", 2) != 0 || word[length - 2] != '-')
		return 0;
	side = word[length - 1];
	*spec = find_long(word + 2, length - 4);
	if ((side != 'a' && side != 'b') || !*spec || find_long(word + 2, length - 2))
		return 0;
	return side;
}

/* Add a word to each side's, or to one side's without its "-a" or "-b".  Returns whether the next
 * word is its argument. */
static bool add_to_sides(char **words[2], int counts[2], char *word)
{
	const struct option_spec *spec = NULL;
	char side = side_of(word, &spec);
	size_t length = strcspn(word, "=");

	if (side) {
		words[side - 'a'][counts[side - 'a']++] = word;
		memmove(word + length - 2, word + length, strlen(word + length) + 1);
		return spec->argument && !spec->if_omitted && !word[length - 2];
	}
	for (int i = 0; i < 2; i++)
		words[i][counts[i]++] = word;
	return false;
}

void command_line_parse_diff(struct options sides[2], int argc, char **argv)
{
	char **words[2];
	int counts[2] = { 0 }, at = 0;

	for (int side = 0; side < 2; side++)
		words[side] = alloc_zeroed((size_t)argc + 1, sizeof(char *));
	for (; at < argc && strcmp(argv[at], "--") != 0; at++) {
		int before = counts[0];

		if (add_to_sides(words, counts, argv[at]) && at + 1 < argc) {
			at++;
			words[counts[0] == before][counts[counts[0] == before]++] = argv[at];
		}
	}
	for (; at < argc; at++) {
		for (int side = 0; side < 2; side++)
			words[side][counts[side]++] = argv[at];
	}
	for (int side = 0; side < 2; side++) {
		command_line_parse(&sides[side], counts[side], words[side]);
		sides[side].side_words = words[side];
	}
}
