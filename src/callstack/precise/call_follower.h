/* SPDX-License-Identifier: MIT */
/* Follows the calls of a segment, as stretches (call_stretch.h), in the job that decoded it. */
#ifndef SRC_CALLSTACK_PRECISE_CALL_FOLLOWER_H
#define SRC_CALLSTACK_PRECISE_CALL_FOLLOWER_H

#include "decoder/engine/pt_stream.h"

struct callstack_machine;

/* A precise machine's follower, for the input of streams. */
struct call_follower {
	struct segment_follower base;            /* first */
	const struct callstack_machine *machine; /* borrowed; its sink uses no details */
};

/* Initialize a follower; borrows the machine while streams use it. */
void call_follower_init(struct call_follower *follower, const struct callstack_machine *machine);

#endif
