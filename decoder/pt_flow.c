/* SPDX-License-Identifier: MIT */
/*
 * The fast engine: packets drive a walk over cached runs of code.
 *
 * A packet sets what is to be done, and each step walks one run further until
 * it is done; only then is the next packet read.  So nothing is reported that
 * no packet has proved yet:
 *
 *   packet      walk
 *   ----------  -----------------------------------------------------------
 *   TNT         to a conditional jump or a compressed return, a bit each; bits behind
 *               an indirect branch wait for its TIP
 *   TIP         to an indirect branch, an uncompressed return, a far transfer
 *   TIP.PGD     the same; tracing goes off there
 *   FUP         to its ip: an interrupt (if TIP or TIP.PGD follows)
 *   PSB+        to its ip, to check that trace and code agree
 *
 * Return compression (SDM volume 3, "Intel Processor Trace", "RET
 * Compression"): the processor pops its stack of 64 at every near return, also
 * at one that it does not compress; and a call to the next instruction pushes
 * nothing.
 *
 * After damage decoding goes on at the next packet that tells an ip where there
 * is code.
 */
#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "decoder/pt_boundary.h"
#include "decoder/pt_flow.h"
#include "decoder/pt_newer_packets.h"
#include "decoder/pt_perf_time.h"

/* Bytes from one cut to the next: some ms of work, and some MB of events. */
#define SEGMENT ((uint64_t)128 << 10)

/*
 * Errata that change what packets mean, by CPU as libipt knows them (pt_cpu_errata();
 * intel-pt.h has Intel's words for each):
 *
 *   BDM70   a PSB+ before a TIP.PGE may have a FUP     header_ip is doubted: on_psbend()
 *   APL12   so may an OVF                              the same: on_fup()
 *   BDM64   an abort may follow a branch never taken   the way there is not asked for: on_fup()
 *   SKD007  an OVF may cut a CYC                       read_cycles()
 *   SKD010  no FUP or TIP.PGE may follow an OVF        no further damage: miss_place()
 *   APL11   a TIP.PGD may follow an OVF                tracing is off: on_disable()
 *   SKD022  a VM entry may have a FUP                  it is no interrupt: on_disable()
 *   SKL014  a TIP.PGD may lack the target's ip         the filter tells: pt_walk.c
 *   SKL168  a CYC before a PSB may be dropped          no speed is measured across a TSC
 */

/* ---- Packets ------------------------------------------------------------- */

/* SDM volume 3, "IP Compression".  Returns whether the packet tells an ip. */
static bool read_ip(struct pt_flow *flow, const struct pt_packet_ip *packet, uint64_t *ip)
{
	uint64_t last = flow->last_ip;

	switch (packet->ipc) {
	case pt_ipc_suppressed:
		*ip = 0;
		return false;
	case pt_ipc_update_16:
		last = (last & ~UINT64_C(0xffff)) | packet->ip;
		break;
	case pt_ipc_update_32:
		last = (last & ~UINT64_C(0xffffffff)) | packet->ip;
		break;
	case pt_ipc_update_48:
		last = (last & ~UINT64_C(0xffffffffffff)) | packet->ip;
		break;
	case pt_ipc_sext_48:
		last = (uint64_t)((int64_t)(packet->ip << 16) >> 16);
		break;
	default:
		last = packet->ip;
		break;
	}
	*ip = flow->last_ip = last;
	return true;
}

/* A packet shows that the ip was no erratum's, if there is one.  Returns whether tracing is on. */
static bool believe(struct pt_flow *flow)
{
	uint64_t ip = flow->doubtful_ip;

	flow->doubtful_ip = 0;
	if (ip && !flow->on)
		flow_begin(flow, ip, false);
	return flow->on;
}

/*
 * A packet is of code that runs, but where is not known.  Returns whether that is part
 * of an overflow, and no further damage.
 */
static bool miss_place(struct pt_flow *flow)
{
	bool dropped = flow->overflowed && flow->config.errata.skd010;

	flow->overflowed = false;
	if (dropped)
		flow_lose(flow);
	else
		flow_fail(flow, GAP_MISMATCH, 0);
	return dropped;
}

static void on_tnt(struct pt_flow *flow, const struct pt_packet_tnt *packet)
{
	if (flow->lost)
		return;
	if (!flow->on && !believe(flow)) {
		if (!flow->guest)
			miss_place(flow);
		return;
	}
	if (flow->bit_count) {
		flow_fail(flow, GAP_MISMATCH, flow->ip);
		return;
	}
	flow->has_interrupt = false;
	flow->bits = packet->payload;
	flow->bit_count = packet->bit_size;
	flow->task = flow->bit_count ? TASK_DECIDE : TASK_READ;
}

