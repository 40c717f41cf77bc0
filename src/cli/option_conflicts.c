/* SPDX-License-Identifier: MIT */
/* The checks of option combinations. */
#include "src/cli/command_line.h"

#include <unistd.h>

#include "base/io/output_path.h"
#include "src/cli/commands.h"
#include "src/diff/diff.h"
#include "src/formats/output_format.h"
#include "src/formats/text/digits.h"
#include "src/serve/viewer_page.h"

static bool is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

/* Returns whether a list of words with blanks between has "PREFIXWORD". */
static bool names_word(const char *list, const char *prefix, const char *word)
{
	size_t skipped = strlen(prefix), length = strlen(word);

	for (const char *at = list; *at; at += strspn(at, " ")) {
		size_t width = strcspn(at, " ");

		if (width == skipped + length && starts_with(at, prefix) &&
		    memcmp(at + skipped, word, length) == 0)
			return true;
		at += width;
	}
	return false;
}

/* Returns whether the command line has one of the options named in a list; settings do not count.
 */
static bool has_option(const struct options *options, const char *names)
{
	for (const struct option_spec *spec = option_specs; spec->name; spec++) {
		size_t index = (size_t)(spec - option_specs);

		if (options->given[index / 64] >> index % 64 & 1 &&
		    names_word(names, "", spec->name))
			return true;
	}
	return false;
}

#define REFUSE_IF(present, ...)                                                                    \
	do {                                                                                       \
		if (present)                                                                       \
			usage_error(__VA_ARGS__);                                                  \
	} while (0)

#define SLICE_OPTIONS                                                                              \
	"--symbol, --dso, --between, --from, --within, --depth, --min-duration and --hide "

static void refuse_selection(const struct options *options)
{
	struct selection slices = options->select;
	bool events = selection_of_events(&slices),
	     overlays = selection_of_slices(&slices) || events;

	if (options->format->chooses_calls)
		slices.symbols.count = slices.dsos.count = 0;
	if (options->format->within)
		slices.within.function = NULL;
	slices.work.chosen = false; /* branches have it, too */
	REFUSE_IF(options->format->slices == SLICES_NONE && selection_of_slices(&slices),
		  SLICE_OPTIONS "choose slices, which this --format does not show");
	REFUSE_IF(options->format->slices == SLICES_AS_FOUND && selection_of_slices(&slices),
		  SLICE_OPTIONS
		  "choose among sorted slices, and this --format shows all of them in the "
		  "order found; leave them out, or choose --format=slices or tree");
	REFUSE_IF(options->format->chooses_calls && !options_trace_slow(options) &&
			  (slices.depth || slices.min_duration || slices.hidden.count),
		  "--depth, --min-duration and --hide choose slices to show, and calls are "
		  "measured whole; leave them out");
	REFUSE_IF(options->input_kind != INPUT_PERF_DATA && events,
		  "--time, --pid, --tid, --comm and --cpu need a perf.data file; perf script has "
		  "options of these names");
	REFUSE_IF(options->overlay_count && !options->input && options->command != COMMAND_RECORD &&
			  options->format != &format_memtrace && overlays,
		  "overlays without a recording are shown whole; to choose a part of a memtrace "
		  "file, cut it with --time and -o OUT.ctf");
}

/* Print "A", or "A or B", or "A, B or C" of a list of words, each with `prefix`. */
static const char *list_words(const char *list, const char *prefix)
{
	static char text[256];
	size_t used = 0;

	for (const char *at = list; *at;) {
		int width = (int)strcspn(at, " ");
		const char *next = at + width + strspn(at + width, " ");

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s%.*s",
					 at == list ? ""
					 : *next    ? ", "
						    : " or ",
					 prefix, width, at);
		at = next;
	}
	return text;
}

static void refuse_rows(const struct options *options)
{
	for (const struct option_spec *spec = option_specs; spec->name; spec++)
		if (has_option(options, spec->name)) {
			const char *formats = spec->formats;
			/* The table of a difference is that of --format=functions. */
			bool table =
				options->command == COMMAND_DIFF && options->format == &format_ftf;
			const char *format = table ? format_functions.name : options->format->name;

			/* Refuse an option by the columns of its row. */
			if (formats && *formats == '-' && names_word(formats, "-", format))
				usage_error("cannot combine --%s and --format=%s; leave out --%s",
					    spec->name, format, spec->name);
			if (formats && *formats != '-' && !names_word(formats, "", format))
				usage_error("--%s needs --format=%s", spec->name,
					    list_words(formats, ""));
			if (spec->with && !has_option(options, spec->with))
				usage_error("--%s needs %s", spec->name,
					    list_words(spec->with, "--"));
			if (spec->without && has_option(options, spec->without))
				usage_error("cannot combine --%s and %s; choose one", spec->name,
					    list_words(spec->without, "--"));
		}
}

