/* SPDX-License-Identifier: MIT */
/* Open an AUX stream with the chosen engine. */
#include "decoder/engine/fast/pt_flow.h"
#include "decoder/engine/libipt/pt_blocks.h"

#define CONFIG_NO_TNT (UINT64_C(1) << 55) /* "notnt" of attr.config: DisTNT of IA32_RTIT_CTL */

static uint64_t ns_of_ticks(const struct tsc_clock *clock, uint64_t ticks)
{
	return tsc_clock_ns(clock, ticks) - clock->zero;
}

/*
 * Returns the maximum age of the last timing packet, in ns; 0: no limit. TSC packets alone give no
 * limit: the thread may have run on another CPU in the meantime, so the end of its run on this CPU
 * is no evidence. If the kernel is traced, the CPU also sleeps within the trace, and counts no
 * cycles.
 */
static uint64_t slack_of(const struct pt_info *info, const struct tsc_clock *clock)
{
	const uint64_t cycles = 500; /* between two CYC packets, also in code without branches */
	bool by_cycles = info->config & info->cyc_bit && info->exclude_kernel;

	return ns_of_ticks(clock, by_cycles ? cycles : pt_info_mtc_period(info));
}

static void start_schedule(struct pt_stream *stream)
{
	const struct aux_stream *aux = stream->input.aux;
	const struct pt_info *info = stream->input.info;
	const struct pt_stream_input *input = &stream->input;

	schedule_init(&stream->state.schedule, stream->input.history, aux->cpu, aux->tid);
	stream->clock = pt_info_tsc_clock(info);
	stream->state.schedule.slack = slack_of(info, &stream->clock);
	/* CYC packets stop with the core's clock; MTC packets continue. */
	stream->state.schedule.clock_bound = ns_of_ticks(&stream->clock, pt_info_mtc_period(info));
	stream->reference = aux->piece_count ? aux->pieces[0].reference : 0;
	/* Report a buffer's losses once, even if a file has the same buffer repeatedly. */
	if (!input->aux->again)
		stream->losses = history_losses(input->history, input->aux->cpu, input->aux->tid,
						&stream->loss_count);
	while (stream->state.next_loss < stream->loss_count &&
	       stream->losses[stream->state.next_loss].time < input->begin)
		stream->state.next_loss++;
	while (input->end && stream->loss_count > stream->state.next_loss &&
	       stream->losses[stream->loss_count - 1].time > input->end)
		stream->loss_count--;
	if (info->config & info->tsc_bit)
		return;
	if (!schedule_settle(&stream->state.schedule, aux->copies))
		diag_warn(stream->input.diag, "thread-unknown",
			  "no times on cpu %d: which thread ran is a guess", aux->cpu);
	/* Invented times start when the data was copied, unless perf's clock began later. */
	stream->state.now.time = tsc_clock_ns(&stream->clock, stream->reference);
	if (stream->state.now.time > INT64_MAX)
		stream->state.now.time = 0;
	diag_warn(stream->input.diag, "no-timing",
		  "recorded without %s: the order is right, the times are invented "
		  "(1 ns an instruction)",
		  stream->clock.mult ? "timing packets"
				     : "the relation of the TSC to perf's clock");
}

struct pt_stream *pt_stream_open(const struct pt_stream_input *input, struct error *err)
{
	struct pt_stream *stream;
	struct pt_config config;
	struct pt_flow *flow;

	pt_packet_config(&config, input->info, input->aux->cpu);
	stream = input->engine == PT_ENGINE_LIBIPT ? pt_blocks_new(input, &config)
						   : pt_flow_new(input, &config);
	if (!stream) {
		error_set(err, ERROR_LIBRARY, "libipt cannot make a decoder for this trace");
		return NULL;
	}
	stream->input = *input;
	stream->queue = stream->own;
	stream->room = QUEUE_OWN;
	stream->state.event_flags = BRANCH_TIME_ESTIMATED;
	stream->stats.bytes_total = input->aux->size;
	stream->stats.bytes_repeated = input->aux->repeated;
	stream->stats.bytes_missing = input->aux->missing;
	stream->ended = !input->aux->size;
	kernel_text_init(&stream->text, input->code->kernel);
	start_schedule(stream);
	if (stream_lacks_branches(input->info))
		diag_warn(input->diag, "no-branches",
			  "recorded with branch=0: there are no branches in the trace");
	if (input->info->config & CONFIG_NO_TNT)
		diag_warn(input->diag, "no-tnt",
			  "recorded with notnt: which way conditional branches went is not in "
			  "the trace, so little of it can be followed");
	/* Let other threads, if any, decode a long stream. */
	flow = (struct pt_flow *)stream;
	if (!stream->input.workers || stream->input.engine != PT_ENGINE_FAST ||
	    flow->cuts.position.at == AUX_CUTS_NONE)
		return stream;
	return pt_segments_new(flow);
}
