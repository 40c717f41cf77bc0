/* SPDX-License-Identifier: MIT */
/* The options, by heading of --help. */
#include "src/cli/commands.h"

#define CHOICES(...)  ((const struct option_choice[]){ __VA_ARGS__, { NULL, 0 } })
#define FIELD(member) offsetof(struct options, member)
#define BIT(name)     (1U << COMMAND_##name)
#define NOT(name)     BIT(name)
/* Flags of options that, of the commands that print answers, only diff takes, or no command. */
#define ONLY_DIFF  (NOT(LIST) | NOT(ANNOTATE) | NOT(WHY))
#define NO_ANSWERS (ONLY_DIFF | NOT(DIFF))

/* clang-format off */
const struct option_spec option_specs[] = {
	{ "attach", 'p', "PIDS", GROUP_RECORDING, OPTION_TEXT, FIELD(attach), NEUTRAL | COMMON,
	  .help = "Record these processes; until Ctrl-C or the end of PROGRAM" },
	{ "all-cpus", 'a', NULL, GROUP_RECORDING, OPTION_FLAG, FIELD(all_cpus), NEUTRAL | COMMON,
	  .help = "Record all that runs on the machine" },
	{ "snapshot", 0, "SIZE", GROUP_RECORDING, OPTION_BYTES, FIELD(snapshot), NEUTRAL | COMMON,
	  .help = "Keep the last SIZE of the trace (64MiB), and end at Ctrl-C; SIZE is per CPU",
	  .if_omitted = "64MiB" },
	{ "snapshot-at", 0, "FUNCTION", GROUP_RECORDING, OPTION_TEXT, FIELD(snapshot_at),
	  NEUTRAL | COMMON,
	  .help = "As --snapshot, and end at the first call of FUNCTION; a function of the program, which perf then ends" },
	{ "start-at", 0, "FUNCTION", GROUP_RECORDING, OPTION_TEXT, FIELD(start_at),
	  NEUTRAL | COMMON,
	  .help = "Begin the trace at the first call of FUNCTION; a function of the program" },
	{ "no-code", 0, NULL, GROUP_RECORDING, OPTION_FLAG, FIELD(no_code), NEUTRAL,
	  .help = "Do not save the code that the program generates" },
	{ "dry-run", 0, NULL, GROUP_RECORDING, OPTION_FLAG, FIELD(dry_run), NEUTRAL | COMMON,
	  .help = "Print the perf command only" },
	{ "input", 0, "KIND", GROUP_EXPERT, OPTION_CHOICE, FIELD(input_kind), NOT(LIST),
	  .help = "Kind of INPUT: perf-data (default), or perf-script: the text that perf script prints",
	  .choices = CHOICES({ "perf-data", INPUT_PERF_DATA },
			     { "perf-script", INPUT_PERF_SCRIPT }) },
	{ "raw", 0, "FILE", GROUP_INPUT, OPTION_PATTERN, FIELD(raws), NOT(RECORD),
	  .help = "Read raw Intel PT data instead of INPUT; if repeated, the buffers of a process's threads",
	  .without = "input files0-from" },
	{ "map", 0, "FILE[:OFFSET]@ADDRESS[-END]", GROUP_INPUT, OPTION_MAP, FIELD(maps), NOT(RECORD),
	  .help = "Of --raw: FILE, from OFFSET, is code at ADDRESS; without OFFSET and END, an ELF file's first segment is there; numbers are hexadecimal; may be repeated",
	  .with = "raw" },
	{ "join", 0, "WHEN", GROUP_INPUT, OPTION_CHOICE, FIELD(join), NEUTRAL,
	  .help = "Convert several INPUTs as the parts of one recording: auto (default), with -o FILE, or "
	  "if their host, command line, clock and times prove it; always (default of --join without "
	  "WHEN); never: each to its own output", .only = BIT(CONVERT) | BIT(OPEN),
	  .choices = CHOICES({ "auto", JOIN_AUTO }, { "always", JOIN_ALWAYS }, { "never", JOIN_NEVER }),
	  .if_omitted = "always" },
	{ "merge", 0, NULL, GROUP_INPUT, OPTION_FLAG, FIELD(merge), NEUTRAL | COMMON,
	  .help = "Show the causes that recordings have in common; INPUTs are the lines of JSON that "
	  "single runs wrote by --json-lines", .only = BIT(WHY) },
	{ "mode", 0, "MODE", GROUP_INPUT, OPTION_CHOICE, FIELD(mode), COMMON,
	  .help = "Show code of one privilege level: user or kernel; both by default",
	  .choices = CHOICES({ "user", TRACE_MODE_USER }, { "kernel", TRACE_MODE_KERNEL },
			     { "both", TRACE_MODE_BOTH }) },
	{ "engine", 0, "ENGINE", GROUP_EXPERT, OPTION_CHOICE, FIELD(engine), NOT(LIST),
	  .help = "Packet decoder: fast (default), or libipt, for comparison: slower, loses more after "
	  "damage",
	  .choices = CHOICES({ "fast", PT_ENGINE_FAST }, { "libipt", PT_ENGINE_LIBIPT }) },
	{ "time", 0, "FROM,TO", GROUP_SELECTION, OPTION_TIME_RANGE, FIELD(select), COMMON,
	  .help = "Decode this time range; each side is empty, seconds of perf's clock or, as in JSON, nanoseconds (20001600000ns), +1.5ms after the start (as TO: after FROM), -2ms before the end, a percentage (10%,20%), or by a hit of a breakpoint or probe: -1ms@hit,+100us@hit, @hit:2 the second" },
	{ "pid", 0, "LIST", GROUP_SELECTION, OPTION_NUMBERS, FIELD(select.pids), COMMON,
	  .help = "Show these processes: 1,2,5-7; all lists may be repeated", .formats = "-memtrace" },
	{ "tid", 0, "LIST", GROUP_SELECTION, OPTION_NUMBERS, FIELD(select.tids), COMMON,
	  .help = "Show these threads", .formats = "-memtrace" },
	{ "comm", 0, "GLOB", GROUP_SELECTION, OPTION_PATTERN, FIELD(select.comms), COMMON,
	  .help = "Show threads that had a matching name at any time; may be repeated",
	  .formats = "-memtrace" },
	{ "cpu", 0, "LIST", GROUP_SELECTION, OPTION_CPUS, 0, 0,
	  .help = "Decode the trace of these CPUs; or FAMILY/MODEL/STEPPING (6/94/3), as in /proc/cpuinfo: the processor of --raw",
	  .formats = "-memtrace" },
	{ "symbol", 0, "GLOB", GROUP_SELECTION, OPTION_PATTERN, FIELD(select.symbols),
	  COMMON | NOT(LIST),
	  .help = "Show calls of these functions and their callees; with their callers; may be repeated" },
	{ "dso", 0, "GLOB", GROUP_SELECTION, OPTION_PATTERN, FIELD(select.dsos), NOT(LIST),
	  .help = "Show calls into matching files, by path or its last part (libc.so.6), as --symbol "
	  "does" },
	{ "between", 0, "START,STOP", GROUP_SELECTION, OPTION_BETWEEN, FIELD(select),
	  COMMON | NOT(LIST), .help = "Show from a call of START to the next of STOP; in each thread" },
	{ "from", 0, "GLOB", GROUP_SELECTION, OPTION_PATTERN, FIELD(select.roots), NOT(LIST),
	  .help = "Begin each thread's stack at these functions (main): leave out their callers, and all "
	  "before and after them; may be repeated" },
	{ "within", 0, "GLOB>TIME", GROUP_SELECTION, OPTION_WITHIN, FIELD(select), NOT(LIST),
	  .help = "Show what runs inside of calls of GLOB that take longer than TIME; or than a "
	  "percentile of them: 'parse>p99'" },
	{ "depth", 0, "N", GROUP_SELECTION, OPTION_NUMBER, FIELD(select.depth), COMMON | ONLY_DIFF,
	  .help = "Show the outermost N levels of slices; counted from the functions of --symbol, --dso, --between or --from",
	  .least = 1, .most = UINT32_MAX },
	{ "min-duration", 0, "TIME", GROUP_SELECTION, OPTION_DURATION, FIELD(select.min_duration),
	  COMMON | ONLY_DIFF,
	  .help = "Leave out slices shorter than TIME (1us); the enclosing slices count them" },
	{ "hide", 0, "GLOB", GROUP_SELECTION, OPTION_PATTERN, FIELD(select.hidden), ONLY_DIFF,
	  .help = "Leave out slices of these functions, but not those of their callees; may be repeated; @cpython: those that pass Python's calls on" },
	{ "slow", 0, "TIME", GROUP_SELECTION, OPTION_SLOWER_THAN, FIELD(slow),
	  COMMON | NOT(LIST) | NOT(OPEN) | NOT(DIFF) | NOT(ANNOTATE),
	  .help = "List calls of --symbol longer than TIME, or p99; a percentile of all calls; at most 100, or as many as --slowest says" },
	{ "slowest", 0, "N", GROUP_SELECTION, OPTION_NUMBER, FIELD(slow.most),
	  COMMON | NO_ANSWERS | NOT(OPEN),
	  .help = "List the N slowest calls of --symbol; slowest first; with -o DIR/ write a trace of each, and an index",
	  .least = 1, .most = 10000 },
	{ "context", 0, "TIME", GROUP_SELECTION, OPTION_DURATION, FIELD(slow.context),
	  NO_ANSWERS | NOT(OPEN),
	  .help = "Also show TIME before and after each slow call (default: 10us)",
	  .with = "slowest slow" },
	{ "no-samples", 0, NULL, GROUP_SELECTION, OPTION_FLAG, FIELD(no_samples), NOT(LIST),
	  .help = "Leave out samples of other events of the recording (cycles, tracepoints)" },
	{ "stacks", 0, "HOW", GROUP_EXPERT, OPTION_CHOICE, FIELD(stacks), NOT(LIST),
	  .help = "How call stacks are built: precise (default), from return addresses, with a function "
	  "that another jumps to inside of the other; replace: after it; flows: after it, with an arrow "
	  "between them, in an FTF; magic-trace, from names, by the rules of magic-trace 1.0",
	  .choices = CHOICES({ "precise", STACKS_PRECISE }, { "replace", STACKS_REPLACE },
			     { "flows", STACKS_FLOWS }, { "magic-trace", STACKS_MAGIC_TRACE }),
	  .formats = "-magic-trace" },
	{ "fibers", 0, NULL, GROUP_SELECTION, OPTION_FLAG, FIELD(fibers),
	  NOT(LIST) | NOT(DIFF) | NOT(ANNOTATE),
	  .help = "Show each stack of a thread on a track of its own: coroutines, fibers, goroutines; slices stay open while their stack is parked, and arrows show the switches",
	  .formats = "-magic-trace" },
	{ "switch-function", 0, "GLOB", GROUP_EXPERT, OPTION_PATTERN, FIELD(switches),
	  NOT(LIST),
	  .help = "These functions switch stacks by a copy, as greenlet's slp_switch does; may be repeated",
	  .formats = "-magic-trace" },
	{ "inline", 0, NULL, GROUP_SELECTION, OPTION_FLAG, FIELD(inlined), COMMON | ONLY_DIFF,
	  .help = "Show inlined functions, too", .formats = "-magic-trace" },
	{ "symfs", 0, "DIR", GROUP_SYMBOLS, OPTION_TEXT, FIELD(symfs), SETTING | COMMON,
	  .help = "Search the recorded files only below DIR" },
	{ "vdso", 0, "FILE", GROUP_SYMBOLS, OPTION_TEXT, FIELD(vdso), 0,
	  .help = "The vdso of the recorded kernel" },
	{ "core", 0, "FILE", GROUP_SYMBOLS, OPTION_TEXT, FIELD(core), 0,
	  .help = "The ELF core with the code that processes generated (default: INPUT.code)" },
	{ "kernel", 0, "FILE", GROUP_SYMBOLS, OPTION_KERNEL, 0, 0,
	  .help = "The recorded kernel: a copy of its memory, kcore, or its directory (default: kcore_dir in "
	  "INPUT); vmlinux, if there is no kcore; or its symbols, as its /proc/kallsyms listed them; "
	  "may be repeated" },
	{ "debug-dir", 0, "DIR", GROUP_SYMBOLS, OPTION_TEXT, FIELD(debug_dir), SETTING,
	  .help = "Search DIR for debug files first; it has the layout of /usr/lib/debug" },
	{ "debuginfod", 0, NULL, GROUP_SYMBOLS, OPTION_FLAG, FIELD(debuginfod), SETTING | COMMON,
	  .help = "Ask DEBUGINFOD_URLS for missing files; the servers of debuginfod" },
	{ "no-cache", 0, NULL, GROUP_SYMBOLS, OPTION_FLAG, FIELD(no_cache), NEUTRAL | SETTING | NOT(LIST),
	  .help = "Neither use nor write the cache of source lines, ~/.cache/ptrace2ftf" },
	{ "force-dso", 0, NULL, GROUP_SYMBOLS, OPTION_FLAG, FIELD(force_dso), 0,
	  .help = "Use the file at a recorded path although its build id is not the recorded one" },
	{ "perf-map-dir", 0, "DIR", GROUP_SYMBOLS, OPTION_TEXT, FIELD(perf_map_dir), SETTING,
	  .help = "The directory of perf-PID.map files, which name code of JIT compilers (default: /tmp)" },
	{ "strip-prefix", 0, "DIR", GROUP_SYMBOLS, OPTION_TEXT, FIELD(strip_prefix),
	  SETTING | NOT(LIST), .help = "Show paths of source files below DIR relative to it" },
	{ "demangle", 0, "STYLE", GROUP_SYMBOLS, OPTION_CHOICE, FIELD(names), SETTING | NOT(LIST),
	  .help = "How function names are shown: short (default), without template arguments and "
	  "parameters; full; or none: as in the symbol table",
	  .choices = CHOICES({ "short", DEMANGLE_SHORT }, { "full", DEMANGLE_FULL },
			     { "none", DEMANGLE_NONE }), .formats = "-magic-trace" },
	{ "unnamed", 0, "HOW", GROUP_SYMBOLS, OPTION_CHOICE, FIELD(unnamed), SETTING | NOT(LIST),
	  .help = "How code without symbols is shown: functions (default), each by its file and address "
	  "(libc.so.6+0x29d90); or files: all code of a file as one",
	  .choices = CHOICES({ "functions", UNNAMED_FUNCTIONS }, { "files", UNNAMED_FILES }),
	  .formats = "-magic-trace" },
	{ "output", 'o', "FILE", GROUP_OUTPUT, OPTION_OUTPUT, 0, NEUTRAL | COMMON,
	  .help = "Write to FILE, or into DIR/; in the format of FILE's suffix (.html, .folded, .json) unless -f is given, compressed if it ends in .gz or .zst; - is standard output (default: INPUT.ftf; standard output for text). If FILE is a directory, each INPUT gets an output of its own in it, named after INPUT; if FILE contains {dir}, {name}, {base} (the name without its last suffix) or {n}, each INPUT gets an output that is named by these of INPUT" },
	{ "format", 'f', "FORMAT", GROUP_OUTPUT, OPTION_FORMAT, FIELD(format), COMMON | ONLY_DIFF,
	  .help = "ftf (default), functions, histogram, folded, pprof, callgrind, lcov, bolt, llvm-profile, chrome, speedscope, sqlite, html, calls, slices, csv, tree, branches, events, magic-trace, memtrace, none; ftf unless -o's suffix says otherwise; branches: a line per branch, as perf script prints it; calls: begins and ends of slices in the order found; slices: a line per finished slice; csv: a row per slice, for pandas and DuckDB; -f functions -o FILE.csv is its table as CSV; tree: calls, indented, with times; events: a line per hit, and per event of the overlays; "
	  "magic-trace: the records that magic-trace 1.0 writes; memtrace: the time range of --memtrace, cut; folded: call stacks with their own time, for flame graphs; functions: a table; histogram: how long the calls of --symbol take; chrome and speedscope: JSON for these viewers; sqlite: a database of all calls; pprof: a profile for go tool pprof; callgrind: one for KCachegrind; lcov: coverage for genhtml; bolt: for perf2bolt; llvm-profile: for clang; html: a page with calls, a flame graph and functions; none: decode only" },
	{ "args", 0, "WHAT", GROUP_OUTPUT, OPTION_CHOICE, FIELD(args),
	  SETTING | COMMON | NO_ANSWERS,
	  .help = "Arguments of slices: none, loc, line, full; loc (default): FILE:LINE of the function; line: its address, line, column and file; full: also the line of the call, instructions, cycles and IPC; callgrind: costs by instruction; sqlite: branches",
	  .choices = CHOICES({ "none", OPTION_ARGS_NONE }, { "loc", OPTION_ARGS_LOC },
			     { "line", OPTION_ARGS_LINE }, { "full", OPTION_ARGS_FULL }),
	  .formats = "-magic-trace" },
	{ "clock", 0, "UNIT", GROUP_EXPERT, OPTION_CHOICE, FIELD(clock),
	  NOT(LIST),
	  .help = "Time axis: time (default), or insns or cycles: the instructions or "
	  "core cycles of the thread since its first one, to compare runs; one is shown as 1 ns",
	  .choices = CHOICES({ "time", CLOCK_TIME }, { "insns", CLOCK_INSNS },
			     { "cycles", CLOCK_CYCLES }) },
	{ "counters", 0, "TIME", GROUP_OUTPUT, OPTION_DURATION, FIELD(counters), NO_ANSWERS,
	  .help = "Show counters of threads and CPUs for each TIME; in an FTF or HTML: instructions and calls a second, taken branches per instruction, instructions per cycle",
	  .formats = "ftf html" },
	{ "columns", 0, "LIST", GROUP_OUTPUT, OPTION_CHOICES, FIELD(select.columns), NO_ANSWERS | NOT(OPEN),
	  .help = "Columns of --format=functions: calls,total,self,share,min,median,p99,max (default), insns,cycles,ipc: instructions and cycles without callees",
	  .formats = "functions",
	  .choices = CHOICES({ "calls", COLUMN_CALLS }, { "total", COLUMN_TOTAL },
			     { "self", COLUMN_SELF }, { "share", COLUMN_SHARE },
			     { "min", COLUMN_MIN }, { "median", COLUMN_MEDIAN },
			     { "p99", COLUMN_P99 }, { "max", COLUMN_MAX },
			     { "insns", COLUMN_INSNS }, { "cycles", COLUMN_CYCLES },
			     { "ipc", COLUMN_IPC }) },
	{ "by", 0, "KEYS", GROUP_OUTPUT, OPTION_CHOICES, FIELD(select.by), NO_ANSWERS | NOT(OPEN),
	  .help = "Rows of --format=functions: function (default), dso, thread, or several, as in thread,dso",
	  .formats = "functions",
	  .choices = CHOICES({ "function", ROWS_BY_FUNCTION }, { "dso", ROWS_BY_DSO },
			     { "thread", ROWS_BY_THREAD }) },
	{ "sort", 0, "KEY", GROUP_OUTPUT, OPTION_CHOICE, FIELD(select.order), ONLY_DIFF | NOT(OPEN),
	  .help = "Sort a table by self, total, calls or name; that of --format=functions (default: self), or of `ptrace2ftf diff`",
	  .choices = CHOICES({ "self", ORDER_SELF }, { "total", ORDER_TOTAL },
			     { "calls", ORDER_CALLS }, { "name", ORDER_NAME }), .formats = "functions" },
	{ "top", 0, "N", GROUP_OUTPUT, OPTION_NUMBER, FIELD(select.top),
	  COMMON | ONLY_DIFF | NOT(OPEN),
	  .help = "Show the first N rows of a table; that of --format=functions, or of `ptrace2ftf diff`",
	  .least = 1, .most = UINT32_MAX, .formats = "functions" },
	{ "split", 0, "SIZE", GROUP_OUTPUT, OPTION_SPLIT_SIZE, FIELD(select.split),
	  COMMON | NO_ANSWERS | NOT(OPEN),
	  .help = "Write OUT.000.ftf and so on, each of SIZE; a number of slices (2M), bytes (500MB) or a time (10ms)",
	  .formats = "ftf" },
	{ "fit", 0, "SLICES", GROUP_OUTPUT, OPTION_FIT, FIELD(select.fit), NO_ANSWERS,
	  .help = "Limit a trace to SLICES (default: 4M, html: 1M, which a browser can open): fold the "
	  "shortest slices of each thread into the enclosing ones, which count them; none: keep "
	  "all", .formats = "ftf html", .without = "split" },
	{ "max-stack", 0, "N", GROUP_OUTPUT, OPTION_FIT, FIELD(max_stack), ONLY_DIFF | NOT(OPEN),
	  .help = "In folded and pprof, cut call stacks after N functions (default: 127), with "
	  "[truncated] and the innermost function; none: keep all", .formats = "folded pprof" },
	{ "unit", 0, "TIME", GROUP_OUTPUT, OPTION_DURATION, FIELD(unit), ONLY_DIFF | NOT(OPEN),
	  .help = "Print times of folded in units of TIME (default: 1ns); 1us for readers that make a "
	  "sample of each unit", .formats = "folded" },
	{ "open", 0, NULL, GROUP_OUTPUT, OPTION_FLAG, FIELD(open),
	  NEUTRAL | COMMON,
	  .help = "Show the output in the browser, too", .only = BIT(RECORD), .was = BIT(CONVERT) },
	{ "ui", 0, "URL", GROUP_OUTPUT, OPTION_TEXT, FIELD(ui), NEUTRAL | SETTING,
	  .help = "The page that shows the trace, such as your own instance of Perfetto's UI (default: "
	  "https://ui.perfetto.dev)", .only = BIT(OPEN) | BIT(RECORD), .was = BIT(CONVERT) },
	{ "report", 0, "STYLE", GROUP_OUTPUT, OPTION_CHOICE, FIELD(report), NEUTRAL | COMMON,
	  .help = "Print the difference as text (default), or markdown, for a comment of a CI",
	  .choices = CHOICES({ "text", REPORT_TEXT }, { "markdown", REPORT_MARKDOWN }),
	  .only = BIT(DIFF) },
	{ "first", 0, NULL, GROUP_OUTPUT, OPTION_FLAG, FIELD(first), NEUTRAL | COMMON,
	  .help = "Print the first branch at which the recordings part, thread by thread, or in the calls of --symbol",
	  .only = BIT(DIFF) },
	{ "fail-if", 0, "METRIC[@GLOB]:+N[%]", GROUP_OUTPUT, OPTION_PATTERN, FIELD(fail_if),
	  NEUTRAL | COMMON,
	  .help = "End with status 3 if METRIC grew by more than N; METRIC is insns, self, calls or time; N may be a percentage; in all, or in a function that matches GLOB with its callees; may be repeated",
	  .only = BIT(DIFF) },
	{ "max-output", 0, "SIZE", GROUP_OUTPUT, OPTION_BYTES, FIELD(max_output), 0,
	  .help = "End the output at SIZE bytes (500MB), with all slices that began before (default: a "
	  "quarter of the free space, at most 64 GiB)" },
	{ "max-temp", 0, "SIZE", GROUP_OUTPUT, OPTION_BYTES, FIELD(max_temp), SETTING,
	  .help = "End the input when temporary files in TMPDIR, by default /var/tmp, have SIZE bytes "
	  "(default: a quarter of the free space, at most 64 GiB)" },
	{ "runtime-events", 0, "FILE[,pid=N][,ocaml=5.N][,tid.RING=N]", GROUP_OCAML, OPTION_RUNTIME_EVENTS, 0,
	  COMMON,
	  .help = "Show garbage collections of OCaml 5; and the program's own events, of its PID.events; may be repeated, and needs no INPUT",
	  .formats = "-magic-trace" },
	{ "memtrace", 0, "FILE[,pid=N][,lives]", GROUP_OCAML, OPTION_MEMTRACE, 0, COMMON,
	  .help = "Show allocations that memtrace sampled; may be repeated, and needs no INPUT",
	  .formats = "-magic-trace" },
	{ "clock-sync", 0, "FILE", GROUP_OCAML, OPTION_CLOCK_SYNC, 0, 0,
	  .help = "Match clocks by the lines of FILE, which `ptrace2ftf clock-sync` prints; or add TIME (ns, "
	  "or with a unit) to times of runtime events (mono=TIME) or memtrace (real=TIME); may be repeated",
	  .formats = "-memtrace" },
	{ "json", 0, "FILE", GROUP_GENERAL, OPTION_TEXT, FIELD(json), NEUTRAL | COMMON,
	  .help = "Print JSON; instead of the text of an answer (a list, a table, a difference); for a trace, a summary: inputs, streams, threads, functions, files, gaps, warnings. With FILE, also write the summary, which has the answer, to FILE",
	  .if_omitted = "-" },
	{ "no-warn", 0, NULL, GROUP_GENERAL, OPTION_FLAG, FIELD(no_warn), NEUTRAL,
	  .help = "Exit with 0 instead of 2 after gaps or warnings" },
	{ "quiet", 'q', NULL, GROUP_GENERAL, OPTION_FLAG, FIELD(quiet), NEUTRAL | COMMON,
	  .help = "Print errors only" },
	{ "verbose", 'v', NULL, GROUP_GENERAL, OPTION_REPEATED, FIELD(verbose), NEUTRAL | COMMON,
	  .help = "Print more; the time of each phase, the bytes of each buffer by outcome, and the symbols found for each file of code; twice: also all threads, unused files, and how the recording was made" },
	{ "color", 0, "WHEN", GROUP_GENERAL, OPTION_CHOICE, FIELD(color), NEUTRAL | SETTING,
	  .help = "Colour errors and warnings: auto (default), on a terminal, unless NO_COLOR is set; "
	  "always (default of --color without WHEN); never",
	  .choices = CHOICES({ "auto", MESSAGE_COLOR_AUTO }, { "always", MESSAGE_COLOR_ALWAYS },
			     { "never", MESSAGE_COLOR_NEVER }),
	  .if_omitted = "always" },
	{ "sandbox", 0, "WHEN", GROUP_EXPERT, OPTION_CHOICE, FIELD(sandbox), NEUTRAL | SETTING,
	  .help = "Drop the rights that a conversion does not need, before the recording is read: auto "
	  "(default), if the kernel can; on, or fail; off",
	  .choices = CHOICES({ "auto", SANDBOX_AUTO }, { "on", SANDBOX_ON },
			     { "off", SANDBOX_OFF }) },
	{ "threads", 'j', "N", GROUP_DECODING, OPTION_NUMBER, FIELD(threads),
	  NEUTRAL | SETTING | COMMON,
	  .help = "Decode with N threads; default: one per CPU, 1 for less than 4 MiB of trace; the output is the same",
	  .least = 1, .most = 1024 },
	{ "verify", 0, "N", GROUP_EXPERT, OPTION_NUMBER, FIELD(verify), NOT(LIST),
	  .help = "Decode every Nth part of the trace (default: all), from PSB to PSB, by both engines, "
	  "and warn of differences", .least = 1, .most = INT_MAX, .if_omitted = "1" },
	{ "files0-from", 0, "FILE", GROUP_BATCHES, OPTION_TEXT, FIELD(files_from), NEUTRAL | COMMON,
	  .help = "Convert the inputs that FILE names; NUL-terminated names, besides each INPUT, to an output each; - is standard input" },
	{ "jobs", 0, "N", GROUP_BATCHES, OPTION_NUMBER, FIELD(jobs), NEUTRAL | COMMON,
	  .help = "Convert N files in parallel; 1 by default; 0: one per processor", .most = 10000,
	  .only = BIT(CONVERT) | BIT(WHY) },
	{ "timeout", 0, "TIME", GROUP_BATCHES, OPTION_DURATION, FIELD(timeout), NEUTRAL,
	  .help = "End the conversion of an INPUT that takes longer than TIME (90s), as a failed one" },
	{ "skip-existing", 0, NULL, GROUP_BATCHES, OPTION_FLAG, FIELD(skip_existing), NEUTRAL,
	  .help = "Keep existing outputs that the same version made from the same bytes with the same "
	  "options" },
	{ "json-lines", 0, "FILE", GROUP_BATCHES, OPTION_TEXT, FIELD(json_lines), NEUTRAL | COMMON,
	  .help = "Append a line of JSON for each INPUT to FILE; as it is finished (default: standard output)",
	  .if_omitted = "-", .only = BIT(CONVERT) | BIT(WHY) },
	{ "help", 'h', "all", GROUP_GENERAL, OPTION_HELP, 0, NEUTRAL | COMMON,
	  .help = "Show the common options; with =all, every option", .if_omitted = "" },
	{ "version", 'V', NULL, GROUP_GENERAL, OPTION_VERSION, 0, NEUTRAL | COMMON,
	  .help = "Show the versions of the program and libraries" },
	{ 0 }
};
/* clang-format on */

/* Old names, which release 1.0 will refuse. */
const struct renamed_option renamed_options[] = {
	{ "clock-offset", NULL, "clock-sync", NULL },
	{ "flows", NULL, "stacks", "flows" },
	{ "html", NULL, "output", NULL },
	{ "kallsyms", NULL, "kernel", NULL },
	{ "kcore", NULL, "kernel", NULL },
	{ "like", NULL, "format", NULL },
	{ "no-join", NULL, "join", "never" },
	{ "output-pattern", NULL, "output", NULL },
	{ "tail-calls", "nest", "stacks", "precise" },
	{ "tail-calls", NULL, "stacks", NULL },
	{ "vmlinux", NULL, "kernel", NULL },
	{ NULL, NULL, NULL, NULL },
};

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