static void on_interrupt(struct pt_flow *flow, uint64_t ip)
{
	struct pt_stream *stream = &flow->stream;
	enum branch_kind kind = flow->aborted ? BRANCH_TX_ABORT : BRANCH_INTERRUPT;

	stream_push(stream, kind, flow->interrupted, ip)->flags |= BRANCH_ASYNC;
	emulated_write_interrupt(flow, flow->interrupted);
	flow->has_interrupt = flow->aborted = false;
	flow->ip = ip;
	flow->here = NULL;
	flow->known = stream->now;
	flow_take_mode(flow);
}

/* What happened is told where the packet's FUP says. */
static void wait_for_place(struct pt_flow *flow, const struct side_note *note)
{
	if (flow->waiting_count == WAITING)
		flow_drop_waiting(flow);
	flow->waiting[flow->waiting_count++] = *note;
}

/* Of the CPU, now; in a header the time may come behind it, up to the end. */
static void tell(struct pt_flow *flow, enum side_kind kind, uint64_t value, uint32_t extra)
{
	struct side_note note = { kind, extra, value };

	if (flow->in_header)
		wait_for_place(flow, &note);
	else
		stream_push_side(&flow->stream, &note, 0);
}

/* ---- Virtual machines ---------------------------------------------------- */

/*
 * The NR bit of PIP tells who runs from the next ip on (SDM volume 3, "PIP").  A
 * guest's addresses mean other code than the host's: it is passed over.
 */

/* What was lost, or off, is the guest's now, and not looked at. */
static void stay_in_guest(struct pt_flow *flow)
{
	flow_found(flow);
	emulated_write_drop(flow);
	flow->doubtful_ip = 0;
	flow->on = flow->has_interrupt = flow->overflowed = flow->aborted = false;
}

static void leave_for_guest(struct pt_flow *flow, uint64_t from)
{
	if (flow->on && !flow->lost)
		stream_push(&flow->stream, BRANCH_NONE, from, 0)->flags |=
			BRANCH_TRACE_OFF | BRANCH_ASYNC | BRANCH_GUEST;
	stay_in_guest(flow);
}

/* A TIP where a guest runs before it or behind it; ip 0: suppressed. */
static void on_guest_tip(struct pt_flow *flow, uint64_t ip)
{
	bool enters = !flow->guest;

	flow->guest = flow->next_guest;
	if (!flow->guest && ip) {
		flow_begin(flow, ip, true);
	} else if (enters && flow->on && !flow->lost && !flow->has_interrupt) {
		flow->target = 0;
		flow->task = TASK_OFF;
	} else if (enters) {
		leave_for_guest(flow, flow->interrupted);
	}
}

static void on_paging(struct pt_flow *flow, const struct pt_packet_pip *packet)
{
	flow->next_guest = packet->nr;
	tell(flow, SIDE_GUEST, packet->cr3, packet->nr);
}

/* ---- The flow ------------------------------------------------------------ */

static void on_tip(struct pt_flow *flow, const struct pt_packet_ip *packet)
{
	uint64_t ip;
	bool told = read_ip(flow, packet, &ip);

	if (flow->guest || flow->next_guest) {
		on_guest_tip(flow, ip);
		return;
	}
	if (flow->lost) {
		if (told)
			flow_try_at(flow, ip);
		return;
	}
	if (!flow->on && !believe(flow)) {
		if (miss_place(flow) && told)
			flow_try_at(flow, ip);
		return;
	}
	if (!told) {
		flow_fail(flow, GAP_MISMATCH, flow->ip);
		return;
	}
	if (flow->has_interrupt) {
		on_interrupt(flow, ip);
		return;
	}
	flow->target = ip;
	flow->task = TASK_TARGET;
}

/* Nothing has shown yet that tracing was on, but a header that an erratum may have written. */
static bool may_be_off(const struct pt_flow *flow)
{
	return flow->config.errata.bdm70 && !flow->told && flow->ip == flow->target;
}

static void on_enable(struct pt_flow *flow, const struct pt_packet_ip *packet)
{
	uint64_t ip;

	bool told = read_ip(flow, packet, &ip);

	flow->guest = flow->next_guest;
	if (flow->guest) {
		stay_in_guest(flow);
		return;
	}
	flow->has_interrupt = flow->overflowed = flow->aborted = false;
	flow->doubtful_ip = 0;
	if (!told || (flow->on && !flow->lost && !may_be_off(flow)))
		flow_fail(flow, GAP_MISMATCH, flow->on ? flow->ip : 0);
	if (told)
		flow_begin(flow, ip, true);
}

