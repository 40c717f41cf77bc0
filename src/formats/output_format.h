/* SPDX-License-Identifier: MIT */
/*
 * The output formats: the needs of each, and the functions that write it.
 *
 * A new format is one file with a `const struct output_format`, and a line in OUTPUT_FORMATS.
 */
#pragma once

#include <jansson.h>

#include "base/io/output.h"
#include "src/slices/slice_sink.h"

struct branch_event;
struct call_node;
struct call_tree;
struct callstack_machine;
struct diag;
struct dso;
struct event_sink;
struct executed_code;
struct fold_counts;
struct ftf_fit;
struct line;
struct location;
struct location_pair;
struct name_table;
struct options;
struct perf_file;
struct perf_recording;
struct thread;
struct timeline;

/* The output if the user names no file. */
enum default_output {
	DEFAULT_STDOUT = 0,
	DEFAULT_FILE, /* INPUT.SUFFIX */
	DEFAULT_NONE, /* the pipeline never opens an output */
};

enum format_slices {
	SLICES_NONE = 0, /* builds no call stacks */
	SLICES_AS_FOUND, /* in the call-stack machine's order; any tracks */
	SLICES_SORTED,   /* in program order (slice_sorter.h), filtered; tracks are struct track */
};

enum format_overlays {
	OVERLAYS_NONE = 0, /* omitted */
	OVERLAYS_AS_SLICES,
	OVERLAYS_ONLY, /* the format shows only these and hits */
};

/* A time that a format requests again. */
struct look_window {
	uint64_t begin, end; /* ns */
	int32_t tid;         /* the thread; */
	bool all_threads;    /* also requests other threads */
	bool left_out;       /* for the next call of look(): the trace was too long */
};

#define WALL_BASE_UNKNOWN UINT64_MAX

/* Facts of an input, known before the first slice. */
struct trace_facts {
	uint64_t wall_base; /* ns since 1970 at the events' time 0, or WALL_BASE_UNKNOWN */
	/*
	 * An id above all ids of processes and threads of the input, for records without an id;
	 * higher ids are for tracks that are not threads.
	 */
	uint32_t free_id;
	uint64_t trace_bytes;            /* of AUX data; 0: unknown */
	bool by_insns;                   /* struct callstack_machine */
	const struct timeline *switches; /* all context switches; NULL: unknown; borrowed */
	bool has_copies; /* of several times: threads begin within their calls again */
	/* The first mapped file of code, which is the recorded program; NULL: unknown. */
	const struct dso *program;
	const struct perf_file *file; /* NULL: not a recording of perf */
};

/* The lowest id above all processes and threads of Linux: PID_MAX_LIMIT of linux/threads.h. */
#define TRACE_FREE_ID_UNKNOWN (UINT32_C(1) << 22)

/* Parameters of open(), all borrowed until release. */
struct format_request {
	const struct options *options;
	const char *path; /* path of the output */
	struct output *output;
	FILE *text; /* into `output`; NULL for a format of DEFAULT_FILE or DEFAULT_NONE */
	struct name_table *names;
	struct diag *diag; /* NULL: drop warnings */
	struct trace_facts facts;
};

/* An output in progress: the first member of a format's own struct. */
struct format_output {
	FILE *text;                        /* borrowed: request->text, for text formats */
	struct slice_sink sink;            /* for slices, if the format uses them */
	const uint64_t *slices;            /* borrowed: begun so far; NULL: not counted */
	struct callstack_machine *machine; /* borrowed; set when it exists */
	const uint64_t *gaps;              /* borrowed: the summary's, by enum gap_reason; NULL:
					    * unknown, before finish() */
	const struct timeline *timeline;   /* borrowed; set for look() */
	const struct perf_recording *recording; /* borrowed; set before finish(), for `pack` */
	struct executed_code *code;             /* borrowed: counts the code; NULL: not needed */
	struct event_sink *events;              /* borrowed: for other events; NULL: not shown */
	uint32_t ids_taken;                     /* by `events` before the first slice */
	uint64_t other_slices;                  /* begun by `events`; set before finish() */
	uint64_t records;                       /* records of events; set by finish() */
	uint64_t truncated;        /* slices deeper than --max-stack; set by finish() */
	uint64_t sources_left_out; /* libraries' files of source, not here; set by finish() */
	uint64_t most;       /* slices; with more, the output fails with ERROR_MORE_SLICES; 0: any
			      * number */
	struct ftf_fit *fit; /* borrowed: to be put before `sink`; NULL: not in use */
	const struct fold_counts *fold; /* borrowed: slices folded by --fit; may be NULL */
	char *const *parts; /* borrowed: paths of an output in several files, when finished */
	size_t part_count;
	struct error err; /* the first failure */
};

