/* SPDX-License-Identifier: MIT */
#include "tests/ptsim/pt_output.h"

#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define ROOM       65536u
#define PACKET_MAX 64u
/* An MTC has 8 bits of the clock: without one a decoder cannot count more periods. */
#define MTC_WRAP 256u

void pt_output_init(struct pt_output *out, const struct pt_output_options *options)
{
	struct pt_config config;

	*out = (struct pt_output){ .options = *options };
	out->room = alloc_zeroed(1, ROOM);
	pt_config_init(&config);
	config.begin = out->room;
	config.end = out->room + ROOM;
	out->encoder = pt_alloc_encoder(&config);
	if (!out->encoder)
		alloc_fail(sizeof(config));
}

void pt_output_release(struct pt_output *out)
{
	pt_free_encoder(out->encoder);
	free(out->room);
	free(out->bytes);
	*out = (struct pt_output){ 0 };
}

static uint64_t in_room(const struct pt_output *out)
{
	uint64_t offset = 0;

	pt_enc_get_offset(out->encoder, &offset);
	return offset;
}

static void empty_room(struct pt_output *out)
{
	uint64_t count = in_room(out);

	out->bytes = alloc_grow(out->bytes, &out->allocated, out->size + count, 1);
	memcpy(out->bytes + out->size, out->room, count);
	out->size += count;
	pt_enc_sync_set(out->encoder, 0);
}

size_t pt_output_size(struct pt_output *out)
{
	empty_room(out);
	return out->size;
}

static void put(struct pt_output *out, const struct pt_packet *packet)
{
	int status;

	if (out->muted)
		return;
	if (in_room(out) > ROOM - PACKET_MAX)
		empty_room(out);
	status = pt_enc_next(out->encoder, packet);
	if (status < 0) {
		fprintf(stderr, "ptsim: libipt cannot encode: %s\n", pt_errstr(pt_errcode(status)));
		abort();
	}
	out->packets[packet->type]++;
}

static void put_type(struct pt_output *out, enum pt_packet_type type)
{
	put(out, &(struct pt_packet){ .type = type });
}

/* ---- Time ---------------------------------------------------------------- */

static void count_cycles(struct pt_output *out, uint64_t tsc)
{
	if (tsc <= out->cyc_tsc)
		return;
	out->cycle_parts += (tsc - out->cyc_tsc) * out->ratio;
	out->cyc_tsc = tsc;
}

static void put_cycles(struct pt_output *out, uint64_t tsc)
{
	struct pt_packet packet = { .type = ppt_cyc };
	uint64_t cycles;

	if (!out->options.cyc || tsc < out->cyc_tsc)
		return;
	count_cycles(out, tsc);
	cycles = out->cycle_parts / PT_MAX_NONTURBO_RATIO;
	if (cycles < UINT64_C(1) << out->options.cyc_threshold >> 1)
		return;
	packet.payload.cyc.value = cycles;
	out->cycle_parts %= PT_MAX_NONTURBO_RATIO;
	put(out, &packet);
}

static void put_time(struct pt_output *out, uint64_t tsc)
{
	struct pt_packet packet = { .type = ppt_tsc };
	uint64_t ctc = tsc / PT_TSC_PER_CTC;

	put_cycles(out, tsc);
	out->ctc = ctc >> out->options.mtc_period;
	if (!out->options.tsc)
		return;
	packet.payload.tsc.tsc = tsc & (UINT64_MAX >> 8);
	put(out, &packet);
	if (!out->options.mtc)
		return;
	packet = (struct pt_packet){ .type = ppt_tma };
	packet.payload.tma.ctc = (uint16_t)ctc;
	packet.payload.tma.fc = (uint16_t)(tsc % PT_TSC_PER_CTC);
	put(out, &packet);
}

static void put_ratio(struct pt_output *out)
{
	struct pt_packet packet = { .type = ppt_cbr };

	packet.payload.cbr.ratio = (uint8_t)out->ratio;
	put(out, &packet);
}

static uint64_t random_below(struct pt_output *out, uint64_t limit)
{
	out->random = out->random * UINT64_C(6364136223846793005) + 1; /* MMIX, Knuth */
	return (out->random >> 33) % limit;
}

/* Mostly far apart; sometimes the next change is only a few instructions away. */
static void plan_change(struct pt_output *out, uint64_t tsc)
{
	uint64_t ticks = random_below(out, 8) ? 2 * out->options.clock_changes : 64;

	out->next_change = UINT64_MAX;
	if (out->options.clock_changes)
		out->next_change = tsc + 1 + random_below(out, ticks);
}

/*
 * "In the case of TNT packets [...] the preceding CYC packet provides the retirement time of the
 * first branch in the packet." (SDM volume 3, "Cycle Packet Semantics")
 */
