/* SPDX-License-Identifier: MIT */
/*
 * The output formats: the needs of each, and the functions that write it.
 *
 * A new format is one file with a `const struct output_format`, and a line in OUTPUT_FORMATS.
 */
#ifndef SRC_FORMATS_OUTPUT_FORMAT_H
#define SRC_FORMATS_OUTPUT_FORMAT_H

#include <jansson.h>

#include "base/io/output.h"
#include "src/slices/slice_sink.h"

struct branch_event;
struct call_tree;
struct callstack_machine;
struct diag;
struct dso;
struct executed_code;
struct fold_counts;
struct ftf_writer;
struct location;
struct location_pair;
struct name_table;
struct options;
struct thread;
struct timeline;

/* Where the output goes if the user names no file. */
enum default_output {
	DEFAULT_STDOUT = 0,
	DEFAULT_FILE, /* INPUT.SUFFIX */
	DEFAULT_NONE, /* the pipeline opens no output, whatever the user names */
};

enum format_slices {
	SLICES_NONE = 0, /* no call stacks are built */
	SLICES_AS_FOUND, /* in the call-stack machine's order; its tracks may be anything */
	SLICES_SORTED,   /* in program order (slice_sorter.h), filtered; tracks are struct track */
};

enum format_overlays {
	OVERLAYS_NONE = 0, /* left out */
	OVERLAYS_AS_SLICES,
	OVERLAYS_ONLY, /* the format shows nothing else, but hits */
};

/* A time that a format asks for again. */
struct look_window {
	uint64_t begin, end; /* ns */
	int32_t tid;         /* the thread; */
	bool all_threads;    /* others are asked for, too */
	bool left_out;       /* for the next call of look(): the trace was too long */
};

#define WALL_BASE_UNKNOWN UINT64_MAX

/* Facts of an input, known before the first slice. */
struct trace_facts {
	uint64_t wall_base; /* ns since 1970 at the events' time 0, or WALL_BASE_UNKNOWN */
	/*
	 * An id above those of all processes and threads of the input.  It serves records
	 * without an id; higher ids serve tracks that are not threads.
	 */
	uint32_t free_id;
	bool by_insns; /* struct callstack_machine */
	/* The file of code that was mapped first, which is the recorded program; NULL: unknown. */
	const struct dso *program;
};

/* The lowest id that no process or thread of Linux has: PID_MAX_LIMIT of linux/threads.h. */
#define TRACE_FREE_ID_UNKNOWN (UINT32_C(1) << 22)

/* Parameters of open(), all borrowed until release. */
struct format_request {
	const struct options *options;
	const char *path; /* of the output */
	struct output *output;
	FILE *text; /* into `output`; NULL for a format of DEFAULT_FILE or DEFAULT_NONE */
	struct name_table *names;
	struct diag *diag; /* NULL drops warnings */
	struct trace_facts facts;
};

/* An output that is being written: the first member of a format's own struct. */
struct format_output {
	FILE *text;                        /* borrowed: request->text, if it prints any */
	struct slice_sink sink;            /* of its slices, if it takes any */
	const uint64_t *slices;            /* borrowed: begun up to now; NULL: not counted */
	struct callstack_machine *machine; /* borrowed; set once it exists */
	const struct timeline *timeline;   /* borrowed; set for look() */
	struct executed_code *code;        /* borrowed: counts the code; NULL: not needed */
	struct ftf_writer *writer;         /* borrowed: for tracks of events; may be NULL */
	uint32_t ids_taken;                /* by others who use `writer` before the first slice */
	uint64_t other_slices; /* that others wrote by `writer`; to be set before finish() */
	uint64_t records;      /* of events, by `writer`, before --fit folds any; set by finish() */
	uint64_t truncated;    /* slices deeper than --max-stack; set by finish() */
	const struct fold_counts *fold; /* borrowed: slices that --fit folded; NULL: nothing */
	char *const *parts; /* borrowed: paths of an output of several files, once finished */
	size_t part_count;
};

struct output_format {
	const char *name;   /* the word of --format */
	const char *suffix; /* of names of outputs; NULL: the name */
	enum default_output default_output;
	enum format_slices slices;
	enum format_overlays overlays;
	size_t depth;       /* slices open at a time, at most; 0: any number */
	bool gzip;          /* its files are compressed, whatever their names */
	bool lines;         /* it is sound up to any line: the limit of its size ends it there */
	bool cpu_events;    /* shows PTWRITE, power, TSX and EVD events */
	bool chooses_calls; /* shows calls of --symbol and --dso alone, which it chooses itself */
	bool sideband;      /* shows the sideband: nothing is decoded */
	bool as_perf;       /* shows each branch, with perf's names of symbols */
	bool all_branches;  /* needs each branch, also jumps within a function */
	bool for_programs;  /* its text is for programs, so not for a terminal */
	bool is_trace;      /* is opened in Perfetto, and contains options->stamp (batch_stamp.c) */
	const struct output_format *split; /* its form of several files; may be NULL */
	const struct output_format *full;  /* its form with --args=full; may be NULL */

