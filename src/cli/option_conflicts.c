/* SPDX-License-Identifier: MIT */
/* The checks of option combinations. */
#include "src/cli/option_conflicts.h"

#include <string.h>

#include "base/io/output_path.h"
#include "src/cli/usage_error.h"
#include "src/diff/diff_limit.h"
#include "src/formats/output_format.h"
#include "src/serve/viewer_page.h"

static bool is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

static void refuse_selection(struct argp_state *state, const struct options *options)
{
	struct selection slices = options->select;

	if (options->format->chooses_calls)
		slices.symbols.count = slices.dsos.count = 0;
	if (options->format->slices != SLICES_SORTED && selection_of_slices(&slices))
		usage_error(state,
			    "--symbol, --dso, --between, --from, --depth, --min-duration and "
			    "--hide choose slices, which this --format does not show");
	if (options->input_kind != INPUT_PERF_DATA && selection_of_events(&options->select))
		usage_error(state, "--time, --pid, --tid, --comm and --cpu need a perf.data file; "
				   "perf script has options of these names");
}

/* Returns whether an option with an argument was given. */
static bool has_option(const struct options *options, const char *name)
{
	size_t length = strlen(name);

	for (int i = 0; i < options->word_count; i++)
		if (strncmp(options->words[i] + 2, name, length) == 0 &&
		    options->words[i][2 + length] == '=')
			return true;
	return false;
}

static void refuse_outliers(struct argp_state *state, const struct options *options)
{
	bool outliers = options->format == &format_outliers;

	if (!outliers && has_option(options, "slow"))
		usage_error(state, "--slow needs --format=outliers");
	if (!outliers && options->pair.given)
		usage_error(state, "--pair needs --format=outliers");
	if ((outliers || options->format == &format_histogram) && !options->select.symbols.count &&
	    !options->select.dsos.count)
		usage_error(state, "--format=%s needs functions; choose them with --symbol=GLOB",
			    options->format->name);
	if (options->slow.has_bound && options->pair.given)
		usage_error(state, "cannot combine --slow and --pair; choose one");
}

static void refuse_top(struct argp_state *state, const struct options *options)
{
	bool table = options->diff ? options->format == &format_ftf
				   : options->format == &format_functions;

	if (!table && (options->select.top || has_option(options, "sort")))
		usage_error(state, "--top and --sort need --format=functions or `ptrace2ftf diff`");
}

static void refuse_split(struct argp_state *state, const struct options *options)
{
	if (!options->select.split.unit)
		return;
	if (!options->format->split)
		usage_error(state, "--split needs --format=ftf");
	if (is_stdout(options->output))
		usage_error(state, "--split writes several files; name them with -o FILE");
}

static void refuse_counters(struct argp_state *state, const struct options *options)
{
	if (!has_option(options, "counters"))
		return;
	if (!options->counters)
		usage_error(state, "--counters needs a time of 1ns or more");
	if (!options->format->split)
		usage_error(state, "--counters needs --format=ftf");
	if (options->input_kind != INPUT_PERF_DATA)
		usage_error(state, "--counters needs a perf.data file");
}

static void refuse_fit(struct argp_state *state, const struct options *options)
{
	if (!options->select.fit)
		return;
	if (!options->format->split)
		usage_error(state, "--fit needs --format=ftf");
	if (options->select.split.unit)
		usage_error(state, "cannot combine --fit and --split: the parts keep all slices; "
				   "choose one");
}

static void refuse_max_stack(struct argp_state *state, const struct options *options)
{
	if (options->max_stack && options->format != &format_folded &&
	    options->format != &format_pprof)
		usage_error(state, "--max-stack needs --format=folded or pprof");
}

static void refuse_flows(struct argp_state *state, const struct options *options)
{
	if (!options->flows)
		return;
	if (!options->format->split)
		usage_error(state, "--flows needs --format=ftf");
	if (options->stacks == STACKS_MAGIC_TRACE)
		usage_error(state, "--flows needs --stacks=precise");
	if (options->select.fit && options->select.fit != FIT_NONE)
		usage_error(
			state,
			"cannot combine --fit and --flows: folded slices have no arrows; choose one");
}

static void refuse_batch(struct argp_state *state, const struct options *options)
{
	for (int i = 0; i < options->input_count; i++)
		if (strcmp(options->inputs[i], "-") == 0)
			usage_error(state,
				    "cannot name an output after standard input; name it with -o");
	if (options->input_count > 1 && options->overlay_count)
		usage_error(state,
			    "cannot combine overlays with several recordings; leave out '%s'",
			    options->inputs[1]);
	if (options->json)
		usage_error(state, "--json describes one output; use --json-lines for several");
}

