/* SPDX-License-Identifier: MIT */
/*
 * The part of a recording that options select, and the parsers of their values.
 *
 * Empty lists select everything. Patterns are borrowed from the command line.
 */
#pragma once

#include "base/common.h"

struct number_list {
	struct number_range {
		int32_t first, last; /* inclusive */
	} * ranges;                  /* owned */
	size_t count, room;
};

/* Shell patterns (glob(7)), of which one must match; '*' also matches '/'. */
struct pattern_list {
	const char **patterns; /* owned array of borrowed texts */
	size_t count, room;
};

enum time_base {
	TIME_OPEN = 0,   /* unbounded */
	TIME_ABSOLUTE,   /* `ns` of perf's clock */
	TIME_FROM_START, /* `ns` after the start of the trace */
	TIME_FROM_FIRST, /* the second bound: `ns` after the first */
	TIME_FROM_END,   /* `ns` before the end of the trace */
	TIME_PERCENT,    /* `percent` of the trace's time */
	TIME_BEFORE_HIT, /* `ns` before hit number `hit` of the chosen threads
			    (decoder/timeline/hits.h) */
	TIME_AFTER_HIT,
	TIME_WALL, /* `ns` since 1970 */
};

enum split_size_unit { SPLIT_NONE = 0, SPLIT_SLICES, SPLIT_BYTES, SPLIT_NS };

/* Slices that fit into a browser tab of 2 GB, which Perfetto's documentation calls typical (v58).
 */
#define FIT_DEFAULT UINT64_C(4000000)
#define FIT_NONE    UINT64_MAX

/* Order of the table of functions. */
enum function_order { ORDER_SELF = 0, ORDER_TOTAL, ORDER_CALLS, ORDER_NAME, ORDER_CPU };

/* Keys of a row of the table of functions; a row may have several. */
enum row_key { ROWS_BY_FUNCTION = 1, ROWS_BY_DSO, ROWS_BY_THREAD, ROWS_BY_CALLER };

/* Columns of the table of functions; their forms are in format_functions.c. */
enum function_column {
	COLUMN_CALLS = 1,
	COLUMN_TOTAL,
	COLUMN_SELF,
	COLUMN_SHARE,
	COLUMN_MIN,
	COLUMN_MEDIAN,
	COLUMN_P99,
	COLUMN_MAX,
	COLUMN_INSNS,
	COLUMN_CYCLES,
	COLUMN_IPC,
	COLUMN_CPU,
	FUNCTION_COLUMNS
};

/* Values of an option's choices, in their order, ended by 0. */
struct choice_list {
	uint8_t values[FUNCTION_COLUMNS];
};

/* Add a value that is not in the list. */
void choice_list_add(struct choice_list *list, int value);

bool choice_list_has(const struct choice_list *list, int value);

/* Limit of listed calls without --slowest. */
#define SLOW_MOST_DEFAULT 100

/* Default of --context in ns, before and after a call. */
#define SLOW_CONTEXT_DEFAULT UINT64_C(10000)

/* --slowest, --slow, --context: the slow calls of the functions of --symbol. */
struct slow_choice {
	bool listed;         /* --slowest was given, or --slow without a format */
	unsigned most;       /* number of --slowest, or rank of --within; 0: not given */
	bool of_all;         /* no function was chosen: leave out those around the program */
	bool has_bound;      /* --slow was given: */
	uint64_t longer;     /* ns: lower limit of their durations, or */
	uint32_t percentile; /* lower limit as a percentile in millionths; 0: use `longer` */
	uint64_t context;    /* ns to show before and after a call */
};

