/* SPDX-License-Identifier: MIT */
/* The warning about --time, --pid, --tid, --comm and --cpu that choose nothing. */
#ifndef SRC_PIPELINE_EMPTY_SELECTION_H
#define SRC_PIPELINE_EMPTY_SELECTION_H

#include "base/diag.h"
#include "src/options/options.h"
#include "src/pipeline/recording.h"

/* Warn that no recorded data matches; if threads are chosen, list those of the recording. */
void empty_selection_warn(const struct options *options, const struct perf_recording *recording,
			  struct diag *diag);

#endif
