/* SPDX-License-Identifier: MIT */
/* Compute time from timing packets exactly as perf script does. */
#include "decoder/clock/perf_clock.h"

#include <intel-pt.h>

/* TSC packets lag behind MTCs; time does not go back by less than this (ticks). */
#define SLIP 0x10000

#define MTC_VALUES 256u
#define TSC_SPAN   (UINT64_C(1) << 56) /* a TSC packet has 7 bytes */

/* Measurements above CBR's speed by this factor are rejected. */
#define TOO_FAST 1.25

/* ---- The crystal clock --------------------------------------------------- */

static uint64_t ticks_to_tsc(const struct perf_clock *clock, uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * clock->rates.ratio_n / clock->rates.ratio_d);
}

/* Bits of an MTC that a TMA does not have are taken from the next MTC. */
static void complete_last(const struct perf_clock *clock, struct perf_crystal *crystal, uint8_t mtc)
{
	uint32_t first_missing;

	if (!crystal->partial || clock->rates.mtc_shift <= 8 || clock->rates.mtc_shift > 16)
		return;
	crystal->partial = false;
	first_missing = 1u << (16 - clock->rates.mtc_shift);
	crystal->last_mtc |= mtc & ~(first_missing - 1);
	if (crystal->last_mtc >= mtc)
		crystal->last_mtc = (crystal->last_mtc - first_missing) & (MTC_VALUES - 1);
}

/* Returns the TSC of an MTC. */
static uint64_t advance_crystal(const struct perf_clock *clock, struct perf_crystal *crystal,
				uint8_t mtc)
{
	uint32_t periods;

	complete_last(clock, crystal, mtc);
	periods = (mtc > crystal->last_mtc ? mtc : mtc + MTC_VALUES) - crystal->last_mtc;
	crystal->ticks += (uint64_t)periods << clock->rates.mtc_shift;
	crystal->last_mtc = mtc;
	return crystal->base + ticks_to_tsc(clock, crystal->ticks);
}

/* ---- The clock ----------------------------------------------------------- */

static void count_from_here(struct perf_clock *clock)
{
	clock->counted_from = clock->tsc;
	clock->cycles = 0;
}

void perf_clock_tsc(struct perf_clock *clock, uint64_t tsc, bool after_cyc)
{
	uint64_t back = clock->tsc - tsc;

	clock->crystal.known = false;
	clock->last_tsc = tsc;
	/* Much less means that the 7-byte counter wrapped. */
	if (!clock->tsc || tsc >= clock->tsc || (back >= SLIP && back > TSC_SPAN / 2))
		clock->tsc = tsc;
	if (!after_cyc)
		return;
	count_from_here(clock);
	clock->has_measured = false;
}

void perf_clock_tma(struct perf_clock *clock, uint16_t ctc, uint16_t fast)
{
	uint32_t rest = ctc & ((1u << clock->rates.mtc_shift) - 1);

	if (!clock->rates.ratio_n || !clock->rates.ratio_d)
		return;
	clock->crystal = (struct perf_crystal){
		.base = clock->last_tsc - fast - ticks_to_tsc(clock, rest),
		.last_mtc = (uint8_t)(ctc >> clock->rates.mtc_shift),
		.known = true,
		.partial = true,
	};
}

bool perf_clock_mtc(struct perf_clock *clock, uint8_t ctc, bool after_cyc)
{
	uint64_t tsc;

	if (!clock->crystal.known)
		return false;
	tsc = advance_crystal(clock, &clock->crystal, ctc);
	if (tsc > clock->tsc)
		clock->tsc = tsc;
	if (!after_cyc)
		return false;
	count_from_here(clock);
	clock->has_measured = false;
	return true;
}

void perf_clock_cbr(struct perf_clock *clock, uint8_t ratio)
{
	if (clock->ratio == ratio || !clock->rates.max_ratio)
		return;
	clock->ratio = ratio;
	clock->by_ratio = ratio ? (double)clock->rates.max_ratio / ratio : 0;
	count_from_here(clock);
}

void perf_clock_cyc(struct perf_clock *clock, uint64_t cycles)
{
	double tsc;

	if (clock->cycles > UINT64_MAX / 2 - cycles)
		return;
	clock->cycles += cycles;
	if (!clock->counted_from || (!clock->has_measured && !clock->ratio))
		return;
	/* In this order, for the same rounding. */
	tsc = (double)clock->counted_from +
	      (double)clock->cycles * (clock->has_measured ? clock->measured : clock->by_ratio);
	if (tsc < (double)TSC_SPAN && (uint64_t)tsc > clock->tsc)
		clock->tsc = (uint64_t)tsc;
}

/* ---- Reading ahead ------------------------------------------------------- */

void perf_ahead_init(struct perf_ahead *ahead, const struct perf_clock *clock)
{
	*ahead = (struct perf_ahead){
		.crystal = clock->crystal,
		.tsc = clock->tsc,
		.after_cyc = true,
	};
}

/* The stretch ends at an MTC at `tsc`. */
static void measure_stretch(struct perf_ahead *ahead, struct perf_clock *clock, uint64_t tsc)
{
	double measured;

	if (!ahead->ratio && clock->ratio) {
		ahead->ratio = clock->ratio;
		ahead->by_ratio = clock->by_ratio;
	}
	if (!ahead->cycles)
		return;
	measured = (double)(tsc - clock->tsc) / (double)ahead->cycles;
	if (ahead->ratio && measured > ahead->by_ratio && measured / ahead->by_ratio > TOO_FAST)
		return;
	clock->measured = measured;
	clock->has_measured = true;
}

static bool on_mtc(struct perf_ahead *ahead, struct perf_clock *clock, uint8_t ctc)
{
	uint64_t tsc = advance_crystal(clock, &ahead->crystal, ctc);

	if (tsc < ahead->tsc)
		return false;
	if (ahead->after_cyc) {
		measure_stretch(ahead, clock, tsc);
		return false;
	}
	ahead->tsc = tsc;
	return true;
}

static bool on_cbr(struct perf_ahead *ahead, const struct perf_clock *clock, uint8_t ratio)
{
	if (!ratio || !clock->rates.max_ratio || (ahead->ratio && ahead->ratio != ratio))
		return false;
	ahead->ratio = ratio;
	ahead->by_ratio = (double)clock->rates.max_ratio / ratio;
	return true;
}

/* Where time may stop, or is set anew, the stretch ends without a measurement. */
static bool ends_stretch(enum pt_packet_type type)
{
	switch (type) {
	case ppt_tsc:
	case ppt_tma:
	case ppt_tip_pgd:
	case ppt_stop:
	case ppt_exstop:
	case ppt_mwait:
	case ppt_pwre:
	case ppt_pwrx:
	case ppt_ovf:
		return true;
	default:
		return false;
	}
}

bool perf_ahead_packet(struct perf_ahead *ahead, struct perf_clock *clock,
		       const struct pt_packet *packet)
{
	bool go_on = !ends_stretch(packet->type);

	if (packet->type == ppt_pad)
		return true;
	if (packet->type == ppt_mtc)
		go_on = on_mtc(ahead, clock, packet->payload.mtc.ctc);
	else if (packet->type == ppt_cbr)
		go_on = on_cbr(ahead, clock, packet->payload.cbr.ratio);
	else if (packet->type == ppt_cyc && packet->payload.cyc.value < TSC_SPAN)
		ahead->cycles += packet->payload.cyc.value;
	ahead->after_cyc = packet->type == ppt_cyc;
	return go_on && ahead->cycles < TSC_SPAN;
}