	/*
	 * Load the library that writes it, before the sandbox refuses new code.  Returns 0; -1 with
	 * err filled.  NULL: there is none to load.
	 */
	int (*load)(struct error *err);
	size_t size; /* of its own struct; 0: nothing is written */
	/* Begin an output, zeroed but for `text`.  Write errors stay with the output or text. */
	void (*open)(struct format_output *output, const struct format_request *request);
	/* A branch and its resolved addresses, in order of time.  NULL: not shown. */
	void (*branch)(struct format_output *output, const struct branch_event *event,
		       const struct location *from, const struct location *to);
	/* A count of instructions and cycles up to the thread's next branch.  NULL: not shown. */
	void (*counts)(struct format_output *output, const struct branch_event *event);
	/* A line of the input that the next slices are made of (perf script).  NULL: not shown. */
	void (*input_line)(struct format_output *output, const char *line, size_t length);
	/* All of the input was read, in the `newer` form of magic-trace.  NULL: not shown. */
	void (*input_end)(struct format_output *output, bool newer);
	/*
	 * All slices have come: returns whether a time is decoded again, with the jumps within
	 * functions, and fills `window`.  Then come its branches and gaps, and those near to it, by
	 * seen(), unless the trace is too long; then the next window is asked for.  At first it is
	 * zeroed.  NULL: no time.
	 */
	bool (*look)(struct format_output *output, struct look_window *window);
	void (*seen)(struct format_output *output, const struct branch_event *event,
		     const struct location_pair *locations);
	/* All slices have come: write the rest.  Returns 0; -1 with err filled.  NULL: no rest. */
	int (*finish)(struct format_output *output, struct error *err);
	/*
	 * After finish(): returns the answer for --json, owned by the caller, as in
	 * doc/summary.schema.json.  NULL if the format gives no answer.
	 */
	json_t *(*answer)(const struct format_output *output);
	/* Release the output's members, finished or not.  NULL: it owns nothing. */
	void (*release)(struct format_output *output);
};

/* All formats that --format takes, in the order of its error message; the first is the default. */
#define OUTPUT_FORMATS(FORMAT)                                                                     \
	FORMAT(ftf)                                                                                \
	FORMAT(branches)                                                                           \
	FORMAT(calls)                                                                              \
	FORMAT(slices)                                                                             \
	FORMAT(tree)                                                                               \
	FORMAT(none)                                                                               \
	FORMAT(events)                                                                             \
	FORMAT(memtrace)                                                                           \
	FORMAT(folded)                                                                             \
	FORMAT(functions)                                                                          \
	FORMAT(histogram)                                                                          \
	FORMAT(chrome)                                                                             \
	FORMAT(speedscope)                                                                         \
	FORMAT(sqlite)                                                                             \
	FORMAT(pprof)                                                                              \
	FORMAT(callgrind)                                                                          \
	FORMAT(bolt)                                                                               \
	FORMAT(llvm_profile)                                                                       \
	FORMAT(lcov)                                                                               \
	FORMAT(html)

#define OUTPUT_FORMAT_DECLARE(name) extern const struct output_format format_##name;
OUTPUT_FORMATS(OUTPUT_FORMAT_DECLARE)

/* Not words of --format: of `ptrace2ftf list`, the conversions of `diff`, and `annotate`; */
extern const struct output_format format_list, format_totals, format_annotate;
/* of `why`: text, and a page (--html=FILE); */
extern const struct output_format format_why, format_why_page;
/* of --like=magic-trace; */
extern const struct output_format format_magic_trace;
/* of --slowest and --slow: the table. */
extern const struct output_format format_slowest;

/* Returns the stacks that an output of format_folded has counted, borrowed from it. */
const struct call_tree *format_folded_tree(const struct format_output *output);

/* Returns an output that has begun; NULL if the format writes nothing. */
struct format_output *output_format_open(const struct output_format *format,
					 const struct format_request *request);

/* Release an output, finished or not; NULL is allowed. */
void output_format_close(const struct output_format *format, struct format_output *output);

/* Ends with a NULL. */
extern const struct output_format *const output_formats[];

/* Returns the suffix of the names of a format's outputs, without its dot. */
const char *output_format_suffix(const struct output_format *format);

/* ---- The limit of the output's size ---------------------------------------- */

/*
 * Ends the slices of an output that has reached its limit (--max-output): up to the limit it
 * forwards all events.  Afterwards it drops slices and marks that begin, and ends open slices with
 * the last event of their thread that was written.
 */
struct slice_limit {
	struct slice_sink sink;        /* its tracks are struct track */
	const struct slice_sink *next; /* borrowed: writes to the output */
	struct output *output;         /* borrowed; is marked as cut once a slice is left out */
};

/* Begin in front of `next`.  The limit borrows itself: it must not move. */
void slice_limit_init(struct slice_limit *limit, const struct slice_sink *next,
		      struct output *output);

/* ---- Branches as text ------------------------------------------------------ */

/*
 * Print a location: "f+0x12", "libc.so.6+0x29d90+0x12" in a function without a symbol,
 * "[libc.so.6]" in other code of a file, or "[unknown]".
 */
void format_location(FILE *out, const struct location *location);

/* Print one event; `from` and `to` are its resolved addresses.  Errors stay with the stream. */
void format_branch(FILE *out, const struct branch_event *event, const struct location *from,
		   const struct location *to);

#endif
