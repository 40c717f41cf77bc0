/* SPDX-License-Identifier: MIT */
/* Decode the segments of a stream in several threads, and check their guesses in order. */
#include "decoder/engine/fast/pt_flow.h"

#include "base/workers.h"
#include "decoder/engine/event_pool.h"
#include "decoder/engine/fast/flow_checkpoint.h"

/* Limit of a segment's chunks of events: 16 MiB. Segments with more are decoded in order. */
#define CHUNKS_MAX 256

struct pt_segments {
	struct pt_stream stream; /* first */
	struct pt_flow *flow;    /* owned: decodes segments whose guess was wrong */
	struct pt_config config;
	struct flow_checkpoint first;
	struct flow_checkpoint now; /* end of the events emitted so far */
	bool in_flow;               /* `flow` has not reached the next cut */
	bool in_queue; /* the oldest segment's guess was right: its first chunk is in the queue */
	struct aux_cuts plan; /* begin of the next segment to plan */
	bool planned_all;
	/* A ring buffer: */
	struct segment {
		struct worker_job job; /* first */
		struct pt_segments *owner;
		struct aux_cuts at; /* its begin, except of the first segment */
		uint64_t begin;     /* offset of its cut; 0: the stream's beginning */
		void *follower;     /* owned: state of input.follower; may be NULL */
		/* Results: */
		bool usable, ended;
		struct flow_checkpoint before, after;
		struct event_chunk *chunks, *last; /* list, borrowed from the pool; NULL: empty */
		size_t chunk_count;
		struct pt_stream_stats stats;
		struct code_count_list counts; /* owned */
	} * segments;                          /* owned */
	unsigned room, oldest, newest;
};

/* ---- Decoding ahead, in any thread --------------------------------------- */

static struct event_pool *pool_of(const struct segment *segment)
{
	return segment->owner->stream.input.pool;
}

/* Give the stream an empty queue, the segment's last chunk. */
static void add_chunk(struct segment *segment, struct pt_stream *stream)
{
	struct event_chunk *chunk = event_pool_take(pool_of(segment));

	*(segment->chunks ? &segment->last->next : &segment->chunks) = chunk;
	segment->last = chunk;
	segment->chunk_count++;
	stream->queue = chunk->events;
	stream->head = stream->tail = 0;
	stream->room = EVENT_CHUNK;
}

static void drop_chunks(struct segment *segment)
{
	event_pool_give(pool_of(segment), segment->chunks);
	segment->chunks = segment->last = NULL;
	segment->chunk_count = 0;
}

/* Make room for the next step's events. Returns false if the segment has too many. */
static bool grow_queue(struct segment *segment, struct pt_stream *stream)
{
	segment->last->count = stream->tail;
	if (stream_has_room(stream))
		return true;
	if (segment->chunk_count == CHUNKS_MAX)
		return false;
	add_chunk(segment, stream);
	return true;
}

static bool decode_segment(struct segment *segment, struct pt_flow *flow)
{
	struct pt_stream *stream = &flow->stream;
	bool room = true;

	while (room && !flow->paused && !stream->ended) {
		stream->step(stream);
		room = grow_queue(segment, stream);
	}
	while (room && stream->ended && stream->state.next_loss < stream->loss_count) {
		stream_finish(stream);
		room = grow_queue(segment, stream);
	}
	return room;
}

static void free_scratch_flow(void *flow)
{
	pt_flow_free(flow);
}

/* Returns the thread's flow, for streams of any size. */
static struct pt_flow *scratch_flow(struct worker_scratch *scratch)
{
	if (!scratch->data)
		*scratch = (struct worker_scratch){ pt_flow_spare(UINT64_MAX), free_scratch_flow };
	return scratch->data;
}

static void decode_ahead(struct worker_job *job, struct worker_scratch *scratch)
{
	struct segment *segment = (struct segment *)job;
	struct pt_flow *flow = scratch_flow(scratch);
	const struct flow_checkpoint *first = &segment->owner->first;
	const struct segment_follower *follower = segment->owner->stream.input.follower;
	const struct pt_segments *owner = segment->owner;

	pt_flow_adopt(flow, &owner->stream, &owner->config);
	flow->stops_at_cuts = true;
	add_chunk(segment, &flow->stream);
	if (!segment->begin)
		flow_checkpoint_load(first, flow);
	segment->usable = !segment->begin || flow_checkpoint_guess(flow, first, &segment->at);
	flow_checkpoint_save(&segment->before, flow);
	segment->usable = segment->usable && decode_segment(segment, flow);
	segment->ended = flow->stream.ended;
	segment->stats = flow->stream.stats;
	flow_checkpoint_save(&segment->after, flow);
	/* Exchange the lists, also of a bad guess, lest another segment gets the counts. */
	if (flow->blocks.counts) {
		struct code_count_list empty = segment->counts;

		block_counts_collect(&flow->blocks);
		segment->counts = flow->blocks.counts->list;
		flow->blocks.counts->list = empty;
	}
	if (segment->usable && follower) {
		follower->begin(segment->follower);
		for (struct event_chunk *chunk = segment->chunks; chunk; chunk = chunk->next)
			follower->follow(segment->follower, chunk->events, chunk->count);
		follower->end(segment->follower);
	}
}

