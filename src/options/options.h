/* SPDX-License-Identifier: MIT */
/* Values of the command line's options. */
#pragma once

#include "base/cursor.h"
#include "base/message.h"
#include "decoder/engine/pt_engine.h"
#include "src/options/selection.h"
#include "symbols/dso/dso_types.h"

/* Exit status, graded as xz does; 64 is EX_USAGE of sysexits.h. */
enum exit_status {
	EXIT_WHOLE = 0,
	EXIT_FAILED = 1,
	EXIT_WITH_GAPS = 2,
	EXIT_EXCEEDED = 3, /* `ptrace2ftf diff`: a condition of --fail-if */
	EXIT_USAGE = 64,
	EXIT_INTERRUPTED = 130, /* 128 + SIGINT, as in shells; the output is valid but incomplete */
};

/* The first word of the command line. */
enum command {
	COMMAND_CONVERT = 0, /* no command */
	COMMAND_OPEN,
	COMMAND_RECORD,
	COMMAND_LIST,
	COMMAND_DIFF,
	COMMAND_ANNOTATE,
	COMMAND_WHY,
	COMMAND_PACK,
	COMMAND_WATCH, /* parsed as COMMAND_RECORD with `watching` */
	COMMAND_CLOCK_SYNC,
	COMMAND_HELP,
	COMMANDS
};

enum input_kind { INPUT_PERF_DATA = 0, INPUT_PERF_SCRIPT };

struct output_format;

/* Arguments of slices: "file:line"; none; address and source apart; also the call and costs. */
enum option_args { OPTION_ARGS_LOC = 0, OPTION_ARGS_NONE, OPTION_ARGS_LINE, OPTION_ARGS_FULL };

/* The axis of all that a thread did: perf's clock, or the thread's work since its first event. */
enum thread_clock { CLOCK_TIME = 0, CLOCK_INSNS, CLOCK_CYCLES };

/* How call stacks are built: callstack_precise.c, callstack_magic_trace.c. */
enum stack_machine {
	STACKS_PRECISE = 0, /* a function that ends in a tail call encloses the called one */
	STACKS_REPLACE,     /* a function ends at its tail call */
	STACKS_FLOWS,       /* with an arrow to the called one */
	STACKS_MAGIC_TRACE,
};

/* Whether several inputs are one recording; AUTO: if they prove it. */
enum option_join { JOIN_AUTO = 0, JOIN_ALWAYS, JOIN_NEVER };

/* The traced or shown privilege levels: perf's exclude_kernel and exclude_user. */
enum trace_mode {
	TRACE_MODE_GUESS = 0, /* from perf.data, else from addresses, without warnings */
	TRACE_MODE_USER,
	TRACE_MODE_KERNEL,
	TRACE_MODE_BOTH,
};

/* Whether to enter the sandbox (sandbox.h); AUTO: if the system has one. */
enum option_sandbox { SANDBOX_AUTO = 0, SANDBOX_ON, SANDBOX_OFF };

enum overlay_kind { OVERLAY_RUNTIME_EVENTS = 0, OVERLAY_MEMTRACE };

