/* SPDX-License-Identifier: MIT */
#include "decoder/engine/fast/emulated_ptwrite.h"

#include <string.h>

#define VALUE_BITS 64

bool emulated_ptwrite_has_sign(const uint8_t *bytes, size_t size)
{
	static const char sign[] = "\x0f\x0bperf,ptwrite  ";

	_Static_assert(sizeof(sign) == EMULATED_WRITE_SIGN_SIZE + 1, "UD2 and 14 letters");
	return size >= EMULATED_WRITE_SIGN_SIZE && !memcmp(bytes, sign, EMULATED_WRITE_SIGN_SIZE);
}

void emulated_ptwrite_begin(struct pt_flow *flow, uint64_t ip)
{
	emulated_ptwrite_drop(flow);
	flow->state.write = (struct emulated_ptwrite){
		.thread = flow->stream.state.schedule.thread,
		.place = ip,
		.left = VALUE_BITS,
	};
}

void emulated_ptwrite_bit(struct pt_flow *flow, bool bit)
{
	struct emulated_ptwrite *write = &flow->state.write;
	struct cpu_event_data note = { .kind = CPU_EVENT_PTWRITE };

	write->value = write->value << 1 | bit;
	if (--write->left)
		return;
	note.value = write->value;
	stream_push_cpu_event(&flow->stream, &note, write->place);
}

void emulated_ptwrite_interrupt(struct pt_flow *flow, uint64_t ip)
{
	if (!flow->state.write.left)
		return;
	emulated_ptwrite_drop_waiting(flow);
	flow->waiting_write = flow->state.write;
	flow->waiting_place = ip;
	flow->state.write.left = 0;
}

void emulated_ptwrite_resume(struct pt_flow *flow, uint64_t ip)
{
	struct emulated_ptwrite *waiting = &flow->waiting_write;

	emulated_ptwrite_drop(flow);
	if (!waiting->left || flow->waiting_place != ip ||
	    waiting->thread != flow->stream.state.schedule.thread)
		return;
	flow->state.write = *waiting;
	waiting->left = 0;
}

void emulated_ptwrite_drop(struct pt_flow *flow)
{
	flow->stream.stats.writes_broken += flow->state.write.left != 0;
	flow->state.write.left = 0;
}

void emulated_ptwrite_drop_waiting(struct pt_flow *flow)
{
	flow->stream.stats.writes_broken += flow->waiting_write.left != 0;
	flow->waiting_write.left = 0;
}