/* Options that exclude each other by their values. */
static void refuse_formats(const struct options *options)
{
	const struct output_format *format = options->format;
	bool magic_trace = options->stacks == STACKS_MAGIC_TRACE;
	bool flows = options->stacks == STACKS_FLOWS;
	bool counters = has_option(options, "counters");
	bool counted =
		(format->within && format->chooses_calls && options->select.within.function) ||
		(format->slices == SLICES_SORTED && format->all_branches);

	REFUSE_IF(options->select.split.unit && is_stdout(options->output),
		  "--split writes several files; name them with -o FILE");
	REFUSE_IF(format->tables && is_stdout(options->output),
		  "--format=%s writes several files; name them with -o DIR/", format->name);
	REFUSE_IF(counters && !options->counters, "--counters needs a time of 1ns or more");
	REFUSE_IF(counters && options->input_kind != INPUT_PERF_DATA,
		  "--counters needs a perf.data file");
	REFUSE_IF(has_option(options, "unit") && !options->unit,
		  "--unit needs a time of 1ns or more");
	REFUSE_IF(
		counted && (magic_trace || options->inlined),
		"--within of counts of code, or their order, needs --stacks=precise, and no --inline");
	REFUSE_IF(options->fibers && (magic_trace || format->slices != SLICES_SORTED),
		  "--fibers needs --stacks=precise and a format of slices in order, as ftf");
	REFUSE_IF(options->switches.count && magic_trace,
		  "--switch-function needs --stacks=precise");
	REFUSE_IF(
		options->fibers && counted,
		"cannot combine --fibers and --within of counts of code, or their order; leave one out");
	REFUSE_IF(options->fibers && options->clock,
		  "cannot combine --fibers and --clock: a stack runs on several threads; leave one "
		  "out");
	REFUSE_IF(flows && (format != &format_ftf || options->command == COMMAND_DIFF),
		  "--stacks=flows needs --format=ftf");
	REFUSE_IF(flows && options->select.fit && options->select.fit != FIT_NONE,
		  "cannot combine --fit and --stacks=flows: folded slices have no arrows; choose "
		  "one");
}

static void refuse_clock(const struct options *options)
{
	if (!options->clock)
		return;
	REFUSE_IF(
		options->format->overlays == OVERLAYS_ONLY || options->overlay_count,
		"cannot combine --clock and events or overlays: they have times only; leave one out");
	REFUSE_IF(options->counters,
		  "cannot combine --clock and --counters: CPUs have no such clock; leave one out");
	REFUSE_IF(options->input_kind != INPUT_PERF_DATA || options->stacks == STACKS_MAGIC_TRACE,
		  "--clock needs a perf.data file and --stacks=precise, which count instructions");
	REFUSE_IF(options->clock == CLOCK_CYCLES && options->engine == PT_ENGINE_LIBIPT,
		  "--clock=cycles needs --engine=fast: libipt counts no cycles");
}

static void refuse_batch(const struct options *options)
{
	for (int i = 0; i < options->input_count; i++)
		if (strcmp(options->inputs[i], "-") == 0)
			usage_error("cannot name an output after standard input; name it with -o");
	if (options->input_count > 1 && options->overlay_count)
		usage_error("cannot combine overlays with several recordings; leave out '%s'",
			    options->inputs[1]);
	if (options->json ||
	    (options->json_answer && (!options->format->sideband || options->output)))
		usage_error("--json describes one output; use --json-lines for several");
}