/* ---- Consuming segments in order ----------------------------------------- */

/*
 * Raise times up to the first branch that is late enough; CPU events can be ahead of branches.
 * Returns whether the chunk has such a branch.
 */
static bool raise_times(struct event_chunk *chunk, uint64_t time)
{
	for (size_t i = 0; i < chunk->count; i++) {
		struct branch_event *event = &chunk->events[i];

		if (event->time >= time && event->kind != BRANCH_CPU_EVENT)
			return true;
		if (event->time >= time)
			continue;
		event->time = time;
		if (event->kind == BRANCH_CPU_EVENT &&
		    cpu_event_has_thread((enum cpu_event_kind)event->gap))
			event->word = time;
	}
	return false;
}

/* Returns whether an event counts the instructions since the previous one. */
static bool event_counts(const struct branch_event *event)
{
	return event->kind == BRANCH_COUNTS ? event->gap : event->kind != BRANCH_CPU_EVENT;
}

static bool event_has_sums(const struct branch_event *event)
{
	return event->kind == BRANCH_COUNTS;
}

/* Returns the segment's first event of a kind, or NULL. */
static struct branch_event *find_event(const struct segment *segment,
				       bool (*is_it)(const struct branch_event *event))
{
	for (struct event_chunk *chunk = segment->chunks; chunk; chunk = chunk->next)
		for (size_t i = 0; i < chunk->count; i++)
			if (is_it(&chunk->events[i]))
				return &chunk->events[i];
	return NULL;
}

/* Correct data that the segment lacked: sums that began earlier, and the last event's time. */
static void correct_segment(struct segment *segment, const struct flow_checkpoint *before)
{
	struct stream_state *after = &segment->after.stream;
	struct event_chunk *chunk = segment->chunks;
	struct branch_event *first = find_event(segment, event_counts);

	while (chunk && !raise_times(chunk, before->stream.last_pushed))
		chunk = chunk->next;
	if (segment->owner->stream.input.count_jumps) {
		struct branch_event *event = find_event(segment, event_has_sums);

		/* Add the jumps and the sum of cycles before the segment to its first count. */
		*(event ? &event->to : &after->jump_count) += before->stream.jump_count;
		*(event ? &event->cycles : &after->cycle_sum) += before->stream.cycle_sum;
	}
	if (after->last_pushed < before->stream.last_pushed)
		after->last_pushed = before->stream.last_pushed;
	*(first ? &first->insns : &after->insn_count) += before->stream.insn_count;
}

static void end_stream(struct pt_segments *segments)
{
	segments->stream.ended = true;
	segments->stream.state.next_loss = segments->stream.loss_count;
}

/* Put the events of the segment's first chunk into the queue. */
static void show_chunk(struct pt_segments *segments, const struct segment *segment)
{
	struct pt_stream *stream = &segments->stream;

	stream->queue = segment->chunks->events;
	stream->head = 0;
	stream->tail = (unsigned)segment->chunks->count;
	if (segment->ended && !segment->chunks->next)
		end_stream(segments);
}

/*
 * The events of the segment's first chunk are consumed: show the next ones. Returns false if there
 * are none.
 */
static bool show_next_chunk(struct pt_segments *segments, struct segment *segment)
{
	struct event_chunk *consumed = segment->chunks;

	if (!consumed->next)
		return false;
	segment->chunks = consumed->next;
	consumed->next = NULL;
	event_pool_give(pool_of(segment), consumed);
	show_chunk(segments, segment);
	return true;
}

/* Returns whether the segment was decoded from a right guess. */
static bool accept_guess(struct pt_segments *segments, struct segment *segment)
{
	struct pt_stream *stream = &segments->stream;

	if (!segment->usable ||
	    stream_time_is_cut(stream, segment->before.stream.now.time,
			       segments->now.stream.last_pushed) ||
	    !flow_checkpoint_join(&segments->now, &segment->before, &segment->after) ||
	    !schedule_join_stops(&segment->after.stream.schedule, &segments->now.stream.schedule))
		return false;
	correct_segment(segment, &segments->now);
	segments->now = segment->after;
	/* The segment's counts of the whole stream are 0. */
	pt_stream_stats_add(&stream->stats, &segment->stats);
	code_count_list_flush(&segment->counts, stream->input.counter);
	show_chunk(segments, segment);
	segments->in_queue = true;
	return true;
}

static struct segment *segment_at(struct pt_segments *segments, unsigned number)
{
	return &segments->segments[number % segments->room];
}

