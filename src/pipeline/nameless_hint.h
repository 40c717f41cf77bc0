/* SPDX-License-Identifier: MIT */
/* The files with the most time in code without names, for the summary. */
#ifndef SRC_PIPELINE_NAMELESS_HINT_H
#define SRC_PIPELINE_NAMELESS_HINT_H

#include "src/resolve/nameless_time.h"

/*
 * Returns a line (debug_hint.h) about the files that were found and whose code without names
 * took at least a percent of the time, owned by the caller; NULL: there is none.
 */
char *nameless_hint_make(const struct nameless_time *nameless, const struct resolver *resolver,
			 const struct timeline *timeline, const char *symfs);

#endif
