/* SPDX-License-Identifier: MIT */
/*
 * What the two engines behind pt_stream.h share: time, who runs, and the queue
 * of events on their way out.  Private to decoder/.
 */
#ifndef DECODER_ENGINE_PT_STREAM_BASE_H
#define DECODER_ENGINE_PT_STREAM_BASE_H

#include <stdbool.h>

#include "decoder/clock/tsc_clock.h"
#include "decoder/code/insn.h"
#include "decoder/code/kernel_text.h"
#include "decoder/cpu_event.h"
#include "decoder/engine/pt_stream.h"
#include "decoder/timeline/schedule.h"

/* The most events that a packet can give at once: lost data, a pending branch, an event, a gap. */
#define QUEUE_ROOM 16
/* Events that a step may give, a power of two: a call for each would cost more than the event. */
#define QUEUE_RING 128

/*
 * Branches in a row while no packet is read.  A packet has at most 47 branch
 * decisions, and between two of them lie a few direct branches; a flow that
 * goes on for longer turns in a circle (`jmp .`).
 */
#define BRANCHES_WITHOUT_PACKET_MAX 4096

struct timestamp {
	uint64_t tsc;  /* ticks, all 8 bytes; 0: not known yet */
	uint64_t time; /* ns */
};

/* A side event without its time and place. */
struct cpu_event_data {
	enum cpu_event_kind kind;
	uint32_t extra;
	uint64_t value;
};

/* What decoding takes along over a cut (fast/flow_checkpoint.h); the rest of a stream stays. */
struct stream_state {
	struct timestamp now; /* time of the packets read so far */
	uint64_t last_pushed; /* ns: time of the last event */
	uint32_t insn_count;  /* instructions since the last event */
	uint32_t cycle_count; /* core cycles since the last event */
	size_t next_loss;     /* index in the stream's losses */
	uint8_t event_flags;  /* of branches from now on: BRANCH_IN_TX, BRANCH_TIME_ESTIMATED */
	bool any_event;       /* an event was emitted since the stream's beginning */
	struct schedule schedule;
};

struct pt_stream {
	/* Do a little more work: give events, or set `ended`. */
	void (*step)(struct pt_stream *stream);
	void (*close)(struct pt_stream *stream);

	struct pt_stream_input input;
	struct tsc_clock clock;
	struct kernel_text text; /* the kernel's code at `now`, if it changes */
	uint64_t reference;      /* a TSC near the data */
	bool ended;
	bool waits; /* step() could not go on: others decode what comes next (workers.h) */
	struct stream_state state;
	const struct loss *losses; /* borrowed from the timeline */
	size_t loss_count;
	/*
	 * Events on their way out: those from `head` to `tail`, each at its number
	 * & `queue_mask` in `queue`, which is `ring` or, for a batch, borrowed.
	 */
	struct branch_event *queue;
	unsigned queue_mask;
	unsigned head, tail;
	unsigned room; /* of the queue: a step goes on while QUEUE_ROOM of it is free */
	struct branch_event ring[QUEUE_RING];
	struct pt_stream_stats stats;
};

/* Whether packets have told the time. */
static inline bool stream_is_timed(const struct pt_stream *stream)
{
	return !(stream->state.event_flags & BRANCH_TIME_ESTIMATED);
}

/* Whether branches from now on are part of a transaction. */
static inline void stream_set_in_tx(struct pt_stream *stream, bool in_tx)
{
	stream->state.event_flags &= (uint8_t)~BRANCH_IN_TX;
	stream->state.event_flags |= in_tx ? BRANCH_IN_TX : 0;
}

/* Returns the TSC of which a packet names the lower 7 bytes. */
static inline uint64_t stream_complete_tsc(const struct pt_stream *stream, uint64_t low_tsc)
{
	return tsc_clock_complete(low_tsc, stream->reference);
}

/* The packets read so far name this TSC. */
static inline void stream_set_time(struct pt_stream *stream, uint64_t tsc)
{
	uint64_t time = tsc_clock_ns(&stream->clock, tsc);

	stream->state.now.tsc = tsc;
	stream->state.event_flags &= (uint8_t)~BRANCH_TIME_ESTIMATED;
	if (time > stream->state.now.time)
		stream->state.now.time = time;
}

/* Returns whether what a packet can give fits into the queue. */
static inline bool stream_has_room(const struct pt_stream *stream)
{
	return stream->tail - stream->head + QUEUE_ROOM <= stream->room;
}

/*
 * Instructions ran: without timing packets, that is all there is to tell the
 * time by, and one counts as one nanosecond.
 */
static inline void stream_count_insns(struct pt_stream *stream, uint32_t insns)
{
	stream->state.insn_count += insns;
	stream->stats.insns += insns;
	if (!stream_is_timed(stream))
		stream->state.now.time += insns;
}

