/* SPDX-License-Identifier: MIT */
/* Rank the slices of a trace, store the slices that stay, and pass them on. */
#include "src/formats/ftf/ftf_fit.h"

#include <assert.h>

#include "src/slices/slice_args.h"

/* Slices by which the store grows at least, until ranks are chosen again. */
#define STORE_LEAST ((uint64_t)1 << 14)

/* Units read or passed on together, those with details, and the most of an event, with its track.
 */
#define BATCH      ((size_t)2048)
#define DETAILS    256u
#define UNITS_MOST 17u

/* Inlined, so that the usual event has constant details. */
#define HOT inline __attribute__((always_inline))

/* Kinds of units, after enum slice_event_kind. */
enum {
	UNIT_TRACK = SLICE_LATE + 1, /* the track of the next units */
	UNIT_WHOLE,                  /* an event that is a whole slice */
	UNIT_LEAF,                   /* a slice without others in it */
	UNIT_FLOW,                   /* an end or a step of an arrow */
	UNIT_OTHER,                  /* any other event but a begin or an end */
};

/* Rank of a slice that has not ended, and of a late one, above all others. */
#define RANK_OPEN ((UINT32_C(1) << 28) - 1)

#define DROPPED ((UINT64_C(1) << 60) - 1)

/* The open slices of a track, at a position in its events. */
struct fit_stack {
	struct fit_frame {
		uint64_t at : 60;  /* index of the begin; DROPPED: it does not stay */
		uint64_t more : 4; /* see union fit_unit */
		uint64_t begin;
		uint64_t folded[2];
	} * frames; /* owned; innermost last */
	size_t depth, room;
	enum { NO_PART, IN_PART, LATE_BEGINS } part; /* see `late` of struct slice_sink */
	/* Slices of the part that were folded since the last late end, and their outermost ones. */
	uint64_t folded[2], outermost;
};

struct fit_track {
	struct track *track;    /* borrowed; NULL: of other events */
	struct fit_ranks ranks; /* ranks of inner slices */
	struct fit_stack live;  /* at the last event */
	struct fit_stack scan;  /* at a unit of the store, which is being filtered */
	size_t skipped;         /* open slices that began after the output's limit */
};

static union fit_unit track_unit(struct fit_track *track)
{
	union fit_unit unit = { .event.kind = UNIT_TRACK };

	unit.track = track;
	return unit;
}

static uint64_t lasted(uint64_t begin, uint64_t end)
{
	return end > begin ? end - begin : 0;
}

/* ---- Slices of one unit -------------------------------------------------- */

static HOT uint64_t leaf_duration(const union fit_unit *unit)
{
	return (uint64_t)unit->leaf.duration_high << 16 | unit->leaf.duration_low;
}

static HOT void unpack_leaf(const union fit_unit *unit, union fit_unit *begin, union fit_unit *end)
{
	const struct symbol *symbol = (const struct symbol *)(uintptr_t)unit->leaf.symbol;

	*begin = (union fit_unit){ .event = { .time = unit->time,
					      .symbol = symbol,
					      .ip = (uint64_t)(int64_t)unit->leaf.ip,
					      .flags = unit->leaf.flags,
					      .kind = SLICE_BEGIN } };
	*end = (union fit_unit){ .event = { .time = unit->time + leaf_duration(unit),
					    .flags = unit->leaf.end_flags,
					    .kind = SLICE_END } };
}

/* ---- Open slices --------------------------------------------------------- */

/* Returns the ranks of slices inside the open ones. */
static struct fit_ranks *ranks_of(struct ftf_fit *fit, struct fit_track *track,
				  const struct fit_stack *stack)
{
	return stack->depth || stack->part ? &track->ranks : &fit->roots;
}

static inline struct fit_frame *push_slice(struct fit_stack *stack)
{
	return ARRAY_ADD(stack->frames, stack->depth, stack->room);
}

/* Leave a slice out: the enclosing slice counts it and its `inside` slices. */
static HOT void fold_slice(struct ftf_fit *fit, struct fit_stack *stack, uint64_t duration,
			   uint64_t inside)
{
	uint64_t *around = stack->depth ? stack->frames[stack->depth - 1].folded : stack->folded;

	if (!stack->depth && !stack->part) {
		fit->counts.left_out++;
		return;
	}
	fit->counts.folded++;
	stack->outermost += !stack->depth;
	around[0] += 1 + inside;
	around[1] += duration;
}

