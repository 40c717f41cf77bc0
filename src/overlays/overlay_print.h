/* SPDX-License-Identifier: MIT */
/*
 * --format=events: overlays as text, in the lines of the formats' own readers (OCaml's
 * Runtime_events, memtrace's dump_trace).
 */
#ifndef SRC_OVERLAYS_OVERLAY_PRINT_H
#define SRC_OVERLAYS_OVERLAY_PRINT_H

#include <stdio.h>

#include "src/overlays/overlay_input.h"

/*
 * Print all events of an overlay; memtrace is read to its end.  Of runtime events,
 * ring by ring, `RING TIME_NS KIND NAME VALUE`; of memtrace, in the file's
 * order, `TIME_US OBJECT KIND ...`, times since the trace's start.
 */
void overlay_print(struct overlay_input *input, FILE *out);

#endif
