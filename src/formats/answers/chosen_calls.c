/* SPDX-License-Identifier: MIT */
/* The open calls of each thread. */
#include "src/formats/answers/chosen_calls.h"

/* A chosen call that is open. */
struct open_chosen {
	struct chosen_call call; /* `insns` and `untraced` are the thread's at its begin */
	uint64_t depth;          /* slices open around it */
	uint32_t recursion;      /* its place in open_counts */
};

/* What a symbol's slices are. */
struct choice_slot {
	const struct symbol *symbol; /* borrowed; NULL: the slot is empty */
	bool pause, chosen;
};

#define CHOICE_BITS 10

struct chosen_track {
	struct open_chosen *open; /* owned; innermost last, each of another function */
	size_t count, room;
	uint64_t depth;          /* slices that are open */
	uint64_t untraced;       /* ns of the thread up to now */
	uint64_t pause, outside; /* ns: begin of the open pause; 1 + slices around it, 0: none */
};

static struct chosen_track *track_of(struct chosen_calls *calls, const struct track *track)
{
	calls->tracks = alloc_grow_zeroed(calls->tracks, &calls->track_room,
					  (size_t)track->index + 1, sizeof(*calls->tracks));
	return &calls->tracks[track->index];
}

/* ---- Slices -------------------------------------------------------------- */

static bool decide(struct chosen_calls *calls, const struct symbol *symbol)
{
	return function_choice_has(&calls->choice, symbol) && symbol->kind != SYMBOL_MARK &&
	       symbol->kind != SYMBOL_SPECIAL;
}

static const struct choice_slot *choice_of(struct chosen_calls *calls, const struct symbol *symbol)
{
	struct choice_slot *slots = calls->verdicts.slots;
	struct choice_slot *slot =
		&slots[direct_cache_index((uint64_t)(uintptr_t)symbol, CHOICE_BITS)];

	if (slot->symbol != symbol)
		*slot = (struct choice_slot){ symbol, symbol->kind == SYMBOL_SPECIAL,
					      decide(calls, symbol) };
	return slot;
}

static void begin_chosen(struct chosen_calls *calls, struct chosen_track *track,
			 const struct track *thread, const struct slice_event *event,
			 const struct slice_detail *detail)
{
	uint32_t recursion =
		pair_table_find(&calls->recursions, thread->index, event->symbol->name->id);

	calls->open_counts = alloc_grow_zeroed(calls->open_counts, &calls->open_room,
					       (size_t)recursion + 1, sizeof(*calls->open_counts));
	if (calls->open_counts[recursion])
		return;
	calls->open_counts[recursion] = 1;
	track->open = alloc_grow(track->open, &track->room, track->count + 1, sizeof(*track->open));
	track->open[track->count++] = (struct open_chosen){
		.call = { .symbol = event->symbol,
			  .track = thread,
			  .begin = event->time,
			  .insns = detail ? detail->insns : 0,
			  .untraced = track->untraced,
			  .begin_seen = !(event->flags & SLICE_INFERRED_START) },
		.depth = track->depth,
		.recursion = recursion,
	};
}

static void end_chosen(struct chosen_calls *calls, struct chosen_track *track,
		       const struct slice_event *event, const struct slice_detail *detail)
{
	struct open_chosen *open = &track->open[--track->count];
	struct chosen_call *call = &open->call;

	calls->open_counts[open->recursion] = 0;
	call->duration = event->time - call->begin;
	call->insns = detail && detail->insns > call->insns ? detail->insns - call->insns : 0;
	call->untraced = track->untraced - call->untraced;
	call->end_seen = !(event->flags & SLICE_CUT);
	calls->count++;
	calls->ended(calls->context, call);
}

static void enter_slice(struct chosen_calls *calls, struct chosen_track *track,
			const struct track *thread, const struct slice_event *event,
			const struct slice_detail *detail)
{
	const struct choice_slot *slot = choice_of(calls, event->symbol);

	if (slot->pause && !track->outside) {
		track->pause = event->time;
		track->outside = track->depth + 1;
	} else if (slot->chosen && !(event->flags & SLICE_CONTEXT)) {
		begin_chosen(calls, track, thread, event, detail);
	}
	track->depth++;
	calls->slices++;
}

static void leave_slice(struct chosen_calls *calls, struct chosen_track *track,
			const struct slice_event *event, const struct slice_detail *detail)
{
	if (!track->depth)
		return;
	track->depth--;
	if (track->outside == track->depth + 1) {
		track->untraced += event->time - track->pause;
		track->outside = 0;
	}
	if (track->count && track->open[track->count - 1].depth == track->depth)
		end_chosen(calls, track, event, detail);
}

static void find_calls(const struct slice_sink *sink, void *context,
		       const struct slice_batch *batch)
{
	struct chosen_calls *calls = sink->context;
	struct chosen_track *track = track_of(calls, context);

	for (size_t i = 0; i < batch->count; i++) {
		const struct slice_event *event = &batch->events[i];
		const struct slice_detail *detail = slice_batch_detail(batch, event);

		if (event->kind == SLICE_BEGIN)
			enter_slice(calls, track, context, event, detail);
		else if (event->kind == SLICE_END)
			leave_slice(calls, track, event, detail);
	}
}

void chosen_calls_init(struct chosen_calls *calls, const struct selection *selection,
		       chosen_call_ended *ended, void *context)
{
	*calls = (struct chosen_calls){
		.sink = { .events = find_calls, .context = calls, .details = true },
		.ended = ended,
		.context = context,
	};
	function_choice_init(&calls->choice, selection);
	direct_cache_init(&calls->verdicts, CHOICE_BITS, sizeof(struct choice_slot));
}

void chosen_calls_warn(const struct chosen_calls *calls, struct diag *diag)
{
	function_choice_warn(&calls->choice, calls->count, diag);
}

void chosen_calls_release(struct chosen_calls *calls)
{
	for (size_t i = 0; i < calls->track_room; i++)
		free(calls->tracks[i].open);
	free(calls->tracks);
	pair_table_release(&calls->recursions);
	free(calls->open_counts);
	direct_cache_release(&calls->verdicts);
	function_choice_release(&calls->choice);
	*calls = (struct chosen_calls){ 0 };
}
