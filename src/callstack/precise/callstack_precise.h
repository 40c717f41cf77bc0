/* SPDX-License-Identifier: MIT */
/*
 * The precise call-stack machine: frames know where they return to.
 *
 * The machine compares addresses, not names: a return pops the stack down to the frame whose call
 * instruction precedes the return's target, at any depth. So the stack survives longjmp,
 * exceptions, tail calls, retpolines, signal handlers and switches between stacks. A frame whose
 * call was not seen is inferred to run since the segment began. man ptrace2ftf.7 describes the
 * model.
 */
#ifndef SRC_CALLSTACK_PRECISE_CALLSTACK_PRECISE_H
#define SRC_CALLSTACK_PRECISE_CALLSTACK_PRECISE_H

#include "src/callstack/callstack.h"

/*
 * Returns a new machine, owned by the caller, released by callstack_machine_close().  Never NULL.
 */
struct callstack_machine *callstack_precise_open(const struct callstack_options *options);

#endif