/* Tracing goes off that was off: where it began is lost. */
static void miss_begin(struct pt_flow *flow)
{
	flow_fail(flow, GAP_MISMATCH, 0);
	flow_found(flow);
}

static void on_disable(struct pt_flow *flow, const struct pt_packet_ip *packet)
{
	bool passed_over = flow->guest || flow->next_guest || flow->overflowed;
	uint64_t ip;

	read_ip(flow, packet, &ip);
	/* Where tracing goes on, a PIP tells again. */
	flow->guest = flow->next_guest = false;
	flow->overflowed = false;
	if (!flow->lost && !believe(flow) && !passed_over)
		miss_begin(flow);
	if (flow->lost || !flow->on) {
		flow->on = false;
		return;
	}
	if (flow->bit_count) {
		flow_fail(flow, GAP_MISMATCH, flow->ip);
		flow_found(flow);
		flow->on = false;
		return;
	}
	if (flow->config.errata.skd022 && flow->has_interrupt && flow_at_vm_entry(flow))
		flow->has_interrupt = false;
	if (!flow->has_interrupt) {
		flow->target = ip;
		flow->task = TASK_OFF;
		return;
	}
	stream_push(&flow->stream, BRANCH_NONE, flow->interrupted, ip)->flags |=
		BRANCH_TRACE_OFF | BRANCH_ASYNC;
	stream_stop_user(&flow->stream, flow->interrupted);
	emulated_write_interrupt(flow, flow->interrupted);
	flow->has_interrupt = flow->aborted = false;
	flow->on = false;
}

static bool waits_for_abort(const struct pt_flow *flow)
{
	for (unsigned i = 0; i < flow->waiting_count; i++)
		if (flow->waiting[i].kind == SIDE_TX_ABORT)
			return true;
	return false;
}

static void on_fup(struct pt_flow *flow, const struct pt_packet_ip *packet)
{
	uint64_t ip;

	if (!read_ip(flow, packet, &ip))
		return;
	if (flow->in_header) {
		flow->header_has_ip = true;
		flow->target = ip;
		return;
	}
	if (flow->guest) {
		flow->overflowed = false;
		flow_tell_waiting(flow, 0);
		return;
	}
	if (flow->overflowed) {
		flow->overflowed = false;
		if (flow->config.errata.apl12)
			flow->doubtful_ip = ip;
		else
			flow_begin(flow, ip, true);
		return;
	}
	if (flow->lost)
		flow_try_at(flow, ip);
	if (flow->lost || !believe(flow)) {
		flow_tell_waiting(flow, ip);
		return;
	}
	if (flow->config.errata.bdm64 && waits_for_abort(flow) && !flow_reaches(flow, ip)) {
		flow->ip = ip;
		flow->here = NULL;
	}
	if (flow->bit_count) { /* the TIP that is waited for does not come */
		flow->target = ip;
		flow->task = TASK_PLACE;
		flow_fail(flow, GAP_MISMATCH, flow->ip);
		return;
	}
	flow->place = flow->waiting_count || flow->offset == flow->mode_end ? PLACE_EVENT
									    : PLACE_INTERRUPT;
	flow->target = ip;
	flow->task = TASK_PLACE;
}

static void on_overflow(struct pt_flow *flow)
{
	flow->in_header = false;
	flow_found(flow);
	flow_drop_waiting(flow);
	emulated_write_drop(flow);
	stream_push_gap(&flow->stream, GAP_OVERFLOW, 0);
	flow->task = TASK_READ;
	flow->bit_count = 0;
	flow->on = flow->has_interrupt = flow->aborted = false;
	flow->stream.in_tx = false;
	flow->return_count = 0;
	flow->after_gap = true;
	flow->overflowed = true;
	flow->doubtful_ip = 0;
}

static void on_psb(struct pt_flow *flow)
{
	/* A PSB comes behind all that was deferred. */
	if (flow->bit_count)
		flow_fail(flow, GAP_MISMATCH, flow->ip);
	flow->in_header = true;
	flow->header_has_ip = false;
	flow->last_ip = 0;
	flow_drop_waiting(flow);
	flow->overflowed = false;
	flow->doubtful_ip = 0;
	flow->item_size = 0;
	pt_boundary_approach(flow);
}

