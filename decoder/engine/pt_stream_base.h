/* SPDX-License-Identifier: MIT */
/* The common part of both engines: time, thread and queue of events.  Private to decoder/. */
#pragma once

#include "decoder/code/insn.h"
#include "decoder/cpu_event.h"
#include "decoder/engine/pt_stream.h"
#include "decoder/engine/schedule.h"

/* Maximum events of one packet (lost data, a pending branch, an event, a gap), or of a run. */
#define QUEUE_ROOM 32
/* Size of the queue: a call per event would cost more than the event. */
#define QUEUE_OWN 128

/*
 * Limit of successive branches without a packet. A packet has at most 47 TNT bits, with a few
 * direct branches in between; a flow with more branches loops forever (`jmp .`). A block without a
 * branch counts as one.
 */
#define BRANCHES_WITHOUT_PACKET_MAX 4096

/* State that decoding carries over a cut (fast/flow_checkpoint.h). */
struct stream_state {
	struct timestamp {
		uint64_t tsc;  /* ticks, all 8 bytes; 0: not known yet */
		uint64_t time; /* ns */
	} now;                 /* time of the packets read so far */
	uint64_t last_pushed;  /* ns: time of the last event */
	uint32_t insn_count;   /* instructions since the last event */
	uint32_t cycles_ahead; /* core cycles up to the end of the current packet */
	uint32_t cycle_sum;    /* with input.sums_cycles: cycles since the last BRANCH_COUNTS */
	bool period_begins;    /* nothing of the current input.period was emitted yet */
	uint64_t jump_count;   /* jumps omitted since the last BRANCH_COUNTS */
	size_t next_loss;      /* index in the stream's losses */
	uint8_t event_flags;   /* flags of later branches: BRANCH_IN_TX, BRANCH_TIME_ESTIMATED */
	bool tx_shown;         /* the begin of a transaction was emitted, but not its end */
	bool any_event;        /* an event was emitted since the stream's beginning */
	struct schedule schedule;
};

struct pt_stream {
	/* Decode a little more: emit events, or set `ended`. */
	void (*step)(struct pt_stream *stream);
	void (*close)(struct pt_stream *stream);
	/* Pass counts of code on, in the ordered stage; NULL: they are passed on immediately. */
	void (*flush)(struct pt_stream *stream);

	struct pt_stream_input input;
	struct tsc_clock clock;
	struct kernel_text text; /* the kernel's code at `now`, if it changes */
	uint64_t reference;      /* a TSC near the data; its top byte completes 7-byte TSCs */
	bool ended;
	bool waits; /* step() needs a segment that another thread decodes (base/workers.h) */
	struct stream_state state;
	const struct loss *losses; /* borrowed from the history */
	size_t loss_count;
	/* Events `head` to `tail`, both 0 when a step begins; `own`, or borrowed. */
	struct branch_event *queue;
	unsigned head, tail;
	unsigned room; /* the queue's size; a step continues while QUEUE_ROOM is free */
	struct branch_event own[QUEUE_OWN];
	struct pt_stream_stats stats;
};

/* Returns whether packets had a time. */
static inline bool stream_is_timed(const struct pt_stream *stream)
{
	return !(stream->state.event_flags & BRANCH_TIME_ESTIMATED);
}

/* Set whether later branches are part of a transaction. */
static inline void stream_set_in_tx(struct pt_stream *stream, bool in_tx)
{
	stream->state.event_flags &= (uint8_t)~BRANCH_IN_TX;
	stream->state.event_flags |= in_tx ? BRANCH_IN_TX : 0;
}

/* Returns whether later branches are part of a transaction. */
static inline bool stream_is_in_tx(const struct pt_stream *stream)
{
	return stream->state.event_flags & BRANCH_IN_TX;
}

/* Returns the full TSC of a packet's lower 7 bytes. */
static inline uint64_t stream_complete_tsc(const struct pt_stream *stream, uint64_t low_tsc)
{
	return tsc_clock_complete(low_tsc, stream->reference);
}

/*
 * Set the time of the packets read so far. Times are signed (perf_record_time_can_be()): a larger
 * time is due to a damaged clock or packet, and is only counted.
 */
static inline void stream_set_time(struct pt_stream *stream, uint64_t tsc)
{
	uint64_t time = tsc_clock_ns(&stream->clock, tsc);

	if (!stream->clock.mult)
		return;
	stream->state.now.tsc = tsc;
	stream->state.event_flags &= (uint8_t)~BRANCH_TIME_ESTIMATED;
	if ((int64_t)time > (int64_t)stream->state.now.time)
		stream->state.now.time = time;
	else
		stream->stats.times_impossible += time >> 63;
}

/* Returns whether the events of a packet fit into the queue. */
static inline bool stream_has_room(const struct pt_stream *stream)
{
	return stream->tail + QUEUE_ROOM <= stream->room;
}

/* Count instructions.  Without timing packets, time advances 1 ns per instruction. */
static inline void stream_count_insns(struct pt_stream *stream, uint32_t insns)
{
	stream->state.insn_count += insns;
	stream->stats.insns += insns;
	if (!stream_is_timed(stream))
		stream->state.now.time += insns;
}