/* Traced code ran for so many core cycles. */
static inline void stream_count_cycles(struct pt_stream *stream, uint64_t cycles)
{
	if (__builtin_add_overflow(stream->state.cycle_count, cycles, &stream->state.cycle_count))
		stream->state.cycle_count = UINT32_MAX;
}

/* Returns `time` within the thread's run on this CPU, and not before the event given out last. */
static inline uint64_t stream_event_time(struct pt_stream *stream, uint64_t time)
{
	if (!stream->input.perf_times)
		time = schedule_clamp(&stream->state.schedule, time);
	if (time < stream->state.last_pushed)
		time = stream->state.last_pushed;
	return time;
}

/* Give the event of an instruction out; what is returned may be completed until the next call. */
static inline struct branch_event *stream_push_insn(struct pt_stream *stream,
						    const struct timestamp *moment,
						    const struct insn *insn, uint64_t from,
						    uint64_t to)
{
	struct branch_event *event = &stream->queue[stream->tail++ & stream->queue_mask];

	stream->state.last_pushed = stream_event_time(stream, moment->time);
	*event = (struct branch_event){
		.time = stream->state.last_pushed,
		.tsc = moment->tsc,
		.from = from,
		.to = to,
		.thread = stream->state.schedule.thread,
		.space = stream->state.schedule.space,
		.insns = stream->state.insn_count,
		.cycles = stream->state.cycle_count,
		.cpu = stream->input.aux->cpu,
		.kind = insn->kind,
		.from_length = insn->length,
		.gap = 0, /* all are set, so nothing is cleared first */
		.flags = (uint8_t)(stream->state.event_flags | insn->indirect * BRANCH_INDIRECT),
	};
	stream->state.insn_count = stream->state.cycle_count = 0;
	stream->state.any_event = true;
	stream->stats.events++;
	return event;
}

/* The same of what is no instruction; stream_push(): at the time of the packets read so far. */
struct branch_event *stream_push_at(struct pt_stream *stream, const struct timestamp *moment,
				    enum branch_kind kind, uint64_t from, uint64_t to);
struct branch_event *stream_push(struct pt_stream *stream, enum branch_kind kind, uint64_t from,
				 uint64_t to);
void stream_push_gap(struct pt_stream *stream, enum gap_reason reason, uint64_t ip);

/*
 * A piece begins apart from what was decoded: a gap, unless one was told already
 * (`told`) or nothing came before.
 */
void stream_push_apart(struct pt_stream *stream, bool told);

/*
 * Give a side event out, if they are asked for.  Instructions and cycles stay
 * for the next branch.
 */
void stream_push_cpu_event(struct pt_stream *stream, const struct cpu_event_data *note,
			   uint64_t ip);

/* Losses that the kernel reported show as gaps when the stream reaches their time. */
void stream_push_losses(struct pt_stream *stream, uint64_t time);

/* Tracing begins at ip: with user code only, this is where another thread may be. */
void stream_enter(struct pt_stream *stream, uint64_t ip);

/* User code stops where tracing goes off, and will go on at ip; 0: not known. */
void stream_stop_user(struct pt_stream *stream, uint64_t ip);

/* The flow reached input.switch_ip: the next thread goes on. */
void stream_switch_thread(struct pt_stream *stream);

/* Returns whether the trace was recorded without branches ("branch=0"). */
bool stream_lacks_branches(const struct pt_info *info);

/*
 * Returns whether time tells who runs: not where only user code is traced, and entering
 * it tells.
 */
bool stream_follows_switches(const struct pt_info *info);

/* Where the kernel is traced, threads change while tracing is on. */
void stream_follow_schedule(struct pt_stream *stream);

/* The data is at its end. */
void stream_finish(struct pt_stream *stream);

/* Work until there is an event.  Returns false if there is none any more, or the stream waits. */
bool stream_refill(struct pt_stream *stream);

/*
 * Returns the events that come next, as many as are there and lie side by side,
 * in *count; 0: there are none any more, or the stream waits.  They are borrowed until
 * stream_drop().
 */
static inline const struct branch_event *stream_peek(struct pt_stream *stream, size_t *count)
{
	unsigned at, ready;

	*count = 0;
	if (stream->head == stream->tail && !stream_refill(stream))
		return NULL;
	at = stream->head & stream->queue_mask;
	ready = stream->tail - stream->head;
	*count = ready <= stream->queue_mask - at ? ready : stream->queue_mask - at + 1;
	return &stream->queue[at];
}

static inline void stream_drop(struct pt_stream *stream, size_t count)
{
	stream->head += (unsigned)count;
}

#endif
