/* SPDX-License-Identifier: MIT */
/* Write the stored events into parts, each of which begins with the state. */
#include "src/formats/ftf/ftf_side.h"

struct side_state {
	/* Key by which Perfetto merges counter tracks; an async slice has no name here. */
	struct state_key {
		uint64_t pid, id;
		const struct name *name;
	} key;
	size_t number; /* of the last event */
	UT_hash_handle hh;
};

uint64_t ftf_side_time(const struct ftf_side *side)
{
	return event_store_time(&side->store, side->next);
}

enum side_kind ftf_side_kind(struct ftf_side *side)
{
	switch (event_store_at(&side->store, side->next).kind) {
	case TRACK_BEGIN:
	case TRACK_ASYNC_BEGIN:
	case TRACK_INSTANT:
		return SIDE_SLICE;
	case TRACK_COUNTER:
	case TRACK_SWITCH:
	case TRACK_WAKEUP:
		return SIDE_VALUE;
	default:
		return SIDE_PLAIN;
	}
}

/* ---- Writing ------------------------------------------------------------- */

/* The part names a track and its process at their first use. */
static void name_track(struct ftf_side *side, struct ftf_sink *part, struct event_track ids)
{
	struct stored_track *track = event_store_track(&side->store, ids);
	struct stored_process *process = track->process;

	if (track->part == side->part)
		return;
	track->part = side->part;
	if (process->name && process->part != side->part) {
		process->part = side->part;
		event_sink_name_process(&part->events, ids.pid, process->name->text);
	}
	if (track->name)
		event_sink_name_track(&part->events, ids, track->name->text);
}

/* Write an event at another time. */
static void write_at(struct ftf_side *side, struct ftf_sink *part, struct track_event *event,
		     uint64_t time)
{
	name_track(side, part, event->track);
	event->time = time;
	event_sink_emit(&part->events, event);
}

/* Write the event with a number again, as the begin of an already open slice or a value. */
static void write_again(struct ftf_side *side, struct ftf_sink *part, size_t number, uint64_t time)
{
	struct track_event event = event_store_at(&side->store, number);

	event.continued = event.kind != TRACK_COUNTER;
	write_at(side, part, &event, time);
}

/* ---- The state ----------------------------------------------------------- */

static void set_state(struct side_state **states, const struct state_key *key, size_t number,
		      bool ends)
{
	struct side_state *state;

	HASH_FIND_OR_ADD(*states, key, key, state);
	state->number = number;
	if (ends) {
		HASH_DEL(*states, state);
		free(state);
	}
}

void ftf_side_write(struct ftf_side *side, struct ftf_sink *part)
{
	size_t number = side->next++;
	struct track_event event = event_store_at(&side->store, number);
	struct stored_track *track;
	struct state_key key;

	if (event.kind == TRACK_SWITCH)
		name_track(side, part, event.change.other);
	name_track(side, part, event.track);
	if (event.kind == TRACK_WAKEUP && event.change.other.tid)
		name_track(side, part, event.change.other);
	event_sink_emit(&part->events, &event);
	/* Note the effect of the event with a number on the state. */
	track = event_store_track(&side->store, event.track);
	key = (struct state_key){ .pid = event.track.pid, .id = event.id };
	if (event.kind == TRACK_BEGIN) {
		ARRAY_ADD(track->open, track->depth, track->room)->number = number;
	} else if (event.kind == TRACK_END) {
		track->depth -= track->depth > 0;
	} else if (event.kind == TRACK_COUNTER) {
		key.name = view_intern(side->store.names, event.name);
		set_state(&side->counters, &key, number, false);
	} else if (event.kind == TRACK_ASYNC_BEGIN || event.kind == TRACK_ASYNC_END) {
		set_state(&side->asyncs, &key, number, event.kind == TRACK_ASYNC_END);
	} else if (event.kind == TRACK_SWITCH) {
		ARRAY_GROW_ZEROED(side->switches, side->switch_room, (size_t)event.cpu + 1);
		side->switches[event.cpu] = number + 1;
	}
}

void ftf_side_end_part(struct ftf_side *side, struct ftf_sink *part, uint64_t time)
{
	for (const struct stored_track *track = side->store.tracks; track; track = track->hh.next) {
		struct track_event end = { .kind = TRACK_END, .track = track->ids };

		for (size_t k = track->depth; k-- > 0;)
			write_at(side, part, &end, time);
	}
	for (struct side_state *async = side->asyncs; async; async = async->hh.next) {
		struct track_event event = event_store_at(&side->store, async->number);

		event.kind = TRACK_ASYNC_END;
		event.arg_count = 0;
		write_at(side, part, &event, time);
	}
}

void ftf_side_begin_part(struct ftf_side *side, struct ftf_sink *part, uint64_t time)
{
	side->part++;
	for (const struct stored_track *track = side->store.tracks; track; track = track->hh.next)
		for (size_t k = 0; k < track->depth; k++)
			write_again(side, part, track->open[k].number, time);
	for (struct side_state *open = side->asyncs; open; open = open->hh.next)
		write_again(side, part, open->number, time);
	for (struct side_state *last = side->counters; last; last = last->hh.next)
		write_again(side, part, last->number, time);
	for (size_t cpu = 0; cpu < side->switch_room; cpu++) {
		struct track_event last;

		if (!side->switches[cpu])
			continue;
		last = event_store_at(&side->store, side->switches[cpu] - 1);
		last.change.other = (struct event_track){ 0 };
		last.change.state = EVENT_THREAD_BLOCKED;
		if (last.track.tid)
			write_at(side, part, &last, time);
	}
}

void ftf_side_release(struct ftf_side *side)
{
	struct side_state *state;

	HASH_FREE_ALL(side->counters, state);
	HASH_FREE_ALL(side->asyncs, state);
	free(side->switches);
	event_store_release(&side->store);
	*side = (struct ftf_side){ 0 };
}
