/* SPDX-License-Identifier: MIT */
/* Store what each stack did, and emit it by time. */
#include "src/slices/fiber_tracks.h"

/* A stack. In the store, its slices between two switches are between two marks. */
struct fiber {
	struct symbol symbol; /* first */
	struct track stored;  /* its track of the store */
	void *track;          /* borrowed: the next sink's; NULL: not shown */
	struct fiber *next;
};

struct fiber_thread {
	struct symbol parked; /* first: for a stack of another thread that it resumes */
	struct fiber *own;    /* its first stack */
	struct fiber_tracks *tracks;
	struct fiber_thread *next;
	const struct symbol *shown; /* `parked` of the first thread with its name */
	struct fiber *now;          /* the current stack; NULL: none yet, or between two */
	struct fiber *last;         /* the one before */
	uint64_t arrow;             /* number of the arrow that leaves it; 0: a gap followed */
	size_t depth;               /* open slices since the switch */
	bool outside;               /* these are of no stack: a gap */
};

/* ---- In ------------------------------------------------------------------ */

/* Store a mark: SLICE_ARROW_END, with the flags and arrow of a switch to a stack, or SLICE_ARROW.
 */
static void mark(struct fiber_thread *thread, const struct slice_event *at,
		 const struct slice_detail *detail, enum slice_event_kind kind, unsigned flags)
{
	const struct slice_event event = { .time = at->time,
					   .symbol = &thread->parked,
					   .ip = thread->arrow,
					   .flags = (uint16_t)flags,
					   .kind = (uint8_t)kind };

	slice_sink_emit(&thread->tracks->stored, &thread->now->stored, &event, detail);
}

static void arrive(struct fiber_thread *thread, const struct slice_event *event,
		   const struct slice_detail *detail)
{
	struct fiber_tracks *tracks = thread->tracks;
	struct fiber *fiber = (struct fiber *)(uintptr_t)event->symbol;

	thread->outside = event->symbol->special != SPECIAL_STACK;
	thread->now = thread->outside || !fiber->track ? thread->own : fiber;
	thread->depth = 0;
	if (thread->outside || thread->now == thread->last)
		thread->arrow = 0;
	ARRAY_GROW_ZEROED(tracks->arrived, tracks->arrived_room, (size_t)thread->arrow + 1);
	tracks->arrived[thread->arrow] = true;
	mark(thread, event, detail, SLICE_ARROW_END,
	     thread->outside ? SLICE_CUT : event->flags & SLICE_UNCERTAIN_LEVEL);
}

static void leave(struct fiber_thread *thread, const struct slice_event *event,
		  const struct slice_detail *detail)
{
	thread->arrow = thread->outside ? 0 : ++thread->tracks->arrows;
	mark(thread, event, detail, SLICE_ARROW, thread->outside ? SLICE_CUT : 0);
	thread->last = thread->now;
	thread->now = NULL;
}

static void take_event(struct fiber_thread *thread, const struct slice_event *event,
		       const struct slice_detail *detail)
{
	const struct fiber_tracks *tracks = thread->tracks;

	if (!thread->now) {
		arrive(thread, event, detail);
		if (!thread->outside)
			return;
	}
	if (event->kind == SLICE_END && !thread->depth) {
		leave(thread, event, detail);
		return;
	}
	slice_sink_emit(&tracks->stored, &thread->now->stored, event, detail);
	thread->depth += event->kind == SLICE_BEGIN ? 1 : (size_t)-1;
	if (!thread->depth && thread->outside)
		leave(thread, event, NULL);
}

static void take_events(const struct slice_sink *sink, void *thread,
			const struct slice_batch *batch)
{
	(void)sink;
	for (size_t i = 0; i < batch->count; i++)
		take_event(thread, &batch->events[i], slice_batch_detail(batch, &batch->events[i]));
}

/* ---- Out: one stack ------------------------------------------------------ */

struct replay {
	const struct fiber_tracks *tracks;
	struct fiber *fiber;
	struct open_slice {
		const struct symbol *symbol;
		/*
		 * It ends with the slice inside: a tail call left its function, and the machine no
		 * longer has it, as other stacks that fitted did not (remove_left()).
		 */
		bool left;
	} * open; /* owned: outermost first */
	size_t count, room;
	size_t matched;         /* of these, slices that continued after the last switch */
	bool resumes;           /* others can still continue */
	bool confused;          /* the stack can be another one with equal frames */
	uint64_t left, last;    /* ns: when it was left, or resumed; of the last event */
	struct slice_cost done; /* the stack's counts when it was left */
	struct slice_cost base; /* the thread's counts at the last switch, less `done` */
	const struct fiber_thread *resumer;
	uint64_t awaited; /* number of the arrow that ends at the next slice */
};

