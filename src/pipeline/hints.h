/* SPDX-License-Identifier: MIT */
/* Hints for the user about a conversion with little or nothing to show. */
#ifndef SRC_PIPELINE_HINTS_H
#define SRC_PIPELINE_HINTS_H

#include "base/diag.h"
#include "src/options/options.h"
#include "src/pipeline/recording.h"
#include "src/resolve/nameless_time.h"

/* Warn that no recorded data matches; if threads are chosen, list those of the recording. */
void empty_selection_warn(const struct options *options, const struct perf_recording *recording,
			  struct diag *diag);

/*
 * Returns a line (debug_hint.h) about the files that were found and whose code without names
 * took at least a percent of the time, owned by the caller; NULL: there is none.
 */
char *nameless_hint_make(const struct nameless_time *nameless, const struct resolver *resolver,
			 const struct timeline *timeline, const char *symfs);

#endif
