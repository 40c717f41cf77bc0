/* SPDX-License-Identifier: MIT */
/*
 * The code that a flow runs through: views of mapped bytes, the basic blocks in them, and the
 * stack of return addresses.  Private to the engine.
 */
#pragma once

#include "decoder/engine/fast/flow_state.h"

/* Forget all views and links: the flow continues in another address space or stream. */
void flow_forget_views(struct pt_flow *flow);

/* Advance the kernel's code to the stream's time. */
void flow_follow_text(struct pt_flow *flow);

/* Returns the bytes at ip, *size of them; NULL if there is no code. */
const uint8_t *flow_code_at(struct pt_flow *flow, uint64_t ip, size_t *size);

/* Returns the block at ip; NULL if there is no code. */
struct basic_block *flow_block_at(struct pt_flow *flow, uint64_t ip);

/*
 * Returns whether there is code at ip, where the current view ends, or an instruction at ip that
 * continues in the next mapping. Such an instruction becomes the view. *size gets the number of
 * bytes at ip, up to INSN_LENGTH_MAX.
 */
bool flow_enter_seam(struct pt_flow *flow, uint64_t ip, size_t *size);

/* Find the view of an ip outside of the current view. The cached block becomes unknown. */
void flow_change_view(struct pt_flow *flow, uint64_t ip);

static inline bool in_view(const struct pt_flow *flow, uint64_t ip)
{
	return ip - flow->view.begin < flow->view.end - flow->view.begin;
}

/* Change the view if necessary. Returns whether the code at ip is in view. */
static inline bool bring_into_view(struct pt_flow *flow, uint64_t ip)
{
	if (!in_view(flow, ip) && flow->space == flow->stream.state.schedule.space)
		flow_change_view(flow, ip);
	return in_view(flow, ip) && flow->space == flow->stream.state.schedule.space;
}

static inline const uint8_t *bytes_of_ip(const struct pt_flow *flow, uint64_t ip)
{
	return flow->view.bytes + (ip - flow->view.begin);
}

/* Returns the ip of bytes of the view. */
static inline uint64_t ip_of_bytes(const struct pt_flow *flow, const uint8_t *bytes)
{
	return flow->view.begin + (uint64_t)(bytes - flow->view.bytes);
}

/* Returns whether `block`, which may be NULL, begins at ip, which is in view. */
static inline bool is_block_at(const struct pt_flow *flow, const struct basic_block *block,
			       uint64_t ip)
{
	return block &&
	       basic_block_is(block, flow->region, bytes_of_ip(flow, ip), flow->state.mode);
}

/* Returns whether a block's branch and the byte at `distance` are in its function, if known. */
static inline bool in_function(const struct basic_block *block, uint64_t distance)
{
	int64_t begin = block->function_begin, end = block->function_end;

	return (int64_t)distance >= begin && (int64_t)distance < end && block->length >= begin &&
	       block->length < end;
}

static inline void push_return(struct pt_flow *flow, uint64_t ip, struct basic_block *call)
{
	flow->return_top = (flow->return_top + 1) % RETURN_STACK_SIZE;
	flow->returns[flow->return_top] = (struct return_address){ .ip = ip, .call = call };
	if (flow->return_count < RETURN_STACK_SIZE)
		flow->return_count++;
}

/* The stack must not be empty. */
static inline void drop_return(struct pt_flow *flow)
{
	flow->return_count--;
	flow->return_top = (flow->return_top + RETURN_STACK_SIZE - 1) % RETURN_STACK_SIZE;
}

/* Returns an address with ip 0 if the stack is empty. */
static inline struct return_address pop_return(struct pt_flow *flow)
{
	struct return_address back = flow->returns[flow->return_top];

	if (!flow->return_count)
		return (struct return_address){ .ip = 0 };
	drop_return(flow);
	return back;
}

/* Update the processor's stack at a branch at `from`, the end of the block. */
static inline void update_return_stack(struct pt_flow *flow, struct basic_block *block,
				       uint64_t from)
{
	if (block->insn.kind == BRANCH_RETURN)
		pop_return(flow);
	if (block->insn.kind == BRANCH_CALL)
		push_return(flow, from + block->insn.length, block);
}