/*
 * Fill a BRANCH_COUNTS, with what was summed. `last`: time of the event before it, because branches
 * found later can be older than its packet.
 */
static inline void stream_set_counts(struct pt_stream *stream, struct branch_event *event,
				     uint64_t last, uint64_t ip, uint32_t insns, uint32_t cycles)
{
	*event = (struct branch_event){
		.time = last,
		.word = stream->state.now.time,
		.from = ip,
		.to = stream->state.jump_count,
		.thread = stream->state.schedule.thread,
		.space = stream->state.schedule.space,
		.insns = insns,
		.cycles = stream->state.cycle_sum + cycles,
		.cpu = stream->input.aux->cpu,
		.kind = BRANCH_COUNTS,
		.gap = true,
		.flags = stream->state.event_flags,
	};
	stream->state.jump_count = stream->state.cycle_sum = 0;
}

/* Emit a BRANCH_COUNTS: instructions since the last event, up to a time, and cycles, at ip. */
void stream_push_counts(struct pt_stream *stream, const struct timestamp *timestamp, uint64_t ip,
			uint32_t cycles);

/* Returns whether the sum has room for the cycles of a whole window. */
static inline bool stream_has_cycle_room(const struct pt_stream *stream)
{
	return stream->state.cycle_sum <= INT32_MAX;
}

/* Add the cycles ahead to the sum. */
static inline void stream_sum_cycles(struct pt_stream *stream)
{
	stream->state.cycle_sum += stream->state.cycles_ahead;
	stream->state.cycles_ahead = 0;
}

/*
 * Returns whether the last event can have the cycles up to now, with the instructions and omitted
 * jumps since. Inlined calls that begin after the branch come before its cycles, so with `pieces`
 * these are apart.
 */
static inline bool stream_gives_cycles(const struct pt_stream *stream,
				       const struct branch_event *event, uint32_t insns,
				       uint64_t jumps)
{
	return !insns && !stream->input.pieces && event->time >= stream->state.now.time &&
	       branch_is_near(event) && !event->cycles && !(stream->input.count_jumps && jumps);
}

/* Emit the cycles ahead, with the branch before ip if that was the last instruction. */
void stream_push_cycles(struct pt_stream *stream, uint64_t ip);

/* The flow has followed the packet after a CYC to ip: the cycles belong to the code up to ip. */
static inline void stream_settle_cycles(struct pt_stream *stream, uint64_t ip)
{
	if (stream->state.cycles_ahead)
		stream_push_cycles(stream, ip);
}

/* Count core cycles of traced code, up to the end of the next packet; the flow is at ip. */
static inline void stream_count_cycles(struct pt_stream *stream, uint64_t cycles, uint64_t ip)
{
	stream_settle_cycles(stream, ip);
	stream->state.cycles_ahead = cycles < UINT32_MAX ? (uint32_t)cycles : UINT32_MAX;
}

/* Returns `time` clamped to the thread's run on this CPU, and at least the last event's. */
static inline uint64_t stream_event_time(struct pt_stream *stream, uint64_t time)
{
	time = schedule_clamp(&stream->state.schedule, time);
	if (time < stream->state.last_pushed)
		time = stream->state.last_pushed;
	return time;
}

/* Returns whether the chosen time begins or ends between two times. */
static inline bool stream_time_is_cut(const struct pt_stream *stream, uint64_t from, uint64_t to)
{
	const struct pt_stream_input *input = &stream->input;

	return input->end && ((from < input->begin) != (to < input->begin) ||
			      (from > input->end) != (to > input->end));
}

/* Returns whether to count code of the current thread at `ip` at a time. */
static inline bool stream_selects(struct pt_stream *stream, const struct timestamp *timestamp,
				  uint64_t ip)
{
	const struct pt_stream_input *input = &stream->input;
	uint64_t time = input->end ? stream_event_time(stream, timestamp->time) : 0;

	if (input->end && (time < input->begin || time > input->end))
		return false;
	return !input->selects || input->selects(input->context, stream->state.schedule.thread, ip);
}

/* Count jumps within a function, starting at `ip`, that are not events. */
static inline void stream_count_local_jumps(struct pt_stream *stream,
					    const struct timestamp *timestamp, uint64_t ip,
					    unsigned jumps)
{
	stream->stats.events += jumps;
	stream->state.jump_count += jumps;
	if (jumps && stream_selects(stream, timestamp, ip))
		stream->stats.local_jumps += jumps;
}