/* Emit an event, at its time or the last one, with counts of the stack. */
static void emit(struct replay *replay, struct slice_event event, const struct slice_detail *detail)
{
	struct slice_detail own = { 0 };

	if (detail) {
		own = *detail;
		own.insns -= replay->base.insns;
		own.cycles -= replay->base.cycles;
	}
	event.time = replay->last = MAX(event.time, replay->last);
	event.flags &= (uint16_t)~SLICE_CONTINUED;
	slice_sink_emit(replay->tracks->next, replay->fiber->track, &event, detail ? &own : NULL);
}

static void emit_arrow(struct replay *replay, uint64_t number, uint64_t time,
		       enum slice_event_kind kind)
{
	struct slice_event event = { .time = time, .ip = number, .kind = (uint8_t)kind };

	if (number && replay->tracks->next->arrows)
		emit(replay, event, NULL);
}

/* End the innermost slice, and what ends with it. */
static void end_innermost(struct replay *replay, const struct slice_event *end,
			  const struct slice_detail *detail)
{
	struct slice_event event = *end;

	do {
		event.symbol = replay->open[--replay->count].symbol;
		emit(replay, event, detail);
	} while (replay->count && replay->open[replay->count - 1].left);
	replay->matched = MIN(replay->matched, replay->count);
}

/* End the slices above `count`. If none is left, no return was seen. */
static void cut(struct replay *replay, size_t count, uint64_t time)
{
	const struct slice_event end = { .time = time,
					 .flags = count ? 0 : SLICE_CUT,
					 .kind = SLICE_END };
	const struct slice_detail left = { .insns = replay->done.insns + replay->base.insns,
					   .cycles = replay->done.cycles + replay->base.cycles };

	while (replay->count > count)
		end_innermost(replay, &end, replay->tracks->next->details ? &left : NULL);
	replay->resumes = false;
}

/* Slices that did not continue have ended: the function that switched stacks has returned. */
static void end_resumption(struct replay *replay)
{
	if (replay->resumes)
		cut(replay, replay->matched, replay->left);
}

/* Returns whether a begin continues an open slice. */
static bool match(struct replay *replay, const struct symbol *symbol)
{
	size_t at = replay->matched;

	while (at < replay->count && replay->open[at].symbol != symbol)
		at++;
	if (at == replay->count)
		return false;
	while (replay->matched < at)
		replay->open[replay->matched++].left = true;
	replay->open[replay->matched++].left = false;
	return true;
}

/* The stack runs: it was parked since it was left. */
static void replay_arrival(struct replay *replay, const struct slice_event *mark,
			   const struct slice_detail *detail)
{
	const struct fiber_thread *thread = (const struct fiber_thread *)(uintptr_t)mark->symbol;
	struct slice_event parked = { .time = replay->left,
				      .symbol = replay->resumer == thread ? &replay->tracks->parked
									  : thread->shown };

	if (mark->flags & SLICE_CUT)
		cut(replay, 0, replay->left);
	if (replay->count && mark->time > replay->left) {
		emit(replay, parked, NULL);
		parked.time = replay->left = mark->time;
		parked.kind = SLICE_END;
		emit(replay, parked, NULL);
	}
	replay->resumer = thread;
	replay->resumes = replay->count;
	replay->matched = 0;
	replay->confused = mark->flags & SLICE_UNCERTAIN_LEVEL;
	if (detail)
		replay->base = (struct slice_cost){ detail->insns - replay->done.insns,
						    detail->cycles - replay->done.cycles };
	replay->awaited = mark->ip;
	if (!replay->count)
		return;
	emit_arrow(replay, mark->ip, mark->time, SLICE_ARROW_END);
	replay->awaited = 0;
}

static void replay_leaving(struct replay *replay, const struct slice_event *mark,
			   const struct slice_detail *detail)
{
	end_resumption(replay);
	if (mark->ip < replay->tracks->arrived_room && replay->tracks->arrived[mark->ip])
		emit_arrow(replay, mark->ip, mark->time, SLICE_ARROW);
	replay->left = MAX(mark->time, replay->last);
	if (detail)
		replay->done = (struct slice_cost){ detail->insns - replay->base.insns,
						    detail->cycles - replay->base.cycles };
}