/* Tracing is on at a PSB if, and only if, its header tells an ip. */
static void on_psbend(struct pt_flow *flow)
{
	if (!flow->in_header) {
		/* Its PSB is lost, and who knows what before it. */
		if (flow->on && !flow->lost)
			flow_fail(flow, GAP_MISMATCH, flow->ip);
		return;
	}
	flow->in_header = false;
	flow_drop_waiting(flow);
	flow->guest = flow->next_guest;
	if (flow->guest) {
		leave_for_guest(flow, flow->ip);
	} else if (!flow->header_has_ip) {
		flow->on = false;
	} else if (flow->lost) {
		flow_try_at(flow, flow->target);
	} else if (!flow->on && flow->config.errata.bdm70) {
		flow->doubtful_ip = flow->target;
	} else if (!flow->on) {
		flow_begin(flow, flow->target, false);
	} else {
		flow->place = PLACE_PSB;
		flow->task = TASK_PLACE;
	}
}

static void on_transaction(struct pt_flow *flow, const struct pt_packet_mode_tsx *packet)
{
	struct side_note note = { .kind = packet->intx   ? SIDE_TX_BEGIN
					  : packet->abrt ? SIDE_TX_ABORT
							 : SIDE_TX_COMMIT };

	if (flow->in_header || !flow->on)
		flow->stream.in_tx = packet->intx;
	else
		wait_for_place(flow, &note);
}

static void on_mode(struct pt_flow *flow, const struct pt_packet_mode *packet)
{
	if (packet->leaf == pt_mol_exec) {
		flow->mode_end = flow->window.base + flow->at;
		flow->next_mode = packet->bits.exec.csl	  ? INSN_MODE_64
				  : packet->bits.exec.csd ? INSN_MODE_32
							  : INSN_MODE_16;
		return;
	}
	if (packet->leaf == pt_mol_tsx)
		on_transaction(flow, &packet->bits.tsx);
}

static void on_time(struct pt_flow *flow)
{
	struct pt_stream *stream = &flow->stream;

	if (!flow->clock.tsc)
		return;
	stream_set_time(stream, flow->clock.tsc);
	if (stream->next_loss < stream->loss_count)
		stream_push_losses(stream, stream->now.time);
	stream_follow_schedule(stream);
	if (stream->text.kernel)
		flow_follow_text(flow);
	if (flow->space != stream->schedule.space)
		flow->here = NULL;
}

static void set_clock(struct packet_clock *clock, const struct pt_packet *packet)
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
		packet_clock_cyc(clock, packet->payload.cyc.value);
		break;
	default:
		packet_clock_cbr(clock, packet->payload.cbr.ratio);
		break;
	}
}

static void on_timing(struct pt_flow *flow, const struct pt_packet *packet)
{
	if (flow->stream.input.perf_times)
		flow->clock.tsc = pt_perf_time(flow, packet);
	else
		set_clock(&flow->clock, packet);
	if (packet->type == ppt_cbr)
		tell(flow, SIDE_FREQUENCY, packet->payload.cbr.ratio, 0);
	if (packet->type == ppt_cyc && (flow->on || flow->doubtful_ip) && !flow->lost)
		stream_count_cycles(&flow->stream, packet->payload.cyc.value);
	if (packet->type != ppt_cbr && packet->type != ppt_tma)
		on_time(flow);
}

/* The packets with values come with a FUP of the instruction, or without. */
static void on_side(struct pt_flow *flow, const struct side_note *note, bool has_place)
{
	if (has_place)
		wait_for_place(flow, note);
	else
		stream_push_side(&flow->stream, note, 0);
}

static void on_sleep(struct pt_flow *flow, const struct pt_packet_pwre *packet)
{
	struct side_note note = {
		.kind = SIDE_SLEEP,
		.value = side_sleep_value(packet->state, packet->sub_state, packet->hw),
	};

	/* Behind the MWAIT that asked for it. */
	on_side(flow, &note, flow->waiting_count != 0);
}

static void on_wake(struct pt_flow *flow, const struct pt_packet_pwrx *packet)
{
	uint64_t why = (packet->interrupt ? SIDE_WAKE_INTERRUPT : 0) |
		       (packet->store ? SIDE_WAKE_STORE : 0) |
		       (packet->autonomous ? SIDE_WAKE_AUTONOMOUS : 0);

	tell(flow, SIDE_WAKE, side_wake_value(packet->last, packet->deepest, why), 0);
}

