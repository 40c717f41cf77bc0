/* SPDX-License-Identifier: MIT */
/*
 * Time from Intel PT's timing packets as perf script computes it, to compare with its output
 * to the nanosecond (source: tools/perf/util/intel-pt-decoder of perf 6.1).  Otherwise
 * packet_clock.h is used; perf differs:
 *
 *   - core cycles (CYC) count by the speed of their own stretch, up to the next MTC
 *     that a CYC precedes: for that, packets are read ahead (struct perf_ahead).
 *     Without such an MTC they count by the bus ratio (CBR)
 *   - time does not stop where an MTC is missing
 *   - time never decreases, not even at a TSC packet
 */
#ifndef DECODER_CLOCK_PERF_CLOCK_H
#define DECODER_CLOCK_PERF_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "decoder/clock/tsc_clock.h"

struct pt_packet;

/* The crystal clock by TMA and MTC. */
struct perf_crystal {
	uint64_t base;  /* TSC of the last TMA's crystal tick whose bits in an MTC are 0 */
	uint64_t ticks; /* crystal ticks since then, at the last MTC */
	uint32_t last_mtc;
	bool known;
	bool partial; /* last_mtc is a TMA's 16 bits, which may lack bits of an MTC */
};

struct perf_clock {
	struct clock_rates rates; /* set by the owner */

	uint64_t tsc;      /* the time, 7 bytes; 0: unknown yet */
	uint64_t last_tsc; /* of the last TSC packet */
	struct perf_crystal crystal;
	uint64_t counted_from; /* TSC from which on `cycles` are counted; 0: unknown */
	uint64_t cycles;
	uint8_t ratio;   /* core clock : bus clock, of the last CBR; 0: unknown */
	double by_ratio; /* TSC ticks per cycle by `ratio`; valid if `ratio` */
	double measured; /* TSC ticks per cycle of this stretch; valid if has_measured */
	bool has_measured;
};

/* `after_cyc`: the packet before, except padding, was a CYC. */
void perf_clock_tsc(struct perf_clock *clock, uint64_t tsc, bool after_cyc);
void perf_clock_tma(struct perf_clock *clock, uint16_t ctc, uint16_t fast);
void perf_clock_cyc(struct perf_clock *clock, uint64_t cycles);
void perf_clock_cbr(struct perf_clock *clock, uint8_t ratio);

/* Returns whether the caller should read the following packets ahead, with a struct perf_ahead. */
bool perf_clock_mtc(struct perf_clock *clock, uint8_t ctc, bool after_cyc);

/* The stretch behind an MTC. */
struct perf_ahead {
	struct perf_crystal crystal;
	uint64_t tsc, cycles;
	uint8_t ratio; /* of a CBR in the stretch; 0: none */
	double by_ratio;
	bool after_cyc;
};

/* The stretch begins behind the last packet of the clock. */
void perf_ahead_init(struct perf_ahead *ahead, const struct perf_clock *clock);

/*
 * Handle the next packet of the stretch.  Returns whether another one is needed; if not, the
 * clock has the measurement.
 */
bool perf_ahead_packet(struct perf_ahead *ahead, struct perf_clock *clock,
		       const struct pt_packet *packet);

#endif