static void replay_events(const struct slice_sink *sink, void *track,
			  const struct slice_batch *batch)
{
	struct replay *replay = sink->context;

	(void)track;
	for (const struct slice_event *event = batch->events; event < batch->events + batch->count;
	     event++) {
		if (event->kind == SLICE_BEGIN) {
			struct slice_event begin = *event;

			if (!(event->flags & SLICE_CONTINUED) || !replay->resumes ||
			    !match(replay, event->symbol)) {
				end_resumption(replay);
				if (replay->confused && replay->matched &&
				    replay->count == replay->matched)
					begin.flags |= SLICE_UNCERTAIN_LEVEL;
				emit(replay, begin, slice_batch_detail(batch, event));
				*ARRAY_ADD(replay->open, replay->count, replay->room) =
					(struct open_slice){ event->symbol, false };
				emit_arrow(replay, replay->awaited, event->time, SLICE_ARROW_END);
				replay->awaited = 0;
			}
		} else if (event->kind == SLICE_ARROW_END) {
			replay_arrival(replay, event, slice_batch_detail(batch, event));
		} else if (event->kind == SLICE_ARROW) {
			replay_leaving(replay, event, slice_batch_detail(batch, event));
		} else if (!(event->flags & SLICE_CONTINUED)) {
			end_resumption(replay);
			if (replay->count)
				end_innermost(replay, event, slice_batch_detail(batch, event));
		}
	}
}

void fiber_tracks_finish(struct fiber_tracks *tracks)
{
	for (struct fiber *fiber = tracks->first; fiber; fiber = fiber->next) {
		struct replay replay = { .tracks = tracks, .fiber = fiber };
		const struct slice_sink sink = { .events = replay_events, .context = &replay };

		if (fiber->stored.index < tracks->store.track_count)
			slice_store_replay_sorted(&tracks->store, fiber->stored.index, &sink);
		cut(&replay, 0, replay.left);
		free(replay.open);
	}
}

/* ---- The tracks ---------------------------------------------------------- */

void fiber_tracks_init(struct fiber_tracks *tracks, const struct slice_sink *next,
		       struct name_table *names)
{
	*tracks = (struct fiber_tracks){
		.sink = { .events = take_events, .context = tracks, .details = next->details },
		.next = next,
		.store.names = names,
		.parked = symbol_special(names, "[parked]", SPECIAL_PARKED),
	};
	tracks->last = &tracks->first;
	tracks->stored = slice_store_sink(&tracks->store, next->details, false);
}

static struct fiber *add(struct fiber_tracks *tracks, void *next_track)
{
	struct fiber *fiber = alloc_zeroed(1, sizeof(*fiber));

	fiber->symbol = symbol_special(tracks->store.names, "[stack]", SPECIAL_STACK);
	fiber->stored.index = tracks->count++;
	fiber->track = next_track;
	*tracks->last = fiber;
	tracks->last = &fiber->next;
	return fiber;
}

struct fiber_thread *fiber_tracks_thread(struct fiber_tracks *tracks, void *next_track,
					 const char *name)
{
	struct fiber_thread *thread = alloc_zeroed(1, sizeof(*thread));
	char *text = alloc_text("[parked, resumed by %s]", name ? name : "another thread");

	thread->own = add(tracks, next_track);
	thread->parked = symbol_special(tracks->store.names, text, SPECIAL_PARKED);
	thread->shown = &thread->parked;
	thread->tracks = tracks;
	for (const struct fiber_thread *at = tracks->threads; at; at = at->next)
		if (at->parked.name == thread->parked.name)
			thread->shown = at->shown;
	thread->next = tracks->threads;
	tracks->threads = thread;
	free(text);
	return thread;
}

const struct symbol *fiber_tracks_own(const struct fiber_thread *thread)
{
	return &thread->own->symbol;
}

const struct symbol *fiber_tracks_add(struct fiber_tracks *tracks, void *next_track)
{
	return &add(tracks, next_track)->symbol;
}

void fiber_tracks_release(struct fiber_tracks *tracks)
{
	while (tracks->threads) {
		struct fiber_thread *thread = tracks->threads;

		tracks->threads = thread->next;
		free(thread);
	}
	while (tracks->first) {
		struct fiber *fiber = tracks->first;

		tracks->first = fiber->next;
		free(fiber);
	}
	free(tracks->arrived);
	slice_store_release(&tracks->store);
	*tracks = (struct fiber_tracks){ 0 };
}