static void add_folded(uint64_t to[2], const uint64_t folded[2])
{
	to[0] += folded[0];
	to[1] += folded[1];
}

/* An end without a begin: a late slice counts the slices folded since the last late end. */
static void end_late(struct fit_stack *stack, union fit_unit *end)
{
	add_folded(end->folded, stack->folded);
	memset(stack->folded, 0, sizeof(stack->folded));
	stack->outermost = 0;
}

/* A part with late slices begins or ends. Slices that no late one encloses are left out. */
static void take_part(struct ftf_fit *fit, struct fit_stack *stack)
{
	fit->counts.folded -= stack->outermost;
	fit->counts.left_out += stack->outermost;
	memset(stack->folded, 0, sizeof(stack->folded));
	stack->outermost = 0;
	stack->part = stack->part ? NO_PART : IN_PART;
}

/* Returns whether a begin or an end follows the first begin of a late slice in its part. */
static inline bool is_late(struct fit_stack *stack, const union fit_unit *unit)
{
	if (stack->part == IN_PART && unit->event.kind == SLICE_BEGIN &&
	    unit->event.order == SLICE_ORDER_DEFERRED)
		stack->part = LATE_BEGINS;
	return stack->part == LATE_BEGINS;
}

/* ---- The store ----------------------------------------------------------- */

/* The next units are of this track. It replaces one without units. */
static void add_track(struct ftf_fit *fit, struct fit_track *track)
{
	const union fit_unit unit = track_unit(track);

	if (fit->store.end > fit->store.filed && fit->store.end == fit->named)
		fit->store.end--;
	fit_store_add(&fit->store, &unit);
	fit->track = track;
	fit->named = fit_store_end(&fit->store);
}

/* ---- The filter ---------------------------------------------------------- */

/* Filter the end of a slice. Returns whether it stays. */
static HOT bool filter_end(struct ftf_fit *fit, struct fit_stack *stack, union fit_unit *end)
{
	const struct fit_frame *frame;

	if (!stack->depth) {
		end_late(stack, end);
		return true;
	}
	frame = &stack->frames[--stack->depth];
	add_folded(end->folded, frame->folded);
	if (frame->at == DROPPED)
		fold_slice(fit, stack, lasted(frame->begin, end->time), end->folded[0]);
	return frame->at != DROPPED;
}

/* Filter a unit of a track, which would move to index `to`. Returns whether it stays. */
static HOT bool filter_unit(struct ftf_fit *fit, struct fit_track *track, union fit_unit *unit,
			    size_t to)
{
	struct fit_stack *stack = &track->scan;
	bool stays = unit->rank >= ranks_of(fit, track, stack)->least;

	switch ((int)unit->event.kind) {
	case SLICE_BEGIN:
		if (is_late(stack, unit))
			return true;
		*push_slice(stack) =
			(struct fit_frame){ stays ? to : DROPPED, unit->more, unit->time, { 0 } };
		return stays;
	case SLICE_END:
		return is_late(stack, unit) || filter_end(fit, stack, unit);
	case SLICE_LATE:
		take_part(fit, stack);
		return true;
	case UNIT_WHOLE:
		if (!stays)
			fold_slice(fit, stack, lasted(unit->time, unit->end), 0);
		return stays;
	case UNIT_LEAF:
		if (!stays)
			fold_slice(fit, stack, leaf_duration(unit), 0);
		return stays;
	case UNIT_FLOW: /* it binds to the innermost slice, and stays only with it */
		return !stack->depth || stack->frames[stack->depth - 1].at != DROPPED;
	default:
		return true;
	}
}

/* Filtered units: a new store, or room for BATCH units, which are passed on. */
struct fit_filtered {
	struct fit_store store;
	struct fit_track *track;  /* borrowed: of the last unit */
	struct fit_track *passed; /* borrowed: of the last unit that was passed on */
	bool passes;
};

static void pass_units(struct ftf_fit *fit, struct fit_filtered *from);

/* Returns whether units must be passed on before another event. */
static inline bool batch_is_full(const struct fit_filtered *to)
{
	return to->passes && to->store.end + UNITS_MOST > BATCH;
}

