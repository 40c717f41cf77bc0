/* SPDX-License-Identifier: MIT */
/* Parse the command line by the tables of commands and options. */
#include "src/cli/command_line.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/io/interrupt.h"
#include "base/io/output_path.h"
#include "src/cli/commands.h"
#include "src/pipeline/convert.h"

/* ---- Arguments ----------------------------------------------------------- */

static void parse_number(const struct option_spec *spec, const char *text, unsigned *number)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || value < spec->least ||
	    value > spec->most)
		usage_error("invalid --%s '%s'; expected a number from %u to %u", spec->name, text,
			    spec->least, spec->most);
	*number = (unsigned)value;
}

static const struct output_format *choose_format(const struct option_spec *spec, const char *name)
{
	struct option_choice choices[32] = { 0 };
	struct option_spec with_choices = *spec;

	for (int i = 0; output_formats[i]; i++)
		choices[i] = (struct option_choice){ output_formats[i]->name, i };
	with_choices.choices = choices;
	return output_formats[choose_value(&with_choices, name)];
}

/* Returns `text`; a script may have expanded an unset variable. */
static const char *non_empty(const struct option_spec *spec, const char *text)
{
	if (!*text)
		usage_error("invalid --%s ''; expected a non-empty %s", spec->name, spec->argument);
	return text;
}

enum exit_status command_line_printed(void)
{
	struct error err = { 0 };

	if (fflush(stdout) == 0 && !ferror(stdout))
		return EXIT_WHOLE;
	error_set_system(&err, errno, "standard output: cannot write");
	if (errno == EPIPE)
		err.kind = ERROR_NO_READER;
	output_obey_closed_pipe(&err);
	message_error(&err);
	return EXIT_FAILED;
}

static void print_help(const struct options *options, const struct option_spec *spec,
		       const char *text)
{
	if (*text && strcmp(text, "all") != 0)
		usage_error("unknown --%s '%s'; choose from all", spec->name, text);
	help_print(options->watching ? COMMAND_WATCH : options->command, *text != 0);
	exit((int)command_line_printed());
}

static const char *const expected[] = {
	[OPTION_NUMBERS] = "a list of numbers like 1,2,5-7",
	[OPTION_CPUS] = "a list of numbers like 1,2,5-7, or FAMILY/MODEL/STEPPING like 6/94/3",
	[OPTION_MAP] = "FILE@ADDRESS or FILE:OFFSET@ADDRESS-END, with hexadecimal numbers",
	[OPTION_PATTERN] = "a pattern of names, or @cpython",
	[OPTION_TIME_RANGE] = "FROM,TO like 12.5,12.75 or +1ms,+500us (begin, length) or 10%,20%",
	[OPTION_BETWEEN] = "START,STOP",
	[OPTION_WITHIN] = "a function and a bound, as parse>1ms, parse>p99 or parse>#1",
	[OPTION_DURATION] = "a time like 500ns or 1.5us",
	[OPTION_FIT] = "a number like 2M, or none",
	[OPTION_BYTES] = "a size like 500MB or 2GB",
	[OPTION_SPLIT_SIZE] = "a size like 2M (slices), 500MB or 10ms",
	[OPTION_SLOWER_THAN] = "a time like 1ms, or a percentile like p99",
	[OPTION_SNAPSHOTS] = "a number, forever, or N,M: N of them, at most M a minute",
	[OPTION_CLOCK_SYNC] = "a file, mono=TIME or real=TIME",
};

static void choose_values(const struct option_spec *spec, char *text, struct choice_list *list)
{
	char *next;

	for (char *word = strtok_r(text, ",", &next); word; word = strtok_r(NULL, ",", &next))
		choice_list_add(list, choose_value(spec, word));
}

/* Returns whether a path has a word in braces, so that it is a pattern of paths. */
static bool has_word(const char *path)
{
	const char *open = strchr(path, '{');
	size_t length = open ? strspn(open + 1, "abcdefghijklmnopqrstuvwxyz") : 0;

	return open && ((length && open[1 + length] == '}') || has_word(open + 1));
}