/* Release the segments that are consumed. */
static void release_consumed(struct pt_segments *segments)
{
	struct workers *workers = segments->stream.input.workers;

	while (segments->oldest != segments->newest &&
	       (segments->in_queue ||
		segment_at(segments, segments->oldest)->begin < segments->now.cut)) {
		struct segment *segment = segment_at(segments, segments->oldest++);

		workers_cancel(workers, &segment->job);
		drop_chunks(segment);
		segment->counts.count = 0; /* counts of a wrong guess */
		segments->in_queue = false;
	}
}

/* Continue to decode with `flow` up to the next cut. */
static void decode_to_next_cut(struct pt_segments *segments)
{
	struct pt_stream *stream = &segments->stream, *flow = &segments->flow->stream;

	if (flow->ended && flow->state.next_loss < flow->loss_count)
		stream_finish(flow);
	else if (!flow->ended && !segments->flow->paused)
		flow->step(flow);
	stream->queue = flow->queue;
	stream->head = flow->head;
	stream->tail = flow->tail;
	flow->head = flow->tail = 0;
	if (flow->ended ? flow->state.next_loss < flow->loss_count : !segments->flow->paused)
		return;
	segments->in_flow = false;
	pt_stream_stats_add(&stream->stats, &flow->stats);
	flow_checkpoint_save(&segments->now, segments->flow);
	if (flow->ended)
		end_stream(segments);
}

static void step_segments(struct pt_stream *stream)
{
	struct pt_segments *segments = (struct pt_segments *)stream;
	struct segment *segment;

	while (stream->head == stream->tail && !stream->ended) {
		if (segments->in_flow) {
			decode_to_next_cut(segments);
			continue;
		}
		if (segments->in_queue &&
		    show_next_chunk(segments, segment_at(segments, segments->oldest)))
			continue;
		release_consumed(segments);
		while (!segments->planned_all &&
		       segments->newest - segments->oldest < segments->room) {
			struct segment *planned = segment_at(segments, segments->newest);

			planned->at = segments->plan;
			planned->begin = segments->newest ? segments->plan.position.at : 0;
			if (segments->newest)
				aux_cuts_next(&segments->plan);
			segments->newest++;
			segments->planned_all = segments->plan.position.at == AUX_CUTS_NONE;
			workers_submit(segments->stream.input.workers, &planned->job);
		}
		segment = segment_at(segments, segments->oldest);
		stream->waits = !workers_ready(stream->input.workers, &segment->job);
		if (stream->waits)
			return;
		if (accept_guess(segments, segment))
			continue;
		stream->stats.segments_again++;
		flow_checkpoint_load(&segments->now, segments->flow);
		segments->flow->stops_at_cuts = true;
		segments->in_flow = true;
	}
}

static void close_segments(struct pt_stream *stream)
{
	struct pt_segments *segments = (struct pt_segments *)stream;

	for (unsigned i = segments->oldest; i != segments->newest; i++)
		workers_cancel(stream->input.workers, &segment_at(segments, i)->job);
	for (unsigned i = 0; i < segments->room; i++) {
		if (stream->input.follower)
			stream->input.follower->close(segments->segments[i].follower);
		drop_chunks(&segments->segments[i]);
		free(segments->segments[i].counts.counts);
	}
	free(segments->segments);
	pt_flow_free(segments->flow);
	free(segments);
}

/* The counts of right guesses were passed on with their events. */
static void flush_segments(struct pt_stream *stream)
{
	pt_stream_flush(&((struct pt_segments *)stream)->flow->stream);
}

struct pt_stream *pt_segments_new(struct pt_flow *flow)
{
	struct pt_segments *segments = alloc_zeroed(1, sizeof(*segments));
	const struct segment_follower *follower = flow->stream.input.follower;
	size_t streams, ahead;

	segments->stream = flow->stream;
	segments->stream.text = (struct kernel_text){ 0 }; /* the flow has its own copy */
	segments->stream.step = step_segments;
	segments->stream.close = close_segments;
	segments->stream.flush = flush_segments;
	segments->flow = flow;
	segments->config = flow->config;
	segments->plan = flow->cuts;
	flow_checkpoint_save(&segments->first, flow);
	segments->now = segments->first;
	/* At least two are in progress, in all streams more than threads. */
	streams = flow->stream.input.others + 1;
	ahead = (workers_count(flow->stream.input.workers) + 2 + streams - 1) / streams;
	segments->room = ahead < 2 ? 2 : (unsigned)ahead;
	segments->segments = alloc_zeroed(segments->room, sizeof(*segments->segments));
	for (unsigned i = 0; i < segments->room; i++) {
		segments->segments[i].owner = segments;
		segments->segments[i].job.run = decode_ahead;
		if (follower)
			segments->segments[i].follower = follower->open(follower);
	}
	return &segments->stream;
}