/* Strings are borrowed from the command line; NULL: the option was not given. */
struct options {
	enum command command;
	/* Input */
	const char *input; /* the first one; "-": stdin; NULL: overlays only */
	char **inputs;     /* borrowed */
	int input_count;
	enum option_join join;
	enum report_style { REPORT_TEXT = 0, REPORT_MARKDOWN } report; /* style of a difference */
	bool merge;      /* inputs are lines of JSON of `ptrace2ftf why` */
	bool apart;      /* each input is one recording */
	bool of_several; /* the command has several inputs; this conversion reads one */
	enum input_kind input_kind;
	struct pattern_list raws; /* --raw: also the inputs */
	struct pattern_list maps; /* raw_map_read() */
	char processor[32]; /* CPUID of --raw as in perf: "GenuineIntel,6,94,3"; "": unknown */
	enum trace_mode mode;
	enum pt_engine engine;
	struct selection select;
	struct slow_choice slow;
	uint64_t counters; /* ns: interval of counters; 0: no counters */
	bool mask;         /* pack: numbers instead of names */
	bool no_samples;   /* leave out samples of other events */
	/* `ptrace2ftf record` */
	char **program;          /* borrowed: the words after --; may be NULL */
	const char *attach;      /* PIDs; NULL: not given */
	const char *start_at;    /* function whose first call starts the trace; may be NULL */
	const char *snapshot_at; /* function whose call ends the recording; NULL: not given */
	struct watched_calls {
		char *function; /* owned: "": from a call of --between's START to one of STOP */
		struct slow_choice slow;
	} watched;           /* calls whose slow ones take snapshots; `function` NULL: not given */
	unsigned snapshots;  /* recordings of slow calls; UINT_MAX: any number */
	unsigned per_minute; /* of these, at most; 0: the default */
	uint64_t snapshot;   /* bytes of trace to keep; 0: all */
	bool all_cpus, dry_run, check;
	bool no_code;  /* do not save generated code */
	bool watching; /* `ptrace2ftf watch`: --snapshots=forever is the default */
	/* Stacks and symbols */
	enum stack_machine stacks;
	bool fibers;                  /* a track for each stack */
	struct pattern_list switches; /* functions that switch stacks by a copy */
	bool inlined;                 /* show inlined functions */
	uint64_t max_stack; /* functions per stack; 0: MAX_STACK_DEFAULT, FIT_NONE: no limit */
	enum demangle_style names;
	enum unnamed_style unnamed;
	const char *symfs;           /* root of the recorded files */
	const char *vdso;            /* NULL: search for it */
	const char *core;            /* generated code; NULL: next to the input */
	const char *kcore, *vmlinux; /* the kernel's code; NULL: search for it */
	const char *kallsyms;        /* NULL: search for it */
	const char *debug_dir;       /* searched before the system's */
	const char *perf_map_dir;    /* folder of perf-PID.map; NULL: /tmp */
	const char *strip_prefix;    /* prefix of source paths */
	bool debuginfod;             /* ask servers for files */
	bool force_dso;              /* accept files with another build id */
	bool no_cache;               /* see options_caches() */
	/* Output */
	const char *output; /* path; "-": stdout; NULL: no output, or named by a batch */
	char *beside;       /* owned: the default `output`; NULL: no output */
	const struct output_format *format;
	enum option_args args;
	enum thread_clock clock;
	uint64_t unit;       /* ns: of the weights of folded stacks; 0: 1 */
	uint64_t max_output; /* bytes of a file; 0: OUTPUT_LIMIT_DEFAULT */
	uint64_t max_temp;   /* bytes of temporary files; 0: TEMP_FILES_DEFAULT */
	bool open;           /* open_trace(); `ptrace2ftf open` without --output keeps no trace */
	struct pattern_list fail_if; /* conditions of --fail-if: src/diff/diff.h */
	bool first;                  /* `ptrace2ftf diff`: the first branch at which threads part */
	/* Borrowed: branches of each thread to compare, by its index; absent: all. */
	const struct way_window {
		uint64_t from, to, show; /* numbers; UINT64_MAX: the end, or none */
	} * windows;
	size_t window_count;
	const char *ui; /* --ui: the page that shows the trace; NULL: usual_ui, or Perfetto's */
	const char *usual_ui; /* the user's setting of --ui; NULL: not set */
	const char *stamp;    /* borrowed: to be written into FTF (batch_stamp.c); NULL: no stamp */
	bool fits;            /* the input cannot be read again, or it is: for --fit or why */
	/* OCaml; the argument of an overlay's option: src/overlays/overlays.h. */
	struct overlay_option {
		enum overlay_kind kind;
		const char *text; /* borrowed: "FILE,WORD=VALUE,..." */
	} * overlays;             /* owned */
	size_t overlay_count, overlay_room;
	/* --clock-sync=CLOCK=TIME: ns to add to times of an overlay's clock. */
	struct clock_offsets {
		bool has_mono, has_real;
		int64_t mono, real;
	} clock_offsets;
	const char *clock_sync; /* path of a file with clocks */
	/* Diagnostics */
	bool all_functions; /* list all functions, with instructions, in the report */
	const char *json;   /* path; "-": stdout; "": only for --json-lines */
	bool json_answer;   /* print the answer as JSON instead of text */
	/* Print the table of the answer as format_csv, or _jsonl, prints rows; NULL: as text. */
	const struct output_format *rows_as;
	bool no_warn; /* gaps and warnings do not change the exit status */
	bool quiet;   /* no summary and no warnings */
	int verbose;  /* 0, 1 or 2 */
	enum option_sandbox sandbox;
	enum message_color color;
	/* Decoding */
	unsigned threads; /* 0: one per CPU */
	unsigned verify;  /* decode every Nth segment with both engines; 0: never */
	/* Batches */
	const char *output_pattern; /* --output with words like {name} */
	const char *files_from;
	char *list, **listed;   /* owned: the content of files_from; all inputs */
	const char *json_lines; /* path; "-": stdout */
	unsigned jobs;          /* files converted in parallel; 0: one per processor */
	bool skip_existing;
	uint64_t timeout;  /* limit of a job in ns; 0: no limit */
	char *settings[3]; /* owned: configuration file, its path, environment variable */
	char **side_words; /* owned: words of one side of `ptrace2ftf diff` */
	/* Owned: "--NAME=ARGUMENT" of options that may change an output. */
	char **words;
	int word_count, setting_count; /* the first ones are settings */
	/* Bit sets of options on the command line: by index in option_specs, renamed_options. */
	uint64_t given[2];
	uint32_t renamed;
	size_t word_room;
};