static void put_decisions(struct pt_output *out)
{
	struct pt_packet packet = { .type = ppt_tnt_8 };

	if (!out->decision_count)
		return;
	put_cycles(out, out->decision_tsc);
	if (out->decision_count > PT_TNT_SHORT)
		packet.type = ppt_tnt_64;
	packet.payload.tnt.bit_size = (uint8_t)out->decision_count;
	packet.payload.tnt.payload = out->decisions & ((UINT64_C(1) << out->decision_count) - 1);
	put(out, &packet);
	out->decision_count = 0;
}

/* The processor's next ratio, or the same one again. */
static void change_clock(struct pt_output *out, uint64_t tsc)
{
	static const unsigned ratios[] = { 8, 12, 20, 24, 25, 32, 36, 41 };

	if (out->options.cyc)
		put_decisions(out);
	count_cycles(out, tsc);
	if (random_below(out, 8))
		out->ratio = ratios[random_below(out, 8)];
	put_ratio(out);
	plan_change(out, tsc);
}

static void put_mtcs(struct pt_output *out, uint64_t tsc)
{
	unsigned period = out->options.mtc_period;
	uint64_t now = (tsc / PT_TSC_PER_CTC) >> period;
	struct pt_packet packet = { .type = ppt_mtc };

	if (!out->options.mtc || out->muted)
		return;
	while (out->ctc < now) {
		out->ctc++;
		if (out->options.cyc)
			put_decisions(out); /* their CYC is earlier */
		put_cycles(out, (out->ctc << period) * PT_TSC_PER_CTC);
		packet.payload.mtc.ctc = (uint8_t)out->ctc;
		put(out, &packet);
	}
}

void pt_output_tick(struct pt_output *out, uint64_t tsc)
{
	for (uint64_t change; !out->muted && (change = out->next_change) <= tsc;) {
		put_mtcs(out, change);
		change_clock(out, change);
	}
	put_mtcs(out, tsc);
}

/* Ticks of a sleep in which the crystal clock's packets stop too. */
#define DEEP_SLEEP UINT64_C(1000000)

void pt_output_sleep(struct pt_output *out, uint64_t tsc, uint64_t ticks)
{
	pt_output_tick(out, tsc);
	count_cycles(out, tsc);
	out->cyc_tsc = tsc + ticks;
	if (ticks < DEEP_SLEEP)
		return;
	put_time(out, tsc + ticks);
	plan_change(out, tsc + ticks);
	put_ratio(out);
}

/* ---- Flow ---------------------------------------------------------------- */

/* The shortest encoding of the IP, given the last one (SDM, "IP compression"). */
static enum pt_ip_compression compression(uint64_t last, uint64_t ip)
{
	if (last >> 16 == ip >> 16)
		return pt_ipc_update_16;
	if (last >> 32 == ip >> 32)
		return pt_ipc_update_32;
	if ((uint64_t)((int64_t)(ip << 16) >> 16) == ip)
		return pt_ipc_sext_48;
	return pt_ipc_full;
}

static uint64_t compressed(enum pt_ip_compression ipc, uint64_t ip)
{
	switch (ipc) {
	case pt_ipc_update_16:
		return ip & UINT16_MAX;
	case pt_ipc_update_32:
		return ip & UINT32_MAX;
	case pt_ipc_sext_48:
		return ip & (UINT64_MAX >> 16);
	default:
		return ip;
	}
}

static void put_ip(struct pt_output *out, enum pt_packet_type type, uint64_t ip)
{
	struct pt_packet packet = { .type = type };

	/* Another last ip than any. */
	packet.payload.ip.ipc = compression(out->whole_ip ? ~ip : out->last_ip, ip);
	out->whole_ip = false;
	packet.payload.ip.ip = compressed(packet.payload.ip.ipc, ip);
	out->last_ip = ip;
	put(out, &packet);
}

static void put_without_ip(struct pt_output *out, enum pt_packet_type type)
{
	struct pt_packet packet = { .type = type };

	packet.payload.ip.ipc = pt_ipc_suppressed;
	put(out, &packet);
}

static void put_paging(struct pt_output *out)
{
	struct pt_packet packet = { .type = ppt_pip };

	packet.payload.pip.cr3 = out->cr3;
	put(out, &packet);
}

static void put_psb(struct pt_output *out, uint64_t tsc, uint64_t ip)
{
	struct pt_packet mode = { .type = ppt_mode };

	put_decisions(out);
	out->last_ip = 0;
	out->return_count = 0;
	put_type(out, ppt_psb);
	put_time(out, tsc);
	put_ratio(out);
	if (out->cr3)
		put_paging(out);
	if (ip) {
		mode.payload.mode.leaf = pt_mol_exec;
		mode.payload.mode.bits.exec.csl = !out->bits32;
		mode.payload.mode.bits.exec.csd = out->bits32;
		put(out, &mode);
		put_ip(out, ppt_fup, ip);
	}
	put_type(out, ppt_psbend);
	out->next_psb = out->size + in_room(out) + out->options.psb_bytes;
}