static void refuse_open(const struct options *options, bool batch)
{
	const char *page = options->ui ? options->ui : options->usual_ui;
	char origin[VIEWER_PAGE_ORIGIN_MOST];

	if (options->ui && !options->open)
		usage_error("--ui needs `ptrace2ftf open` or --open");
	if (page && !viewer_page_origin(page, origin))
		usage_error("invalid --ui '%s'; expected an address like %s", page,
			    VIEWER_PAGE_DEFAULT);
	if (!options->open)
		return;
	if (batch || options->json_lines || options->skip_existing)
		usage_error("cannot show the outputs of a batch; convert one recording");
	if ((!options->format->is_trace && options->format != &format_html) ||
	    options->select.split.unit)
		usage_error("cannot show several files or text; leave out --split and --format, "
			    "or name a file in .ftf or .html");
	if (options->format == &format_html && options->output &&
	    compression_of_path(options->output) != COMPRESSION_NONE)
		usage_error("cannot show a compressed page; choose a name in .html");
	if (is_stdout(options->output))
		usage_error("cannot show standard output; name a file with -o");
}

static void refuse_record(const struct options *options, bool batch)
{
	const char *attach = options->attach;
	bool one_process = options->program || (attach && !strchr(attach, ','));

	REFUSE_IF(options->check && options->json && !is_stdout(options->json),
		  "--check prints an answer; write --json without a file");
	if (options->command != COMMAND_RECORD || options->check)
		return;
	if (attach && attach[strspn(attach, "0123456789,")])
		usage_error("invalid --attach '%s'; expected process ids like 12,13", attach);
	REFUSE_IF(
		!options->program && !attach && !options->all_cpus,
		"nothing to record; name a program after --, or processes with -p, or -a for all");
	REFUSE_IF(options->watching && !options->watched.function,
		  "watch needs --slow='F>T': a function and a bound");
	REFUSE_IF(options->start_at && !one_process, "--start-at needs a program, or one process");
	REFUSE_IF((options->snapshot_at || options->watched.function) && !one_process,
		  "%s needs a program, or one process",
		  options->snapshot_at ? "--snapshot-at" : "--slow='F>T'");
	REFUSE_IF(options->watched.function && !*options->watched.function &&
			  !options->select.start,
		  "--slow='>T' needs --between=START,STOP; or name a function, --slow='F>T'");
	REFUSE_IF(options->watched.function && (options->snapshot_at || options->start_at),
		  "cannot combine --slow='F>T' and --snapshot-at or --start-at; choose one");
	REFUSE_IF(options->snapshots && !options->watched.function,
		  "--snapshots needs --slow='F>T': a function and a bound");
	REFUSE_IF(options->snapshots && (!batch || options->output_pattern),
		  "--snapshots writes several recordings; name a directory, -o DIR/");
	REFUSE_IF((batch && !options->snapshots) || options->input_kind != INPUT_PERF_DATA,
		  "record makes one recording, which is its input; leave out -o DIR/ and --input");
}

static void refuse_diff(const struct options *options, bool batch)
{
	for (size_t i = 0; i < options->fail_if.count; i++) {
		if (!diff_limit_is_valid(options->fail_if.patterns[i]))
			usage_error("invalid --fail-if '%s'; expected METRIC:+N, METRIC:+N%% or "
				    "METRIC@GLOB:+N, with insns, self, calls or time as METRIC",
				    options->fail_if.patterns[i]);
	}
	if (options->command != COMMAND_DIFF)
		return;
	if (options->input_count != 2)
		usage_error("diff compares two recordings; name A and B");
	REFUSE_IF(is_stdout(options->inputs[0]) || is_stdout(options->inputs[1]),
		  "cannot compare standard input; name a file");
	REFUSE_IF(batch, "diff writes one table; name a file with -o");
	REFUSE_IF(options->format != &format_ftf && options->format != &format_folded,
		  "diff prints a table; leave out --format, or choose folded for stacks");
	REFUSE_IF(options->select.order == ORDER_CPU,
		  "diff does not compare times on CPU; choose another --sort");
	REFUSE_IF(options->first && (options->format != &format_ftf || options->report ||
				     options->fail_if.count || options->select.top),
		  "--first prints branches; leave out --format, --report, --fail-if and --top");
	REFUSE_IF(is_stdout(options->json) && (!options->output || is_stdout(options->output)),
		  "standard output has other content; name a file for the summary, --json=FILE");
}

