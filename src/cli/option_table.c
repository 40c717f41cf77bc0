/* SPDX-License-Identifier: MIT */
#include "src/cli/option_table.h"

#include <limits.h>
#include <stdint.h>

#include "src/options/options.h"

static const struct option_choice inputs[] = { { "perf-data", INPUT_PERF_DATA },
					       { "perf-script", INPUT_PERF_SCRIPT },
					       { NULL, 0 } };
static const struct option_choice modes[] = { { "user", TRACE_MODE_USER },
					      { "kernel", TRACE_MODE_KERNEL },
					      { "both", TRACE_MODE_BOTH },
					      { NULL, 0 } };
static const struct option_choice machines[] = { { "precise", STACKS_PRECISE },
						 { "magic-trace", STACKS_MAGIC_TRACE },
						 { NULL, 0 } };
static const struct option_choice name_styles[] = { { "short", DEMANGLE_SHORT },
						    { "full", DEMANGLE_FULL },
						    { "none", DEMANGLE_NONE },
						    { NULL, 0 } };
static const struct option_choice engines[] = { { "fast", PT_ENGINE_FAST },
						{ "libipt", PT_ENGINE_LIBIPT },
						{ NULL, 0 } };
static const struct option_choice details[] = { { "none", OPTION_ARGS_NONE },
						{ "line", OPTION_ARGS_LINE },
						{ "full", OPTION_ARGS_FULL },
						{ NULL, 0 } };
static const struct option_choice orders[] = { { "self", ORDER_SELF },
					       { "total", ORDER_TOTAL },
					       { "calls", ORDER_CALLS },
					       { "name", ORDER_NAME },
					       { NULL, 0 } };
static const struct option_choice whens[] = {
	{ "auto", SANDBOX_AUTO }, { "on", SANDBOX_ON }, { "off", SANDBOX_OFF }, { NULL, 0 }
};
static const struct option_choice timings[] = { { "steady", TIMING_STEADY },
						{ "perf", TIMING_PERF },
						{ NULL, 0 } };

#define FIELD(member) offsetof(struct options, member)

