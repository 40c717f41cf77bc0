/* SPDX-License-Identifier: MIT */
/* The options, by heading of --help. */
#include "src/cli/option_table.h"

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
static const struct option_choice likes[] = { { "magic-trace", LIKE_MAGIC_TRACE }, { NULL, 0 } };
static const struct option_choice name_styles[] = { { "short", DEMANGLE_SHORT },
						    { "full", DEMANGLE_FULL },
						    { "none", DEMANGLE_NONE },
						    { NULL, 0 } };
static const struct option_choice reports[] = { { "text", REPORT_TEXT },
						{ "markdown", REPORT_MARKDOWN },
						{ NULL, 0 } };
static const struct option_choice unnamed_styles[] = { { "functions", UNNAMED_FUNCTIONS },
						       { "files", UNNAMED_FILES },
						       { NULL, 0 } };
static const struct option_choice engines[] = { { "fast", PT_ENGINE_FAST },
						{ "libipt", PT_ENGINE_LIBIPT },
						{ NULL, 0 } };
static const struct option_choice details[] = { { "none", OPTION_ARGS_NONE },
						{ "loc", OPTION_ARGS_LOC },
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
#define BIT(name)     (1U << COMMAND_##name)
#define ANSWERS       (BIT(ANNOTATE) | BIT(WHY))

const struct option_spec option_specs[] = {
	{ "attach", 'p', "PIDS", GROUP_RECORDING, OPTION_TEXT, FIELD(attach),
	  .help = "Record these processes; until Ctrl-C or the end of PROGRAM", .neutral = true,
	  .common = true },
	{ "all-cpus", 'a', NULL, GROUP_RECORDING, OPTION_FLAG, FIELD(all_cpus),
	  .help = "Record all that runs on the machine", .neutral = true, .common = true },
	{ "snapshot", 0, "SIZE", GROUP_RECORDING, OPTION_BYTES, FIELD(snapshot),
	  .help = "Keep the last SIZE of the trace (64MiB), and end at Ctrl-C; SIZE is per CPU",
	  .if_omitted = "64MiB", .neutral = true, .common = true },
	{ "snapshot-at", 0, "FUNCTION", GROUP_RECORDING, OPTION_TEXT, FIELD(snapshot_at),
	  .help = "As --snapshot, and end at the first call of FUNCTION; a function of the program, which perf then ends",
	  .neutral = true, .common = true },
	{ "start-at", 0, "FUNCTION", GROUP_RECORDING, OPTION_TEXT, FIELD(start_at),
	  .help = "Begin the trace at the first call of FUNCTION; a function of the program",
	  .neutral = true, .common = true },
	{ "no-code", 0, NULL, GROUP_RECORDING, OPTION_FLAG, FIELD(no_code),
	  .help = "Do not save the code that the program generates", .neutral = true },
	{ "dry-run", 0, NULL, GROUP_RECORDING, OPTION_FLAG, FIELD(dry_run),
	  .help = "Print the perf command only", .neutral = true, .common = true },
	{ "input", 0, "KIND", GROUP_EXPERT, OPTION_CHOICE, FIELD(input_kind),
	  .help = "Kind of INPUT: perf-data (default), or perf-script: the text that perf script "
		  "prints",
	  .choices = inputs, .except = BIT(LIST) },
	{ "join", 0, NULL, GROUP_INPUT, OPTION_FLAG, FIELD(join),
	  .help = "Convert several INPUTs as the parts of one recording, as with -o FILE; default: if "
		  "their host, command line, clock and times prove it",
	  .only = BIT(CONVERT) | BIT(OPEN), .neutral = true },
	{ "merge", 0, NULL, GROUP_INPUT, OPTION_FLAG, FIELD(merge),
	  .help = "Show the causes that recordings have in common; INPUTs are the lines of JSON that "
		  "single runs wrote by --json-lines",
	  .common = true, .only = BIT(WHY), .neutral = true },
	{ "no-join", 0, NULL, GROUP_INPUT, OPTION_FLAG, FIELD(no_join),
	  .help = "Convert each of several INPUTs to an output of its own", .only = BIT(CONVERT),
	  .neutral = true },
	{ "mode", 0, "MODE", GROUP_INPUT, OPTION_CHOICE, FIELD(mode),
	  .help = "Show code of one privilege level: user or kernel; both by default",
	  .choices = modes, .common = true },
	{ "engine", 0, "ENGINE", GROUP_EXPERT, OPTION_CHOICE, FIELD(engine),
	  .help = "Packet decoder: fast (default), or libipt, for comparison: slower, loses more "
		  "after damage",
	  .choices = engines, .except = BIT(LIST) },
	{ "time", 0, "FROM,TO", GROUP_SELECTION, OPTION_TIME_RANGE, FIELD(select),
	  .help = "Decode this time range; each side is empty, seconds of perf's clock, +1.5ms after the start (as TO: after FROM), -2ms before the end, a percentage (10%,20%), or by a hit of a breakpoint or probe: -1ms@hit,+100us@hit, @hit:2 the second",
	  .common = true },
	{ "pid", 0, "LIST", GROUP_SELECTION, OPTION_NUMBERS, FIELD(select.pids),
	  .help = "Show these processes: 1,2,5-7; all lists may be repeated", .common = true },
	{ "tid", 0, "LIST", GROUP_SELECTION, OPTION_NUMBERS, FIELD(select.tids),
	  .help = "Show these threads", .common = true },
	{ "comm", 0, "GLOB", GROUP_SELECTION, OPTION_PATTERN, FIELD(select.comms),
	  .help = "Show threads that had a matching name at any time; may be repeated",
	  .common = true },
	{ "cpu", 0, "LIST", GROUP_SELECTION, OPTION_NUMBERS, FIELD(select.cpus),
	  .help = "Decode the trace of these CPUs" },
	{ "symbol", 0, "GLOB", GROUP_SELECTION, OPTION_PATTERN, FIELD(select.symbols),
	  .help = "Show calls of these functions and their callees; with their callers; may be repeated",
	  .common = true, .except = BIT(LIST) },
	{ "dso", 0, "GLOB", GROUP_SELECTION, OPTION_PATTERN, FIELD(select.dsos),
	  .help = "Show calls into matching files, by path or its last part (libc.so.6), "
		  "as --symbol does",
	  .except = BIT(LIST) },
	{ "between", 0, "START,STOP", GROUP_SELECTION, OPTION_BETWEEN, FIELD(select),
	  .help = "Show from a call of START to the next of STOP; in each thread", .common = true,
	  .except = BIT(LIST) },
	{ "from", 0, "GLOB", GROUP_SELECTION, OPTION_PATTERN, FIELD(select.roots),
	  .help = "Begin each thread's stack at these functions (main): leave out their callers, "
		  "and all before and after them; may be repeated",
	  .except = BIT(LIST) },
	{ "within", 0, "GLOB>TIME", GROUP_SELECTION, OPTION_WITHIN, FIELD(select),
	  .help = "Show what runs inside of calls of GLOB that take longer than TIME; or than a "
		  "percentile of them: 'parse>p99'",
	  .except = BIT(LIST) },
	{ "depth", 0, "N", GROUP_SELECTION, OPTION_NUMBER, FIELD(select.depth),
	  .help = "Show the outermost N levels of slices; counted from the functions of --symbol, --dso, --between or --from",
	  .least = 1, .most = UINT32_MAX, .common = true, .except = BIT(LIST) },
	{ "min-duration", 0, "TIME", GROUP_SELECTION, OPTION_DURATION, FIELD(select.min_duration),
	  .help = "Leave out slices shorter than TIME (1us); the enclosing slices count them",
	  .common = true, .except = BIT(LIST) },
	{ "hide", 0, "GLOB", GROUP_SELECTION, OPTION_PATTERN, FIELD(select.hidden),
	  .help = "Leave out slices of these functions, but not those of their callees; may be "
		  "repeated",
	  .except = BIT(LIST) },
	{ "slow", 0, "TIME", GROUP_SELECTION, OPTION_SLOWER_THAN, FIELD(slow),
	  .help = "List calls of --symbol longer than TIME, or p99; a percentile of all calls; at most 100, or as many as --slowest says; of `ptrace2ftf why`: what is slow",
	  .common = true, .except = BIT(LIST) | BIT(OPEN) | BIT(DIFF) | BIT(ANNOTATE) },
	{ "slowest", 0, "N", GROUP_SELECTION, OPTION_NUMBER, FIELD(slow.most),
	  .help = "List the N slowest calls of --symbol; slowest first; with -o DIR/ write a trace of each, and an index",
	  .least = 1, .most = 10000, .common = true,
	  .except = BIT(LIST) | BIT(OPEN) | BIT(DIFF) | ANSWERS },
	{ "context", 0, "TIME", GROUP_SELECTION, OPTION_DURATION, FIELD(slow.context),
	  .help = "Show so much time before and after each slow call, too (default: 10us)",
	  .except = BIT(LIST) | BIT(OPEN) | BIT(DIFF) | ANSWERS },
	{ "no-samples", 0, NULL, GROUP_SELECTION, OPTION_FLAG, FIELD(no_samples),
	  .help = "Leave out samples of other events of the recording (cycles, tracepoints)",
	  .except = BIT(LIST) },
	{ "stacks", 0, "MACHINE", GROUP_EXPERT, OPTION_CHOICE, FIELD(stacks),
	  .help = "How call stacks are built: precise (default), from return addresses; "
		  "magic-trace, from names, by the rules of magic-trace 1.0",
	  .choices = machines, .except = BIT(LIST) },
	{ "like", 0, "PROGRAM", GROUP_EXPERT, OPTION_CHOICE, FIELD(like),
	  .help = "Write the records that PROGRAM writes: magic-trace, as of 1.0", .choices = likes,
	  .except = BIT(LIST) | BIT(DIFF) | ANSWERS },
	{ "inline", 0, NULL, GROUP_SELECTION, OPTION_FLAG, FIELD(inlined),
	  .help = "Show inlined functions, too", .common = true, .except = BIT(LIST) | ANSWERS },
	{ "symfs", 0, "DIR", GROUP_SYMBOLS, OPTION_TEXT, FIELD(symfs),
	  .help = "Search the recorded files only below DIR", .common = true, .setting = true },
	{ "vdso", 0, "FILE", GROUP_SYMBOLS, OPTION_TEXT, FIELD(vdso),
	  .help = "The vdso of the recorded kernel" },
	{ "core", 0, "FILE", GROUP_SYMBOLS, OPTION_TEXT, FIELD(core),
	  .help = "The ELF core with the code that processes generated (default: "
		  "INPUT.code)" },
	{ "kcore", 0, "FILE", GROUP_SYMBOLS, OPTION_TEXT, FIELD(kcore),
	  .help = "The copy of the kernel's memory, or its directory (default: kcore_dir in "
		  "INPUT)" },
	{ "vmlinux", 0, "FILE", GROUP_SYMBOLS, OPTION_TEXT, FIELD(vmlinux),
	  .help = "The recorded kernel, if there is no kcore" },
	{ "debug-dir", 0, "DIR", GROUP_SYMBOLS, OPTION_TEXT, FIELD(debug_dir),
	  .help = "Search DIR for debug files first; it has the layout of /usr/lib/debug",
	  .setting = true },
	{ "debuginfod", 0, NULL, GROUP_SYMBOLS, OPTION_FLAG, FIELD(debuginfod),
	  .help = "Ask DEBUGINFOD_URLS for missing files; the servers of debuginfod",
	  .common = true, .setting = true },
	{ "force-dso", 0, NULL, GROUP_SYMBOLS, OPTION_FLAG, FIELD(force_dso),
	  .help = "Use the file at a recorded path although its build id is not the recorded one" },
	{ "kallsyms", 0, "FILE", GROUP_SYMBOLS, OPTION_TEXT, FIELD(kallsyms),
	  .help = "The symbols of the recorded kernel, as its /proc/kallsyms listed them" },
	{ "perf-map-dir", 0, "DIR", GROUP_SYMBOLS, OPTION_TEXT, FIELD(perf_map_dir),
	  .help = "The directory of perf-PID.map files, which name code of JIT compilers "
		  "(default: /tmp)",
	  .setting = true },
	{ "strip-prefix", 0, "DIR", GROUP_SYMBOLS, OPTION_TEXT, FIELD(strip_prefix),
	  .help = "Show paths of source files below DIR relative to it", .except = BIT(LIST),
	  .setting = true },
	{ "demangle", 0, "STYLE", GROUP_SYMBOLS, OPTION_CHOICE, FIELD(names),
	  .help = "How function names are shown: short (default), without template arguments and "
		  "parameters; full; or none: as in the symbol table",
	  .choices = name_styles, .except = BIT(LIST), .setting = true },
	{ "unnamed", 0, "HOW", GROUP_SYMBOLS, OPTION_CHOICE, FIELD(unnamed),
	  .help = "How code without symbols is shown: functions (default), each by its file and "
		  "address (libc.so.6+0x29d90); or files: all code of a file as one",
	  .choices = unnamed_styles, .except = BIT(LIST), .setting = true },
	{ "output", 'o', "FILE", GROUP_OUTPUT, OPTION_TEXT, FIELD(output),
	  .help = "Write to FILE, or into DIR/; in the format of FILE's suffix (.html, .folded, .json) unless -f is given, compressed if it ends in .gz or .zst; - is standard output (default: INPUT.ftf; standard output for text). If FILE is a directory, each INPUT gets an output of its own in it, named after INPUT",
	  .neutral = true, .common = true },
	{ "format", 'f', "FORMAT", GROUP_OUTPUT, OPTION_FORMAT, FIELD(format),
	  .help = "ftf (default), functions, histogram, folded, pprof, callgrind, lcov, bolt, llvm-profile, chrome, speedscope, sqlite, html, calls, slices, tree, branches, events, memtrace, none; ftf unless -o's suffix says otherwise; branches: a line per branch, as perf script prints it; calls: begins and ends of slices in the order found; slices: a line per finished slice; tree: calls, indented, with times; events: a line per hit, and per event of the overlays; "
		  "memtrace: the time range of --memtrace, cut; folded: call stacks with their own time, for flame graphs; functions: a table; histogram: how long the calls of --symbol take; chrome and speedscope: JSON for these viewers; sqlite: a database of all calls; pprof: a profile for go tool pprof; callgrind: one for KCachegrind; lcov: coverage for genhtml; bolt: for perf2bolt; llvm-profile: for clang; html: a page with calls, a flame graph and functions; none: decode only",
	  .common = true, .except = BIT(LIST) | ANSWERS },
	{ "args", 0, "WHAT", GROUP_OUTPUT, OPTION_CHOICE, FIELD(args),
	  .help = "Arguments of slices: none, loc, line, full; loc (default): FILE:LINE of the function; line: its address, line, column and file; full: also the line of the call, instructions, cycles and IPC; callgrind: costs by instruction; sqlite: branches",
	  .choices = details, .common = true, .except = BIT(LIST) | BIT(DIFF) | ANSWERS,
	  .setting = true },
	{ "counters", 0, "TIME", GROUP_OUTPUT, OPTION_DURATION, FIELD(counters),
	  .help = "Show counters of threads and CPUs for each TIME; in an FTF or HTML: instructions and calls a second, taken branches per instruction, instructions per cycle",
	  .except = BIT(LIST) | BIT(DIFF) | ANSWERS },
	{ "flows", 0, NULL, GROUP_OUTPUT, OPTION_FLAG, FIELD(flows),
	  .help = "Show in an FTF each tail call as an arrow, from the function that is left to the "
		  "one that is entered",
	  .except = BIT(LIST) | BIT(DIFF) | ANSWERS },
	{ "sort", 0, "KEY", GROUP_OUTPUT, OPTION_CHOICE, FIELD(select.order),
	  .help = "Sort a table by self, total, calls or name; that of --format=functions (default: self), or of `ptrace2ftf diff`",
	  .choices = orders, .except = BIT(LIST) | BIT(OPEN) | ANSWERS },
	{ "top", 0, "N", GROUP_OUTPUT, OPTION_NUMBER, FIELD(select.top),
	  .help = "Show the first N rows of a table; that of --format=functions, or of `ptrace2ftf diff`",
	  .least = 1, .most = UINT32_MAX, .common = true,
	  .except = BIT(LIST) | BIT(OPEN) | ANSWERS },
	{ "split", 0, "SIZE", GROUP_OUTPUT, OPTION_SPLIT_SIZE, FIELD(select.split),
	  .help = "Write OUT.000.ftf and so on, each of SIZE; a number of slices (2M), bytes (500MB) or a time (10ms)",
	  .common = true, .except = BIT(LIST) | BIT(OPEN) | BIT(DIFF) | ANSWERS },
	{ "fit", 0, "SLICES", GROUP_OUTPUT, OPTION_FIT, FIELD(select.fit),
	  .help = "Limit a trace to SLICES (default: 4M, html: 1M, which a browser can open): fold the "
		  "shortest slices of each thread into the enclosing ones, which count them; none: "
		  "keep all",
	  .except = BIT(LIST) | BIT(DIFF) | ANSWERS },
	{ "max-stack", 0, "N", GROUP_OUTPUT, OPTION_FIT, FIELD(max_stack),
	  .help = "In folded and pprof, cut call stacks after N functions (default: 127), with "
		  "[truncated] and the innermost function; none: keep all",
	  .except = BIT(LIST) | BIT(OPEN) | ANSWERS },
	{ "unit", 0, "TIME", GROUP_OUTPUT, OPTION_DURATION, FIELD(unit),
	  .help = "Print times of folded in units of TIME (default: 1ns); 1us for readers that "
		  "make a sample of each unit",
	  .except = BIT(LIST) | BIT(OPEN) | ANSWERS },
	{ "open", 0, NULL, GROUP_OUTPUT, OPTION_FLAG, FIELD(open),
	  .help = "Show the output in the browser, too; `ptrace2ftf open` does not keep it",
	  .neutral = true, .common = true, .except = BIT(OPEN) | BIT(LIST) | BIT(DIFF) | ANSWERS },
	{ "ui", 0, "URL", GROUP_OUTPUT, OPTION_TEXT, FIELD(ui),
	  .help = "The page that shows the trace, such as your own instance of Perfetto's UI (default: "
		  "https://ui.perfetto.dev)",
	  .neutral = true, .only = BIT(CONVERT) | BIT(OPEN) | BIT(RECORD), .setting = true },
	{ "report", 0, "STYLE", GROUP_OUTPUT, OPTION_CHOICE, FIELD(report),
	  .help = "Print the difference as text (default), or markdown, for a comment of a CI",
	  .choices = reports, .neutral = true, .common = true, .only = BIT(DIFF) },
	{ "fail-if", 0, "METRIC[@GLOB]:+N[%]", GROUP_OUTPUT, OPTION_PATTERN, FIELD(fail_if),
	  .help = "End with status 3 if METRIC grew by more than N; METRIC is insns, self, calls or time; N may be a percentage; in all, or in a function that matches GLOB with its callees; may be repeated",
	  .neutral = true, .common = true, .only = BIT(DIFF) },
	{ "html", 0, "FILE", GROUP_OUTPUT, OPTION_TEXT, FIELD(html),
	  .help = "Write the answer to FILE as a page, in place of the text; it needs no network",
	  .common = true, .only = BIT(WHY), .neutral = true },
	{ "max-output", 0, "SIZE", GROUP_OUTPUT, OPTION_BYTES, FIELD(max_output),
	  .help = "End the output at SIZE bytes (500MB), with all slices that began before "
		  "(default: a quarter of the free space, at most 64 GiB)" },
	{ "runtime-events", 0, "FILE[,pid=N][,ocaml=5.N][,tid.RING=N]", GROUP_OCAML,
	  OPTION_RUNTIME_EVENTS, 0,
	  .help = "Show garbage collections of OCaml 5; and the program's own events, of its PID.events; may be repeated, and needs no INPUT",
	  .common = true },
	{ "memtrace", 0, "FILE[,pid=N][,lives]", GROUP_OCAML, OPTION_MEMTRACE, 0,
	  .help = "Show allocations that memtrace sampled; may be repeated, and needs no INPUT",
	  .common = true },
	{ "clock-offset", 0, "CLOCK=TIME", GROUP_OCAML, OPTION_CLOCK_OFFSET, FIELD(clock_offsets),
	  .help = "Add TIME (ns, or with a unit) to times of runtime events (mono=TIME) or "
		  "memtrace (real=TIME); may be repeated" },
	{ "clock-sync", 0, "FILE", GROUP_OCAML, OPTION_TEXT, FIELD(clock_sync),
	  .help = "Match clocks by the lines of FILE, which `ptrace2ftf clock-sync` prints" },
	{ "json", 0, "FILE", GROUP_GENERAL, OPTION_TEXT, FIELD(json),
	  .help = "Print JSON; instead of the text of an answer (a list, a table, a difference); for a trace, a summary: inputs, streams, threads, functions, files, gaps, warnings. With FILE, also write the summary, which has the answer, to FILE",
	  .if_omitted = "-", .neutral = true, .common = true },
	{ "no-warn", 0, NULL, GROUP_GENERAL, OPTION_FLAG, FIELD(no_warn),
	  .help = "Exit with 0 instead of 2 after gaps or warnings", .neutral = true },
	{ "quiet", 'q', NULL, GROUP_GENERAL, OPTION_FLAG, FIELD(quiet), "Print errors only",
	  .neutral = true, .common = true },
	{ "verbose", 'v', NULL, GROUP_GENERAL, OPTION_REPEATED, FIELD(verbose),
	  .help = "Print more; the time of each phase, the bytes of each buffer by outcome, and the symbols found for each file of code; twice: also all threads, unused files, and how the recording was made",
	  .neutral = true, .common = true },
	{ "color", 0, "WHEN", GROUP_GENERAL, OPTION_CHOICE, FIELD(color),
	  .help = "Colour errors and warnings: auto (default), on a terminal, unless NO_COLOR is "
		  "set; always (default of --color without WHEN); never",
	  .choices = colors, .if_omitted = "always", .neutral = true, .setting = true },
	{ "sandbox", 0, "WHEN", GROUP_EXPERT, OPTION_CHOICE, FIELD(sandbox),
	  .help = "Drop the rights that a conversion does not need, before the recording is "
		  "read: auto (default), if the kernel can; on, or fail; off",
	  .choices = whens, .neutral = true, .setting = true },
	{ "threads", 'j', "N", GROUP_DECODING, OPTION_NUMBER, FIELD(threads),
	  .help = "Decode with N threads; one per CPU by default; 1: no additional thread; the output is the same",
	  .least = 1, .most = 1024, .neutral = true, .common = true, .setting = true },
	{ "verify", 0, "N", GROUP_EXPERT, OPTION_NUMBER, FIELD(verify),
	  .help = "Decode every Nth part of the trace (default: all), from PSB to PSB, by both "
		  "engines, and warn of differences",
	  .least = 1, .most = INT_MAX, .if_omitted = "1", .except = BIT(LIST) },
	{ "output-pattern", 0, "PATTERN", GROUP_BATCHES, OPTION_TEXT, FIELD(output_pattern),
	  .help = "Convert each INPUT to an output of its own, named by PATTERN with {dir}, "
		  "{name}, {base} (the name without its last suffix) and {n} of INPUT",
	  .neutral = true },
	{ "files0-from", 0, "FILE", GROUP_BATCHES, OPTION_TEXT, FIELD(files_from),
	  .help = "Convert the inputs that FILE names; NUL-terminated names, besides each INPUT, to an output each; - is standard input",
	  .neutral = true, .common = true },
	{ "jobs", 0, "N", GROUP_BATCHES, OPTION_NUMBER, FIELD(jobs),
	  .help = "Convert N files in parallel; 1 by default; 0: one per processor", .most = 10000,
	  .only = BIT(CONVERT) | BIT(WHY), .neutral = true, .common = true },
	{ "timeout", 0, "TIME", GROUP_BATCHES, OPTION_DURATION, FIELD(timeout),
	  .help = "End the conversion of an INPUT that takes longer than TIME (90s), as a failed "
		  "one",
	  .neutral = true },
	{ "skip-existing", 0, NULL, GROUP_BATCHES, OPTION_FLAG, FIELD(skip_existing),
	  .help = "Keep existing outputs that the same version made from the same bytes with the "
		  "same options",
	  .neutral = true },
	{ "json-lines", 0, "FILE", GROUP_BATCHES, OPTION_TEXT, FIELD(json_lines),
	  .help = "Append a line of JSON for each INPUT to FILE; as it is finished (default: standard output)",
	  .if_omitted = "-", .only = BIT(CONVERT) | BIT(WHY), .neutral = true, .common = true },
	{ "help", 'h', "all", GROUP_GENERAL, OPTION_HELP, 0,
	  .help = "Show the common options; with =all, every option", .if_omitted = "",
	  .neutral = true, .common = true },
	{ "version", 'V', NULL, GROUP_GENERAL, OPTION_VERSION, 0,
	  .help = "Show the versions of the program and libraries", .neutral = true,
	  .common = true },
	{ 0 }
};
const size_t option_count = COUNT_OF(option_specs) - 1;

const struct option_spec *option_find(const char *name, size_t length)
{
	for (const struct option_spec *option = option_specs; option->name; option++)
		if (strlen(option->name) == length && strncmp(option->name, name, length) == 0)
			return option;
	return NULL;
}

const struct option_spec *option_find_letter(char letter)
{
	for (const struct option_spec *option = option_specs; option->name; option++)
		if (option->letter == letter)
			return option;
	return NULL;
}
