/* SPDX-License-Identifier: MIT */
/* Collect the 64 bits of an emulated PTWRITE from conditional jumps. */
#include "decoder/engine/fast/flow_step.h"

#define VALUE_BITS 64

bool emulated_ptwrite_has_sign(const uint8_t *bytes, size_t size)
{
	static const char sign[] = "\x0f\x0bperf,ptwrite  ";

	_Static_assert(sizeof(sign) == EMULATED_PTWRITE_SIGN_SIZE + 1, "UD2 and 14 letters");
	return size >= EMULATED_PTWRITE_SIGN_SIZE &&
	       !memcmp(bytes, sign, EMULATED_PTWRITE_SIGN_SIZE);
}

void emulated_ptwrite_begin(struct pt_flow *flow, uint64_t ip)
{
	emulated_ptwrite_drop(flow);
	flow->state.ptwrite = (struct emulated_ptwrite){
		.thread = flow->stream.state.schedule.thread,
		.ip = ip,
		.left = VALUE_BITS,
	};
}

void emulated_ptwrite_bit(struct pt_flow *flow, bool bit)
{
	struct emulated_ptwrite *ptwrite = &flow->state.ptwrite;
	struct cpu_event_data event = { .kind = CPU_EVENT_PTWRITE };

	ptwrite->value = ptwrite->value << 1 | bit;
	if (--ptwrite->left)
		return;
	event.value = ptwrite->value;
	stream_push_cpu_event(&flow->stream, &event, ptwrite->ip);
}

void emulated_ptwrite_interrupt(struct pt_flow *flow, uint64_t ip)
{
	if (!flow->state.ptwrite.left)
		return;
	emulated_ptwrite_drop_interrupted(flow);
	flow->interrupted_ptwrite = flow->state.ptwrite;
	flow->interrupted_ptwrite_ip = ip;
	flow->state.ptwrite.left = 0;
}

void emulated_ptwrite_resume(struct pt_flow *flow, uint64_t ip)
{
	struct emulated_ptwrite *pending_fup = &flow->interrupted_ptwrite;

	emulated_ptwrite_drop(flow);
	if (!pending_fup->left || flow->interrupted_ptwrite_ip != ip ||
	    pending_fup->thread != flow->stream.state.schedule.thread)
		return;
	flow->state.ptwrite = *pending_fup;
	pending_fup->left = 0;
}

void emulated_ptwrite_drop(struct pt_flow *flow)
{
	flow->stream.stats.writes_broken += flow->state.ptwrite.left != 0;
	flow->state.ptwrite.left = 0;
}

void emulated_ptwrite_drop_interrupted(struct pt_flow *flow)
{
	flow->stream.stats.writes_broken += flow->interrupted_ptwrite.left != 0;
	flow->interrupted_ptwrite.left = 0;
}
