/* SPDX-License-Identifier: MIT */
/* The conversion of events to text: --format=events. */
#ifndef SRC_PIPELINE_CONVERT_EVENTS_H
#define SRC_PIPELINE_CONVERT_EVENTS_H

#include "base/tables/name.h"
#include "src/options/options.h"
#include "src/report/report.h"

/*
 * Print the hits of the recording, if there is one, then the events of the overlays.  No trace
 * is decoded.
 * Returns 0; -1 with err filled, and no output is left.
 */
int convert_events(const struct options *options, struct name_table *names, struct report *report,
		   struct diag *diag, struct error *err);

#endif
