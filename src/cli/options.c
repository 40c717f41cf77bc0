/* SPDX-License-Identifier: MIT */
#include "src/options/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/io/output_path.h"
#include "src/batch/batch_plan.h"
#include "src/cli/option_group.h"
#include "src/cli/versions.h"

enum option_key {
	KEY_FORMAT = 'f',
	KEY_OUTPUT = 'o',
	KEY_INPUT = 256,
	KEY_STACKS,
	KEY_MODE,
	KEY_SYMFS,
	KEY_VDSO,
	KEY_KCORE,
	KEY_VMLINUX,
	KEY_ENGINE,
	KEY_DEMANGLE,
	KEY_DEBUG_DIR,
	KEY_INLINE,
	KEY_DEBUGINFOD,
	KEY_FORCE_DSO,
	KEY_STRIP_PREFIX,
	KEY_PERF_MAP_DIR,
	KEY_KALLSYMS,
	KEY_ARGS,
};

static const char doc[] =
	"Convert an Intel PT recording of perf into a trace that Perfetto opens: "
	"every function call as a slice, to the nanosecond, with its source line."
	"\v"
	"Record with `perf record -e intel_pt//u PROGRAM`, convert with "
	"`ptrace2ftf perf.data -o out.ftf`, open out.ftf at https://ui.perfetto.dev.\n\n"
	"Exit status: 0 all converted; 2 converted, with gaps or warnings; "
	"1 failed, nothing written; 64 wrong usage; 130 interrupted, the rest left out.";

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Input:", 1 },
	{ "input", KEY_INPUT, "KIND", 0,
	  "What INPUT is: perf-data (default), or perf-script: the text that perf script prints",
	  1 },
	{ "mode", KEY_MODE, "MODE", 0,
	  "What was traced: user, kernel or both (default: as the recording says)", 1 },
	{ "engine", KEY_ENGINE, "ENGINE", 0,
	  "Who decodes the trace: fast (default), or libipt, to compare: slower, loses more", 1 },
	{ NULL, 0, NULL, 0, "Symbols:", 4 },
	{ "symfs", KEY_SYMFS, "DIR", 0,
	  "Look for all files of the recording below DIR, and nowhere else", 4 },
	{ "vdso", KEY_VDSO, "FILE", 0, "The vdso of the recorded kernel", 4 },
	{ "kcore", KEY_KCORE, "FILE", 0,
	  "The copy of the kernel's memory, or its directory (default: kcore_dir in INPUT)", 4 },
	{ "vmlinux", KEY_VMLINUX, "FILE", 0, "The recorded kernel, if there is no kcore", 4 },
	{ "debug-dir", KEY_DEBUG_DIR, "DIR", 0,
	  "Look for debug files in DIR, laid out as /usr/lib/debug is, first", 4 },
	{ "debuginfod", KEY_DEBUGINFOD, NULL, 0,
	  "Ask the servers in DEBUGINFOD_URLS for files that are missing here", 4 },
	{ "force-dso", KEY_FORCE_DSO, NULL, 0,
	  "Use the file at a recorded path although its build id is not the recorded one", 4 },
	{ "kallsyms", KEY_KALLSYMS, "FILE", 0,
	  "The symbols of the recorded kernel, as /proc/kallsyms had them", 4 },
	{ "perf-map-dir", KEY_PERF_MAP_DIR, "DIR", 0,
	  "Where the perf-PID.map files are that name code of JIT compilers (default: /tmp)", 4 },
	{ "strip-prefix", KEY_STRIP_PREFIX, "DIR", 0,
	  "Show paths of source files below DIR relative to it", 4 },
	{ "demangle", KEY_DEMANGLE, "STYLE", 0,
	  "How names are shown: short (default), without template arguments and parameters; "
	  "full; or none: as in the symbol table",
	  4 },
	{ NULL, 0, NULL, 0, "Stacks:", 3 },
	{ "stacks", KEY_STACKS, "MACHINE", 0,
	  "How call stacks are built: precise (default), by return addresses; "
	  "magic-trace, by names, as magic-trace 1.0 does",
	  3 },
	{ "inline", KEY_INLINE, NULL, 0,
	  "Show calls that the compiler replaced by the called function's code, too", 3 },
	{ NULL, 0, NULL, 0, "Output:", 5 },
	{ "output", KEY_OUTPUT, "FILE", 0,
	  "Write to FILE, compressed if it ends in .gz or .zst; - is standard output "
	  "(default: INPUT.ftf; standard output for text).  If FILE is a directory, each INPUT is "
	  "converted to an output of its own in it, named after INPUT",
	  5 },
	{ "format", KEY_FORMAT, "FORMAT", 0,
	  "ftf (default); branches: a line per branch, as perf script prints it; "
	  "calls: begins and ends as they are found; slices: a line per finished slice; "
	  "events: a line per event of the overlays; "
	  "folded: call stacks with their own time, for flame graphs; "
	  "functions: a table; chrome and speedscope: JSON for those; "
	  "svg: a picture of the busiest thread; "
	  "none: decode only",
	  5 },
	{ "args", KEY_ARGS, "WHAT", 0,
	  "What slices tell beside their name: none; line (default): the function's address and "
	  "source; full: also the line of the call, instructions, cycles and IPC",
	  5 },
	{ 0 }
};

