/* SPDX-License-Identifier: MIT */
/*
 * An artificial recording: a tiny program, its trace, and the perf.data around them, for the
 * demonstration and for tests.
 *
 *	0x401000 main:  call work; call work; syscall; hlt
 *	0x401020 work:  call leaf; jne work; ret
 *	0x401040 leaf:  ret
 *	0x401050 circle: jmp circle (never reached by the sample's own trace)
 *
 * Each work() calls leaf() three times.  The clock is 1 ns a tick.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tests/support/perf_data.h"
#include "tests/support/pt_packets.h"
#include "tests/support/tiny_elf.h"

#define SAMPLE_PID     1234
#define SAMPLE_PMU     8
#define SAMPLE_PATH    "/sample"
#define SAMPLE_CODE    UINT64_C(0x401000)
#define SAMPLE_MAIN    UINT64_C(0x401000)
#define SAMPLE_WORK    UINT64_C(0x401020)
#define SAMPLE_LEAF    UINT64_C(0x401040)
#define SAMPLE_CIRCLE  UINT64_C(0x401050)
#define SAMPLE_SYSCALL UINT64_C(0x40100a)
#define SAMPLE_START   1000000 /* ns: when the trace begins */

extern const struct tiny_elf sample_elf;

/* Records before the trace: event, clock, one thread and its mapping, all on CPU 0. */
void sample_begin(struct perf_data *data);

/* The trace of the whole program, from main to the syscall. */
void sample_trace(struct pt_packets *packets);

/* Put the packets into the recording as CPU 0's buffer. */
void sample_add_trace(struct perf_data *data, const struct pt_packets *packets);
