/* SPDX-License-Identifier: MIT */
/*
 * What part of a recording the user wants to see, as said on the command line.
 *
 * Lists that are empty choose everything.  The texts that patterns point to are
 * borrowed from the command line.
 */
#ifndef SRC_OPTIONS_SELECTION_H
#define SRC_OPTIONS_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct number_range {
	int32_t first, last; /* both belong to it */
};

struct number_list {
	struct number_range *ranges; /* owned */
	size_t count, room;
};

/* Shell patterns (glob(7)), of which any may match; '*' matches '/' too. */
struct pattern_list {
	const char **patterns; /* owned; the texts are borrowed */
	size_t count, room;
};

enum time_base {
	TIME_OPEN = 0,   /* not given */
	TIME_ABSOLUTE,   /* `ns` of perf's clock */
	TIME_FROM_START, /* `ns` after the trace begins */
	TIME_FROM_END,   /* `ns` before the trace ends */
	TIME_PERCENT,    /* `percent` of the trace's time */
};

struct time_bound {
	enum time_base base;
	uint64_t ns;
	double percent;
};

enum split_unit { SPLIT_NONE = 0, SPLIT_SLICES, SPLIT_BYTES, SPLIT_NS };

struct split_size {
	enum split_unit unit;
	uint64_t amount; /* at least 1 */
};

/* How the table of functions is sorted. */
enum function_order { ORDER_SELF = 0, ORDER_TOTAL, ORDER_CALLS, ORDER_NAME };

struct selection {
	struct number_list pids, tids, cpus;
	struct pattern_list comms; /* any of a thread's names matches */
	struct time_bound from, to;
	struct pattern_list symbols, dsos; /* calls that are kept, with all below them */
	struct pattern_list hidden;        /* slices that are left out; what they call is not */
	const char *start,
		*stop;  /* patterns: from a call of one to a call of the other; or both NULL */
	uint32_t depth; /* levels of slices that are shown; 0: all */
	uint64_t min_duration; /* ns: shorter slices are counted in their caller's */
	struct split_size split;
	enum function_order order;
};

/* Release the lists.  Idempotent, also on zeroed memory. */
void selection_release(struct selection *selection);

/* Returns whether anything chooses among events, before there are slices. */
bool selection_of_events(const struct selection *selection);

/* Returns whether anything chooses among slices. */
bool selection_of_slices(const struct selection *selection);

/* Add "1,2,5-7".  Returns false if the text is no list of numbers of 0 and more. */
bool number_list_add(struct number_list *list, const char *text);

bool number_list_has(const struct number_list *list, int32_t number);

void pattern_list_add(struct pattern_list *list, const char *pattern);

/* Returns whether any pattern matches. */
bool pattern_list_matches(const struct pattern_list *list, const char *text);

/*
 * Read a duration: digits with an optional fraction, and ns, us, ms or s (none:
 * ns).  Returns false if the text is none, or more than 2^63 ns.
 */
bool selection_duration(const char *text, uint64_t *ns);

/*
 * Read "A,B": each is empty (open), SECONDS.FRACTION of perf's clock, +TIME,
 * -TIME or N%.  Returns false if the text is none of that.
 */
bool selection_time(struct selection *selection, const char *text);

/*
 * Read "START,STOP", two patterns.  The text is cut in two at its comma and
 * borrowed.  Returns false if one is missing.
 */
bool selection_between(struct selection *selection, char *text);

/*
 * Read the size of a part: N or Nk, NM (slices); NkB, NMB, NGB (bytes, before
 * compression); or a duration with a unit.  Returns false if it is none, or 0.
 */
bool selection_split(struct split_size *split, const char *text);

#endif