/* perf's own default of --max-stack. */
#define MAX_STACK_DEFAULT 127

/* Returns the maximum number of functions shown per stack; UINT64_MAX: no limit. */
uint64_t options_max_stack(const struct options *options);

/*
 * Returns whether source lines are cached (symbols/dso/line_cache.h); not those of files that may
 * be a stranger's, for which no file outside of symfs is opened.
 */
bool options_caches(const struct options *options);

/* Returns whether each slow call gets its own trace. */
bool options_trace_slow(const struct options *options);

/* Returns whether each input gets its own output. */
bool options_is_batch(const struct options *options);

/*
 * Parse "mono=TIME" or "real=TIME"; TIME is as for selection_duration(), with an optional sign.
 * Returns false for other texts.
 */
bool clock_offsets_read(struct clock_offsets *offsets, const char *text);

/* Parse "F>TIME", "F>p99", or ">TIME" of --slow while recording. Returns false for other texts. */
bool watched_calls_read(struct watched_calls *watched, const char *text);

/* Parse "N", "forever", or either with ",M", for --snapshots. Returns false for other texts. */
bool options_read_snapshots(struct options *options, const char *text);

/* Parse "FAMILY/MODEL/STEPPING" into options->processor. Returns false for other texts. */
bool processor_read(struct options *options, const char *text);

/* A mapping of --map. */
struct raw_map {
	struct text_view path;
	uint64_t offset;     /* bytes from the file's start to the byte at `begin` */
	uint64_t begin, end; /* addresses; `end` 0: up to the file's end */
	bool exact;          /* not by an ELF file's segments */
};

/* Parse "PATH[:OFFSET]@ADDRESS[-END]", with hexadecimal numbers. Returns false for other texts. */
bool raw_map_read(const char *text, struct raw_map *map);

void options_release(struct options *options);

/* ---- Paths in options: to read, and of outputs, which must not replace them -- */

/* From now on, no output may replace a file that the options name as input. */
void file_roles_read(const struct options *options);

/*
 * Check the path of an output before the recording is read; NULL and "": no output. `what`,
 * borrowed forever, is its option or its input. Returns 0; -1 with err filled if the file cannot be
 * created, is also an input (under any name), or is another output.
 */
int file_roles_write(const char *path, const char *what, struct error *err);

/* Do both for the inputs, --output and --json of a command. */
int file_roles_check(const struct options *options, struct error *err);

/* Maximum number of these paths. */
#define INPUT_PATHS_MAX 9

enum input_path_kind { INPUT_PATH_FILE, INPUT_PATH_DIRECTORY, INPUT_PATH_EITHER };

struct input_path {
	const char *option; /* a constant, without "--" */
	const char *path;   /* borrowed from the options */
	enum input_path_kind kind;
};

/* List the paths in the options. Returns their number. */
size_t input_paths_list(const struct options *options, struct input_path paths[INPUT_PATHS_MAX]);

/* Returns 0; -1 with err filled if a path is missing, of the wrong kind, or not readable. */
int input_paths_check(const struct options *options, struct error *err);

/* The kinds of --kernel: by the content of a file, or a directory. */
enum kernel_path { KERNEL_PATH_KCORE, KERNEL_PATH_KALLSYMS, KERNEL_PATH_VMLINUX };

/* Returns the kind of a path of --kernel; VMLINUX if it cannot be read. */
enum kernel_path kernel_path_kind(const char *path);

/* Returns whether an input is trace.json: LLDB's description of the traces beside it. */
bool input_paths_is_bundle(const char *path);

/*
 * Returns the ELF core with generated code: --core's, or `path` beside the input, also without its
 * .gz or .zst; NULL: none.
 */
const char *input_paths_core(const struct options *options, char path[PATH_MAX]);