/* Add a slice of one unit as two events, which are passed on. */
static HOT void keep_events(struct fit_filtered *to, const union fit_unit *leaf)
{
	union fit_unit begin, end;

	unpack_leaf(leaf, &begin, &end);
	fit_store_add(&to->store, &begin);
	fit_store_add(&to->store, &end);
}

/* Add a unit with its track and details. */
static __attribute__((noinline)) void keep_units(struct ftf_fit *fit, struct fit_filtered *to,
						 struct fit_track *track,
						 const union fit_unit *unit)
{
	const union fit_unit named = track_unit(track);

	if (batch_is_full(to))
		pass_units(fit, to);
	if (track != to->track)
		fit_store_add(&to->store, &named);
	to->track = track;
	if (unit->event.kind == UNIT_LEAF && to->passes)
		keep_events(to, unit);
	else
		for (size_t i = 0; i <= unit->more; i++)
			fit_store_add(&to->store, &unit[i]);
}

/* Keep the units that stay of those of whole events. *track is that of the last one. */
static size_t filter_batch(struct ftf_fit *fit, struct fit_filtered *to, struct fit_track **of,
			   union fit_unit *units, size_t count)
{
	union fit_unit *unit = units, *end = units + count, *next;
	struct fit_track *track = *of;

	for (; unit < end && (next = unit + 1 + unit->more) <= end; unit = next)
		if (unit->event.kind == UNIT_TRACK) {
			track = unit->track;
		} else if (filter_unit(fit, track, unit,
				       fit_store_end(&to->store) + (track != to->track))) {
			if (track != to->track || unit->more || batch_is_full(to))
				keep_units(fit, to, track, unit);
			else if (unit->event.kind == UNIT_LEAF && to->passes)
				keep_events(to, unit);
			else
				fit_store_add(&to->store, unit);
		}
	*of = track;
	return (size_t)(unit - units);
}

/* Keep the units of the store that stay. If it cannot be read, the output fails. */
static void filter_units(struct ftf_fit *fit, struct fit_filtered *to)
{
	union fit_unit *units = alloc_bytes(BATCH * sizeof(*units));
	size_t end = fit_store_end(&fit->store);
	struct fit_track *track = NULL;

	for (size_t at = 0, count; at < end && !fit->failed;) {
		count = MIN(BATCH, end - at);
		fit->failed = fit_store_read(&fit->store, at, units, count) < 0;
		if (fit->failed)
			error_set_system(&fit->output->err, errno,
					 "%s: cannot read a temporary file", temp_file_folder());
		else
			at += filter_batch(fit, to, &track, units, count);
	}
	free(units);
}

/* Remove the slices whose ranks do not stay from the store. */
static void filter(struct ftf_fit *fit)
{
	struct fit_filtered to = { .store = fit->spare };

	to.store.stays = fit->store.stays;
	filter_units(fit, &to);
	fit->spare = fit->failed ? to.store : fit->store;
	fit->spare.end = fit->spare.filed = 0;
	if (fit->failed)
		return;
	fit->store = to.store;
	fit->filtered = fit_store_end(&fit->store);
	fit->named = 0;
	if (to.track != fit->track)
		add_track(fit, fit->track);
	for (size_t i = 0; i < fit->track_room; i++)
		if (fit->tracks[i]) {
			struct fit_track *track = fit->tracks[i];
			struct fit_stack *live = &track->live, *scan = &track->scan;

			/* The store was filtered: move the open slices, and count what was folded
			 * in them. */
			for (size_t j = 0; j < live->depth; j++) {
				live->frames[j].at = scan->frames[j].at;
				add_folded(live->frames[j].folded, scan->frames[j].folded);
			}
			add_folded(live->folded, scan->folded);
			live->outermost += scan->outermost;
			*scan = (struct fit_stack){ .frames = scan->frames, .room = scan->room };
		}
}

/* Choose the ranks that stay among the slices so far; `others` stay anyway. */
static __attribute__((noinline)) void choose(struct ftf_fit *fit, uint64_t others)
{
	struct fit_ranks **ranks = alloc_zeroed(fit->track_room + 1, sizeof(*ranks));
	size_t count = 0;

	for (size_t i = 0; i < fit->track_room; i++)
		if (fit->tracks[i])
			ranks[count++] = &fit->tracks[i]->ranks;
	/* The chosen ranks never decrease, so neither does the duration. */
	fit->counts.shortest = fit_ranks_choose_all(&fit->roots, ranks, count, fit->limit, others);
	free(ranks);
}

