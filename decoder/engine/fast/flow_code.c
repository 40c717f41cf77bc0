/* SPDX-License-Identifier: MIT */
/* Look up the code at an IP: view, basic block, return address. */
#include "decoder/engine/fast/flow_code.h"

static void forget_calls(struct pt_flow *flow)
{
	for (unsigned i = 0; i < RETURN_STACK_SIZE; i++)
		if (flow->returns[i].ip)
			flow->returns[i].call = NULL;
}

void flow_forget_views(struct pt_flow *flow)
{
	memset(flow->views, 0, sizeof(flow->views));
	flow->view = (struct code_view){ 0 };
	flow->cached_block = 0;
	forget_calls(flow);
}

static void set_region(struct pt_flow *flow)
{
	flow->region = code_regions_number(&flow->blocks.regions, flow->view.bytes,
					   flow->view.end - flow->view.begin, flow->space,
					   flow->view.begin);
}

static void find_view(struct pt_flow *flow, uint64_t ip)
{
	struct pt_stream *stream = &flow->stream;
	unsigned at = flow->next_view % VIEW_CACHE_SIZE;
	uint64_t before;

	flow->view = code_image_view(stream->input.code, flow->space, ip);
	flow->view.bytes = kernel_text_bytes(&stream->text, flow->view.bytes);
	if (!flow->view.bytes)
		return;
	/* Offsets in a region have 32 bits: limit a longer view to a part around ip. */
	before = (ip - flow->view.begin) & ~(uint64_t)UINT32_MAX;
	flow->view.begin += before;
	flow->view.bytes += before;
	if (flow->view.end - flow->view.begin > UINT32_MAX)
		flow->view.end = flow->view.begin + UINT32_MAX + UINT64_C(1);
	set_region(flow);
	flow->views[at] = flow->view;
	flow->regions[at] = flow->region;
	flow->next_view++;
}

void flow_change_view(struct pt_flow *flow, uint64_t ip)
{
	flow->cached_block = 0;
	for (unsigned i = 0; i < VIEW_CACHE_SIZE; i++) {
		const struct code_view *view = &flow->views[i];

		if (ip - view->begin >= view->end - view->begin)
			continue;
		flow->view = *view;
		flow->region = flow->regions[i];
		return;
	}
	find_view(flow, ip);
}

bool flow_enter_seam(struct pt_flow *flow, uint64_t ip, size_t *size)
{
	struct pt_stream *stream = &flow->stream;
	uint8_t bytes[INSN_LENGTH_MAX];
	struct insn insn;

	*size = code_image_read(stream->input.code, flow->space, &stream->text, ip, bytes);
	if (ip == flow->view.end)
		return *size > 0;
	insn = insn_decode(bytes, *size, flow->state.mode);
	if (insn.length <= flow->view.end - ip)
		return false;
	flow->view.bytes =
		code_regions_copy(&flow->blocks.regions, bytes_of_ip(flow, ip), bytes, insn.length);
	flow->view.begin = ip;
	flow->view.end = ip + insn.length;
	flow->view.seam = true;
	set_region(flow);
	return true;
}

const uint8_t *flow_code_at(struct pt_flow *flow, uint64_t ip, size_t *size)
{
	if (flow->space != flow->stream.state.schedule.space) {
		flow_forget_views(flow);
		flow->space = flow->stream.state.schedule.space;
		flow->probed = flow->space && flow->space->probed;
	}
	if (!in_view(flow, ip))
		flow_change_view(flow, ip);
	*size = flow->view.end - ip;
	return flow->view.bytes ? bytes_of_ip(flow, ip) : NULL;
}

void flow_follow_text(struct pt_flow *flow)
{
	if (!kernel_text_advance(&flow->stream.text, flow->stream.state.now.time))
		return;
	if (flow->view.seam)
		flow->view = (struct code_view){ 0 };
	basic_blocks_forget(&flow->blocks);
	forget_calls(flow);
	flow->cached_block = 0;
}

/* Returns the number of bytes at ip with equal inlined calls; SIZE_MAX: unknown. */
static size_t piece_at(struct pt_flow *flow, uint64_t ip)
{
	uint64_t begin, end;

	if (!flow->stream.input.pieces)
		return SIZE_MAX;
	code_image_piece(flow->stream.input.code, &flow->view, ip, &begin, &end);
	return begin < end ? end - ip : SIZE_MAX;
}

struct basic_block *flow_block_at(struct pt_flow *flow, uint64_t ip)
{
	unsigned generation = flow->blocks.generation;
	struct basic_block *block;
	size_t size;
	const uint8_t *bytes = flow_code_at(flow, ip, &size);

	if (!bytes)
		return NULL;
	block = basic_blocks_find(&flow->blocks, flow->region, bytes, flow->state.mode);
	if (!block)
		block = basic_blocks_add(&flow->blocks, flow->region, bytes, size,
					 piece_at(flow, ip), flow->state.mode);
	if (flow->view.seam) {
		block->exit = EXIT_STEP; /* flow_run_cached() does not look up seams */
		block->falls_out = true;
	}
	*basic_block_offset(&flow->blocks, block->node) = (uint32_t)(bytes - flow->view.bytes);
	if (generation != flow->blocks.generation) {
		forget_calls(flow);
		flow->cached_block = 0;
	}
	return block;
}