static void refuse_open(struct argp_state *state, const struct options *options, bool batch)
{
	char origin[VIEWER_PAGE_ORIGIN_MOST];

	if (options->ui && !options->open)
		usage_error(state, "--ui needs `ptrace2ftf open` or --open");
	if (options->ui && !viewer_page_origin(options->ui, origin))
		usage_error(state, "invalid --ui '%s'; expected an address like %s", options->ui,
			    VIEWER_PAGE_DEFAULT);
	if (!options->open)
		return;
	if (batch || options->json_lines || options->skip_existing)
		usage_error(state, "cannot show the outputs of a batch; convert one recording");
	if (!options->format->is_trace || options->select.split.unit)
		usage_error(state,
			    "cannot show several files or text; leave out --split and --format");
	if (is_stdout(options->output))
		usage_error(state, "cannot show standard output; name a file with -o");
}

static void refuse_record(struct argp_state *state, const struct options *options, bool batch)
{
	bool recording = options->attach || options->all_cpus || options->snapshot ||
			 options->trigger || options->dry_run;

	if (!options->record && recording)
		usage_error(state, "--attach, --all-cpus, --snapshot, --trigger and --dry-run need "
				   "`ptrace2ftf record`");
	if (!options->record)
		return;
	if (!options->program && !options->attach && !options->all_cpus)
		usage_error(state, "nothing to record; name a program behind --, or processes with "
				   "-p, or -a for all");
	if (options->attach && options->attach[strspn(options->attach, "0123456789,")])
		usage_error(state, "invalid --attach '%s'; expected process ids like 12,13",
			    options->attach);
	if (options->trigger && !options->program &&
	    (!options->attach || strchr(options->attach, ',')))
		usage_error(state, "--trigger needs a program, or one process");
	if (batch || options->overlay_count || options->input_kind != INPUT_PERF_DATA)
		usage_error(state,
			    "record makes one recording; leave out options of batches, other "
			    "inputs and overlays");
}

static void refuse_diff(struct argp_state *state, const struct options *options, bool batch)
{
	if (!options->diff && options->fail_if.count)
		usage_error(state, "--fail-if needs `ptrace2ftf diff`");
	for (size_t i = 0; i < options->fail_if.count; i++) {
		if (!diff_limit_is_valid(options->fail_if.patterns[i]))
			usage_error(state,
				    "invalid --fail-if '%s'; expected METRIC:+N, METRIC:+N%% or "
				    "METRIC@GLOB:+N, with insns, self, calls or time as METRIC",
				    options->fail_if.patterns[i]);
	}
	if (!options->diff)
		return;
	if (options->input_count != 2)
		usage_error(state, "diff compares two recordings; name A and B");
	if (strcmp(options->inputs[0], "-") == 0 || strcmp(options->inputs[1], "-") == 0)
		usage_error(state, "cannot compare standard input; name a file");
	if (batch || options->json_lines || options->skip_existing || options->open ||
	    options->select.split.unit || options->overlay_count)
		usage_error(state, "diff writes one table; leave out options of batches, --open, "
				   "--split and overlays");
	if (options->format != &format_ftf && options->format != &format_folded)
		usage_error(state,
			    "diff prints a table; leave out --format, or choose folded for stacks");
	if (is_stdout(options->json) && is_stdout(options->output))
		usage_error(state,
			    "standard output has other content; name a file for the summary, "
			    "--json=FILE");
}

static void refuse_memtrace(struct argp_state *state, const struct options *options)
{
	const struct selection *select = &options->select;

	if (options->format != &format_memtrace)
		return;
	if (options->overlay_count != 1 || options->overlays[0].kind != OVERLAY_MEMTRACE)
		usage_error(state, "a memtrace file is cut from another one; name one, with "
				   "--memtrace=FILE");
	if (options->input || options->record)
		usage_error(state,
			    "cannot write a recording as memtrace, which has allocations "
			    "only; leave out '%s'",
			    options->input ? options->input : "record");
	if (select->pids.count || select->tids.count || select->cpus.count || select->comms.count ||
	    select->from.base >= TIME_BEFORE_HIT || select->to.base >= TIME_BEFORE_HIT)
		usage_error(state, "memtrace knows no threads, CPUs or hits; choose a time");
	if (options->clock_sync || options->clock_offsets.has_mono ||
	    options->clock_offsets.has_real)
		usage_error(state, "a cut memtrace file keeps its clock; leave out --clock-offset "
				   "and --clock-sync");
}

/* A summary or line of JSON may share standard output with nothing else. */
static void refuse_json(struct argp_state *state, const struct options *options, bool to_stdout)
{
	bool json = is_stdout(options->json);

	if (is_stdout(options->json_lines) && (to_stdout || json))
		usage_error(state, "standard output has other content; name a file for the lines, "
				   "--json-lines=FILE");
	if (json && to_stdout)
		usage_error(state,
			    "standard output has other content; name a file for the summary, "
			    "--json=FILE");
}