static const struct option_choice inputs[] = { { "perf-data", INPUT_PERF_DATA },
					       { "perf-script", INPUT_PERF_SCRIPT },
					       { NULL, 0 } };
static const struct option_choice modes[] = { { "user", OPTION_MODE_USER },
					      { "kernel", OPTION_MODE_KERNEL },
					      { "both", OPTION_MODE_BOTH },
					      { NULL, 0 } };
static const struct option_choice machines[] = { { "precise", STACKS_PRECISE },
						 { "magic-trace", STACKS_MAGIC_TRACE },
						 { NULL, 0 } };
static const struct option_choice names[] = { { "short", OPTION_NAMES_SHORT },
					      { "full", OPTION_NAMES_FULL },
					      { "none", OPTION_NAMES_NONE },
					      { NULL, 0 } };
static const struct option_choice engines[] = { { "fast", OPTION_ENGINE_FAST },
						{ "libipt", OPTION_ENGINE_LIBIPT },
						{ NULL, 0 } };
static const struct option_choice details[] = { { "none", OPTION_ARGS_NONE },
						{ "line", OPTION_ARGS_LINE },
						{ "full", OPTION_ARGS_FULL },
						{ NULL, 0 } };
static const struct option_choice formats[] = {
	{ "ftf", FORMAT_FTF },       { "branches", FORMAT_BRANCHES },
	{ "calls", FORMAT_CALLS },   { "slices", FORMAT_SLICES },
	{ "none", FORMAT_NONE },     { "events", FORMAT_EVENTS },
	{ "folded", FORMAT_FOLDED }, { "functions", FORMAT_FUNCTIONS },
	{ "chrome", FORMAT_CHROME }, { "speedscope", FORMAT_SPEEDSCOPE },
	{ "svg", FORMAT_SVG },       { NULL, 0 }
};

const char *option_format_word(enum output_format format)
{
	const struct option_choice *choice = formats;

	while (choice->value != (int)format)
		choice++;
	return choice->word;
}

