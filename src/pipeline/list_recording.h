/* SPDX-License-Identifier: MIT */
/*
 * What a recording holds, from its sideband (`ptrace2ftf list`): threads, buffers, losses, files.
 *
 * No trace is decoded, and but for --time the bytes of the trace are not read.
 */
#ifndef SRC_PIPELINE_LIST_RECORDING_H
#define SRC_PIPELINE_LIST_RECORDING_H

#include "base/tables/name.h"
#include "src/options/options.h"
#include "src/report/report.h"

/*
 * Print the list, and give it to the report as its answer.  Returns 0; -1 with err filled, and
 * no output is left.
 */
int list_recording(const struct options *options, struct name_table *names, struct report *report,
		   struct diag *diag, struct error *err);

#endif