const struct option_spec option_specs[] = {
	{ "input", 0, "KIND", GROUP_INPUT, OPTION_CHOICE, FIELD(input_kind),
	  .help = "What INPUT is: perf-data (default), or perf-script: the text that perf script "
		  "prints",
	  .choices = inputs },
	{ "mode", 0, "MODE", GROUP_INPUT, OPTION_CHOICE, FIELD(mode),
	  .help = "What was traced: user, kernel or both (default: as the recording says)",
	  .choices = modes },
	{ "engine", 0, "ENGINE", GROUP_INPUT, OPTION_CHOICE, FIELD(engine),
	  .help = "Who decodes the trace: fast (default), or libipt, to compare: slower, loses "
		  "more",
	  .choices = engines },
	{ "time", 0, "FROM,TO", GROUP_SELECTION, OPTION_TIME_RANGE, FIELD(select),
	  .help = "Decode this time only; each is empty, seconds of perf's clock, +1.5ms after "
		  "the start, -2ms before the end, or a percentage: 10%,20%" },
	{ "pid", 0, "LIST", GROUP_SELECTION, OPTION_NUMBERS, FIELD(select.pids),
	  .help = "Show these processes: 1,2,5-7; as all lists, may be repeated" },
	{ "tid", 0, "LIST", GROUP_SELECTION, OPTION_NUMBERS, FIELD(select.tids),
	  .help = "Show these threads" },
	{ "comm", 0, "GLOB", GROUP_SELECTION, OPTION_PATTERN, FIELD(select.comms),
	  .help = "Show threads that had such a name at any time; may be repeated" },
	{ "cpu", 0, "LIST", GROUP_SELECTION, OPTION_NUMBERS, FIELD(select.cpus),
	  .help = "Decode what these CPUs ran" },
	{ "symbol", 0, "GLOB", GROUP_SELECTION, OPTION_PATTERN, FIELD(select.symbols),
	  .help = "Show calls of these functions, with all below them and their callers; may be "
		  "repeated" },
	{ "dso", 0, "GLOB", GROUP_SELECTION, OPTION_PATTERN, FIELD(select.dsos),
	  .help = "The same of calls into these files, by path or last part of it" },
	{ "between", 0, "START,STOP", GROUP_SELECTION, OPTION_BETWEEN, FIELD(select),
	  .help = "Show each thread from a call of START to the next call of STOP" },
	{ "depth", 0, "N", GROUP_SELECTION, OPTION_NUMBER, FIELD(select.depth),
	  .help = "Show so many levels of slices", .least = 1, .most = UINT32_MAX },
	{ "min-duration", 0, "TIME", GROUP_SELECTION, OPTION_DURATION, FIELD(select.min_duration),
	  .help = "Leave slices shorter than TIME (1us) out, and count them in those around them" },
	{ "hide", 0, "GLOB", GROUP_SELECTION, OPTION_PATTERN, FIELD(select.hidden),
	  .help = "Leave these functions' slices out, but not what they call; may be repeated" },
	{ "no-samples", 0, NULL, GROUP_SELECTION, OPTION_FLAG, FIELD(no_samples),
	  .help = "Leave out samples of other events of the recording (cycles, tracepoints)" },
	{ "stacks", 0, "MACHINE", GROUP_STACKS, OPTION_CHOICE, FIELD(stacks),
	  .help = "How call stacks are built: precise (default), by return addresses; "
		  "magic-trace, by names, as magic-trace 1.0 does",
	  .choices = machines },
	{ "inline", 0, NULL, GROUP_STACKS, OPTION_FLAG, FIELD(inlined),
	  .help = "Show calls that the compiler replaced by the called function's code, too" },
	{ "symfs", 0, "DIR", GROUP_SYMBOLS, OPTION_TEXT, FIELD(symfs),
	  .help = "Look for all files of the recording below DIR, and nowhere else" },
	{ "vdso", 0, "FILE", GROUP_SYMBOLS, OPTION_TEXT, FIELD(vdso),
	  .help = "The vdso of the recorded kernel" },
	{ "kcore", 0, "FILE", GROUP_SYMBOLS, OPTION_TEXT, FIELD(kcore),
	  .help = "The copy of the kernel's memory, or its directory (default: kcore_dir in "
		  "INPUT)" },
	{ "vmlinux", 0, "FILE", GROUP_SYMBOLS, OPTION_TEXT, FIELD(vmlinux),
	  .help = "The recorded kernel, if there is no kcore" },
	{ "debug-dir", 0, "DIR", GROUP_SYMBOLS, OPTION_TEXT, FIELD(debug_dir),
	  .help = "Look for debug files in DIR, laid out as /usr/lib/debug is, first" },
	{ "debuginfod", 0, NULL, GROUP_SYMBOLS, OPTION_FLAG, FIELD(debuginfod),
	  .help = "Ask the servers in DEBUGINFOD_URLS for files that are missing here" },
	{ "force-dso", 0, NULL, GROUP_SYMBOLS, OPTION_FLAG, FIELD(force_dso),
	  .help = "Use the file at a recorded path although its build id is not the recorded one" },
	{ "kallsyms", 0, "FILE", GROUP_SYMBOLS, OPTION_TEXT, FIELD(kallsyms),
	  .help = "The symbols of the recorded kernel, as /proc/kallsyms had them" },
	{ "perf-map-dir", 0, "DIR", GROUP_SYMBOLS, OPTION_TEXT, FIELD(perf_map_dir),
	  .help = "Where the perf-PID.map files are that name code of JIT compilers (default: "
		  "/tmp)" },
	{ "strip-prefix", 0, "DIR", GROUP_SYMBOLS, OPTION_TEXT, FIELD(strip_prefix),
	  .help = "Show paths of source files below DIR relative to it" },
	{ "demangle", 0, "STYLE", GROUP_SYMBOLS, OPTION_CHOICE, FIELD(names),
	  .help = "How names are shown: short (default), without template arguments and "
		  "parameters; full; or none: as in the symbol table",
	  .choices = name_styles },
	{ "output", 'o', "FILE", GROUP_OUTPUT, OPTION_TEXT, FIELD(output),
	  .help = "Write to FILE, compressed if it ends in .gz or .zst; - is standard output "
		  "(default: INPUT.ftf; standard output for text).  If FILE is a directory, each "
		  "INPUT is converted to an output of its own in it, named after INPUT",
	  .neutral = true },
	{ "format", 'f', "FORMAT", GROUP_OUTPUT, OPTION_FORMAT, FIELD(format),
	  .help = "ftf (default); branches: a line per branch, as perf script prints it; calls: "
		  "begins and ends as they are found; slices: a line per finished slice; events: "
		  "a line per event of the overlays; folded: call stacks with their own time, "
		  "for flame graphs; functions: a table; chrome and speedscope: JSON for those; "
		  "svg: a picture of the busiest thread; none: decode only" },
	{ "args", 0, "WHAT", GROUP_OUTPUT, OPTION_CHOICE, FIELD(args),
	  .help = "What slices tell beside their name: none; line (default): the function's "
		  "address and source; full: also the line of the call, instructions, cycles and "
		  "IPC",
	  .choices = details },
	{ "sort", 0, "KEY", GROUP_OUTPUT, OPTION_CHOICE, FIELD(select.order),
	  .help = "Sort the table of --format=functions by self (default), total, calls or name",
	  .choices = orders },
	{ "split", 0, "SIZE", GROUP_OUTPUT, OPTION_SPLIT_SIZE, FIELD(select.split),
	  .help = "Write OUT.000.ftf and so on, each of so many slices (2M), bytes (500MB) or so "
		  "much time (10ms)" },
	{ "runtime-events", 0, "FILE[,pid=N][,ocaml=5.N][,tid.RING=N]", GROUP_OCAML,
	  OPTION_RUNTIME_EVENTS, 0,
	  .help = "Show the collector's work and the program's events of FILE, which OCaml 5 "
		  "calls PID.events; may be repeated, and needs no INPUT" },
	{ "memtrace", 0, "FILE[,pid=N][,lives]", GROUP_OCAML, OPTION_MEMTRACE, 0,
	  .help = "Show the sampled allocations of memtrace's FILE; may be repeated, and needs "
		  "no INPUT" },
	{ "clock-offset", 0, "CLOCK=TIME", GROUP_OCAML, OPTION_CLOCK_OFFSET, FIELD(clock_offsets),
	  .help = "Add TIME (ns, or with a unit) to times of runtime events (mono=TIME) or "
		  "memtrace (real=TIME); may be repeated" },
	{ "clock-sync", 0, "FILE", GROUP_OCAML, OPTION_TEXT, FIELD(clock_sync),
	  .help = "Match clocks by the lines of FILE, which `ptrace2ftf clock-sync` prints" },
	{ "json", 0, "FILE", GROUP_DIAGNOSTICS, OPTION_TEXT, FIELD(json),
	  .help = "Write a summary in JSON to FILE (default: standard output): inputs, streams, "
		  "threads, functions, files, gaps, warnings",
	  .if_omitted = "-", .neutral = true },
	{ "no-warn", 0, NULL, GROUP_DIAGNOSTICS, OPTION_FLAG, FIELD(no_warn),
	  .help = "Exit with 0 also if there are gaps or warnings", .neutral = true },
	{ "quiet", 'q', NULL, GROUP_DIAGNOSTICS, OPTION_FLAG, FIELD(quiet), "Print errors only",
	  .neutral = true },
	{ "verbose", 'v', NULL, GROUP_DIAGNOSTICS, OPTION_REPEATED, FIELD(verbose),
	  .help = "Print also what took how long, what each buffer held, and what was found for "
		  "each file of code; twice: also all threads, files that were not used, how it "
		  "was recorded",
	  .neutral = true },
	{ "sandbox", 0, "WHEN", GROUP_DIAGNOSTICS, OPTION_CHOICE, FIELD(sandbox),
	  .help = "Give up what a conversion does not need, before the recording is read: auto "
		  "(default: where the system has a way), on (fail if it has none), off",
	  .choices = whens, .neutral = true },
	{ "threads", 'j', "N", GROUP_DECODING, OPTION_NUMBER, FIELD(threads),
	  .help = "Decode with N threads (default: one per CPU; 1: without any beside the "
		  "program's own); the output is the same",
	  .least = 1, .most = 1024, .neutral = true },
	{ "verify", 0, "N", GROUP_DECODING, OPTION_NUMBER, FIELD(verify),
	  .help = "Decode every Nth part of the trace (default: all), from PSB to PSB, with "
		  "libipt too, and tell where it finds other branches",
	  .least = 1, .most = INT_MAX, .if_omitted = "1" },
	{ "timing", 0, "WORD", GROUP_DECODING, OPTION_CHOICE, FIELD(timing),
	  .help = "Count core cycles (CYC) by the speed measured before (steady, the default), "
		  "or as perf script does, up to the next MTC (perf): its very times, by one "
		  "thread per buffer",
	  .choices = timings },
	{ "output-pattern", 0, "PATTERN", GROUP_BATCHES, OPTION_TEXT, FIELD(output_pattern),
	  .help = "Convert each INPUT to an output of its own, named by PATTERN, in which {dir}, "
		  "{name}, {base} (the name without its last suffix) and {n} stand for INPUT's",
	  .neutral = true },
	{ "files0-from", 0, "FILE", GROUP_BATCHES, OPTION_TEXT, FIELD(files_from),
	  .help = "Convert each INPUT, and each file that FILE names with a NUL behind it, to an "
		  "output of its own; - is standard input",
	  .neutral = true },
	{ "jobs", 0, "N", GROUP_BATCHES, OPTION_NUMBER, FIELD(jobs),
	  .help = "Convert N files side by side (default: 1; 0: one per processor)", .most = 10000,
	  .neutral = true },
	{ "skip-existing", 0, NULL, GROUP_BATCHES, OPTION_FLAG, FIELD(skip_existing),
	  .help = "Skip inputs whose output was made of the same bytes by the same version and "
		  "options",
	  .neutral = true },
	{ "json-lines", 0, "FILE", GROUP_BATCHES, OPTION_TEXT, FIELD(json_lines),
	  .help = "Append a line of JSON per finished INPUT to FILE (default: standard output)",
	  .if_omitted = "-", .neutral = true },
	{ 0 }
};
const size_t option_count = sizeof(option_specs) / sizeof(option_specs[0]) - 1;
