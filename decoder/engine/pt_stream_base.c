/* SPDX-License-Identifier: MIT */
/* Queue events, gaps and losses for both engines. */
#include "decoder/engine/pt_stream_base.h"

#include <linux/perf_event.h>

/* ---- Events out ---------------------------------------------------------- */

struct branch_event *stream_push_at(struct pt_stream *stream, const struct timestamp *timestamp,
				    enum branch_kind kind, uint64_t from, uint64_t to)
{
	struct insn insn = { .kind = (uint8_t)kind };

	return stream_push_insn(stream, timestamp, &insn, from, to);
}

struct branch_event *stream_push(struct pt_stream *stream, enum branch_kind kind, uint64_t from,
				 uint64_t to)
{
	stream_settle_cycles(stream, from);
	return stream_push_at(stream, &stream->state.now, kind, from, to);
}

void stream_push_cpu_event(struct pt_stream *stream, const struct cpu_event_data *event_data,
			   uint64_t ip)
{
	struct branch_event *event;

	if (!stream->input.cpu_events || event_data->kind == CPU_EVENT_NONE)
		return;
	event = &stream->queue[stream->tail++];
	*event = (struct branch_event){
		.time = stream->state.last_pushed,
		.word = stream->state.now.time,
		.from = ip,
		.to = event_data->value,
		.thread = stream->state.schedule.thread,
		.space = stream->state.schedule.space,
		.cycles = event_data->extra,
		.cpu = stream->input.aux->cpu,
		.kind = BRANCH_CPU_EVENT,
		.gap = (uint8_t)event_data->kind,
		.flags = stream->state.event_flags & BRANCH_TIME_ESTIMATED,
	};
	if (!cpu_event_has_thread(event_data->kind))
		return;
	/* Branches found later can be older, and keep their time. */
	event->time = event->word = stream_event_time(stream, stream->state.now.time);
}

/*
 * Emit the number of omitted jumps, even if it is 0, because a segment does not know the jumps
 * before it.
 */
static void push_jumps(struct pt_stream *stream, const struct thread *thread)
{
	struct branch_event *event = &stream->queue[stream->tail++];

	stream_set_counts(stream, event, stream->state.last_pushed, 0, 0, 0);
	event->thread = thread;
	event->gap = false;
}

void stream_push_counts(struct pt_stream *stream, const struct timestamp *timestamp, uint64_t ip,
			uint32_t cycles)
{
	struct branch_event *event = &stream->queue[stream->tail++];

	stream_set_counts(stream, event, stream->state.last_pushed, ip, stream->state.insn_count,
			  cycles);
	event->word = timestamp->time;
	stream->state.insn_count = 0;
}

void stream_push_cycles(struct pt_stream *stream, uint64_t ip)
{
	if (stream->input.sums_cycles) {
		struct stream_state *state = &stream->state;

		/*
		 * Add the cycles ahead to the sum. Emit the first ones of a period: events that
		 * come later but are older, because their packet's bits were not followed yet,
		 * count for the period of the last count.
		 */
		if (!stream_has_cycle_room(stream) || state->cycles_ahead > INT32_MAX)
			stream_push_counts(stream, &state->now, ip, 0);
		stream_sum_cycles(stream);
		if (state->period_begins)
			stream_push_counts(stream, &state->now, ip, 0);
		state->period_begins = false;
		return;
	}
	if (stream->tail && stream_gives_cycles(stream, &stream->queue[stream->tail - 1],
						stream->state.insn_count, stream->state.jump_count))
		stream->queue[stream->tail - 1].cycles = stream->state.cycles_ahead;
	else
		stream_push_counts(stream, &stream->state.now, ip, stream->state.cycles_ahead);
	stream->state.cycles_ahead = 0;
}

void stream_attribute_jumps(struct pt_stream *stream, const struct thread *before)
{
	if (stream->input.count_jumps && stream->state.schedule.thread != before)
		push_jumps(stream, before);
}

static void push_tx(struct pt_stream *stream, enum cpu_event_kind kind)
{
	stream->state.tx_shown = kind == CPU_EVENT_TX_BEGIN;
	stream_push_cpu_event(stream, &(struct cpu_event_data){ .kind = kind }, 0);
}

void stream_update_tx(struct pt_stream *stream, bool in_tx, enum cpu_event_kind end)
{
	stream_set_in_tx(stream, in_tx);
	if (!in_tx && stream->state.tx_shown)
		push_tx(stream, end);
}

void stream_show_tx(struct pt_stream *stream)
{
	if (stream_is_in_tx(stream) && !stream->state.tx_shown)
		push_tx(stream, CPU_EVENT_TX_BEGIN);
}