/* ---- In ------------------------------------------------------------------ */

/* The bytes that follow an event in the store. */
struct fit_details {
	const void *bytes;
	size_t size;
};

static __attribute__((noinline)) void add_details(struct ftf_fit *fit,
						  const struct fit_details *details)
{
	union fit_unit part = { .time = 0 };

	for (size_t at = 0; at < details->size; at += sizeof(part)) {
		memcpy(&part, (const uint8_t *)details->bytes + at,
		       MIN(details->size - at, sizeof(part)));
		fit_store_add(&fit->store, &part);
	}
}

static HOT void store_event(struct ftf_fit *fit, union fit_unit *unit,
			    const struct fit_details *details)
{
	unit->more = (uint32_t)((details->size + sizeof(*unit) - 1) / sizeof(*unit)) & 15;
	fit_store_add(&fit->store, unit);
	if (details->size)
		add_details(fit, details);
}

/* Choose ranks again if the store has grown enough by slices that have ended. */
static inline void count_stored(struct ftf_fit *fit)
{
	if (fit->left--)
		return;
	choose(fit, fit->marks);
	if (fit_store_end(&fit->store) / 3 >= fit->filtered)
		filter(fit);
	fit->left = MAX(fit->limit / 16, STORE_LEAST);
}

/*
 * Rank the innermost slice, which ends. If it does not stay, remove its begin, unless units follow;
 * then the slice stays until the store is filtered.
 */
static HOT void end_ranked(struct ftf_fit *fit, struct fit_track *track, union fit_unit *unit,
			   const struct fit_details *details)
{
	struct fit_stack *stack = &track->live;
	const struct fit_frame *frame = &stack->frames[--stack->depth];
	struct fit_ranks *ranks = ranks_of(fit, track, stack);
	uint64_t duration = lasted(frame->begin, unit->time);
	uint32_t rank = fit_ranks_add(ranks, duration, stack->depth);
	struct fit_store *store = &fit->store;

	add_folded(unit->folded, frame->folded);
	if (rank < ranks->least && frame->at >= store->filed &&
	    frame->at + 1 + frame->more == fit_store_end(store)) {
		store->end = frame->at;
		fold_slice(fit, stack, duration, unit->folded[0]);
		return;
	}
	fit_store_set_rank(store, frame->at,
			   &(union fit_unit){ .more = frame->more, .rank = rank & RANK_OPEN });
	store_event(fit, unit, details);
	count_stored(fit);
}

static HOT void take_end(struct ftf_fit *fit, struct fit_track *track, union fit_unit *unit,
			 const struct fit_details *details)
{
	bool late = is_late(&track->live, unit);

	if (!late && track->live.depth) {
		end_ranked(fit, track, unit, details);
		return;
	}
	if (!late)
		end_late(&track->live, unit);
	store_event(fit, unit, details);
}

static void take_whole(struct ftf_fit *fit, struct fit_track *track, union fit_unit *unit,
		       const struct fit_details *details)
{
	struct fit_stack *stack = &track->live;
	struct fit_ranks *ranks = ranks_of(fit, track, stack);
	uint64_t duration = lasted(unit->time, unit->end);

	unit->rank = fit_ranks_add(ranks, duration, stack->depth);
	if (unit->rank < ranks->least) {
		fold_slice(fit, stack, duration, 0);
		return;
	}
	store_event(fit, unit, details);
	count_stored(fit);
}

static HOT void take_unit(struct ftf_fit *fit, struct fit_track *track, union fit_unit *unit,
			  const struct fit_details *details)
{
	if (unit->event.kind == SLICE_BEGIN) {
		size_t at = fit_store_end(&fit->store);

		unit->rank = RANK_OPEN;
		store_event(fit, unit, details);
		if (is_late(&track->live, unit))
			fit->marks++;
		else
			*push_slice(&track->live) =
				(struct fit_frame){ at, unit->more, unit->time, { 0 } };
	} else if (unit->event.kind == SLICE_END) {
		take_end(fit, track, unit, details);
	} else if (unit->event.kind == UNIT_WHOLE) {
		take_whole(fit, track, unit, details);
	} else {
		store_event(fit, unit, details);
	}
	if (unit->event.kind == SLICE_LATE)
		take_part(fit, &track->live);
}