/* A missing or unknown file is vmlinux, and an error names it later. */
static void take_kernel(struct options *options, const char *path)
{
	switch (kernel_path_kind(path)) {
	case KERNEL_PATH_KCORE:
		options->kcore = path;
		break;
	case KERNEL_PATH_KALLSYMS:
		options->kallsyms = path;
		break;
	case KERNEL_PATH_VMLINUX:
		options->vmlinux = path;
		break;
	}
}

static void parse_argument(struct options *options, const struct option_spec *spec, char *text)
{
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
		*(const char **)field = non_empty(spec, text);
		break;
	case OPTION_CHOICE:
		*(int *)field = choose_value(spec, text);
		break;
	case OPTION_CHOICES:
		choose_values(spec, text, field);
		break;
	case OPTION_FORMAT:
		*(const struct output_format **)field = choose_format(spec, text);
		break;
	case OPTION_NUMBER:
		parse_number(spec, text, field);
		break;
	case OPTION_NUMBERS:
		valid = number_list_add(field, text);
		break;
	case OPTION_CPUS:
		if (strchr(text, '/'))
			valid = processor_read(options, text);
		else
			valid = number_list_add(&options->select.cpus, text);
		break;
	case OPTION_MAP:
		valid = raw_map_read(text, &(struct raw_map){ 0 });
		pattern_list_add(field, text);
		break;
	case OPTION_PATTERN:
		if (field == &options->select.hidden)
			valid = selection_hide(&options->select, text);
		else
			pattern_list_add(field, text);
		break;
	case OPTION_TIME_RANGE:
		valid = selection_time(field, text);
		break;
	case OPTION_BETWEEN:
		valid = selection_between(field, text);
		break;
	case OPTION_WITHIN:
		valid = selection_within(field, text);
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
		if (options->command == COMMAND_RECORD && strchr(text, '>'))
			valid = watched_calls_read(&options->watched, text);
		else
			valid = slow_choice_read(field, text);
		break;
	case OPTION_SNAPSHOTS:
		valid = options_read_snapshots(options, text);
		break;
	case OPTION_CLOCK_SYNC:
		if (starts_with(text, "mono=") || starts_with(text, "real="))
			valid = clock_offsets_read(&options->clock_offsets, text);
		else
			options->clock_sync = non_empty(spec, text);
		break;
	case OPTION_KERNEL:
		take_kernel(options, non_empty(spec, text));
		break;
	case OPTION_OUTPUT:
		options->output_pattern = has_word(text) ? text : NULL;
		options->output = options->output_pattern ? NULL : non_empty(spec, text);
		break;
	case OPTION_HELP:
		print_help(options, spec, text);
		break;
	case OPTION_VERSION:
		versions_print();
		exit((int)command_line_printed());
	case OPTION_RUNTIME_EVENTS:
	case OPTION_MEMTRACE:
		*ARRAY_ADD(options->overlays, options->overlay_count, options->overlay_room) =
			(struct overlay_option){ spec->type == OPTION_MEMTRACE
							 ? OVERLAY_MEMTRACE
							 : OVERLAY_RUNTIME_EVENTS,
						 non_empty(spec, text) };
		break;
	}
	if (!valid)
		usage_error("invalid --%s '%s'; expected %s", spec->name, text,
			    expected[spec->type]);
}

/* Without INPUT, as for perf: perf.data, or else a pipe; A of a difference is perf.data.old. */
static void choose_default_input(struct options *options)
{
	static char old[] = "perf.data.old", name[] = "perf.data", *inputs[] = { old, name, NULL };
	static char pipe[] = "-", *piped[] = { pipe, NULL };
	bool both = options->command == COMMAND_DIFF;
	struct stat status;

	options->inputs = inputs + !both;
	options->input = options->inputs[0];
	options->input_count = 1 + both;
	if (options->command == COMMAND_RECORD || access(options->input, F_OK) == 0)
		return;
	if (both || fstat(STDIN_FILENO, &status) < 0 || !S_ISFIFO(status.st_mode))
		usage_error("no input: there is no %s in this directory; name a recording",
			    options->input);
	options->inputs = piped;
	options->input = pipe;
}

/* ---- Words --------------------------------------------------------------- */

static bool still_takes(enum command command, const struct option_spec *option)
{
	return command_takes(command, option) || option->was >> command & 1;
}