/* Packets that change nothing of the flow. */
static void on_packet_beside(struct pt_flow *flow, const struct pt_packet *packet)
{
	struct side_note note = { 0 };

	switch (packet->type) {
	case ppt_ptw:
		note.kind = SIDE_PTWRITE;
		note.value = packet->payload.ptw.payload;
		on_side(flow, &note, packet->payload.ptw.ip);
		break;
	case ppt_exstop:
		note.kind = SIDE_STOP;
		on_side(flow, &note, packet->payload.exstop.ip);
		break;
	case ppt_mwait:
		note.kind = SIDE_MWAIT;
		note.value = packet->payload.mwait.hints;
		note.extra = packet->payload.mwait.ext;
		on_side(flow, &note, true);
		break;
	case ppt_pwre:
		on_sleep(flow, &packet->payload.pwre);
		break;
	case ppt_pwrx:
		on_wake(flow, &packet->payload.pwrx);
		break;
	case ppt_pip:
		on_paging(flow, &packet->payload.pip);
		break;
	case ppt_vmcs:
		tell(flow, SIDE_VMCS, packet->payload.vmcs.base, 0);
		break;
	default: /* padding, maintenance, the end of tracing by an address range */
		break;
	}
}

static void on_packet(struct pt_flow *flow, const struct pt_packet *packet)
{
	switch (packet->type) {
	case ppt_tnt_8:
	case ppt_tnt_64:
		flow->last_bits = packet->payload.tnt.bit_size;
		on_tnt(flow, &packet->payload.tnt);
		break;
	case ppt_tip:
		on_tip(flow, &packet->payload.ip);
		break;
	case ppt_tip_pge:
		on_enable(flow, &packet->payload.ip);
		break;
	case ppt_tip_pgd:
		on_disable(flow, &packet->payload.ip);
		break;
	case ppt_fup:
		on_fup(flow, &packet->payload.ip);
		break;
	case ppt_tsc:
	case ppt_tma:
	case ppt_mtc:
	case ppt_cyc:
	case ppt_cbr:
		on_timing(flow, packet);
		break;
	case ppt_psb:
		on_psb(flow);
		break;
	case ppt_psbend:
		on_psbend(flow);
		break;
	case ppt_ovf:
		on_overflow(flow);
		break;
	case ppt_mode:
		on_mode(flow, &packet->payload.mode);
		break;
	default:
		on_packet_beside(flow, packet);
		break;
	}
}

/* ---- The frequent packets ------------------------------------------------ */

/*
 * Nearly all packets are of these kinds (SDM volume 3, "Packet Definitions");
 * they are read here, and all others by libipt.  The bytes are all there: the
 * window ends AUX_WINDOW_PACKET_MAX or more behind.
 */
enum opcode {
	OPCODE_PAD = 0,
	OPCODE_EXTENDED = 2,
	OPCODE_OVF = 0xf3, /* behind that */
	OPCODE_MTC = 0x59,
	/* With 3 bits of how the address is compressed: */
	OPCODE_DISABLE = 1,
	OPCODE_TIP = 0x0d,
	OPCODE_ENABLE = 0x11,
	OPCODE_FUP = 0x1d,
};

/* So many bits at once: as a long TNT has. */
#define TNT_BITS_MAX 47u

static bool is_tnt(uint8_t byte)
{
	return !(byte & 1) && byte > OPCODE_EXTENDED;
}

/*
 * The bits of a packet from the second on, the oldest highest, below a stop
 * bit.  Those that follow each other are one: nothing happens between them.
 * Returns the size of all.
 */
static size_t read_tnt(struct pt_flow *flow, const uint8_t *bytes, size_t size)
{
	struct pt_packet_tnt packet = { 0 };
	size_t at = 0;

	do {
		unsigned value = bytes[at++] >> 1, count = 31 - (unsigned)__builtin_clz(value);

		packet.payload = packet.payload << count | (value ^ 1u << count);
		packet.bit_size = (uint8_t)(packet.bit_size + count);
		flow->last_bits = count;
	} while (at < size && packet.bit_size + 6u <= TNT_BITS_MAX && is_tnt(bytes[at]));
	on_tnt(flow, &packet);
	return at;
}

static void on_cycles(struct pt_flow *flow, uint64_t cycles)
{
	packet_clock_cyc(&flow->clock, cycles);
	if ((flow->on || flow->doubtful_ip) && !flow->lost)
		stream_count_cycles(&flow->stream, cycles);
	on_time(flow);
}

/* Whether the bytes behind the first of a CYC are an OVF; two CYCs in a row make no sense. */
static bool is_cut(const struct pt_flow *flow, const uint8_t *bytes)
{
	return bytes[1] == OPCODE_EXTENDED && bytes[2] == OPCODE_OVF &&
	       flow->config.errata.skd007;
}