static void choose_slow(struct argp_state *state, struct options *options)
{
	bool wanted = has_option(options, "slowest") || has_option(options, "slower-than");

	if (!wanted && has_option(options, "context"))
		usage_error(state, "--context needs --slowest or --slower-than");
	if (!wanted)
		return;
	if (!options->select.symbols.count && !options->select.dsos.count)
		usage_error(
			state,
			"--slowest and --slower-than need functions; choose them with --symbol=GLOB");
	if (options->format)
		usage_error(state,
			    "--slowest and --slower-than print a table, or write traces with "
			    "-o DIR/; leave out --format");
	options->format = &format_slowest;
	options->slow.listed = true;
}

static void choose_list(struct argp_state *state, struct options *options)
{
	if (!options->show_list)
		return;
	if (options->format)
		usage_error(state, "--list prints a list; leave out --format, --slowest and "
				   "--slower-than");
	if (options->input_kind != INPUT_PERF_DATA || !options->input_count)
		usage_error(state, "--list needs a perf.data file");
	if (options->record || options->diff || options->open || options->overlay_count)
		usage_error(state, "--list only reads a recording; leave out record, diff, open "
				   "and overlays");
	options->format = &format_list;
}

void option_conflicts_choose_format(struct argp_state *state, struct options *options)
{
	choose_slow(state, options);
	choose_list(state, options);
}

/* The recording is read again for each call. */
static void refuse_slow(struct argp_state *state, const struct options *options)
{
	if (!options->slow.listed)
		return;
	if (options->output_pattern || options->files_from)
		usage_error(
			state,
			"--slowest and --slower-than need one recording; leave out options of batches");
	if (!options_trace_slow(options))
		return;
	if (options->input_kind != INPUT_PERF_DATA)
		usage_error(state, "traces of slow calls need a perf.data file; leave out -o DIR/");
	for (int i = 0; i < options->input_count; i++)
		if (is_stdout(options->inputs[i]))
			usage_error(state, "traces of slow calls need a file, which is read again; "
					   "name one in place of -");
	if (options->json_lines || options->skip_existing)
		usage_error(state, "--json-lines and --skip-existing need a batch; DIR/index.jsonl "
				   "has a line for each slow call");
}

void option_conflicts_refuse(struct argp_state *state, const struct options *options)
{
	enum default_output default_output = options->format->default_output;
	bool batch = options_is_batch(options);
	bool text = !batch && default_output == DEFAULT_STDOUT;

	if (options->output && options->output_pattern)
		usage_error(state, "cannot combine --output and --output-pattern; choose one");
	if (options->inlined && options->stacks == STACKS_MAGIC_TRACE)
		usage_error(state,
			    "--inline needs --stacks=precise: magic-trace's rules do not know "
			    "inlined functions");
	if (options->inlined && options->engine == PT_ENGINE_LIBIPT)
		usage_error(state,
			    "--inline needs --engine=fast: libipt's does not show where code "
			    "without a branch enters an inlined call");
	refuse_memtrace(state, options);
	refuse_outliers(state, options);
	refuse_top(state, options);
	refuse_split(state, options);
	refuse_fit(state, options);
	refuse_counters(state, options);
	refuse_max_stack(state, options);
	refuse_flows(state, options);
	refuse_selection(state, options);
	refuse_slow(state, options);
	if (options->files_from && options->output && !output_path_is_directory(options->output))
		usage_error(state, "--files0-from needs a directory for --output: '%s' is not one",
			    options->output);
	if (options->timeout && !batch && !options_trace_slow(options) && !options->json_lines &&
	    !options->skip_existing)
		usage_error(state, "--timeout needs a batch; name a directory, -o DIR/");
	refuse_record(state, options, batch);
	refuse_diff(state, options, batch);
	if (options->diff)
		return;
	if (batch)
		refuse_batch(state, options);
	else if (options->input_count > 1 && options->input_kind != INPUT_PERF_DATA)
		usage_error(state, "cannot combine several texts; leave out '%s'",
			    options->inputs[1]);
	refuse_open(state, options, batch);
	if (default_output == DEFAULT_FILE && !batch && !options->output && !options->open_only &&
	    (!options->input || strcmp(options->input, "-") == 0))
		usage_error(state, "cannot name an output after %s; name it with -o",
			    options->input ? "standard input" : "overlays");
	/* The address of the page is printed there. */
	refuse_json(state, options,
		    options->open || (options->output ? is_stdout(options->output) : text));
}