/* Returns the track with an index, whose events follow. */
static struct fit_track *track_at(struct ftf_fit *fit, size_t index, struct track *of)
{
	struct fit_track *track;

	ARRAY_GROW_ZEROED(fit->tracks, fit->track_room, index + 1);
	track = fit->tracks[index];
	if (!track) {
		track = fit->tracks[index] = alloc_zeroed(1, sizeof(*track));
		track->track = of;
		track->ranks.number = (uint32_t)index;
	}
	if (track != fit->track)
		add_track(fit, track);
	return track;
}

/* Take any event of a call's track. */
static HOT void take_slice(struct ftf_fit *fit, struct fit_track *track,
			   const struct slice_event *event, const struct slice_detail *detail)
{
	struct fit_details details = { detail, detail && fit->sink.details ? sizeof(*detail) : 0 };
	union fit_unit unit = { .event = *event };

	if (event->kind == SLICE_BEGIN) {
		fit->slices++;
	} else if (event->kind == SLICE_END) {
		unit.folded[0] = detail ? detail->folded : 0;
		unit.folded[1] = detail ? detail->folded_time : 0;
		if (event->order == SLICE_ORDER_DEFERRED)
			details = (struct fit_details){ event, sizeof(*event) };
	} else if (event->kind == SLICE_INSTANT) {
		fit->slices++;
		fit->marks++;
		unit.event.text = name_intern_text(fit->names, event->text)->text;
	}
	take_unit(fit, track, &unit, &details);
}

/* The same, without constant details. */
static __attribute__((noinline)) void take_detailed(struct ftf_fit *fit, struct fit_track *track,
						    const struct slice_event *event,
						    const struct slice_detail *detail)
{
	take_slice(fit, track, event, detail);
}

/* Take a slice without details, and without others in it. Returns false if it is not one unit. */
static HOT bool take_leaf(struct ftf_fit *fit, struct fit_track *track,
			  const struct slice_event *event)
{
	struct fit_stack *stack = &track->live;
	struct fit_ranks *ranks = ranks_of(fit, track, stack);
	union fit_unit unit;
	uint32_t rank;
	uint64_t duration = event[1].time - event[0].time;

	/* Make the begin and the end of a slice one unit. */
	unit.event = event[0];
	unit.event.kind = UNIT_LEAF;
	unit.leaf.symbol = (uintptr_t)event[0].symbol & ((UINT64_C(1) << 48) - 1);
	unit.leaf.duration_low = duration & 0xffff;
	unit.leaf.ip = (int64_t)(event[0].ip << 16) >> 16;
	unit.leaf.duration_high = duration >> 16 & 0xffff;
	unit.leaf.end_flags = event[1].flags & 0xff;
	if (!(unit.leaf.symbol == (uintptr_t)event[0].symbol &&
	      (uint64_t)unit.leaf.ip == event[0].ip && !(duration >> 32) &&
	      !(event[1].flags >> 8) && event[1].order == SLICE_ORDER_PLAIN))
		return false;
	rank = fit_ranks_add(ranks, leaf_duration(&unit), stack->depth);
	fit->slices++;
	if (rank < ranks->least) {
		fold_slice(fit, stack, leaf_duration(&unit), 0);
		return true;
	}
	unit.more = 0;
	unit.rank = rank & RANK_OPEN;
	fit_store_add(&fit->store, &unit);
	count_stored(fit);
	return true;
}

/* Even tracks are of calls, odd ones of other events. */
static void take_slices(const struct slice_sink *sink, void *context,
			const struct slice_batch *batch)
{
	const struct slice_event *event = batch->events, *end = event + batch->count;
	struct ftf_fit *fit = sink->context;
	struct track *of = context;
	struct fit_track *track = track_at(fit, 2 * (size_t)of->index, of);
	const bool plain = !batch->details;

	for (; event < end; event++)
		if (!plain)
			take_detailed(fit, track, event, slice_batch_detail(batch, event));
		else if (event->kind == SLICE_BEGIN && event->order == SLICE_ORDER_PLAIN &&
			 event + 1 < end && event[1].kind == SLICE_END &&
			 track->live.part != LATE_BEGINS && take_leaf(fit, track, event))
			event++;
		else
			take_slice(fit, track, event, NULL);
}

