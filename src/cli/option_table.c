/* SPDX-License-Identifier: MIT */
/* The options, by heading of --help. */
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
static const struct option_choice unnamed_styles[] = { { "functions", UNNAMED_FUNCTIONS },
						       { "files", UNNAMED_FILES },
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
static const struct option_choice colors[] = { { "auto", MESSAGE_COLOR_AUTO },
					       { "always", MESSAGE_COLOR_ALWAYS },
					       { "never", MESSAGE_COLOR_NEVER },
					       { NULL, 0 } };

#define FIELD(member) offsetof(struct options, member)

const struct option_spec option_specs[] = {
	{ "attach", 'p', "PIDS", GROUP_RECORDING, OPTION_TEXT, FIELD(attach),
	  .help = "Record these processes, until Ctrl-C or the end of PROGRAM", .neutral = true },
	{ "all-cpus", 'a', NULL, GROUP_RECORDING, OPTION_FLAG, FIELD(all_cpus),
	  .help = "Record all that runs on the machine", .neutral = true },
	{ "snapshot", 0, NULL, GROUP_RECORDING, OPTION_FLAG, FIELD(snapshot),
	  .help = "Keep the last part of the trace only, as much as the buffers hold",
	  .neutral = true },
	{ "trigger", 0, "FUNCTION", GROUP_RECORDING, OPTION_TEXT, FIELD(trigger),
	  .help = "Begin the trace where FUNCTION of the program is called first",
	  .neutral = true },
	{ "dry-run", 0, NULL, GROUP_RECORDING, OPTION_FLAG, FIELD(dry_run),
	  .help = "Print the perf command only", .neutral = true },
	{ "input", 0, "KIND", GROUP_INPUT, OPTION_CHOICE, FIELD(input_kind),
	  .help = "Kind of INPUT: perf-data (default), or perf-script: the text that perf script "
		  "prints",
	  .choices = inputs },
	{ "mode", 0, "MODE", GROUP_INPUT, OPTION_CHOICE, FIELD(mode),
	  .help = "Show code of one privilege level only: user or kernel; or both (default)",
	  .choices = modes },
	{ "engine", 0, "ENGINE", GROUP_INPUT, OPTION_CHOICE, FIELD(engine),
	  .help = "Packet decoder: fast (default), or libipt, for comparison: slower, loses more "
		  "after damage",
	  .choices = engines },
	{ "list", 0, NULL, GROUP_SELECTION, OPTION_FLAG, FIELD(show_list),
	  .help = "Show what the recording holds, without decoding it: threads, times, shares of "
		  "the trace, CPUs, losses, files with and without code and names" },
	{ "time", 0, "FROM,TO", GROUP_SELECTION, OPTION_TIME_RANGE, FIELD(select),
	  .help = "Decode this time range only; each side is empty, seconds of perf's clock, "
		  "+1.5ms after the start, -2ms before the end, a percentage (10%,20%), or by a hit "
		  "of a breakpoint or probe: -1ms@hit,+100us@hit, @hit:2 the second" },
	{ "pid", 0, "LIST", GROUP_SELECTION, OPTION_NUMBERS, FIELD(select.pids),
	  .help = "Show these processes: 1,2,5-7; all lists may be repeated" },
	{ "tid", 0, "LIST", GROUP_SELECTION, OPTION_NUMBERS, FIELD(select.tids),
	  .help = "Show these threads" },
	{ "comm", 0, "GLOB", GROUP_SELECTION, OPTION_PATTERN, FIELD(select.comms),
	  .help = "Show threads that had a matching name at any time; may be repeated" },
	{ "cpu", 0, "LIST", GROUP_SELECTION, OPTION_NUMBERS, FIELD(select.cpus),
	  .help = "Decode the trace of these CPUs" },
	{ "symbol", 0, "GLOB", GROUP_SELECTION, OPTION_PATTERN, FIELD(select.symbols),
	  .help = "Show calls of these functions, with everything inside and their callers; may "
		  "be repeated" },
	{ "dso", 0, "GLOB", GROUP_SELECTION, OPTION_PATTERN, FIELD(select.dsos),
	  .help = "Show calls into matching files, by path or its last part (libc.so.6), "
		  "as --symbol does" },
	{ "between", 0, "START,STOP", GROUP_SELECTION, OPTION_BETWEEN, FIELD(select),
	  .help = "Show each thread from a call of START to the next call of STOP" },
	{ "from", 0, "GLOB", GROUP_SELECTION, OPTION_PATTERN, FIELD(select.roots),
	  .help = "Begin each thread's stack at these functions (main): leave out their callers, "
		  "and all before and after them; may be repeated" },
	{ "depth", 0, "N", GROUP_SELECTION, OPTION_NUMBER, FIELD(select.depth),
	  .help = "Show the outermost N levels of slices, counted from the functions of "
		  "--symbol, --dso, --between or --from",
	  .least = 1, .most = UINT32_MAX },
	{ "min-duration", 0, "TIME", GROUP_SELECTION, OPTION_DURATION, FIELD(select.min_duration),
	  .help = "Leave out slices shorter than TIME (1us); the slices around them count them" },
	{ "hide", 0, "GLOB", GROUP_SELECTION, OPTION_PATTERN, FIELD(select.hidden),
	  .help = "Leave out slices of these functions, but not those of their callees; may be "
		  "repeated" },
	{ "slow", 0, "TIME", GROUP_SELECTION, OPTION_SLOWER_THAN, FIELD(slow),
	  .help = "Of --format=outliers: the calls that are slow: longer than TIME (1ms), or than "
		  "a percentile of all (default: p99)" },
	{ "pair", 0, "A,B", GROUP_SELECTION, OPTION_PAIR, FIELD(pair),
	  .help = "Of --format=outliers: compare the call that runs at A with that at B, seconds "
		  "of perf's clock (12.5,12.75)" },
	{ "slowest", 0, "N", GROUP_SELECTION, OPTION_NUMBER, FIELD(slow.most),
	  .help = "List the N slowest calls of the functions of --symbol, slowest first; with "
		  "-o DIR/ write a trace of each, and an index",
	  .least = 1, .most = 10000 },
	{ "slower-than", 0, "TIME", GROUP_SELECTION, OPTION_SLOWER_THAN, FIELD(slow),
	  .help = "List, as --slowest does, the calls that took longer than TIME (1ms), or than the "
		  "percentile p99 of all: at most 100, or as many as --slowest says" },
	{ "context", 0, "TIME", GROUP_SELECTION, OPTION_DURATION, FIELD(slow.context),
	  .help = "Show so much time before and after each slow call, too (default: 10us)" },
	{ "no-samples", 0, NULL, GROUP_SELECTION, OPTION_FLAG, FIELD(no_samples),
	  .help = "Leave out samples of other events of the recording (cycles, tracepoints)" },
	{ "stacks", 0, "MACHINE", GROUP_STACKS, OPTION_CHOICE, FIELD(stacks),
	  .help = "How call stacks are built: precise (default), from return addresses; "
		  "magic-trace, from names, by the rules of magic-trace 1.0",
	  .choices = machines },
	{ "inline", 0, NULL, GROUP_STACKS, OPTION_FLAG, FIELD(inlined),
	  .help = "Show inlined functions, too" },
	{ "symfs", 0, "DIR", GROUP_SYMBOLS, OPTION_TEXT, FIELD(symfs),
	  .help = "Search the files of the recording below DIR only" },
	{ "vdso", 0, "FILE", GROUP_SYMBOLS, OPTION_TEXT, FIELD(vdso),
	  .help = "The vdso of the recorded kernel" },
	{ "kcore", 0, "FILE", GROUP_SYMBOLS, OPTION_TEXT, FIELD(kcore),
	  .help = "The copy of the kernel's memory, or its directory (default: kcore_dir in "
		  "INPUT)" },
	{ "vmlinux", 0, "FILE", GROUP_SYMBOLS, OPTION_TEXT, FIELD(vmlinux),
	  .help = "The recorded kernel, if there is no kcore" },
	{ "debug-dir", 0, "DIR", GROUP_SYMBOLS, OPTION_TEXT, FIELD(debug_dir),
	  .help = "Search DIR, laid out as /usr/lib/debug is, for debug files first" },
	{ "debuginfod", 0, NULL, GROUP_SYMBOLS, OPTION_FLAG, FIELD(debuginfod),
	  .help = "Ask the servers in DEBUGINFOD_URLS for missing files" },
	{ "force-dso", 0, NULL, GROUP_SYMBOLS, OPTION_FLAG, FIELD(force_dso),
	  .help = "Use the file at a recorded path although its build id is not the recorded one" },
	{ "kallsyms", 0, "FILE", GROUP_SYMBOLS, OPTION_TEXT, FIELD(kallsyms),
	  .help = "The symbols of the recorded kernel, as its /proc/kallsyms listed them" },
	{ "perf-map-dir", 0, "DIR", GROUP_SYMBOLS, OPTION_TEXT, FIELD(perf_map_dir),
	  .help = "The directory of perf-PID.map files, which name code of JIT compilers "
		  "(default: /tmp)" },
	{ "strip-prefix", 0, "DIR", GROUP_SYMBOLS, OPTION_TEXT, FIELD(strip_prefix),
	  .help = "Show paths of source files below DIR relative to it" },
	{ "demangle", 0, "STYLE", GROUP_SYMBOLS, OPTION_CHOICE, FIELD(names),
	  .help = "How function names are shown: short (default), without template arguments and "
		  "parameters; full; or none: as in the symbol table",
	  .choices = name_styles },
	{ "unnamed", 0, "HOW", GROUP_SYMBOLS, OPTION_CHOICE, FIELD(unnamed),
	  .help = "How code without symbols is shown: functions (default), each by its file and "
		  "address (libc.so.6+0x29d90); or files: all code of a file as one",
	  .choices = unnamed_styles },
	{ "output", 'o', "FILE", GROUP_OUTPUT, OPTION_TEXT, FIELD(output),
	  .help = "Write to FILE, in the format of its suffix (.svg, .folded, .json) unless -f is "
		  "given, compressed if it ends in .gz or .zst; - is standard output "
		  "(default: INPUT.ftf; standard output for text).  If FILE is a directory, each "
		  "INPUT gets an output of its own in it, named after INPUT",
	  .neutral = true },
	{ "format", 'f', "FORMAT", GROUP_OUTPUT, OPTION_FORMAT, FIELD(format),
	  .help = "ftf (default, unless -o's suffix says otherwise); branches: a line per branch, as perf script prints it; calls: "
		  "begins and ends of slices in the order found; slices: a line per finished "
		  "slice; events: a line per hit, and per event of the overlays; memtrace: the time range of --memtrace, cut; folded: call "
		  "stacks with their own time, for flame graphs; functions: a table; histogram: how long the calls of --symbol take; outliers: why the slow "
		  "calls of --symbol are slow; chrome and "
		  "speedscope: JSON for these viewers; pprof: a profile for go tool pprof; callgrind: one for KCachegrind; lcov: coverage for genhtml; svg: a picture of the busiest thread; "
		  "none: decode only" },
	{ "args", 0, "WHAT", GROUP_OUTPUT, OPTION_CHOICE, FIELD(args),
	  .help = "Arguments of slices: none; line (default): the function's address and source; "
		  "full: also the line of the call, instructions, cycles and IPC",
	  .choices = details },
	{ "counters", 0, "TIME", GROUP_OUTPUT, OPTION_DURATION, FIELD(counters),
	  .help = "Show counters of each thread and CPU in an FTF, for each TIME: instructions and "
		  "calls a second, taken branches per instruction, instructions per cycle" },
	{ "flows", 0, NULL, GROUP_OUTPUT, OPTION_FLAG, FIELD(flows),
	  .help = "Show in an FTF each tail call as an arrow, from the function that is left to the "
		  "one that is entered" },
	{ "sort", 0, "KEY", GROUP_OUTPUT, OPTION_CHOICE, FIELD(select.order),
	  .help = "Sort the table of --format=functions by self (default), total, calls or name",
	  .choices = orders },
	{ "top", 0, "N", GROUP_OUTPUT, OPTION_NUMBER, FIELD(select.top),
	  .help = "Show the first N rows of the table of --format=functions, or of `ptrace2ftf "
		  "diff`",
	  .least = 1, .most = UINT32_MAX },
	{ "split", 0, "SIZE", GROUP_OUTPUT, OPTION_SPLIT_SIZE, FIELD(select.split),
	  .help = "Write OUT.000.ftf and so on, each of SIZE: a number of slices (2M), bytes "
		  "(500MB) or a time (10ms)" },
	{ "fit", 0, "SLICES", GROUP_OUTPUT, OPTION_FIT, FIELD(select.fit),
	  .help = "Of an FTF with more slices (default: 4M, which a browser opens) fold the "
		  "shortest of each thread into those around them, which count them; none: "
		  "keep all" },
	{ "max-stack", 0, "N", GROUP_OUTPUT, OPTION_FIT, FIELD(max_stack),
	  .help = "In folded and pprof, cut call stacks behind N functions (default: 127) by "
		  "[truncated] and the innermost function; none: keep all" },
	{ "open", 0, NULL, GROUP_OUTPUT, OPTION_FLAG, FIELD(open),
	  .help = "Show the output in the browser, too; `ptrace2ftf open` does not keep it",
	  .neutral = true },
	{ "ui", 0, "URL", GROUP_OUTPUT, OPTION_TEXT, FIELD(ui),
	  .help = "The page that shows it: an own instance of Perfetto's UI (default: "
		  "https://ui.perfetto.dev)",
	  .neutral = true },
	{ "fail-if", 0, "METRIC[@GLOB]:+N[%]", GROUP_OUTPUT, OPTION_PATTERN, FIELD(fail_if),
	  .help = "Of `ptrace2ftf diff`: end with status 3 if insns, self, calls or time grew by more "
		  "than N, or N percent, in all, or in a function that matches GLOB with its "
		  "callees; may be repeated",
	  .neutral = true },
	{ "max-output", 0, "SIZE", GROUP_OUTPUT, OPTION_BYTES, FIELD(max_output),
	  .help = "End the output when it has SIZE bytes (500MB), with all that began before "
		  "(default: a quarter of the free space, at most 64 GiB)" },
	{ "runtime-events", 0, "FILE[,pid=N][,ocaml=5.N][,tid.RING=N]", GROUP_OCAML,
	  OPTION_RUNTIME_EVENTS, 0,
	  .help = "Show garbage collections and the program's own events of FILE, the PID.events "
		  "of OCaml 5; may be repeated, and needs no INPUT" },
	{ "memtrace", 0, "FILE[,pid=N][,lives]", GROUP_OCAML, OPTION_MEMTRACE, 0,
	  .help = "Show the sampled allocations of FILE, written by memtrace; may be repeated, "
		  "and needs no INPUT" },
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
	  .help = "Exit with 0 instead of 2 after gaps or warnings", .neutral = true },
	{ "quiet", 'q', NULL, GROUP_DIAGNOSTICS, OPTION_FLAG, FIELD(quiet), "Print errors only",
	  .neutral = true },
	{ "verbose", 'v', NULL, GROUP_DIAGNOSTICS, OPTION_REPEATED, FIELD(verbose),
	  .help = "Print also the time of each phase, the bytes of each buffer by outcome, and "
		  "the symbols found for each file of code; twice: also all threads, unused "
		  "files, and how the recording was made",
	  .neutral = true },
	{ "color", 0, "WHEN", GROUP_DIAGNOSTICS, OPTION_CHOICE, FIELD(color),
	  .help = "Colour errors and warnings: auto (default), on a terminal, unless NO_COLOR is "
		  "set; always (default of --color without WHEN); never",
	  .choices = colors, .if_omitted = "always", .neutral = true },
	{ "sandbox", 0, "WHEN", GROUP_DIAGNOSTICS, OPTION_CHOICE, FIELD(sandbox),
	  .help = "Drop the rights that a conversion does not need, before the recording is "
		  "read: auto (default), if the kernel can; on, or fail; off",
	  .choices = whens, .neutral = true },
	{ "threads", 'j', "N", GROUP_DECODING, OPTION_NUMBER, FIELD(threads),
	  .help = "Decode with N threads (default: one per CPU; 1: no additional thread); the "
		  "output is the same",
	  .least = 1, .most = 1024, .neutral = true },
	{ "verify", 0, "N", GROUP_DECODING, OPTION_NUMBER, FIELD(verify),
	  .help = "Decode every Nth part of the trace (default: all), from PSB to PSB, by both "
		  "engines, and warn of differences",
	  .least = 1, .most = INT_MAX, .if_omitted = "1" },
	{ "output-pattern", 0, "PATTERN", GROUP_BATCHES, OPTION_TEXT, FIELD(output_pattern),
	  .help = "Convert each INPUT to an output of its own, named by PATTERN with {dir}, "
		  "{name}, {base} (the name without its last suffix) and {n} of INPUT",
	  .neutral = true },
	{ "files0-from", 0, "FILE", GROUP_BATCHES, OPTION_TEXT, FIELD(files_from),
	  .help = "Convert each INPUT, and each NUL-terminated name in FILE, to an output of its "
		  "own; - is standard input",
	  .neutral = true },
	{ "jobs", 0, "N", GROUP_BATCHES, OPTION_NUMBER, FIELD(jobs),
	  .help = "Convert N files in parallel (default: 1; 0: one per processor)", .most = 10000,
	  .neutral = true },
	{ "timeout", 0, "TIME", GROUP_BATCHES, OPTION_DURATION, FIELD(timeout),
	  .help = "End the conversion of an INPUT that takes longer than TIME (90s), as a failed "
		  "one",
	  .neutral = true },
	{ "skip-existing", 0, NULL, GROUP_BATCHES, OPTION_FLAG, FIELD(skip_existing),
	  .help = "Keep existing outputs that the same version made from the same bytes with the "
		  "same options",
	  .neutral = true },
	{ "json-lines", 0, "FILE", GROUP_BATCHES, OPTION_TEXT, FIELD(json_lines),
	  .help = "Append one line of JSON per finished INPUT to FILE (default: standard output)",
	  .if_omitted = "-", .neutral = true },
	{ 0 }
};
const size_t option_count = sizeof(option_specs) / sizeof(option_specs[0]) - 1;