static void take_option(struct options *options, const struct option_spec *option, char *argument)
{
	size_t index = (size_t)(option - option_specs);

	options->given[index / 64] |= UINT64_C(1) << index % 64;
	if (!(option->flags & NEUTRAL)) {
		size_t count = (size_t)options->word_count++;

		/* Store "--NAME" or "--NAME=ARGUMENT" for the stamps of outputs. */
		ARRAY_GROW(options->words, options->word_room, count + 1);
		options->words[count] = alloc_text("--%s%s%s", option->name, argument ? "=" : "",
						   argument ? argument : "");
	}
	parse_argument(options, option, argument ? argument : (char *)option->if_omitted);
	message_color(options->color);
}

/*
 * Take an option, or only look at it if it is of the other side of a difference.  `rest`: the part
 * of its word after it.  Returns whether the option has `next` as its argument.
 */
static bool take_argument(struct options *options, const struct option_spec *option, char *rest,
			  char *next, bool of_other)
{
	bool needed = option->argument && !option->if_omitted;

	if (!still_takes(options->command, option))
		suggest_command_of(options->command, option);
	if (needed && !rest && !next)
		usage_error("--%s needs a value; write --%s=%s", option->name, option->name,
			    option->argument);
	if (!of_other)
		take_option(options, option, needed && !rest ? next : rest);
	return needed && !rest;
}

/* Take "-qo" and the like. Returns whether it also took `next`. */
static bool take_letters(struct options *options, char *word, char *next)
{
	for (char *letter = word + 1; *letter; letter++) {
		const struct option_spec *option = option_find_letter(*letter);
		char *rest = letter[1] ? letter + 1 : NULL, unknown[] = { '-', *letter, 0 };

		if (!option)
			suggest_option(options->command, unknown, 2);
		if (option->argument)
			return take_argument(options, option, rest, next, false);
		take_argument(options, option, NULL, NULL, false);
	}
	return false;
}

/*
 * Returns the option of an old name, and its argument as it is now; NULL: it is no old name. Sets
 * *used if `next` was the argument.
 */
static const struct option_spec *find_renamed(struct options *options, const char *name,
					      size_t length, char **rest, const char *next,
					      bool *used)
{
	const struct renamed_option *renamed = renamed_options;
	const char *argument = *rest ? *rest : next;

	for (; renamed->old; renamed++)
		if (strlen(renamed->old) == length && memcmp(renamed->old, name, length) == 0 &&
		    (!renamed->argument || (argument && strcmp(renamed->argument, argument) == 0)))
			break;
	if (!renamed->old)
		return NULL;
	options->renamed |= 1U << (renamed - renamed_options);
	*used = renamed->argument && !*rest;
	if (renamed->value)
		*rest = (char *)renamed->value;
	return option_find(renamed->name, strlen(renamed->name));
}

/*
 * Take "--NAME" or "--NAME=ARGUMENT"; of a difference, "--NAME-a" or "--NAME-b" only for its
 * `side`. Returns whether the option has `next` as its argument.
 */
static bool take_long(struct options *options, char side, char *word, char *next)
{
	size_t length = strcspn(word, "=");
	const struct option_spec *option = option_find(word + 2, length - 2);
	char *rest = word[length] ? word + length + 1 : NULL;
	bool used = false;
	char of = 0;

	if (!option && side && length > 4 && word[length - 2] == '-' &&
	    (word[length - 1] == 'a' || word[length - 1] == 'b')) {
		of = word[length - 1];
		option = option_find(word + 2, length - 4);
	}
	if (!option)
		option = find_renamed(options, word + 2, length - (of ? 4 : 2), &rest, next, &used);
	if (!option)
		suggest_option(options->command, word, length);
	if (!option->argument && rest)
		usage_error("--%s takes no value; leave out '%s'", option->name, rest - 1);
	return take_argument(options, option, rest, next, of && of != side) || used;
}

static void take_input(struct options *options, char *word)
{
	if (!*word)
		usage_error("cannot read an input with an empty name; name a recording");
	if (options->command == COMMAND_CONVERT && !options->input_count)
		suggest_command(word);
	if (options->command == COMMAND_WHY && !options->select.symbols.count &&
	    !strpbrk(word, "./-") && access(word, F_OK) < 0)
		usage_error("there is no recording '%s'; did you mean '--symbol=%s'?", word, word);
	options->inputs[options->input_count++] = word;
}