/* Returns the number of an event's track: 1 for events that belong to no slice. */
static size_t track_number(struct ftf_fit *fit, const struct track_event *event, int kind)
{
	return kind == UNIT_OTHER
		       ? 1
		       : 2 * (size_t)event_store_track(&fit->events, event->track)->index + 3;
}

void ftf_fit_take(struct ftf_fit *fit, const struct track_event *event)
{
	static const uint8_t kinds[TRACK_EVENT_KINDS] = {
		[TRACK_BEGIN] = SLICE_BEGIN,    [TRACK_END] = SLICE_END,
		[TRACK_WHOLE] = UNIT_WHOLE,     [TRACK_FLOW_BEGIN] = UNIT_FLOW,
		[TRACK_FLOW_STEP] = UNIT_FLOW,  [TRACK_FLOW_END] = UNIT_FLOW,
		[TRACK_PROCESS] = UNIT_OTHER,   [TRACK_THREAD] = UNIT_OTHER,
		[TRACK_INSTANT] = UNIT_OTHER,   [TRACK_COUNTER] = UNIT_OTHER,
		[TRACK_ASYNC_END] = UNIT_OTHER, [TRACK_ASYNC_BEGIN] = UNIT_OTHER,
		[TRACK_SWITCH] = UNIT_OTHER,    [TRACK_WAKEUP] = UNIT_OTHER,
	};
	const uint64_t at = event_store_keep(&fit->events, event);
	union fit_unit unit = { .event.kind = kinds[event->kind] };

	unit.time = event->time;
	if (event->kind == TRACK_WHOLE)
		unit.end = event->end;
	fit->marks += event->kind == TRACK_INSTANT;
	take_unit(fit, track_at(fit, track_number(fit, event, unit.event.kind), NULL), &unit,
		  &(struct fit_details){ &at, sizeof(at) });
}

/* ---- Out ----------------------------------------------------------------- */

/* Returns whether pass_simple() passes on an event of a call. */
static bool is_simple(const union fit_unit *unit)
{
	return unit->event.kind < UNIT_TRACK && !unit->more;
}

/*
 * Pass on the first of the units, which are simple events of a track. They become events, and
 * details if an end counts folded slices. Returns their number.
 */
static size_t pass_simple(const struct ftf_fit *fit, const struct fit_track *track,
			  union fit_unit *units, size_t count)
{
	struct slice_detail details[DETAILS];
	uint32_t counting = 0;
	size_t passed = 0;

	while (passed < count && counting < DETAILS && is_simple(&units[passed])) {
		union fit_unit *unit = &units[passed++];
		uint64_t folded = unit->event.kind == SLICE_END ? unit->folded[0] : 0;

		unit->event.detail = folded ? counting + 1 : 0;
		if (folded)
			details[counting++] =
				(struct slice_detail){ .folded = folded,
						       .folded_time = unit->folded[1] };
		if (unit->event.kind == SLICE_END)
			unit->folded[0] = unit->folded[1] = 0;
	}
	fit->next->events(fit->next, track->track,
			  &(struct slice_batch){ &units->event, passed,
						 counting && fit->next->folded ? details : NULL,
						 false });
	return passed;
}

/* Returns whether another event is in the output, and not after its limit. */
static bool is_written(const struct ftf_fit *fit, struct fit_track *track,
		       const union fit_unit *unit)
{
	bool ends = unit->event.kind == SLICE_END;

	if (ends && track->skipped)
		track->skipped--;
	else if (ends || !output_full(fit->output))
		return true;
	else
		track->skipped += unit->event.kind == SLICE_BEGIN;
	fit->output->cut = true;
	return false;
}

static void add_count(struct track_event *event, struct event_arg *args, enum slice_arg_key key,
		      uint64_t number)
{
	args[event->arg_count++] = (struct event_arg){ .name = text_view_of(slice_arg_text(key)),
						       .type = EVENT_ARG_INT64,
						       .number = (int64_t)number };
}