static const struct argp_child groups[] = {
	{ &option_group_select, 0, NULL, 0 },   { &option_group_batch, 0, NULL, 0 },
	{ &option_group_overlays, 0, NULL, 0 }, { &option_group_report, 0, NULL, 0 },
	{ &option_group_sandbox, 0, NULL, 0 },  { &option_group_speed, 0, NULL, 0 },
	{ &option_group_timing, 0, NULL, 0 },   { NULL, 0, NULL, 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		for (size_t i = 0; groups[i].argp; i++)
			state->child_inputs[i] = options;
		return 0;
	case KEY_INPUT:
		options->input_kind = (enum input_kind)option_choose(state, inputs, "input", arg);
		return 0;
	case KEY_MODE:
		options->mode = (enum option_mode)option_choose(state, modes, "mode", arg);
		return 0;
	case KEY_STACKS:
		options->stacks = (enum stack_machine)option_choose(state, machines, "stacks", arg);
		return 0;
	case KEY_ENGINE:
		options->engine = (enum option_engine)option_choose(state, engines, "engine", arg);
		return 0;
	case KEY_ARGS:
		options->args = (enum option_args)option_choose(state, details, "args", arg);
		return 0;
	case KEY_FORMAT:
		options->format = (enum output_format)option_choose(state, formats, "format", arg);
		return 0;
	case KEY_OUTPUT:
		options->output = arg;
		return 0;
	case KEY_SYMFS:
		options->symfs = arg;
		return 0;
	case KEY_VDSO:
		options->vdso = arg;
		return 0;
	case KEY_KCORE:
		options->kcore = arg;
		return 0;
	case KEY_VMLINUX:
		options->vmlinux = arg;
		return 0;
	case KEY_DEBUGINFOD:
		options->debuginfod = true;
		return 0;
	case KEY_INLINE:
		options->inlined = true;
		return 0;
	case KEY_DEBUG_DIR:
		options->debug_dir = arg;
		return 0;
	case KEY_FORCE_DSO:
		options->force_dso = true;
		return 0;
	case KEY_STRIP_PREFIX:
		options->strip_prefix = arg;
		return 0;
	case KEY_KALLSYMS:
		options->kallsyms = arg;
		return 0;
	case KEY_PERF_MAP_DIR:
		options->perf_map_dir = arg;
		return 0;
	case KEY_DEMANGLE:
		options->names = (enum option_names)option_choose(state, names, "demangle", arg);
		return 0;
	case ARGP_KEY_ARG:
		/* argp moves all arguments behind the options before it tells of the first. */
		if (!options->input_count++) {
			options->input = arg;
			options->inputs = &state->argv[state->next - 1];
		}
		return 0;
	case ARGP_KEY_NO_ARGS:
		if (!options->overlay_count && !options->files_from)
			argp_error(state, "no input: name a perf.data file");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void wrong_usage(const char *text, const char *word)
{
	fprintf(stderr, "ptrace2ftf: %s%s\n", text, word);
	exit(EXIT_USAGE);
}

/* What is possible with inputs of one recording only, and what with several. */
static void check_batch(const struct options *options)
{
	bool batch = batch_plan_wanted(options);

	if (options->input_count > 1 && options->input_kind != INPUT_PERF_DATA && !batch)
		wrong_usage("one input at a time, and this is a second: ", options->inputs[1]);
	if (options->input_count > 1 && options->overlay_count && batch)
		wrong_usage("overlays belong to one recording, and this is a second: ",
			    options->inputs[1]);
	if (options->files_from && options->output && !output_path_is_directory(options->output))
		wrong_usage("with --files0-from, --output is a directory, and this is none: ",
			    options->output);
	for (int i = 0; i < options->input_count && batch; i++)
		if (strcmp(options->inputs[i], "-") == 0)
			wrong_usage("standard input has no name to make an output of: ",
				    "give one with -o");
	if (batch && options->json)
		wrong_usage("--json is of one output, and here may be several: ",
			    "--json-lines tells of each");
}

/* Standard output holds one thing. */
static void check_json(const struct options *options)
{
	bool text = options->format != FORMAT_FTF && options->format != FORMAT_NONE &&
		    !batch_plan_wanted(options);
	const char *output = options->output ? options->output : text ? "-" : "";
	bool lines = options->json_lines && strcmp(options->json_lines, "-") == 0;

	if (lines &&
	    (strcmp(output, "-") == 0 || (options->json && strcmp(options->json, "-") == 0)))
		wrong_usage("standard output is for something else: ", "--json-lines=FILE");
	if (options->json && strcmp(options->json, "-") == 0 && strcmp(output, "-") == 0) {
		fprintf(stderr, "ptrace2ftf: the output is on standard output: name a file for "
				"the summary, --json=FILE\n");
		exit(EXIT_USAGE);
	}
}

void options_parse(struct options *options, int argc, char **argv)
{
	static const struct argp argp = {
		argp_options, parse, "INPUT...", doc, groups, NULL, NULL
	};

	*options = (struct options){ 0 };
	argp_err_exit_status = EXIT_USAGE;
	argp_program_version_hook = versions_print;
	option_suggest(&argp, argc, argv);
	if (argp_parse(&argp, argc, argv, 0, NULL, options) != 0)
		alloc_fail(0); /* the only cause that it does not tell itself */
	if (options->format == FORMAT_EVENTS && !options->overlay_count) {
		fprintf(stderr,
			"ptrace2ftf: --format=events needs --runtime-events or --memtrace\n");
		exit(EXIT_USAGE);
	}
	check_batch(options);
	if (options->format == FORMAT_FTF && !options->output && !batch_plan_wanted(options) &&
	    (!options->input || strcmp(options->input, "-") == 0)) {
		fprintf(stderr, "ptrace2ftf: %s no name to make an output of: give one with -o\n",
			options->input ? "standard input has" : "there is");
		exit(EXIT_USAGE);
	}
	check_json(options);
}

void options_release(struct options *options)
{
	selection_release(&options->select);
	free(options->overlays);
	free(options->list);
	free(options->listed);
	free(options->words);
	*options = (struct options){ 0 };
}