/* Emit the branch of an instruction, which the caller may complete until the next call. */
static inline __attribute__((always_inline)) struct branch_event *stream_push_insn(
	struct pt_stream *stream, const struct timestamp *timestamp, const struct insn *insn,
	uint64_t from, uint64_t to)
{
	struct known_branches *branches = stream->input.branches;
	struct known_branch *known =
		branches ? known_branches_find(branches, stream->state.schedule.space, from, to)
			 : NULL;
	struct branch_event *event = &stream->queue[stream->tail++];

	stream->state.last_pushed = stream_event_time(stream, timestamp->time);
	*event = (struct branch_event){
		.time = stream->state.last_pushed,
		.known = known,
		.from = from,
		.to = to,
		.thread = stream->state.schedule.thread,
		.space = stream->state.schedule.space,
		.insns = stream->state.insn_count,
		.cycles = 0,
		.cpu = stream->input.aux->cpu,
		.kind = insn->kind,
		.from_length = insn->length,
		.gap = 0, /* set all fields, so that the compiler clears none first */
		.flags = (uint8_t)(stream->state.event_flags | insn->indirect * BRANCH_INDIRECT),
	};
	stream->state.insn_count = 0;
	stream->state.any_event = true;
	stream->stats.events++;
	return event;
}

/* Emit an event without an instruction; stream_push(): at the time of the packets read so far. */
struct branch_event *stream_push_at(struct pt_stream *stream, const struct timestamp *timestamp,
				    enum branch_kind kind, uint64_t from, uint64_t to);
struct branch_event *stream_push(struct pt_stream *stream, enum branch_kind kind, uint64_t from,
				 uint64_t to);
void stream_push_gap(struct pt_stream *stream, enum gap_reason reason, uint64_t ip);

/* A piece begins apart: emit a gap, except after a gap (`after_gap`) or at the start. */
void stream_push_apart(struct pt_stream *stream, bool after_gap, const struct aux_piece *piece);

/* The last piece ends: the same if the file is truncated there; then stream_finish(). */
void stream_push_end(struct pt_stream *stream, bool after_gap);

/*
 * Set whether a transaction is open, by a MODE.TSX without a FUP: in a PSB's header, or in untraced
 * code. `end`: how a transaction ended (CPU_EVENT_TX_*).
 */
void stream_update_tx(struct pt_stream *stream, bool in_tx, enum cpu_event_kind end);

/* Code is traced now: emit the begin of its transaction, unless already emitted. */
void stream_show_tx(struct pt_stream *stream);

/* The trace loses the open transaction, if any: emit its end. */
void stream_lose_tx(struct pt_stream *stream);

/* If another thread than `before` runs now, emit the jumps so far, which belong to `before`. */
void stream_attribute_jumps(struct pt_stream *stream, const struct thread *before);

/* Emit a CPU event, if input.cpu_events.  Instructions and cycles are kept for the next branch. */
void stream_push_cpu_event(struct pt_stream *stream, const struct cpu_event_data *event_data,
			   uint64_t ip);

/* Emit losses reported by the kernel up to `time` as gaps. */
void stream_push_losses(struct pt_stream *stream, uint64_t time);

/* Tracing begins at ip. If only user code is traced, another thread can run now. */
void stream_enter(struct pt_stream *stream, uint64_t ip);

/*
 * A branch leads to ip (0: not known yet). If it leaves the kernel, user code runs with the
 * mappings of this time or of the next program.
 */
void stream_enter_from_kernel(struct pt_stream *stream, const struct insn *insn, uint64_t ip);

/*
 * Returns whether a PIP with this NR bit means that a guest runs in the host's trace. perf traces
 * user code without PIPs (SDM volume 3, "PIP": OS = 1), so a PIP in such a trace is from a recorder
 * that traces a guest alone, as fuzzers do: the recorded mappings are the guest's.
 */
bool stream_is_of_guest(const struct pt_stream *stream, bool nr);

/*
 * Tracing of the host's code ends at `from` (0: it was off). `guest`: a guest's code is traced now.
 */
void stream_push_guest(struct pt_stream *stream, uint64_t from, bool guest);

/* User code stops at an end of tracing or an interrupt; it resumes at ip (0: unknown). */
void stream_stop_user(struct pt_stream *stream, uint64_t ip);

/* The flow reached input.switch_ip: the next thread runs. */
void stream_switch_thread(struct pt_stream *stream);

/* Returns whether the trace was recorded without branches ("branch=0"). */
bool stream_lacks_branches(const struct pt_info *info);

/* Returns whether time decides which thread runs. If only user code is traced, its entry does. */
bool stream_follows_switches(const struct pt_info *info);

/* Returns the time from which stream_follow_schedule() can change threads; UINT64_MAX: never. */
uint64_t stream_switch_due(const struct pt_stream *stream);

/* If the kernel is traced, threads change while tracing is on: change to the current one. */
void stream_follow_schedule(struct pt_stream *stream);

/* The data ends: emit the remaining losses. */
void stream_finish(struct pt_stream *stream);

/* Decode until there is an event.  Returns false at the end, or if the stream waits. */
bool stream_refill(struct pt_stream *stream);

/*
 * Returns the next *count events, borrowed until stream_drop(); *count is 0 at the end, or if the
 * stream waits.
 */
static inline const struct branch_event *stream_peek(struct pt_stream *stream, size_t *count)
{
	*count = 0;
	if (stream->head == stream->tail && !stream_refill(stream))
		return NULL;
	*count = stream->tail - stream->head;
	return &stream->queue[stream->head];
}

static inline void stream_drop(struct pt_stream *stream, size_t count)
{
	stream->head += (unsigned)count;
}