/* Move inputs to the start of `argv`. The first word without "-" starts the program to record. */
static void take_words(struct options *options, char side, int argc, char **argv)
{
	int i = 0;

	options->inputs = argv;
	for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
		char *next = i + 1 < argc ? argv[i + 1] : NULL;

		if ((argv[i][0] != '-' || !argv[i][1]) && options->command == COMMAND_RECORD)
			break;
		/* perf has -i in front of an input. */
		if (strcmp(argv[i], "-i") == 0 && next && options->command != COMMAND_RECORD)
			continue;
		if (argv[i][0] != '-' || !argv[i][1])
			take_input(options, argv[i]);
		else
			i += argv[i][1] == '-' ? take_long(options, side, argv[i], next)
					       : take_letters(options, argv[i], next);
	}
	if (i < argc && strcmp(argv[i], "--") == 0)
		i++;
	if (options->command == COMMAND_RECORD && i < argc)
		options->program = argv + i;
	for (; i < argc && options->command != COMMAND_RECORD; i++)
		take_input(options, argv[i]);
}

/* Ignore settings for options that only other commands have. */
static void take_setting(void *context, char *name, char *argument, const char *source)
{
	struct options *options = context;
	const struct option_spec *option = option_find(name, strlen(name));

	if (!option || !(option->flags & SETTING))
		usage_error("cannot take '%s' from %s: %s; leave it out", name, source,
			    option ? "it is not a setting" : "there is no such option");
	if (!option->argument != !argument && !option->if_omitted)
		usage_error("cannot take '%s' from %s: %s", name, source,
			    argument ? "it takes no value; leave the value out"
				     : "it needs a value; write NAME=VALUE");
	if (still_takes(options->command, option))
		take_option(options, option, argument);
}

/* A named output, or standard output except of lists, joins the inputs as one recording. */
static void choose_joined(struct options *options)
{
	bool open_choice =
		options->input_count > 1 && options->command != COMMAND_DIFF &&
		options->input_kind == INPUT_PERF_DATA && !options->raws.count &&
		!options->output &&
		(options->format->default_output == DEFAULT_FILE || options->format->sideband) &&
		!options->open && !options_is_batch(options);

	options->apart =
		options->join == JOIN_NEVER ||
		(open_choice && options->join == JOIN_AUTO && !input_parts_are_one(options));
}

/* Warn of the old names on the command line. */
static void warn_renamed(const struct options *options)
{
	for (int i = 0; renamed_options[i].old && !options->quiet; i++) {
		const struct renamed_option *renamed = &renamed_options[i];
		const char *value = renamed->value;

		if (options->renamed >> i & 1)
			message_print_warning(
				"--%s is now --%s%s%s, and its old name ends with release 2.0\n",
				renamed->old, renamed->name, value ? "=" : "", value ? value : "");
	}
	if (options->open && options->command == COMMAND_CONVERT && !options->quiet)
		message_print_warning(
			"--open is now `ptrace2ftf open`, and ends with release 2.0\n");
}

