/* SPDX-License-Identifier: MIT */
/* Which calls of the functions of --symbol are slow: --slowest, --slow, --context. */
#ifndef SRC_OPTIONS_SLOW_CHOICE_H
#define SRC_OPTIONS_SLOW_CHOICE_H

#include "base/common.h"

/* Calls that are kept with --slow alone. */
#define SLOW_MOST_DEFAULT 100

/* ns before and after a call, without --context. */
#define SLOW_CONTEXT_DEFAULT UINT64_C(10000)

struct slow_choice {
	bool listed;         /* --slowest was given, or --slow without a format */
	unsigned most;       /* of --slowest; 0: not given */
	bool has_bound;      /* --slow was given: */
	uint64_t longer;     /* ns: calls that took longer, or */
	uint32_t percentile; /* in millionths: than so many of all calls; 0: by `longer` */
	uint64_t context;    /* ns that are shown before and after a call */
};

/* Returns how many calls are kept at most. */
static inline unsigned slow_choice_most(const struct slow_choice *choice)
{
	return choice->most ? choice->most : SLOW_MOST_DEFAULT;
}

/*
 * Read "1ms" (as of selection_duration()), or "p99", "p99.9": a percentile above 0 and below
 * 100, to four digits behind the point.  Returns false if the text is neither.
 */
bool slow_choice_read(struct slow_choice *choice, const char *text);

#endif
