/* SPDX-License-Identifier: MIT */
/* The open calls of each thread, and a heap of the slowest calls that have ended. */
#include "src/formats/answers/slow_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* A chosen call that is open. */
struct open_call {
	struct slow_call call; /* `insns` and `untraced` are the thread's at its begin */
	uint64_t depth;        /* slices open around it */
	uint32_t recursion;    /* its place in open_counts */
};

/* What a symbol's slices are. */
struct choice_slot {
	const struct symbol *symbol; /* borrowed; NULL: the slot is empty */
	bool pause, chosen;
};

#define CHOICE_BITS 10

struct slow_track {
	struct open_call *open; /* owned; innermost last, each of another function */
	size_t count, room;
	uint64_t depth;          /* slices that are open */
	uint64_t untraced;       /* ns of the thread up to now */
	uint64_t pause, outside; /* ns: begin of the open pause; 1 + slices around it, 0: none */
};

static struct slow_track *slow_track_of(struct slow_calls *calls, const struct track *track)
{
	calls->tracks = alloc_grow_zeroed(calls->tracks, &calls->track_room,
					  (size_t)track->index + 1, sizeof(*calls->tracks));
	return &calls->tracks[track->index];
}

/* ---- The slowest --------------------------------------------------------- */

/* Equal durations are in the order of time, then of threads: the same for any input order. */
static bool is_slower(const struct slow_call *a, const struct slow_call *b)
{
	if (a->duration != b->duration)
		return a->duration > b->duration;
	if (a->begin != b->begin)
		return a->begin < b->begin;
	return a->track->index < b->track->index;
}

static void move_up(struct slow_calls *calls, const struct slow_call *call)
{
	size_t at = calls->count++;

	for (; at && is_slower(&calls->calls[(at - 1) / 2], call); at = (at - 1) / 2)
		calls->calls[at] = calls->calls[(at - 1) / 2];
	calls->calls[at] = *call;
}

/* Put a call into the place of the fastest one. */
static void move_down(struct slow_calls *calls, const struct slow_call *call)
{
	size_t at = 0, child;

	while ((child = 2 * at + 1) < calls->count) {
		if (child + 1 < calls->count &&
		    is_slower(&calls->calls[child], &calls->calls[child + 1]))
			child++;
		if (!is_slower(call, &calls->calls[child]))
			break;
		calls->calls[at] = calls->calls[child];
		at = child;
	}
	calls->calls[at] = *call;
}

static void keep_if_slow(struct slow_calls *calls, const struct slow_call *call)
{
	const struct slow_choice *choice = &calls->choice;

	durations_add(&calls->durations, call->duration);
	calls->longer += call->duration > choice->longer;
	if (choice->has_bound && !choice->percentile && call->duration <= choice->longer)
		return;
	if (calls->count < slow_choice_most(choice)) {
		calls->calls = alloc_grow(calls->calls, &calls->room, calls->count + 1,
					  sizeof(*calls->calls));
		move_up(calls, call);
	} else if (is_slower(call, &calls->calls[0])) {
		move_down(calls, call);
	}
}

/* ---- Slices -------------------------------------------------------------- */

static bool decide(struct slow_calls *calls, const struct symbol *symbol)
{
	bool keep = !calls->names.selection->symbols.count ||
		    name_verdicts_of(&calls->names, symbol) & VERDICT_KEEP;

	return keep && symbol->kind != SYMBOL_MARK && symbol->kind != SYMBOL_SPECIAL &&
	       file_verdicts_keep(&calls->files, symbol->dso);
}

static const struct choice_slot *choice_of(struct slow_calls *calls, const struct symbol *symbol)
{
	struct choice_slot *slots = calls->chosen.slots;
	struct choice_slot *slot =
		&slots[direct_cache_index((uint64_t)(uintptr_t)symbol, CHOICE_BITS)];

	if (slot->symbol != symbol)
		*slot = (struct choice_slot){ symbol, symbol->kind == SYMBOL_SPECIAL,
					      decide(calls, symbol) };
	return slot;
}

static void begin_chosen(struct slow_calls *calls, struct slow_track *track,
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
	track->open[track->count++] = (struct open_call){
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

static void end_chosen(struct slow_calls *calls, struct slow_track *track,
		       const struct slice_event *event, const struct slice_detail *detail)
{
	struct open_call *open = &track->open[--track->count];
	struct slow_call *call = &open->call;

	calls->open_counts[open->recursion] = 0;
	call->duration = event->time - call->begin;
	call->insns = detail && detail->insns > call->insns ? detail->insns - call->insns : 0;
	call->untraced = track->untraced - call->untraced;
	call->end_seen = !(event->flags & SLICE_CUT);
	keep_if_slow(calls, call);
}

static void enter_slice(struct slow_calls *calls, struct slow_track *track,
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

static void leave_slice(struct slow_calls *calls, struct slow_track *track,
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
	struct slow_calls *calls = sink->context;
	struct slow_track *track = slow_track_of(calls, context);

	for (size_t i = 0; i < batch->count; i++) {
		const struct slice_event *event = &batch->events[i];
		const struct slice_detail *detail = slice_batch_detail(batch, event);

		if (event->kind == SLICE_BEGIN)
			enter_slice(calls, track, context, event, detail);
		else if (event->kind == SLICE_END)
			leave_slice(calls, track, event, detail);
	}
}

void slow_calls_init(struct slow_calls *calls, const struct selection *selection,
		     const struct slow_choice *choice)
{
	*calls = (struct slow_calls){
		.sink = { .events = find_calls, .context = calls, .details = true },
		.choice = *choice,
		.names.selection = selection,
		.files.selection = selection,
	};
	direct_cache_init(&calls->chosen, CHOICE_BITS, sizeof(struct choice_slot));
}

/* ---- The end ------------------------------------------------------------- */

static int compare_slow(const void *left, const void *right)
{
	return is_slower(left, right) ? -1 : is_slower(right, left);
}

static void apply_bound(struct slow_calls *calls)
{
	const struct slow_choice *choice = &calls->choice;
	size_t slow = 0;

	if (!choice->has_bound)
		return;
	calls->bound = choice->longer;
	calls->slower = calls->longer;
	if (!choice->percentile)
		return;
	calls->bound = durations_quantile(&calls->durations, choice->percentile);
	while (slow < calls->count && calls->calls[slow].duration > calls->bound)
		slow++;
	calls->slower = durations_longer(&calls->durations, calls->bound);
	if (slow < calls->count || calls->slower < slow)
		calls->slower = slow;
	calls->count = slow;
}

void slow_calls_finish(struct slow_calls *calls, struct diag *diag)
{
	if (calls->count)
		qsort(calls->calls, calls->count, sizeof(*calls->calls), compare_slow);
	apply_bound(calls);
	if (!name_verdicts_warn(&calls->names, diag) && !calls->durations.count)
		diag_warn(diag, "nothing-selected",
			  "no call matches the options --symbol, --dso, "
			  "--between and --from together");
}

void slow_calls_release(struct slow_calls *calls)
{
	for (size_t i = 0; i < calls->track_room; i++)
		free(calls->tracks[i].open);
	free(calls->tracks);
	pair_table_release(&calls->recursions);
	free(calls->open_counts);
	free(calls->calls);
	durations_release(&calls->durations);
	direct_cache_release(&calls->chosen);
	name_verdicts_release(&calls->names);
	file_verdicts_release(&calls->files);
	*calls = (struct slow_calls){ 0 };
}
