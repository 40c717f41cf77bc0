/* SPDX-License-Identifier: MIT */
/* The library's functions: its input as the engine's, events without the engine's pointers. */
#include "decoder/ptflow/ptflow.h"

#include <setjmp.h>

#include "decoder/engine/pt_stream_base.h"

struct ptflow {
	struct ptflow_input given;
	struct pt_info info;
	struct aux_piece piece;
	struct aux_stream aux;
	struct history history; /* empty */
	struct code_source code;
	struct pt_stream *stream;          /* owned; NULL before the first event */
	const struct branch_event *events; /* borrowed from the stream */
	size_t event_count, next_event;
	struct ptflow_event event; /* lent to the caller */
	unsigned failure;          /* enum ptflow_reason of the last event; 0: none */
};

static struct code_view view_code(void *context, uint64_t ip)
{
	const struct ptflow_input *given = context;
	struct code_view view = { .begin = ip };
	size_t size = 0;

	view.bytes = given->find(given->context, ip, &view.begin, &size);
	if (!view.bytes || ip - view.begin >= size || view.begin + size < size)
		return (struct code_view){ .begin = ip, .end = ip };
	view.end = view.begin + size;
	return view;
}

static void open_stream(struct ptflow *flow)
{
	const struct ptflow_input *given = &flow->given;

	flow->info = (struct pt_info){
		/* SDM volume 3, "IA32_RTIT_CTL MSR". */
		.cyc_bit = 1 << 1,
		.exclude_kernel = !(given->ctl & 1 << 2),
		.mtc_bit = 1 << 9,
		.tsc_bit = 1 << 10,
		.noretcomp_bit = 1 << 11,
		.mtc_freq_bits = 15 << 14,
		.config = given->ctl,
		.cpu_is_intel = given->family,
		.cpu_family = given->family,
		.cpu_model = given->model,
		.tsc_ctc_ratio_n = given->crystal_n,
		.tsc_ctc_ratio_d = given->crystal_d,
		.max_nonturbo_ratio = given->max_ratio,
		.time_mult = given->time_mult ?: 1,
		.time_shift = given->time_mult ? given->time_shift & 63 : 0,
		.time_zero = given->time_zero,
	};
	flow->piece =
		(struct aux_piece){ given->trace, given->trace_size, .reference = given->tsc };
	flow->aux = (struct aux_stream){ -1, -1, &flow->piece, 1, .in_memory = true };
	flow->aux.size = given->trace_size;
	flow->code = (struct code_source){ .view = view_code, .context = &flow->given };
	flow->stream = pt_stream_open(&(struct pt_stream_input){ .info = &flow->info,
								 .aux = &flow->aux,
								 .history = &flow->history,
								 .code = &flow->code,
								 .cpu_events = true,
								 .cycles = true },
				      NULL);
}

static _Thread_local jmp_buf *memory_lack;

static void leave_engine(void)
{
	longjmp(*memory_lack, 1);
}

/* Returns 0, or the reason of the last gap. An engine that lacked memory can only be closed. */
static unsigned refill(struct ptflow *flow)
{
	jmp_buf lack;

	flow->next_event = flow->event_count = 0;
	memory_lack = &lack;
	__atomic_store_n(&alloc_fail_hook, leave_engine, __ATOMIC_RELAXED);
	if (setjmp(lack))
		return PTFLOW_GAP_NO_MEMORY;
	if (!flow->stream)
		open_stream(flow);
	if (!flow->stream)
		return PTFLOW_GAP_LIBRARY;
	flow->events = stream_peek(flow->stream, &flow->event_count);
	stream_drop(flow->stream, flow->event_count);
	return 0;
}

struct ptflow *ptflow_open(const struct ptflow_input *input)
{
	struct ptflow *flow = calloc(1, sizeof(*flow));

	if (flow)
		flow->given = *input;
	return flow;
}

const struct ptflow_event *ptflow_next(struct ptflow *flow)
{
	const struct branch_event *event;
	bool packet;

	if (flow->next_event == flow->event_count && !flow->failure) {
		flow->failure = refill(flow);
		flow->event = (struct ptflow_event){ .time = flow->event.time, .kind = PTFLOW_GAP };
		flow->event.detail = flow->failure;
		if (flow->failure)
			return &flow->event;
	}
	if (flow->next_event == flow->event_count)
		return NULL;
	event = &flow->events[flow->next_event++];
	packet = event->kind == BRANCH_CPU_EVENT;
	flow->event = (struct ptflow_event){
		.time = packet ? event->word : event->time,
		.from = event->from,
		.to = event->to,
		.insns = event->insns,
		.cycles = packet ? 0 : event->cycles,
		.detail = packet ? event->cycles : event->gap,
		.kind = (uint8_t)(packet ? PTFLOW_CBR - CPU_EVENT_CBR + event->gap : event->kind),
		.flags = event->flags,
		.length = event->from_length,
	};
	return &flow->event;
}

const char *ptflow_reason_text(unsigned reason)
{
	return reason == PTFLOW_GAP_NO_MEMORY ? "Out of memory"
					      : gap_reason_facts((enum gap_reason)reason)->text;
}

void ptflow_close(struct ptflow *flow)
{
	if (flow)
		pt_stream_close(flow->stream);
	free(flow);
}