void stream_lose_tx(struct pt_stream *stream)
{
	stream_update_tx(stream, false, CPU_EVENT_TX_LOST);
}

void stream_push_gap(struct pt_stream *stream, enum gap_reason reason, uint64_t ip)
{
	stream_push(stream, BRANCH_GAP, ip, 0)->gap = (uint8_t)reason;
	stream->stats.gaps[reason]++;
}

bool stream_is_of_guest(const struct pt_stream *stream, bool nr)
{
	return nr && !stream->input.info->exclude_kernel;
}

void stream_push_guest(struct pt_stream *stream, uint64_t from, bool guest)
{
	if (stream_is_timed(stream))
		schedule_seek(&stream->state.schedule, stream->state.now.time);
	stream_push(stream, BRANCH_NONE, from, 0)->flags |=
		BRANCH_TRACE_OFF | BRANCH_ASYNC | (guest ? BRANCH_GUEST : 0);
	stream->stats.guests += guest;
}

void stream_push_end(struct pt_stream *stream, bool after_gap)
{
	if (!after_gap && stream->state.any_event && stream->input.aux->end_missing) {
		/* The file can lack records of this time, such as a switch. */
		stream->state.now.time = stream->state.last_pushed;
		stream_push_gap(stream, GAP_LOST, 0);
	}
	stream_finish(stream);
}

void stream_push_apart(struct pt_stream *stream, bool after_gap, const struct aux_piece *piece)
{
	if (!after_gap && stream->state.any_event)
		stream_push_gap(stream, stream->input.aux->copies ? GAP_NOT_RECORDED : GAP_LOST, 0);
	/* Possibly no timing packet follows before the next PSB. */
	if (piece->resume_time > stream->state.now.time && stream_is_timed(stream))
		stream->state.now.time = piece->resume_time;
}

/* Emit the loss at the next time, although it began at the last event's. */
static void push_loss(struct pt_stream *stream, uint64_t time)
{
	struct timestamp when = { stream->state.now.tsc, time };

	stream_push_at(stream, &when, BRANCH_GAP, 0, 0)->gap = GAP_LOST;
	stream->stats.gaps[GAP_LOST]++;
}

/* Limit per packet, as the queue is short. Further losses wait for the next packet with a time. */
#define LOSSES_AT_ONCE (QUEUE_ROOM / 2)

void stream_push_losses(struct pt_stream *stream, uint64_t time)
{
	const struct aux_stream *aux = stream->input.aux;
	unsigned emitted = 0;

	while (stream->state.next_loss < stream->loss_count && emitted < LOSSES_AT_ONCE &&
	       stream->losses[stream->state.next_loss].time <= time) {
		const struct loss *loss = &stream->losses[stream->state.next_loss];

		if (stream->tail + LOSSES_AT_ONCE > stream->room)
			return;
		stream->state.next_loss++;
		/* A piece that is apart begins at the loss. */
		if (loss->flags & PERF_AUX_FLAG_TRUNCATED &&
		    aux_stream_has_cut(aux, loss->aux_offset + loss->aux_size))
			continue;
		if (loss->time > stream->state.now.time)
			stream->state.now.time = loss->time;
		push_loss(stream, loss->time);
		emitted++;
	}
}

/* Maximum delay from a switch record to __switch_to, in ns. */
#define SWITCH_OVERDUE 20000

/* ---- Who runs ------------------------------------------------------------ */

/* Bits of attr.config, as in IA32_RTIT_CTL (SDM volume 3, "IA32_RTIT_CTL MSR"). */
#define CONFIG_PASS_THROUGH 1                   /* "pt": the next bit is valid */
#define CONFIG_BRANCHES     (UINT64_C(1) << 13) /* "branch": BranchEn */

bool stream_lacks_branches(const struct pt_info *info)
{
	return info->config & CONFIG_PASS_THROUGH && !(info->config & CONFIG_BRANCHES);
}

bool stream_follows_switches(const struct pt_info *info)
{
	return !info->exclude_kernel || stream_lacks_branches(info);
}

/* Returns whether entries and exits of user code show which thread runs. */
static bool user_only(const struct pt_stream *stream)
{
	return !stream_follows_switches(stream->input.info);
}

/*
 * Returns whether user code that begins at ip is the next program of the process. A time that is
 * too early finds the previous program, but only an exec leads to a program's entry. If both
 * programs have the same entry, the thread must have stopped at another ip: after a page fault on
 * its first instruction, a program also resumes at the entry.
 */