/* One or two bytes of 5 and 7 bits; returns 0 if there are more. */
static size_t read_cycles(struct pt_flow *flow, const uint8_t *bytes)
{
	bool more = bytes[0] & 4 && !is_cut(flow, bytes);
	struct pt_packet packet = { .type = ppt_cyc, .size = (uint8_t)(1 + more) };
	uint64_t cycles = bytes[0] >> 3;

	if (more && bytes[1] & 1)
		return 0;
	if (more)
		cycles |= (uint64_t)(bytes[1] >> 1) << 5;
	packet.payload.cyc.value = cycles;
	if (flow->stream.input.perf_times)
		on_timing(flow, &packet);
	else
		on_cycles(flow, cycles);
	return packet.size;
}

static size_t read_crystal(struct pt_flow *flow, const uint8_t *bytes)
{
	struct pt_packet packet = { .type = ppt_mtc, .size = 2, .payload.mtc.ctc = bytes[1] };

	on_timing(flow, &packet);
	return packet.size;
}

static size_t read_place(struct pt_flow *flow, const uint8_t *bytes)
{
	static const uint8_t sizes[] = { 0, 2, 4, 6, 6, 0, 8, 0 };
	unsigned compression = bytes[0] >> 5;
	struct pt_packet_ip packet = { .ipc = (enum pt_ip_compression)compression };

	if (compression == 5 || compression == 7)
		return 0; /* reserved */
	memcpy(&packet.ip, bytes + 1, sizes[compression]);
	switch (bytes[0] & 0x1f) {
	case OPCODE_TIP:
		on_tip(flow, &packet);
		break;
	case OPCODE_ENABLE:
		on_enable(flow, &packet);
		break;
	case OPCODE_DISABLE:
		on_disable(flow, &packet);
		break;
	case OPCODE_FUP:
		on_fup(flow, &packet);
		break;
	default:
		return 0;
	}
	return 1u + sizes[compression];
}

/* It may be long, where a buffer was never filled.  Returns how many such bytes there are. */
static size_t count_padding(const uint8_t *bytes, size_t size)
{
	size_t count = 1;
	uint64_t words[4];

	while (count + sizeof(words) <= size) {
		memcpy(words, bytes + count, sizeof(words));
		if (words[0] | words[1] | words[2] | words[3])
			break;
		count += sizeof(words);
	}
	while (count < size && bytes[count] == OPCODE_PAD)
		count++;
	return count;
}

/* Returns the size of what was read of `size` bytes, 0 if it is not one of these. */
static size_t read_frequent(struct pt_flow *flow, const uint8_t *bytes, size_t size)
{
	if (is_tnt(bytes[0]))
		return read_tnt(flow, bytes, size);
	if ((bytes[0] & 3) == 3)
		return read_cycles(flow, bytes);
	if (bytes[0] == OPCODE_MTC)
		return read_crystal(flow, bytes);
	if (bytes[0] == OPCODE_PAD)
		return count_padding(bytes, size);
	return bytes[0] & 1 ? read_place(flow, bytes) : 0;
}

/* ---- The stream ---------------------------------------------------------- */

/*
 * Look at the window anew.  `in_flow`: a packet begins where it does; else
 * libipt has to search, and it searches from behind where it was set.
 */
static void open_packets(struct pt_flow *flow, bool in_flow)
{
	pt_pkt_free_decoder(flow->packets);
	flow->config.begin = flow->window.bytes;
	flow->config.end = flow->window.bytes + flow->window.size;
	flow->packets = pt_pkt_alloc_decoder(&flow->config);
	flow->at = 0;
	if (flow->packets && in_flow)
		pt_pkt_sync_set(flow->packets, 0);
}

/* Returns where libipt is, in the window. */
static size_t position(const struct pt_flow *flow)
{
	uint64_t offset = 0;

	pt_pkt_get_offset(flow->packets, &offset);
	return offset;
}

static void move_window(struct pt_flow *flow, size_t used, bool in_flow)
{
	aux_window_move(&flow->window, used);
	open_packets(flow, in_flow);
}

/* At the start, or where bytes are no packet: go on at the next PSB. */
static void synchronise(struct pt_flow *flow, bool first)
{
	uint64_t from = flow->offset, to;

	flow->synced = true;
	while (flow->packets && pt_pkt_sync_forward(flow->packets) < 0) {
		if (aux_window_at_end(&flow->window)) {
			flow->stream.ended = true;
			break;
		}
		/* One may straddle the end of the window. */
		move_window(flow, flow->window.size - AUX_WINDOW_PACKET_MAX, false);
	}
	flow->stream.ended |= !flow->packets;
	flow->at = flow->stream.ended ? flow->window.size : position(flow);
	to = flow->window.base + flow->at;
	if (first)
		flow->stream.stats.bytes_skipped += to - from;
	flow->offset = to;
}

