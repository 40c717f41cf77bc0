/* SPDX-License-Identifier: MIT */
/*
 * The call-stack machine of magic-trace 1.0 (github.com/janestreet/magic-trace), including its
 * corner cases, so that its users get the picture they know.
 *
 * The machine follows names, not addresses: a jump or return into a function of another name
 * replaces the innermost frame. Two symbols of the same name (`symbol->name`, interned) are the
 * same function.
 *
 * Slices are emitted in magic-trace's order, which is not that of time:
 *  - nothing is emitted for a timestamp until a later one arrives
 *    (timestamp_group.h);
 *  - callers found late, returns from unseen functions, and calls at the time
 *    of the run's first event come when the segment ends, with SLICE_ORDER_DEFERRED;
 *    in that order only if the sink is `immediate`: for others, each comes where it
 *    encloses what it called, and is lost where magic-trace loses it;
 *  - times go back where the input's do.
 * The sink is flushed when a gap or the end of the trace has closed all
 * frames, unless deferred events are left over (they come with the next segment).
 * Times given to the sink are perf's: the base time is added back.
 *
 * Where magic-trace stops with an error ("impossible" events) this machine
 * counts a warning and handles the event as if it had no branch kind.
 */
#ifndef SRC_CALLSTACK_MAGIC_TRACE_CALLSTACK_MAGIC_TRACE_H
#define SRC_CALLSTACK_MAGIC_TRACE_CALLSTACK_MAGIC_TRACE_H

#include "src/callstack/callstack.h"

/*
 * Returns a new machine, owned by the caller, released by callstack_machine_close().  Never NULL.
 */
struct callstack_machine *callstack_magic_trace_open(const struct callstack_options *options);

#endif
