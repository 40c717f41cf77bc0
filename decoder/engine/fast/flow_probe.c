/* SPDX-License-Identifier: MIT */
/*
 * Calls of probes: since Linux 6.18, a uprobe on a 5-byte NOP becomes a call of a page that makes a
 * system call (arch/x86/kernel/uprobes.c), while the file still has the NOP. The return from a
 * system call into that page shows that the code before went through such a NOP.
 */
#include "decoder/engine/fast/flow_code.h"
#include "decoder/engine/fast/flow_step.h"

#define NOP_SIZE 5

/* Limit of the instructions between two packets in which a NOP is looked for. */
#define INSNS_MOST 10000

/* Returns the address at which user code runs next, by the next packets; 0: not known. */
static uint64_t next_user_ip(struct pt_flow *flow)
{
	uint64_t last = flow->state.last_ip;
	struct pt_packet packet;
	unsigned bip_size = 0;
	size_t end = flow_window_look_ahead(flow), at = flow->at;

	while (at < end && pt_packet_read(flow->packets, &flow->config, &at, &bip_size, &packet)) {
		if (packet.type == ppt_psb)
			last = 0;
		if (packet.type == ppt_ovf)
			return 0;
		if ((packet.type != ppt_tip && packet.type != ppt_tip_pge &&
		     packet.type != ppt_tip_pgd && packet.type != ppt_fup) ||
		    packet.payload.ip.ipc == pt_ipc_suppressed)
			continue;
		last = pt_packet_full_ip(last, packet.payload.ip.ipc, packet.payload.ip.ip);
		if ((packet.type == ppt_tip || packet.type == ppt_tip_pge) && !ip_is_kernel(last))
			return last;
	}
	return 0;
}

static bool is_nop(const uint8_t *bytes, const struct insn *insn)
{
	static const uint8_t nop[NOP_SIZE] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

	return insn->length == NOP_SIZE && memcmp(bytes, nop, NOP_SIZE) == 0;
}

/*
 * Returns the first of the NOPs that the code reaches without a packet, and counts them; 0: none,
 * or the code has the call, as `ptrace2ftf record` saved it.
 */
static uint64_t find_nop(struct pt_flow *flow, uint64_t page, unsigned *count)
{
	uint64_t ip = flow->state.ip, found = 0;
	struct insn insn = { .length = 1 };

	*count = 0;
	for (unsigned left = INSNS_MOST; left && insn.length; left--) {
		size_t size;
		const uint8_t *bytes = flow_code_at(flow, ip, &size);

		if (ip == page)
			found = 0;
		if (!bytes || ip == page)
			break;
		insn = insn_decode(bytes, size, flow->state.mode);
		if (is_nop(bytes, &insn) && !(*count)++)
			found = ip;
		if (insn.kind != BRANCH_NONE && !flow_insn_is_direct(&insn))
			break;
		ip += insn.length + (uint64_t)(int64_t)insn.distance;
	}
	flow_code_at(flow, flow->state.ip, &(size_t){ 0 });
	return found;
}

void flow_look_for_probe(struct pt_flow *flow)
{
	const struct address_space *space = flow->stream.state.schedule.space;
	uint64_t back = next_user_ip(flow), nop;
	const struct mapping *mapping = address_space_borrow_mapping(space, back);
	unsigned count;

	flow->may_probe = false;
	if (!mapping || strcmp(mapping->file->path, MAPPED_PROBES) != 0 ||
	    back != mapping->begin + MAPPED_PROBES_RETURN)
		return;
	nop = find_nop(flow, mapping->begin, &count);
	if (!nop)
		return;
	if (count > 1)
		diag_warn(flow->stream.input.diag, "probe-unclear",
			  "a probe is on one of %u instructions from 0x%" PRIx64
			  " on; shown at the first: calls of [uprobes-trampoline] may be "
			  "elsewhere in the function",
			  count, nop);
	flow->probe = (struct flow_probe){ flow->pending, flow->target, mapping->begin };
	flow->pending = PENDING_FUP;
	flow->fup_kind = FUP_PROBE;
	flow->target = nop;
}

void flow_call_probe(struct pt_flow *flow)
{
	const struct flow_probe *probe = &flow->probe;
	uint64_t from = flow->state.ip;
	const struct insn call = { .kind = BRANCH_CALL,
				   .length = NOP_SIZE,
				   .distance = (int32_t)(probe->page - from - NOP_SIZE) };

	flow_count_insns(flow, 1);
	push_return(flow, from + NOP_SIZE, NULL);
	flow_emit_branch(flow, &call, from, probe->page);
	flow_move_to(flow, probe->page);
	flow->state.emitted = true;
	flow->pending = probe->pending;
	flow->target = probe->target;
}