/* What was read up to the next packet is understood, unless it is lost. */
static void count_decoded(struct pt_flow *flow, uint64_t next)
{
	if (!flow->lost)
		flow->stream.stats.bytes_decoded += next - flow->offset;
	flow->offset = next;
}

/*
 * Where the pieces that follow each other end, the stream does; or others begin
 * apart, and nothing of what came before holds.
 */
static void finish(struct pt_flow *flow)
{
	count_decoded(flow, flow->window.base + flow->window.size);
	flow_found(flow);
	flow_drop_waiting(flow);
	emulated_write_drop(flow);
	emulated_write_drop_waiting(flow);
	flow->item_size = 0;
	flow->guest = flow->next_guest = false;
	if (!aux_window_next_run(&flow->window)) {
		stream_finish(&flow->stream);
		return;
	}
	flow->stream.ended = false;
	stream_push_apart(&flow->stream, flow->after_gap);
	flow_lose(flow);
	flow->lost = flow->on = flow->in_header = flow->overflowed = false;
	flow->doubtful_ip = 0;
	flow->after_gap = true;
	flow->synced = false;
	pt_perf_time_restart(flow);
	open_packets(flow, false);
}

static void on_control(struct pt_flow *flow, const struct newer_packet *packet)
{
	struct side_note note = { SIDE_CONTROL, packet->kind, packet->value };

	if (!packet->has_place && flow->on && !flow->lost) {
		flow_tell_control(flow, 0);
		flow->control = note;
		flow->has_control = true;
	} else {
		on_side(flow, &note, packet->has_place);
	}
}

static void on_newer_packet(struct pt_flow *flow, const struct newer_packet *packet)
{
	switch (packet->type) {
	case NEWER_CONTROL:
		on_control(flow, packet);
		break;
	case NEWER_DATA:
		tell(flow, SIDE_DATA, packet->value, packet->kind);
		break;
	case NEWER_BLOCK_BEGIN:
		flow->item_size = (unsigned)packet->value;
		break;
	case NEWER_BLOCK_ITEM:
		break;
	case NEWER_BLOCK_END:
		flow->item_size = 0;
		if (packet->has_place)
			on_side(flow, &(struct side_note){ .kind = SIDE_NONE }, true);
		break;
	}
}

/* Returns whether there was a packet that libipt does not know. */
static bool read_newer(struct pt_flow *flow)
{
	struct newer_packet packet;
	size_t size = newer_packet_read(&packet, flow->window.bytes + flow->at,
					flow->window.size - flow->at, flow->item_size);

	flow->at += size;
	if (size)
		on_newer_packet(flow, &packet);
	return size;
}

static void read_by_libipt(struct pt_flow *flow)
{
	struct pt_packet packet;
	int status = pt_pkt_sync_set(flow->packets, flow->at);

	if (status >= 0)
		status = pt_pkt_next(flow->packets, &packet, sizeof(packet));
	/* libipt 2.0.5 does not look for the byte that erratum SKZ84 puts behind a TMA. */
	if (status >= 0 && packet.size > flow->window.size - flow->at)
		status = -pte_eos;
	if (status >= 0) {
		flow->at += packet.size;
		on_packet(flow, &packet);
	} else if (pt_errcode(status) == pte_eos) {
		finish(flow);
	} else {
		flow_fail(flow, GAP_BAD_PACKET, 0);
		flow->item_size = 0;
		flow->in_header = flow->overflowed = flow->on = false;
		flow->doubtful_ip = 0;
		synchronise(flow, false);
		if (flow->stream.ended)
			finish(flow);
	}
}

static bool near_end(const struct pt_flow *flow)
{
	return flow->at + AUX_WINDOW_PACKET_MAX > flow->window.size;
}

/* Returns whether the next packet was a frequent one. */
static bool read_next_frequent(struct pt_flow *flow)
{
	size_t end = flow->window.size - AUX_WINDOW_PACKET_MAX, size;

	count_decoded(flow, flow->window.base + flow->at);
	flow->walked = 0;
	size = read_frequent(flow, flow->window.bytes + flow->at, end - flow->at + 1);
	flow->at += size;
	return size;
}