static void refuse_memtrace(const struct options *options)
{
	const struct selection *select = &options->select;

	if (options->format != &format_memtrace)
		return;
	if (options->overlay_count != 1 || options->overlays[0].kind != OVERLAY_MEMTRACE)
		usage_error("a memtrace file is cut from another one; name one, with "
			    "--memtrace=FILE");
	if (options->input || options->command == COMMAND_RECORD)
		usage_error("cannot write a recording as memtrace, which has allocations "
			    "only; leave out '%s'",
			    options->input ? options->input : "record");
	if (select->from.base >= TIME_BEFORE_HIT || select->to.base >= TIME_BEFORE_HIT)
		usage_error("memtrace files have no hits; choose a time, as +1ms");
}

/* A JSON summary or line must be alone on standard output. */
static void refuse_json(const struct options *options, bool to_stdout)
{
	bool json = is_stdout(options->json);

	if (is_stdout(options->json_lines) && (to_stdout || json))
		usage_error("standard output has other content; name a file for the lines, "
			    "--json-lines=FILE");
	if (json && to_stdout && options->format->default_output == DEFAULT_STDOUT)
		usage_error("--format=%s has no JSON; name a file for the summary, --json=FILE",
			    options->format->name);
	if (json && to_stdout)
		usage_error("standard output has other content; name a file for the summary, "
			    "--json=FILE");
}

/* As xz does. */
static void refuse_terminal(const struct options *options)
{
	const struct output_format *format = options->format;

	if ((format->for_programs || format->default_output == DEFAULT_FILE) &&
	    isatty(STDOUT_FILENO))
		usage_error("cannot write --format=%s to a terminal; name a file with -o",
			    format->name);
}

/* Without a format, --slowest and --slow list calls. */
static void choose_slow(struct options *options)
{
	bool most = has_option(options, "slowest");
	bool slow = options->slow.has_bound, wanted = most || (slow && !options->format);

	if (options->watched.function) {
		options->snapshots = options->snapshots ?: options->watching ? UINT_MAX : 1;
		options->slow.context *= has_option(options, "context");
	}
	if (options->snapshots && !options->output && !options->output_pattern)
		options->output = "incidents/";
	/* perf's files become the recordings. */
	if (options->snapshots && options->output)
		options->input = options->beside = alloc_text(
			"%.*s/.ptrace2ftf-%d.data", (int)output_path_length(options->output),
			options->output, getpid());
	if (!wanted && slow && options->command != COMMAND_WHY)
		usage_error("--slow prints a table, or writes traces with -o DIR/; leave out "
			    "--format");
	if (!wanted)
		return;
	options->slow.of_all = !options->select.symbols.count && !options->select.dsos.count;
	if (options->slow.of_all)
		pattern_list_add(&options->select.symbols, "*");
	if (options->format)
		usage_error("--slowest prints a table, or writes traces with -o DIR/; leave "
			    "out --format, or show one call with --within='GLOB>#N'");
	options->format = &format_slowest;
	options->slow.listed = true;
}

void option_conflicts_choose_format(struct options *options)
{
	struct time_bound *from = &options->select.from, *to = &options->select.to;

	/* --clock counts from the begin of each thread, so --time chooses slices, not trace. */
	if (options->clock) {
		digits_count_work(options->clock == CLOCK_INSNS ? "insns" : "cycles");
		if (from->base > TIME_FROM_START || to->base > TIME_FROM_FIRST)
			usage_error("--clock counts from each thread's begin; "
				    "expected --time=+FROM,+COUNT");
		options->select.work =
			(struct work_range){ from->base || to->base, options->clock == CLOCK_CYCLES,
					     from->ns, UINT64_MAX };
		if (to->base)
			options->select.work.to =
				to->ns + (to->base == TIME_FROM_FIRST ? from->ns : 0);
		from->base = to->base = TIME_OPEN;
	}
	if (options->command == COMMAND_LIST)
		options->format = &format_list;
	if (options->command == COMMAND_PACK)
		options->format = &format_pack;
	if (options->command == COMMAND_ANNOTATE)
		options->format = &format_annotate;
	if (options->command == COMMAND_WHY) {
		const char *suffix = options->output ? strrchr(options->output, '.') : NULL;
		bool page = suffix && strcasecmp(suffix, ".html") == 0;

		options->format = page ? &format_why_page : &format_why;
		options->inlined =
			options->stacks != STACKS_MAGIC_TRACE && options->engine == PT_ENGINE_FAST;
	}
	choose_slow(options);
	/* magic-trace 1.0 has no choice: settings for other formats do not count. */
	if (!options->format || !options->format->imitates)
		return;
	options->stacks = STACKS_MAGIC_TRACE;
	options->names = DEMANGLE_PERF;
	options->unnamed = UNNAMED_DEFAULT;
	options->select.fit = FIT_NONE;
	if (options->mode == TRACE_MODE_GUESS)
		options->mode = TRACE_MODE_USER;
}