static bool begins_next_program(struct pt_stream *stream, uint64_t ip)
{
	struct schedule *schedule = &stream->state.schedule;
	const struct address_space *next = schedule_next_program(schedule, stream->state.now.time);
	const struct code_source *code = stream->input.code;

	return next && code_image_is_entry(code, next, ip) &&
	       (!code_image_is_entry(code, schedule->space, ip) ||
		schedule_stopped_elsewhere(schedule, ip));
}

void stream_enter(struct pt_stream *stream, uint64_t ip)
{
	struct schedule *schedule = &stream->state.schedule;
	const struct thread *before = schedule->thread;

	if (stream_is_timed(stream) && user_only(stream))
		schedule_seek_user(schedule, stream->state.now.time, ip);
	else if (stream_is_timed(stream))
		schedule_seek(schedule, stream->state.now.time);
	if (begins_next_program(stream, ip))
		schedule_begin_program(schedule);
	stream_attribute_jumps(stream, before);
}

void stream_enter_from_kernel(struct pt_stream *stream, const struct insn *insn, uint64_t ip)
{
	struct schedule *schedule = &stream->state.schedule;
	const struct thread *before = schedule->thread;

	if ((insn->kind != BRANCH_SYSRET && insn->kind != BRANCH_IRET) || ip_is_kernel(ip) ||
	    !stream_is_timed(stream) || user_only(stream))
		return;
	schedule_enter_user(schedule, stream->state.now.time, ip);
	stream_attribute_jumps(stream, before);
	if (!ip)
		return;
	if (begins_next_program(stream, ip))
		schedule_begin_program(schedule);
	/* The thread will stop in this address space, at an unknown ip. */
	schedule_stop_user(schedule, 0);
}

void stream_stop_user(struct pt_stream *stream, uint64_t ip)
{
	if (user_only(stream) || (ip && !ip_is_kernel(ip)))
		schedule_stop_user(&stream->state.schedule, ip);
}

void stream_switch_thread(struct pt_stream *stream)
{
	const struct thread *before = stream->state.schedule.thread;
	uint64_t slack = stream->state.schedule.slack;

	if (user_only(stream) || !stream_is_timed(stream))
		return;
	/* Each switch has a record: without better timing, assume the next record. */
	schedule_switch(&stream->state.schedule, stream->state.now.time,
			slack ? slack : UINT64_MAX);
	stream_attribute_jumps(stream, before);
}

uint64_t stream_switch_due(const struct pt_stream *stream)
{
	uint64_t due = stream->state.schedule.end;

	if (user_only(stream) || !stream_is_timed(stream))
		return UINT64_MAX;
	/* The record is written just before __switch_to: wait a short time for the flow. */
	if (stream->input.switch_ip &&
	    due < UINT64_MAX - SWITCH_OVERDUE - stream->state.schedule.slack)
		due += SWITCH_OVERDUE + stream->state.schedule.slack;
	return due;
}

void stream_follow_schedule(struct pt_stream *stream)
{
	const struct thread *before = stream->state.schedule.thread;

	if (stream->state.now.time < stream_switch_due(stream))
		return;
	schedule_seek(&stream->state.schedule, stream->state.now.time);
	stream_attribute_jumps(stream, before);
}

void stream_finish(struct pt_stream *stream)
{
	if (stream->input.count_jumps && !stream->ended)
		push_jumps(stream, stream->state.schedule.thread);
	stream->ended = true;
	stream_push_losses(stream, UINT64_MAX);
}

bool stream_refill(struct pt_stream *stream)
{
	while (stream->head == stream->tail) {
		stream->head = stream->tail = 0;
		if (stream->ended && stream->state.next_loss == stream->loss_count)
			return false;
		stream->waits = false;
		if (stream->ended)
			stream_finish(stream);
		else
			stream->step(stream);
		if (stream->waits)
			return false;
	}
	return true;
}

int pt_stream_next(struct pt_stream *stream, struct branch_event *event)
{
	size_t count;
	const struct branch_event *next = stream_peek(stream, &count);

	if (!count)
		return 0;
	*event = *next;
	stream_drop(stream, 1);
	return 1;
}

const struct pt_stream_stats *pt_stream_stats(const struct pt_stream *stream)
{
	return &stream->stats;
}

/* All fields are 64-bit counts. */
void pt_stream_stats_add(struct pt_stream_stats *sum, const struct pt_stream_stats *stats)
{
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)stats;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

void pt_stream_flush(struct pt_stream *stream)
{
	if (stream->flush)
		stream->flush(stream);
}

void pt_stream_close(struct pt_stream *stream)
{
	if (stream)
		stream->close(stream);
}