/* Pass on another event; an end with the number of folded slices. */
static void pass_other(struct ftf_fit *fit, struct fit_track *track, const union fit_unit *unit)
{
	struct track_event event;
	uint64_t at;

	if (!is_written(fit, track, unit))
		return;
	memcpy(&at, unit + 1, sizeof(at));
	event = event_store_read(&fit->events, at);
	if (unit->event.kind == SLICE_END && unit->folded[0] && fit->folded &&
	    event.arg_count + 2 <= EVENT_ARGS_MAX) {
		add_count(&event, fit->events.args, SLICE_ARG_FOLDED, unit->folded[0]);
		add_count(&event, fit->events.args, SLICE_ARG_FOLDED_TIME, unit->folded[1]);
	}
	event_sink_emit(fit->others, &event);
}

/* Pass on units, and remove them. Its track becomes that of the last one. */
static void pass_units(struct ftf_fit *fit, struct fit_filtered *from)
{
	union fit_unit *unit = from->store.recent, *end = unit + from->store.end;
	struct fit_track *track = from->passed;

	while (unit < end) {
		size_t units = 1 + (size_t)unit->more;

		if (unit->event.kind == UNIT_TRACK) {
			track = unit->track;
		} else if (!track->track) {
			pass_other(fit, track, unit);
		} else if (is_simple(unit)) {
			units = pass_simple(fit, track, unit, (size_t)(end - unit));
		} else {
			struct slice_event event = unit->event;
			struct slice_detail detail = { .insns = 0 };
			bool counts = event.kind == SLICE_END && unit->folded[0];

			/* Pass on an event of a call with details. */
			if (fit->next->details)
				memcpy(&detail, unit + 1, sizeof(detail));
			else
				memcpy(&event, unit + 1, sizeof(event));
			if (counts) {
				detail.folded = unit->folded[0];
				detail.folded_time = unit->folded[1];
			}
			slice_sink_emit(fit->next, track->track, &event,
					fit->next->details || (counts && fit->next->folded)
						? &detail
						: NULL);
		}
		unit += units;
	}
	from->passed = track;
	from->store.end = 0;
}

/* ---- Life cycle ---------------------------------------------------------- */

void ftf_fit_init(struct ftf_fit *fit, uint64_t limit, struct event_sink *others,
		  struct output *output, struct name_table *names)
{
	*fit = (struct ftf_fit){
		.limit = limit,
		.others = others,
		.takes = true,
		.output = output,
		.names = names,
		.left = limit + MAX(limit / 16, STORE_LEAST),
		.filtered = limit < SIZE_MAX / 4 ? 2 * limit : SIZE_MAX / 2,
		.store.file = &fit->file,
		.spare.file = &fit->file,
	};
	event_store_init(&fit->events, names, 0);
}

const struct slice_sink *ftf_fit_before(struct ftf_fit *fit, const struct slice_sink *next)
{
	fit->next = next;
	fit->sink = *next;
	fit->sink.events = take_slices;
	fit->sink.context = fit;
	return &fit->sink;
}

void ftf_fit_finish(struct ftf_fit *fit, uint64_t slices)
{
	uint64_t open = 0;
	struct fit_filtered room;

	if (!fit->limit)
		return;
	for (size_t i = 0; i < fit->track_room; i++)
		open += fit->tracks[i] ? fit->tracks[i]->live.depth : 0;
	if (slices > fit->limit)
		choose(fit, fit->marks + open);
	fit->takes = false;
	/* Pass on the events of the store that stay. */
	room = (struct fit_filtered){ .passes = true,
				      .store = { .room = BATCH, .mask = SIZE_MAX } };
	room.store.recent = alloc_bytes(BATCH * sizeof(*room.store.recent));
	filter_units(fit, &room);
	pass_units(fit, &room);
	free(room.store.recent);
}

void ftf_fit_release(struct ftf_fit *fit)
{
	for (size_t i = 0; i < fit->track_room; i++) {
		struct fit_track *track = fit->tracks[i];

		if (!track)
			continue;
		fit_ranks_release(&track->ranks);
		free(track->live.frames);
		free(track->scan.frames);
		free(track);
	}
	free(fit->tracks);
	event_store_release(&fit->events);
	fit_ranks_release(&fit->roots);
	free(fit->store.recent);
	free(fit->spare.recent);
	temp_file_close(&fit->file);
	*fit = (struct ftf_fit){ 0 };
}
