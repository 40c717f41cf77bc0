/* SPDX-License-Identifier: MIT */
/* Writes stacks and their costs as the messages of profile.proto, by protobuf-c. */
#ifndef SRC_FORMATS_PPROF_PPROF_WRITER_H
#define SRC_FORMATS_PPROF_PPROF_WRITER_H

#include <stdint.h>

#include "base/io/output.h"
#include "src/formats/cost_stacks.h"

/*
 * Write all stacks with a cost to `output`, up to its limit; then it is marked as cut.
 * `wall_base` is that of struct trace_facts.  Names are added to those of the stacks.
 */
void pprof_write(struct cost_stacks *stacks, uint64_t wall_base, struct output *output);

#endif
