/* SPDX-License-Identifier: MIT */
/*
 * One Intel PT output as the processor writes it (SDM volume 3, "Intel Processor Trace"): a CPU's
 * instructions go in, packets come out, through libipt's encoder.
 *
 * Times are TSC values and never go back.  Call pt_output_tick() as time passes, then the event at
 * that time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pt_encoder;

enum pt_tnt_size { PT_TNT_SHORT = 6, PT_TNT_LONG = 47 };

struct pt_output_options {
	bool tsc, mtc, cyc; /* timing packets */
	bool ret_compression;
	bool early_psb; /* erratum BDM70: a PSB+ before TIP.PGE has the FUP and MODE.Exec of code */
	unsigned mtc_period;    /* of 2^n crystal clock ticks */
	unsigned cyc_threshold; /* a CYC has at least 2^(n - 1) cycles; 0: any number */
	/* The core clock changes about every this many TSC ticks; 0: never. */
	uint64_t clock_changes;
	uint64_t psb_bytes;   /* about one PSB per this many bytes */
	enum pt_tnt_size tnt; /* most decisions per packet */
};

/* The synthetic machine's clocks. */
#define PT_TSC_PER_CTC        100 /* CPUID leaf 15H: numerator 200, denominator 2 */
#define PT_MAX_NONTURBO_RATIO 25

#define PT_RETURN_STACK 64

struct pt_output {
	struct pt_output_options options;
	struct pt_encoder *encoder; /* owned */
	uint8_t *room;              /* owned; the encoder's buffer */
	uint8_t *bytes;             /* owned; see pt_output_size() */
	size_t size, allocated;

	uint64_t decisions; /* TNT bits not yet written, the last in bit 0 */
	unsigned decision_count;
	uint64_t decision_tsc; /* of the first one; the time of the CYC before the TNT */
	uint64_t last_ip;
	bool whole_ip; /* the next ip is not compressed */
	uint64_t returns[PT_RETURN_STACK];
	unsigned return_top, return_count;
	uint64_t next_psb;    /* due at this size */
	uint64_t ctc;         /* MTC periods written so far */
	uint64_t cyc_tsc;     /* cycles are counted up to here */
	uint64_t cycle_parts; /* of 1/PT_MAX_NONTURBO_RATIO: counted, not yet written */
	unsigned ratio;       /* core clock : bus clock, in the CBR packet */
	uint64_t next_change; /* TSC at which the core clock changes */
	uint64_t random;      /* for these changes */
	bool bits32;          /* the code's mode, for MODE packets; else 64-bit */
	bool muted;           /* in an overflow: nothing is written */
	uint64_t cr3;         /* for PIP packets; 0: none are written */
	uint64_t packets[64]; /* written, by enum pt_packet_type */
};

void pt_output_init(struct pt_output *out, const struct pt_output_options *options);
void pt_output_release(struct pt_output *out);

/* Returns how many bytes were written so far; they are in out->bytes. */
size_t pt_output_size(struct pt_output *out);

/* The kernel enables the trace, for example at a context switch: a PSB+ without FUP. */
void pt_output_start(struct pt_output *out, uint64_t tsc, unsigned ratio);

/* The kernel disables it: pending TNT bits are written. */
void pt_output_stop(struct pt_output *out);

/* Time reaches tsc: MTC packets, and CBR packets at changes of the core clock. */
void pt_output_tick(struct pt_output *out, uint64_t tsc);

/*
 * The core sleeps for `ticks` from `tsc` on, and counts no cycles.  After a deep sleep the time is
 * restated (SDM volume 3, "TSC Packet"): TSC, TMA, CBR.
 */
void pt_output_sleep(struct pt_output *out, uint64_t tsc, uint64_t ticks);

/* Between two traced instructions: a PSB+ with FUP if one is due. */
void pt_output_boundary(struct pt_output *out, uint64_t tsc, uint64_t ip);

/* User code is entered: TIP.PGE. */
void pt_output_enable(struct pt_output *out, uint64_t tsc, uint64_t ip);

/* User code is left by an instruction (syscall): TIP.PGD. */
void pt_output_disable(struct pt_output *out, uint64_t tsc);

/* User code is left before the instruction at ip: FUP, TIP.PGD. */
void pt_output_interrupt(struct pt_output *out, uint64_t tsc, uint64_t ip);

/* With the kernel traced: an interrupt or a fault before the instruction at `from`: FUP, TIP. */
void pt_output_vector(struct pt_output *out, uint64_t tsc, uint64_t from, uint64_t to);

/* Another address space (mov to CR3): PIP. */
void pt_output_paging(struct pt_output *out, uint64_t tsc, uint64_t cr3);

void pt_output_decision(struct pt_output *out, uint64_t tsc, bool taken);
void pt_output_target(struct pt_output *out, uint64_t tsc, uint64_t ip);

/* A near call pushes its return address, against which a return may be compressed. */
void pt_output_call(struct pt_output *out, uint64_t return_ip);
void pt_output_return(struct pt_output *out, uint64_t tsc, uint64_t ip);

/* Packets are lost until pt_output_recover(). */
void pt_output_overflow(struct pt_output *out);

/* OVF, and a FUP with the whole ip if user code runs at ip (else 0). */
void pt_output_recover(struct pt_output *out, uint64_t tsc, uint64_t ip);
