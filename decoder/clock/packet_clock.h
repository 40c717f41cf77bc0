/* SPDX-License-Identifier: MIT */
/*
 * Time from Intel PT's timing packets (SDM volume 3, "Intel Processor Trace", "Timing packets"):
 * TSC and TMA set the time, MTC advances it by steps of the crystal clock, and CYC by core cycles
 * in between.
 *
 * With MTC packets, the time is never later than the packet; it can be earlier by one MTC period or
 * (with CYC) a few cycles. Without MTC packets, cycles count by the bus ratio (CBR), and the time
 * can be wrong in both directions until the next TSC packet; see packet_clock_fit().
 */
#pragma once

#include "decoder/clock/tsc_clock.h"

struct pt_packet;

struct packet_clock {
	struct clock_rates rates; /* set by the owner */

	uint64_t tsc;    /* current time; 0: not known yet */
	uint64_t base;   /* TSC of crystal tick `ctc` */
	uint64_t step;   /* TSC at the last TSC, MTC or CBR packet */
	uint64_t last;   /* TSC at the last TSC or MTC packet */
	uint64_t cycles; /* since `step` */
	uint64_t ctc;    /* crystal ticks since `base`, at the last MTC */
	uint64_t due;    /* TSC of the next MTC, if counting */
	uint64_t bound;  /* packet_clock_bound(); 0: no bound */
	uint8_t last_mtc;
	bool counting;        /* base and last_mtc are known */
	bool whole_step;      /* the current step began with an MTC */
	uint8_t ratio;        /* core clock : bus clock, of the last CBR */
	double tsc_per_cycle; /* 0: unknown */
	double excess; /* part of the bus ratio's tsc_per_cycle that contradicts the next TSC */
	double cycle_limit; /* ticks after `step` up to which packet_clock_cyc() suffices */
};

/*
 * Returns whether `tsc` is damage: more than an MTC period before the last packet with a time. A
 * TSC can slip past an MTC by some 40 cycles (Linux, tools/perf/util/intel-pt-decoder).
 */
bool packet_clock_tsc(struct packet_clock *clock, uint64_t tsc);
void packet_clock_tma(struct packet_clock *clock, uint16_t ctc, uint16_t fast);
void packet_clock_mtc(struct packet_clock *clock, uint8_t ctc);
void packet_clock_cbr(struct packet_clock *clock, uint8_t ratio);

/*
 * Call after a TSC packet. The next TSC packet has `tsc`; by the bus ratios, the cycles in between
 * last until `late`. If `late` is later, cycles are scaled down so that time does not pass `tsc`.
 */
void packet_clock_fit(struct packet_clock *clock, uint64_t tsc, uint64_t late);

/* The next packets were written before `bound`; cycles do not pass this time. 0: no bound. */
void packet_clock_bound(struct packet_clock *clock, uint64_t bound);

/* Returns whether cycles have reached the bound, so that the caller can set another one. */
static inline bool packet_clock_is_bound(const struct packet_clock *clock)
{
	return clock->bound && clock->tsc >= clock->bound;
}

/* Handle a packet of libipt. Packets without a time have no effect. */
void packet_clock_packet(struct packet_clock *clock, const struct pt_packet *packet);

/* Returns whether two clocks will advance equally. */
bool packet_clock_equals(const struct packet_clock *a, const struct packet_clock *b);

/* packet_clock_cyc() for any number of cycles. */
void packet_clock_many_cycles(struct packet_clock *clock, uint64_t cycles);

/*
 * Count the cycles of a CYC. Returns whether they reached `cycle_limit`. Inline, because CYC is the
 * most frequent timing packet.
 */
static inline bool packet_clock_cyc(struct packet_clock *clock, uint32_t cycles)
{
	uint64_t all = clock->cycles + cycles, tsc;
	double passed = (double)(int64_t)all * clock->tsc_per_cycle;

	if (passed >= clock->cycle_limit) {
		packet_clock_many_cycles(clock, cycles);
		return true;
	}
	clock->cycles = all;
	tsc = clock->step + (uint64_t)(int64_t)passed;
	clock->tsc = MAX(clock->tsc, tsc);
	return false;
}