/* The recording is read again for each call, so it must be a file. */
static void refuse_slow(const struct options *options)
{
	bool listed = options->slow.listed, traces = listed && options_trace_slow(options),
	     pipe = false;

	for (int i = 0; i < options->input_count; i++)
		pipe |= is_stdout(options->inputs[i]);
	REFUSE_IF(listed && (options->output_pattern || options->files_from),
		  "--slowest and --slow need one recording; leave out options of batches");
	REFUSE_IF(traces && options->input_kind != INPUT_PERF_DATA,
		  "traces of slow calls need a perf.data file; leave out -o DIR/");
	REFUSE_IF(traces && pipe,
		  "traces of slow calls need a file, which is read again; name one instead of -");
	REFUSE_IF(
		traces && (options->json_lines || options->skip_existing),
		"--json-lines and --skip-existing need a batch; DIR/index.jsonl has a line for each "
		"slow call");
}

static void refuse_many(const struct options *options)
{
	bool page = options->format == &format_why_page;

	if (page && options->json_answer)
		usage_error("a page has no JSON; name a file for the summary, --json=FILE");
	if (options->command == COMMAND_WHY && (options->merge || options->input_count > 1) &&
	    (options->json || options->json_lines))
		usage_error("--json=FILE and --json-lines describe one recording; use --json, or a "
			    "run for each");
}

void option_conflicts_refuse(const struct options *options)
{
	enum default_output default_output = options->format->default_output;
	bool batch = options_is_batch(options);
	bool text = !batch && default_output == DEFAULT_STDOUT, to_stdout;

	refuse_rows(options);
	REFUSE_IF(!options->raws.count && *options->processor,
		  "--cpu=FAMILY/MODEL/STEPPING needs --raw; a recording has it");
	REFUSE_IF(
		options->inlined && options->stacks == STACKS_MAGIC_TRACE,
		"--inline needs --stacks=precise: magic-trace's rules do not know inlined functions");
	REFUSE_IF(
		options->inlined && options->engine == PT_ENGINE_LIBIPT,
		"--inline needs --engine=fast: libipt's does not show where code without a branch "
		"enters an inlined call");
	REFUSE_IF(options->json_answer && options->max_output,
		  "--max-output would cut the JSON; leave it out");
	REFUSE_IF(options->join == JOIN_ALWAYS && batch,
		  "cannot combine --join with an output for each input; choose one");
	REFUSE_IF(options->command == COMMAND_PACK && options->input_count > 1 && !batch,
		  "cannot pack several files as one recording; pack each with -o DIR/");
	refuse_memtrace(options);
	refuse_formats(options);
	refuse_clock(options);
	refuse_selection(options);
	refuse_slow(options);
	refuse_many(options);
	if (options->files_from && options->output && !output_path_is_directory(options->output))
		usage_error("--files0-from needs a directory for --output: '%s' is not one",
			    options->output);
	if (options->timeout && !batch && !options_trace_slow(options) && !options->json_lines &&
	    !options->skip_existing)
		usage_error("--timeout needs a batch; name a directory, -o DIR/");
	refuse_record(options, batch);
	refuse_diff(options, batch);
	if (options->command == COMMAND_DIFF)
		return;
	if (batch)
		refuse_batch(options);
	else if (options->input_count > 1 && options->input_kind != INPUT_PERF_DATA)
		usage_error("cannot combine several texts; leave out '%s'", options->inputs[1]);
	refuse_open(options, batch);
	if (default_output == DEFAULT_FILE && !batch && !options->output &&
	    options->command != COMMAND_OPEN &&
	    (!options->input || strcmp(options->input, "-") == 0))
		usage_error("cannot name an output after %s; name it with -o, or write to `-o -`",
			    options->input ? "standard input" : "overlays");
	to_stdout = options->output ? is_stdout(options->output) : text;
	/* `open` prints the address of the page there. */
	refuse_json(options, options->open || to_stdout);
	if (to_stdout && !options->open)
		refuse_terminal(options);
}
