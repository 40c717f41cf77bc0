/* SPDX-License-Identifier: MIT */
/* Compute time from TSC, TMA, MTC and CYC packets. */
#include "decoder/clock/packet_clock.h"

#include <intel-pt.h>

#define MTC_VALUES 256u

/* Doubles are exact for integers up to this; a period has fewer ticks. */
#define TICKS_MAX 0x1p52

/*
 * Limits of valid data: minimum ticks per cycle, and maximum cycles between two time packets.
 * Within these limits, the arithmetic of packet_clock_cyc() does not overflow.
 */
#define TSC_PER_CYCLE_MIN 0x1p-10
#define CYCLES_MAX        (UINT64_C(1) << 62)

/* Ticks by which a TSC may be late if no MTC period is known: perf's upper estimate (tsc_slip). */
#define SLIP_MAX 0x1000

static uint64_t ticks_to_tsc(const struct packet_clock *clock, uint64_t ctc)
{
	return ctc * clock->rates.ratio_n / clock->rates.ratio_d;
}

/*
 * Returns the limit of the ticks that cycles may add after `step`: the next MTC, or the bound if it
 * is earlier. After damage, both may be before `step`: 0.
 */
static uint64_t most_ticks(const struct packet_clock *clock)
{
	uint64_t end = clock->counting ? clock->due : UINT64_MAX;

	if (clock->bound && clock->bound < end)
		end = clock->bound;
	return end > clock->step ? end - clock->step : 0;
}

/* Cycles do not advance time before time and speed are known. */
static void set_cycle_limit(struct packet_clock *clock)
{
	uint64_t most = most_ticks(clock);

	clock->cycle_limit = most < (uint64_t)TICKS_MAX ? (double)most : TICKS_MAX;
	if (!clock->tsc || clock->tsc_per_cycle <= 0)
		clock->cycle_limit = 0;
}

static void begin_step(struct packet_clock *clock, uint64_t tsc)
{
	clock->step = clock->last = tsc;
	clock->cycles = 0;
	clock->tsc = MAX(clock->tsc, tsc);
	set_cycle_limit(clock);
}

static void count_by_ratio(struct packet_clock *clock)
{
	if (!clock->ratio)
		return;
	clock->tsc_per_cycle = (1 - clock->excess) * clock->rates.max_ratio / clock->ratio;
	clock->tsc_per_cycle = MAX(clock->tsc_per_cycle, TSC_PER_CYCLE_MIN);
	set_cycle_limit(clock);
}

bool packet_clock_tsc(struct packet_clock *clock, uint64_t tsc)
{
	uint64_t period = clock->rates.ratio_d
				  ? ticks_to_tsc(clock, UINT64_C(1) << clock->rates.mtc_shift)
				  : SLIP_MAX;
	bool goes_back = tsc < clock->last && clock->last - tsc > period;

	/* Only a TSC can move time back, if the estimate was too high. */
	clock->tsc = tsc;
	clock->counting = false;
	clock->whole_step = false;
	if (clock->excess > 0) {
		clock->excess = 0;
		count_by_ratio(clock);
	}
	begin_step(clock, tsc);
	return goes_back;
}

/* Returns the TSC of an MTC `periods` after the last one. */
static uint64_t mtc_after(const struct packet_clock *clock, uint64_t periods)
{
	return clock->base + ticks_to_tsc(clock, clock->ctc + (periods << clock->rates.mtc_shift));
}

/*
 * The packet has the low 16 bits of the crystal clock, and the TSC ticks since the crystal clock's
 * last tick.
 */
void packet_clock_tma(struct packet_clock *clock, uint16_t ctc, uint16_t fast)
{
	uint64_t rest;

	if (!clock->rates.ratio_n || !clock->rates.ratio_d)
		return;
	rest = ctc & ((UINT64_C(1) << clock->rates.mtc_shift) - 1);
	clock->base = clock->step - fast - ticks_to_tsc(clock, rest);
	clock->ctc = 0;
	clock->last_mtc = (uint8_t)(ctc >> clock->rates.mtc_shift);
	clock->counting = true;
	clock->due = mtc_after(clock, 1);
	set_cycle_limit(clock);
}

/* The cycles between two successive MTCs measure the core clock. */
static void calibrate(struct packet_clock *clock, uint64_t tsc)
{
	double measured, expected = 0;

	if (!clock->whole_step || !clock->cycles)
		return;
	measured = (double)(tsc - clock->step) / (double)clock->cycles;
	if (clock->ratio && clock->rates.max_ratio)
		expected = (double)clock->rates.max_ratio / clock->ratio;
	if (measured < TSC_PER_CYCLE_MIN)
		return;
	/* A core that slept counts too few cycles. */
	if (expected > 0 && (measured > 1.5 * expected || measured < expected / 1.5))
		return;
	clock->tsc_per_cycle = measured;
}