struct selection {
	struct number_list pids, tids, cpus;
	struct pattern_list comms; /* one must match a name of the thread */
	struct time_bound {
		enum time_base base;
		uint64_t ns;
		double percent;
		uint32_t hit; /* from 1, by time */
	} from, to;
	struct work_range {
		bool chosen, cycles;
		uint64_t from, to; /* instructions or cycles, inclusive */
	} work; /* --time with --clock: a part of each thread's axis; `from` and `to` are open */
	struct pattern_list symbols, dsos; /* calls that are shown, with their callees */
	struct pattern_list hidden;        /* slices that are left out; their callees stay */
	struct pattern_list roots;         /* calls outside of these are left out */
	const char *start, *stop; /* patterns: from a call to the next call; or both NULL */
	char *between;            /* owned: both patterns, if selection_between() set them */
	struct {
		char *function; /* owned: pattern; NULL: not given */
		struct slow_choice slow;
	} within;              /* calls outside of the slow calls of functions are left out */
	uint32_t depth;        /* levels of slices that are shown; 0: all */
	uint64_t min_duration; /* ns: shorter slices are only counted, in the slice around */
	struct split_size {
		enum split_size_unit unit;
		uint64_t amount; /* at least 1 */
	} split;
	uint64_t fit; /* slices; 0: FIT_DEFAULT, FIT_NONE: any number */
	enum function_order order;
	struct choice_list by, columns; /* enum row_key, enum function_column; empty: the default */
	uint32_t top;                   /* limit of a table's rows; 0: no limit */
};

void selection_release(struct selection *selection);

/* Returns whether the selection excludes events, before slices are built. */
bool selection_of_events(const struct selection *selection);

/* Returns whether the selection excludes slices. */
bool selection_of_slices(const struct selection *selection);

/* Returns whether the selection has a position on the axis of --clock. */
static inline bool selection_has_work(const struct selection *selection, uint64_t work)
{
	return !selection->work.chosen ||
	       (work >= selection->work.from && work <= selection->work.to);
}

/* Add "1,2,5-7". Returns false if the text is not a list of numbers. */
bool number_list_add(struct number_list *list, const char *text);

bool number_list_has(const struct number_list *list, int32_t number);

void pattern_list_add(struct pattern_list *list, const char *pattern);

/*
 * Add a pattern of --hide, or those of a preset: "@cpython", the functions that only pass Python's
 * calls on. Returns false for other texts that begin with "@".
 */
bool selection_hide(struct selection *selection, const char *text);

/* Returns whether any pattern matches. */
bool pattern_list_matches(const struct pattern_list *list, const char *text);

/*
 * Parse a duration: digits with an optional fraction, and ns, us, ms or s (default: ns). Whole
 * numbers are exact. Returns false for other texts, and from 2^63 ns on.
 */
bool selection_duration(const char *text, uint64_t *ns);

/*
 * Parse "FROM,TO". Each side is empty (open), SECONDS.FRACTION or NSns of perf's clock, a date and
 * time of the wall clock (UTC), +TIME,
 * -TIME or N%; or @hit, +TIME@hit, -TIME@hit, with ":N" at the end for hit N. As TO, +TIME counts
 * from FROM. Returns false for other texts.
 */
bool selection_time(struct selection *selection, const char *text);

/*
 * Resolve both bounds to ns, for a trace from `begin` to `end`. Open bounds are 0 and UINT64_MAX,
 * as are bounds at a hit, which must be resolved before.
 */
void selection_resolve(const struct time_bound *from, const struct time_bound *to, uint64_t begin,
		       uint64_t end, uint64_t *first, uint64_t *last);

/* Parse "START,STOP", two patterns. Returns false if a pattern is missing. */
bool selection_between(struct selection *selection, const char *text);

/* Parse "GLOB>TIME", "GLOB>p99" or "GLOB>#N" (a rank). Returns false for other texts. */
bool selection_within(struct selection *selection, const char *text);

/* Parse bytes: NkB, NMB, NGB, NTB (or without B), NKiB, NMiB, NGiB. Returns false for others and 0.
 */
bool selection_bytes(const char *text, uint64_t *bytes);

/*
 * Parse the size of an output's parts: N, Nk, NM (slices); NkB, NMB, NGB, NMiB ... (bytes before
 * compression); or a duration with a unit. Returns false for other texts and for 0.
 */
bool selection_split(struct split_size *split, const char *text);

/* Parse a number of slices (2M) or "none", for --fit. Returns false for other texts. */
bool selection_fit(uint64_t *fit, const char *text);

/* Returns the limit of slices in an FTF output; 0: no limit, as with --split. */
uint64_t selection_fit_limit(const struct selection *selection);

/*
 * Parse "1ms" (see selection_duration()), or "p99", "p99.9": a percentile above 0 and below 100
 * with up to four decimals. Returns false for other texts.
 */
bool slow_choice_read(struct slow_choice *choice, const char *text);