static void read_packet(struct pt_flow *flow)
{
	if (near_end(flow) && !aux_window_at_end(&flow->window))
		move_window(flow, flow->at, true);
	while (!near_end(flow) && !flow->item_size) {
		if (!read_next_frequent(flow))
			break;
		if (flow->task != TASK_READ)
			flow_walk(flow);
		if (flow->task != TASK_READ || !stream_has_room(&flow->stream))
			return;
	}
	if (near_end(flow) && !aux_window_at_end(&flow->window))
		return;
	count_decoded(flow, flow->window.base + flow->at);
	flow->walked = 0;
	if (!read_newer(flow))
		read_by_libipt(flow);
}

static void first_sync(struct pt_flow *flow)
{
	synchronise(flow, true);
	if (flow->stream.ended)
		finish(flow);
}

static void step(struct pt_stream *stream)
{
	struct pt_flow *flow = (struct pt_flow *)stream;

	do {
		if (flow->task != TASK_READ)
			flow_walk(flow);
		else if (flow->cutting && !flow->in_header)
			pt_boundary_pass(flow);
		else if (!flow->synced)
			first_sync(flow);
		else
			read_packet(flow);
	} while (stream_has_room(stream) && !stream->ended && !flow->paused);
}

void pt_flow_free(struct pt_flow *flow)
{
	if (!flow)
		return;
	pt_pkt_free_decoder(flow->packets);
	aux_window_release(&flow->window);
	code_runs_release(&flow->runs);
	kernel_text_release(&flow->stream.text);
	free(flow);
}

static void close_flow(struct pt_stream *stream)
{
	pt_flow_free((struct pt_flow *)stream);
}

struct pt_flow *pt_flow_spare(uint64_t size)
{
	struct pt_flow *flow = alloc_zeroed(1, sizeof(*flow));

	flow->stream.step = step;
	flow->stream.close = close_flow;
	code_runs_init(&flow->runs, size);
	return flow;
}

void pt_flow_refill(struct pt_flow *flow)
{
	size_t used = flow->offset - flow->window.base, beyond = flow->at - used;

	if (aux_window_at_end(&flow->window))
		return;
	move_window(flow, used, true);
	flow->at = beyond;
}

static void set_config(struct pt_flow *flow, const struct pt_config *config)
{
	flow->clock.ratio_n = config->cpuid_0x15_ebx;
	flow->clock.ratio_d = config->cpuid_0x15_eax;
	flow->clock.mtc_shift = config->mtc_freq;
	flow->clock.max_ratio = config->nom_freq;
	flow->perf.ratio_n = config->cpuid_0x15_ebx;
	flow->perf.ratio_d = config->cpuid_0x15_eax;
	flow->perf.mtc_shift = config->mtc_freq;
	flow->perf.max_ratio = config->nom_freq;
	pt_perf_time_restart(flow);
	flow->config = *config;
}

void pt_flow_adopt(struct pt_flow *flow, const struct pt_stream *like,
		   const struct pt_config *config)
{
	const struct pt_info *info = like->input.info;

	flow->stream.input = like->input;
	flow->stream.clock = like->clock;
	flow->stream.reference = like->reference;
	flow->stream.losses = like->losses;
	flow->stream.loss_count = like->loss_count;
	flow->compression = !(info->config & info->noretcomp_bit) || !info->noretcomp_bit;
	flow->space = NULL;
	flow_forget_views(flow);
	if (!flow->stream.text.kernel)
		kernel_text_init(&flow->stream.text, code_image_kernel(like->input.code));
	set_config(flow, config);
}

void pt_flow_seek(struct pt_flow *flow, const struct aux_place *place)
{
	aux_window_seek(&flow->window, flow->stream.input.aux, place);
	open_packets(flow, flow->synced);
}

/*
 * Without times there is nothing to begin in the middle by; and perf forgets nothing at
 * a PSB.
 */
static void set_cuts(struct pt_flow *flow, const struct pt_stream_input *input)
{
	if (input->info->config & input->info->tsc_bit && !input->perf_times)
		aux_cuts_init(&flow->cuts, input->aux, input->segment ? input->segment : SEGMENT);
	else
		flow->cuts.place.at = AUX_CUTS_NONE;
}

struct pt_stream *pt_flow_new(const struct pt_stream_input *input, const struct pt_config *config)
{
	struct pt_flow *flow = pt_flow_spare(input->aux->size);
	const struct pt_info *info = input->info;

	set_config(flow, config);
	flow->compression = !(info->config & info->noretcomp_bit) || !info->noretcomp_bit;
	set_cuts(flow, input);
	aux_window_init(&flow->window, input->aux);
	if (input->aux->size)
		open_packets(flow, false);
	if (flow->packets || !input->aux->size)
		return &flow->stream;
	pt_flow_free(flow);
	return NULL;
}