void packet_clock_mtc(struct packet_clock *clock, uint8_t ctc)
{
	unsigned periods = (uint8_t)(ctc - clock->last_mtc);
	uint64_t tsc;

	if (!clock->counting)
		return;
	/* With a long period, a TMA lacks high bits of the next MTC's value. */
	if (clock->rates.mtc_shift > 8 && !clock->ctc)
		periods = (ctc - clock->last_mtc) & (0xff >> (clock->rates.mtc_shift - 8));
	if (!periods && clock->ctc)
		periods = MTC_VALUES;
	tsc = mtc_after(clock, periods);
	clock->ctc += (uint64_t)periods << clock->rates.mtc_shift;
	clock->last_mtc = ctc;
	clock->due = mtc_after(clock, 1);
	if (periods == 1)
		calibrate(clock, tsc);
	begin_step(clock, tsc);
	clock->whole_step = true;
}

/* A new ratio applies to later cycles only. */
void packet_clock_cbr(struct packet_clock *clock, uint8_t ratio)
{
	if (!ratio || !clock->rates.max_ratio ||
	    (clock->ratio == ratio && clock->tsc_per_cycle > 0))
		return;
	clock->ratio = ratio;
	clock->whole_step = false;
	clock->step = clock->tsc;
	clock->cycles = 0;
	count_by_ratio(clock);
}

void packet_clock_fit(struct packet_clock *clock, uint64_t tsc, uint64_t late)
{
	if (tsc <= clock->tsc || late <= tsc)
		return;
	clock->excess = (double)(late - tsc) / (double)(late - clock->tsc);
	count_by_ratio(clock);
}

void packet_clock_bound(struct packet_clock *clock, uint64_t bound)
{
	clock->bound = bound;
	set_cycle_limit(clock);
}

void packet_clock_many_cycles(struct packet_clock *clock, uint64_t cycles)
{
	uint64_t passed, tsc;
	double expected;

	if (cycles > CYCLES_MAX || clock->cycles > CYCLES_MAX - cycles)
		return;
	clock->cycles += cycles;
	expected = (double)(int64_t)clock->cycles * clock->tsc_per_cycle;
	/* More ticks than any TSC has left are damage. */
	if (!clock->tsc || clock->tsc_per_cycle <= 0 || expected >= 0x1p63)
		return;
	passed = (uint64_t)(int64_t)expected;
	/* An MTC is missing, or the clock became slower. */
	passed = MIN(passed, most_ticks(clock));
	tsc = clock->step + passed;
	clock->tsc = MAX(clock->tsc, tsc);
}

void packet_clock_packet(struct packet_clock *clock, const struct pt_packet *packet)
{
	switch (packet->type) {
	case ppt_tsc:
		packet_clock_tsc(clock, packet->payload.tsc.tsc);
		break;
	case ppt_tma:
		packet_clock_tma(clock, packet->payload.tma.ctc, packet->payload.tma.fc);
		break;
	case ppt_mtc:
		packet_clock_mtc(clock, packet->payload.mtc.ctc);
		break;
	case ppt_cyc:
		packet_clock_many_cycles(clock, packet->payload.cyc.value);
		break;
	case ppt_cbr:
		packet_clock_cbr(clock, packet->payload.cbr.ratio);
		break;
	default:
		break;
	}
}

bool packet_clock_equals(const struct packet_clock *a, const struct packet_clock *b)
{
	return a->tsc == b->tsc && a->base == b->base && a->step == b->step && a->last == b->last &&
	       a->cycles == b->cycles && a->ctc == b->ctc && a->last_mtc == b->last_mtc &&
	       a->counting == b->counting && a->whole_step == b->whole_step && a->due == b->due &&
	       a->ratio == b->ratio && !(a->excess < b->excess) && !(a->excess > b->excess) &&
	       !(a->tsc_per_cycle < b->tsc_per_cycle) && !(a->tsc_per_cycle > b->tsc_per_cycle);
}

uint64_t tsc_clock_tsc(const struct tsc_clock *clock, uint64_t ns)
{
	/* The difference is modulo 2^64, because a clock's zero can be negative. */
	int64_t since_zero = (int64_t)(ns - clock->zero);
	unsigned __int128 scaled, tsc;

	if (since_zero <= 0 || !clock->mult)
		return 0;
	scaled = (unsigned __int128)since_zero << clock->shift;
	tsc = (scaled + clock->mult - 1) / clock->mult;
	return tsc > UINT64_MAX ? UINT64_MAX : (uint64_t)tsc;
}