struct output_format {
	const char *name;   /* the word of --format */
	const char *suffix; /* suffix of outputs' names; NULL: the name */
	enum default_output default_output;
	enum format_slices slices;
	enum format_overlays overlays;
	size_t depth;       /* limit of open slices; 0: unlimited */
	bool gzip;          /* its files are always compressed */
	bool lines;         /* valid up to any line, so that the size limit can end it there */
	bool cpu_events;    /* shows PTWRITE, power, TSX and EVD events */
	bool chooses_calls; /* shows only calls of --symbol and --dso, which it chooses itself */
	bool sideband;      /* shows the sideband, without decoding */
	bool as_perf;       /* shows each branch, with perf's names of symbols */
	bool all_branches;  /* needs each branch, including jumps within a function */
	bool for_programs;  /* text for programs, not for a terminal */
	bool is_trace;      /* for Perfetto, with options->stamp (batch_stamp.c) */
	bool sites;         /* uses frame_site() as the `ip` of slices */
	bool imitates;      /* writes the records of magic-trace 1.0 */
	bool tables;        /* has more files, in folders beside the output */
	bool queued; /* takes slices from another thread until output_pipeline_join_writer() */
	const struct output_format *split; /* its variant for several files; may be NULL */
	const struct output_format *full;  /* its variant for --args=full; may be NULL */
	/* Its variant for --within, if it counts code inside slow calls; may be NULL. */
	const struct output_format *within;

	/*
	 * Load the format's library, before the sandbox forbids new code. Returns 0; -1 with err
	 * filled. NULL: no library.
	 */
	int (*load)(struct error *err);
	size_t size; /* size of its own struct; 0: writes nothing */
	/* Begin an output, zeroed except for `text`. The output or text keeps write errors. */
	void (*open)(struct format_output *output, const struct format_request *request);
	/* Receive a branch and its resolved addresses, in order of time. NULL: not shown. */
	void (*branch)(struct format_output *output, const struct branch_event *event,
		       const struct location *from, const struct location *to);
	/* A count of instructions and cycles up to the thread's next branch.  NULL: not shown. */
	void (*counts)(struct format_output *output, const struct branch_event *event);
	/* A line of the input that the next slices are made of (perf script).  NULL: not shown. */
	void (*input_line)(struct format_output *output, const char *line, size_t length);
	/* Called at the end of the input, in the `newer` form of magic-trace. NULL: not shown. */
	void (*input_end)(struct format_output *output, bool newer);
	/*
	 * After the last slice: request a time to decode again, with jumps within functions, in
	 * `window` (initially zeroed), and return true. Its branches and gaps, and nearby ones,
	 * follow by seen(), unless the trace is too long; then look() is called again. NULL: no
	 * requests.
	 */
	bool (*look)(struct format_output *output, struct look_window *window);
	void (*seen)(struct format_output *output, const struct branch_event *event,
		     const struct location_pair *locations);
	/* After the last slice: write the rest. A failure fills output->err. NULL: no rest. */
	void (*finish)(struct format_output *output);
	/*
	 * After finish(): returns the answer for --json (doc/summary.schema.json), owned by the
	 * caller. NULL: no answer.
	 */
	json_t *(*answer)(const struct format_output *output);
	const char *rows; /* the list of its answer that -o FILE.csv or .jsonl writes; NULL: none */
	/* Release the output's members, finished or not. NULL: owns nothing. */
	void (*release)(struct format_output *output);
};