void pt_output_start(struct pt_output *out, uint64_t tsc, unsigned ratio)
{
	out->ratio = ratio;
	out->cyc_tsc = tsc;
	out->cycle_parts = 0;
	plan_change(out, tsc);
	out->decision_count = 0; /* of code that ran while the trace was off */
	put_psb(out, tsc, 0);
}

void pt_output_stop(struct pt_output *out)
{
	put_decisions(out);
}

void pt_output_boundary(struct pt_output *out, uint64_t tsc, uint64_t ip)
{
	if (out->size + in_room(out) >= out->next_psb && !out->muted)
		put_psb(out, tsc, ip);
}

void pt_output_enable(struct pt_output *out, uint64_t tsc, uint64_t ip)
{
	struct pt_packet mode = { .type = ppt_mode };

	if (out->options.early_psb) {
		pt_output_boundary(out, tsc, ip);
		/* perf takes the header's ip as the last one, libipt does not; all read a whole ip.
		 */
		out->whole_ip = true;
	}
	mode.payload.mode.leaf = pt_mol_exec;
	mode.payload.mode.bits.exec.csl = !out->bits32;
	mode.payload.mode.bits.exec.csd = out->bits32;
	put(out, &mode);
	put_cycles(out, tsc);
	put_ip(out, ppt_tip_pge, ip);
}

void pt_output_disable(struct pt_output *out, uint64_t tsc)
{
	put_decisions(out);
	put_cycles(out, tsc);
	put_without_ip(out, ppt_tip_pgd);
}

void pt_output_interrupt(struct pt_output *out, uint64_t tsc, uint64_t ip)
{
	put_decisions(out);
	put_cycles(out, tsc);
	put_ip(out, ppt_fup, ip);
	put_without_ip(out, ppt_tip_pgd);
}

void pt_output_vector(struct pt_output *out, uint64_t tsc, uint64_t from, uint64_t to)
{
	put_decisions(out);
	put_cycles(out, tsc);
	put_ip(out, ppt_fup, from);
	put_ip(out, ppt_tip, to);
}

void pt_output_paging(struct pt_output *out, uint64_t tsc, uint64_t cr3)
{
	put_decisions(out);
	put_cycles(out, tsc);
	out->cr3 = cr3;
	put_paging(out);
}

void pt_output_decision(struct pt_output *out, uint64_t tsc, bool taken)
{
	if (!out->decision_count)
		out->decision_tsc = tsc;
	out->decisions = out->decisions << 1 | taken;
	if (++out->decision_count == (unsigned)out->options.tnt)
		put_decisions(out);
}

void pt_output_target(struct pt_output *out, uint64_t tsc, uint64_t ip)
{
	put_decisions(out);
	put_cycles(out, tsc);
	put_ip(out, ppt_tip, ip);
}

void pt_output_call(struct pt_output *out, uint64_t return_ip)
{
	out->return_top = (out->return_top + 1) % PT_RETURN_STACK;
	out->returns[out->return_top] = return_ip;
	if (out->return_count < PT_RETURN_STACK)
		out->return_count++;
}

/* The stack is popped whether or not its top is the target. */
void pt_output_return(struct pt_output *out, uint64_t tsc, uint64_t ip)
{
	bool foreseen = out->return_count && out->returns[out->return_top] == ip;

	if (out->return_count) {
		out->return_count--;
		out->return_top = (out->return_top + PT_RETURN_STACK - 1) % PT_RETURN_STACK;
	}
	if (foreseen && out->options.ret_compression)
		pt_output_decision(out, tsc, true);
	else
		pt_output_target(out, tsc, ip);
}

/* ---- Overflow ------------------------------------------------------------ */

void pt_output_overflow(struct pt_output *out)
{
	put_decisions(out);
	out->muted = true;
}

void pt_output_recover(struct pt_output *out, uint64_t tsc, uint64_t ip)
{
	uint64_t ctc = tsc / PT_TSC_PER_CTC >> out->options.mtc_period;
	bool wrapped = ctc - out->ctc >= MTC_WRAP;

	out->muted = false;
	out->decision_count = 0;
	/*
	 * The next ip may be compressed against the last one before the overflow (SDM volume 3, OVF
	 * packet), as perf reads it; libipt's decoders take 0. All read a whole ip.
	 */
	out->whole_ip = true;
	out->return_count = 0;
	put_type(out, ppt_ovf);
	if (wrapped)
		put_time(out, tsc);
	out->ctc = ctc;
	out->cyc_tsc = tsc;
	out->cycle_parts = 0;
	plan_change(out, tsc);
	if (ip)
		put_ip(out, ppt_fup, ip);
}
