/* SPDX-License-Identifier: MIT */
/*
 * Overlays as text, --format=events: the lines that the formats' own readers
 * give (OCaml's Runtime_events, memtrace's dump_trace).
 */
#ifndef SRC_OVERLAYS_OVERLAY_DUMP_H
#define SRC_OVERLAYS_OVERLAY_DUMP_H

#include <stdio.h>

#include "src/overlays/overlay_input.h"

/*
 * Print all events of an overlay, which is read to its end.  Of runtime events,
 * ring by ring, `RING TIME_NS KIND NAME VALUE`; of memtrace, in the file's
 * order, `TIME_US OBJECT KIND ...`, times since the trace's start.
 */
void overlay_dump(struct overlay_input *input, FILE *out);

#endif