/* All formats of --format, in the order of its error message; the first is the default. */
#define OUTPUT_FORMATS(FORMAT)                                                                     \
	FORMAT(ftf)                                                                                \
	FORMAT(branches)                                                                           \
	FORMAT(calls)                                                                              \
	FORMAT(lines)                                                                              \
	FORMAT(insns)                                                                              \
	FORMAT(slices)                                                                             \
	FORMAT(csv)                                                                                \
	FORMAT(jsonl)                                                                              \
	FORMAT(tree)                                                                               \
	FORMAT(none)                                                                               \
	FORMAT(events)                                                                             \
	FORMAT(magic_trace)                                                                        \
	FORMAT(memtrace)                                                                           \
	FORMAT(folded)                                                                             \
	FORMAT(functions)                                                                          \
	FORMAT(histogram)                                                                          \
	FORMAT(chrome)                                                                             \
	FORMAT(speedscope)                                                                         \
	FORMAT(parquet)                                                                            \
	FORMAT(sqlite)                                                                             \
	FORMAT(pprof)                                                                              \
	FORMAT(callgrind)                                                                          \
	FORMAT(bolt)                                                                               \
	FORMAT(llvm_profile)                                                                       \
	FORMAT(lcov)                                                                               \
	FORMAT(html)

#define OUTPUT_FORMAT_DECLARE(name) extern const struct output_format format_##name;
OUTPUT_FORMATS(OUTPUT_FORMAT_DECLARE)

/* Not available by --format: for `ptrace2ftf list`, the conversions of `diff`, and `annotate`; */
extern const struct output_format format_list, format_totals, format_ways, format_annotate;
/* for `why`: text, and a page (-o FILE.html); */
extern const struct output_format format_why, format_why_page;
/* for --split, an output for each part; */
extern const struct output_format format_ftf_split;
/* for `pack`; */
extern const struct output_format format_pack;
/* for --slowest and --slow: the table. */
extern const struct output_format format_slowest;

/* Returns the stacks counted by an output of format_folded, borrowed from it. */
const struct call_tree *format_folded_tree(struct format_output *output);

/* After that: return what it prints for a symbol, and the symbol of a node that is no thread. */
const struct name *format_folded_label(const struct format_output *output,
				       const struct symbol *symbol);
const struct symbol *format_folded_symbol(const struct format_output *output,
					  const struct call_node *node);

/* Begin an output. Returns NULL if the format writes nothing. */
struct format_output *output_format_open(const struct output_format *format,
					 const struct format_request *request);

/* Release an output, finished or not; NULL is allowed. */
void output_format_close(const struct output_format *format, struct format_output *output);

/* NULL-terminated. */
extern const struct output_format *const output_formats[];

/* Returns the suffix of the names of a format's outputs, without its dot. */
const char *output_format_suffix(const struct output_format *format);

/* ---- The limit of the output's size ---------------------------------------- */

/*
 * Ends the slices of an output at its limit (--max-output). Up to the limit, forwards all events.
 * Then drops new slices and marks, and ends open slices at the last written event of their thread.
 */
struct slice_limit {
	struct slice_sink sink;        /* its tracks are struct track */
	const struct slice_sink *next; /* borrowed: writes to the output */
	struct output *output;         /* borrowed; marked as cut when a slice is omitted */
	bool stores; /* may be set after init: also ends when temporary files reach theirs */
};

/* Initialize a limit before `next`. It must not move: it contains pointers to itself. */
void slice_limit_init(struct slice_limit *limit, const struct slice_sink *next,
		      struct output *output);

/* ---- Branches as text ------------------------------------------------------ */

/*
 * Write a location: "f+0x12", "libc.so.6+0x29d90+0x12" in a function without a symbol,
 * "[libc.so.6]" in other code of a file, or "[unknown]".  Returns the end.
 */
char *format_location(struct line *line, char *at, const struct location *location);

/* Write "%5d/%-5d %5u.%09u", or with --clock "%15u" for the time. Returns the end. */
char *format_moment(char *at, int32_t pid, int32_t tid, uint64_t time);

/* Print one event; `from` and `to` are its resolved addresses. The stream keeps errors. */
void format_branch(FILE *out, const struct branch_event *event, const struct location *from,
		   const struct location *to);