static void take_defaults(struct options *options)
{
	bool as_perf;
	const struct output_format *format;

	warn_renamed(options);
	options->output = output_path_standard(options->output);
	options->json = output_path_standard(options->json);
	options->json_lines = output_path_standard(options->json_lines);
	if (!options->input_count && !options->overlay_count && !options->files_from)
		choose_default_input(options);
	option_conflicts_choose_format(options);
	output_suffix_choose(options);
	if (options->files_from)
		input_list_read(options);
	choose_joined(options);
	option_conflicts_refuse(options);
	if (!options->ui)
		options->ui = options->usual_ui;
	/*
	 * Without --demangle (which has no word for DEMANGLE_PERF), branches have the symbol
	 * names that perf prints. magic-trace's rules need perf's names, which distinguish
	 * instances of a template and lack functions without a symbol.
	 */
	as_perf = options->format->as_perf || options->stacks == STACKS_MAGIC_TRACE;
	if (options->names == DEMANGLE_PERF && !as_perf)
		options->names = DEMANGLE_SHORT;
	if (options->unnamed == UNNAMED_DEFAULT && options->stacks == STACKS_MAGIC_TRACE)
		options->unnamed = UNNAMED_FILES;
	/* Without -o, write a trace next to its input, and text to standard output. */
	format = options->format;
	if (options_is_batch(options) || options->command == COMMAND_DIFF ||
	    options->command == COMMAND_ANNOTATE ||
	    (options->command == COMMAND_OPEN && !options->output))
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

/* `side`: of a difference, 'a' or 'b'; otherwise 0. */
static void parse(struct options *options, enum command command, char side, int argc, char **argv)
{
	int first = command == COMMAND_CONVERT ? 1 : 2;
	const char *words;

	bool watching = command == COMMAND_WATCH;

	*options = (struct options){ .command = watching ? COMMAND_RECORD : command,
				     .watching = watching,
				     .open = command == COMMAND_OPEN,
				     .jobs = 1,
				     .names = DEMANGLE_PERF,
				     .slow.context = SLOW_CONTEXT_DEFAULT };
	words = getenv(SETTINGS_VARIABLE);
	options->settings[0] = settings_read_file(&options->settings[1]);
	settings_parse(options->settings[0], true, options->settings[1], take_setting, options);
	options->settings[2] = alloc_text("%s", words ? words : "");
	settings_parse(options->settings[2], false, SETTINGS_VARIABLE, take_setting, options);
	options->setting_count = options->word_count;
	memset(options->given, 0, sizeof(options->given));
	options->usual_ui = options->ui;
	options->ui = NULL;
	take_words(options, side, argc - first, argv + first);
	/* The first word is the pattern of --symbol, unless that is given. */
	if (command == COMMAND_ANNOTATE && !options->select.symbols.count) {
		const char *suffix = options->input_count ? strrchr(options->inputs[0], '.') : NULL;

		if (!options->input_count || (suffix && strcmp(suffix, ".data") == 0))
			usage_error("annotate needs a function; name it first, as in "
				    "`ptrace2ftf annotate main perf.data`");
		pattern_list_add(&options->select.symbols, *options->inputs++);
		options->input_count--;
	}
	/* Each --raw took a word at least, so there is room for them as inputs. */
	if (options->raws.count && options->input_count)
		usage_error("cannot combine --raw and '%s'; choose one", options->inputs[0]);
	for (size_t i = 0; i < options->raws.count; i++)
		options->inputs[options->input_count++] =
			(char *)non_empty(option_find("raw", 3), options->raws.patterns[i]);
	options->input = options->input_count ? options->inputs[0] : NULL;
	take_defaults(options);
}

void command_line_parse(struct options *options, enum command command, int argc, char **argv)
{
	parse(options, command, 0, argc, argv);
}

/* ---- Two recordings ------------------------------------------------------ */

void command_line_parse_diff(struct options sides[2], int argc, char **argv)
{
	for (int side = 0; side < 2; side++) {
		/* Inputs are moved to the start of the words. */
		char **words = alloc_zeroed((size_t)argc + 1, sizeof(char *));

		memcpy(words, argv, (size_t)argc * sizeof(char *));
		parse(&sides[side], COMMAND_DIFF, (char)('a' + side), argc, words);
		sides[side].side_words = words;
	}
}

/* ---- Commands without options -------------------------------------------- */

enum command command_line_parse_words(enum command command, int argc, char **argv)
{
	bool takes_command = command == COMMAND_HELP;
	enum command chosen = COMMAND_CONVERT;

	if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
		help_print(command, false);
		exit((int)command_line_printed());
	}
	if (argc > 2 + takes_command)
		usage_error("`ptrace2ftf%s` takes %s; leave out '%s'", command_word(command),
			    takes_command ? "one command" : "no arguments",
			    argv[2 + takes_command]);
	if (argc > 2) {
		chosen = command_find(argv[2]);
		if (chosen == COMMAND_CONVERT)
			suggest_command(argv[2]);
		if (chosen == COMMAND_CONVERT)
			usage_error("unknown command '%s'; `ptrace2ftf --help` lists all", argv[2]);
	}
	return chosen;
}
