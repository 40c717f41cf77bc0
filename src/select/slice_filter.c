/* SPDX-License-Identifier: MIT */
/* The slice filter: decides which slices of each track are hidden, pending or shown. */
#include "src/select/slice_filter.h"

enum frame_state {
	FRAME_OUT = 0, /* outside the shown part */
	FRAME_HIDDEN,
	FRAME_DEEP,    /* deeper than the shown levels */
	FRAME_PENDING, /* shown when it is long enough */
	FRAME_SHOWN,   /* passed on */
};

struct filter_track {
	struct slice_filter *filter;
	void *next_track;
	struct filter_track *next;
	struct filter_frame {
		const struct symbol *symbol;
		uint64_t ip;
		uint64_t begin; /* ns, as displayed */
		uint64_t folded, folded_time;
		struct slice_detail detail; /* details of the begin */
		uint8_t state;              /* enum frame_state */
		uint16_t flags;             /* enum slice_flags */
		bool keep;                  /* selected by --symbol and --dso */
		bool hide;
		bool root;    /* selected by --from */
		bool slow;    /* selected by --within */
		bool outside; /* outside the functions of --from */
		bool context; /* open when the part began */
	} * frames;           /* owned: open slices, outermost first */
	size_t count, room;
	size_t resolved;       /* no frame below this index is pending */
	size_t levels;         /* pending and shown frames */
	size_t context;        /* open slices that are context */
	size_t keep;           /* frames with `keep` */
	size_t roots;          /* frames with `root` */
	size_t slow;           /* frames with `slow` */
	const uint64_t *calls; /* borrowed: the next durations of calls of --within */
	uint64_t longer;       /* ns: longer calls are slow */
	bool between;          /* START was called, but not STOP since */
	bool visible;          /* the thread is in a shown part */
	enum { BEFORE_WORK, IN_WORK, AFTER_WORK } work; /* place in selection->work */
	struct slice_detail now;                        /* details of the last begin or end */
	uint16_t end_flags;                             /* flags of the current end */
};

/* ---- Passing on ---------------------------------------------------------- */

/* Pass on the waiting events, all of this track. */
static void pass_waiting(const struct filter_track *track)
{
	struct slice_filter *filter = track->filter;

	if (filter->waiting)
		filter->next->events(
			filter->next, track->next_track,
			&(struct slice_batch){ filter->events, filter->waiting,
					       filter->detailed ? filter->details : NULL, false });
	filter->waiting = 0;
	filter->detailed = false;
}

/* Pass on an event, at the latest with its batch. */
static void pass_event(const struct filter_track *track, const struct slice_event *event,
		       const struct slice_detail *detail)
{
	struct slice_filter *filter = track->filter;
	uint32_t index = filter->waiting++;

	filter->events[index] = *event;
	filter->events[index].detail = detail ? index + 1 : 0;
	if (detail) {
		filter->details[index] = *detail;
		filter->detailed = true;
	}
	if (filter->waiting == SLICE_FILTER_WAITING)
		pass_waiting(track);
}

static void show(struct filter_track *track, struct filter_frame *frame)
{
	const struct slice_sink *next = track->filter->next;
	const struct slice_event begin = { .time = frame->begin,
					   .symbol = frame->symbol,
					   .ip = frame->ip,
					   .flags = frame->flags,
					   .kind = SLICE_BEGIN };

	pass_event(track, &begin, next->details ? &frame->detail : NULL);
	frame->state = FRAME_SHOWN;
}

/* Show slices that are long enough at `time`; `all`: all open slices. */
static inline void settle(struct filter_track *track, uint64_t time, bool all)
{
	uint64_t shortest = track->filter->choice.selection->min_duration;

	for (; track->resolved < track->count; track->resolved++) {
		struct filter_frame *frame = &track->frames[track->resolved];

		if (frame->state != FRAME_PENDING)
			continue;
		if (!all && time - frame->begin < shortest)
			return;
		show(track, frame);
	}
}

static void end_shown(struct filter_track *track, const struct filter_frame *frame, uint64_t time)
{
	const struct slice_sink *next = track->filter->next;
	const struct slice_event end = {
		.time = time, .symbol = frame->symbol, .flags = track->end_flags, .kind = SLICE_END
	};
	struct slice_detail detail;

	if (!next->details && !(next->folded && frame->folded)) {
		pass_event(track, &end, NULL);
		return;
	}
	detail = (struct slice_detail){ .insns = track->now.insns,
					.cycles = track->now.cycles,
					.branch = track->now.branch,
					.folded = frame->folded,
					.folded_time = frame->folded_time };
	pass_event(track, &end, &detail);
}

/* Count a pending frame in the slice around it. */
static void fold(struct filter_track *track, size_t index, uint64_t time)
{
	struct filter_frame *frame = &track->frames[index];
	struct filter_frame *around = NULL;

	for (size_t i = index; i-- > 0 && !around;)
		if (track->frames[i].state >= FRAME_PENDING)
			around = &track->frames[i];
	if (around) {
		around->folded += 1 + frame->folded;
		around->folded_time += time - frame->begin;
	} else {
		show(track, frame); /* no enclosing slice can count it */
	}
}

/* End the shown part of a frame; all inner frames must have ended. */
static inline void leave(struct filter_track *track, size_t index, uint64_t time)
{
	struct filter_frame *frame = &track->frames[index];

	if (frame->state == FRAME_PENDING)
		fold(track, index, time);
	if (frame->state == FRAME_SHOWN)
		end_shown(track, frame, time);
	track->levels -= frame->state >= FRAME_PENDING;
	track->context -= frame->state >= FRAME_PENDING && frame->context;
	frame->state = FRAME_OUT;
	frame->context = false;
	frame->flags &= (uint16_t)~SLICE_CONTEXT;
	frame->folded = frame->folded_time = 0;
	if (track->resolved > index)
		track->resolved = index;
}

/* The frame enters the shown part at `time`. */
static inline void enter(struct filter_track *track, struct filter_frame *frame, uint64_t time)
{
	struct slice_filter *filter = track->filter;
	/* Levels start at the part's functions, after context. */
	uint32_t asked = frame->context ? 0 : filter->choice.selection->depth;

	frame->begin = time;
	if (frame->hide) {
		frame->state = FRAME_HIDDEN;
	} else if (asked && track->levels - track->context >= asked) {
		frame->state = FRAME_DEEP;
	} else if (track->levels >= filter->most) {
		frame->state = FRAME_DEEP;
		filter->counts.too_deep++;
	} else {
		frame->state = FRAME_PENDING;
		track->levels++;
		track->context += frame->context;
	}
}

/* ---- Parts --------------------------------------------------------------- */

/* Returns whether a call is in the part that `keep` and `slow` frames up to it choose. */
static inline bool is_chosen(const struct filter_track *track, size_t keep, size_t slow)
{
	const struct selection *selection = track->filter->choice.selection;

	return (!selection->start || track->between) && (!selection->within.function || slow) &&
	       (keep || (!selection->symbols.count && !selection->dsos.count)) &&
	       track->work == IN_WORK;
}

static inline void update(struct filter_track *track, uint64_t time)
{
	bool visible = is_chosen(track, track->keep, track->slow);

	if (visible && !track->visible) {
		size_t keep = 0, slow = 0;
		bool chosen;

		/* Show the open slices, which are the part's callers, as context. */
		track->visible = true;
		track->filter->counts.parts++;
		track->resolved = 0;
		for (size_t i = 0; i < track->count; i++) {
			struct filter_frame *frame = &track->frames[i];

			if (frame->outside)
				continue;
			keep += frame->keep;
			slow += frame->slow;
			chosen = is_chosen(track, keep, slow);
			/* The part of a chosen call of --between that runs after START is shown. */
			frame->context = !chosen || track->filter->choice.selection->start;
			frame->flags |= SLICE_INFERRED_START | (chosen ? 0 : SLICE_CONTEXT);
			frame->detail.insns = track->now.insns;
			frame->detail.cycles = track->now.cycles;
			frame->detail.branch = track->now.branch;
			enter(track, frame, time);
		}
	} else if (!visible && track->visible) {
		for (size_t i = track->count; i > 0; i--)
			leave(track, i - 1, time);
		track->visible = false;
	}
}

/*
 * Enter or leave the chosen work, between the last event and the next one (NULL: without counts).
 * Of cycles and instructions, the other count is estimated.
 */
static void pass_bound(struct filter_track *track, const struct slice_detail *next, uint64_t bound,
		       bool enters)
{
	bool cycles = track->filter->choice.selection->work.cycles;
	uint64_t *now = cycles ? &track->now.cycles : &track->now.insns;
	uint64_t *other = cycles ? &track->now.insns : &track->now.cycles;
	uint64_t until = next ? (cycles ? next->cycles : next->insns) - *now : 0;

	if (until)
		*other += (uint64_t)((double)((cycles ? next->insns : next->cycles) - *other) *
				     (double)(bound - *now) / (double)until);
	*now = bound;
	settle(track, bound, false);
	track->work = enters ? IN_WORK : AFTER_WORK;
	track->end_flags = SLICE_CUT;
	update(track, bound);
	track->end_flags = 0;
}

/* ---- The sink ------------------------------------------------------------ */

/* Returns whether the thread is in a function of --from. */
static inline bool is_inside(const struct filter_track *track)
{
	return track->roots || !track->filter->choice.selection->roots.count;
}

/* Returns whether --symbol and --dso select a function. */
static inline bool is_kept(struct slice_filter *filter, const struct symbol *symbol,
			   uint8_t verdict)
{
	const struct selection *selection = filter->choice.selection;

	return (selection->symbols.count ? verdict & VERDICT_KEEP : selection->dsos.count) &&
	       (!selection->dsos.count || function_choice_keeps_file(&filter->choice, symbol->dso));
}

/* Open a slice that passes unchanged inside a shown part, or is outside. */
static __attribute__((noinline)) void open_plain(struct filter_track *track,
						 const struct slice_event *event)
{
	uint8_t verdict = function_choice_verdict(&track->filter->choice, event->symbol);
	bool visible = track->visible, keep = is_kept(track->filter, event->symbol, verdict);

	*ARRAY_ADD(track->frames, track->count, track->room) = (struct filter_frame){
		.symbol = event->symbol,
		.ip = event->ip,
		.begin = event->time,
		.state = visible ? FRAME_SHOWN : FRAME_OUT,
		.flags = event->flags,
		.keep = keep,
	};
	track->keep += keep;
	track->levels += visible;
	track->resolved = track->count;
}

/* Returns whether a begin is plain: it begins no part, and changes none. */
static inline bool is_plain(struct filter_track *track, const struct slice_event *event)
{
	struct slice_filter *filter = track->filter;
	uint8_t verdict = function_choice_verdict(&filter->choice, event->symbol);

	if (verdict & (VERDICT_HIDE | VERDICT_START | VERDICT_STOP | VERDICT_ROOT) ||
	    (!track->visible && is_kept(filter, event->symbol, verdict)) ||
	    (verdict & VERDICT_WITHIN && *track->calls > track->longer))
		return false;
	track->calls += verdict & VERDICT_WITHIN ? 1 : 0;
	return true;
}

/* Pass on events without details: a short run with others, which have no details either. */
static void pass_run(const struct filter_track *track, const struct slice_event *events,
		     size_t count)
{
	struct slice_filter *filter = track->filter;

	if (count > SLICE_FILTER_WAITING / 8 || filter->waiting + count >= SLICE_FILTER_WAITING)
		pass_waiting(track);
	if (count > SLICE_FILTER_WAITING / 8) {
		filter->next->events(filter->next, track->next_track,
				     &(struct slice_batch){ events, count, NULL, false });
		return;
	}
	memcpy(&filter->events[filter->waiting], events, count * sizeof(*events));
	filter->waiting += (uint32_t)count;
}

/*
 * Take a call without callees, of which the shown slice around it only gets a count, or nothing.
 * Returns false if it may be shown.
 */
static inline bool take_leaf(struct filter_track *track, const struct slice_event *begin)
{
	struct slice_filter *filter = track->filter;
	const struct selection *selection = filter->choice.selection;
	uint64_t duration = begin[1].time - begin->time;
	bool deep = selection->depth && track->levels - track->context >= selection->depth;
	struct filter_frame *around;

	if (!track->visible || !track->count || !is_inside(track) ||
	    (!deep && (duration >= selection->min_duration || track->levels >= filter->most)))
		return false;
	if (function_choice_verdict(&filter->choice, begin->symbol) &
	    ~(VERDICT_KNOWN | VERDICT_SHOWN | VERDICT_KEEP))
		return false;
	around = &track->frames[track->count - 1];
	if (!deep && around->state < FRAME_PENDING)
		return false;
	settle(track, begin[1].time, false);
	if (!deep) {
		around->folded++;
		around->folded_time += duration;
	}
	return true;
}

static void begin_filtered(struct filter_track *track, const struct slice_event *event)
{
	struct slice_filter *filter = track->filter;
	uint8_t verdict = function_choice_verdict(&filter->choice, event->symbol);
	bool root = (verdict & VERDICT_ROOT) != 0, outside = !root && !is_inside(track);
	bool keep = !outside && is_kept(filter, event->symbol, verdict);
	bool slow = verdict & VERDICT_WITHIN && *track->calls++ > track->longer && !outside;
	struct filter_frame *frame;

	settle(track, event->time, false);
	if (verdict & VERDICT_STOP) {
		track->between = false;
		update(track, event->time);
	}
	track->between |= (verdict & VERDICT_START) && !outside;
	track->keep += keep;
	track->roots += root;
	track->slow += slow;
	filter->counts.outside += outside;
	if (!track->visible && (keep || slow || verdict & VERDICT_START))
		update(track, event->time);
	frame = ARRAY_ADD(track->frames, track->count, track->room);
	*frame = (struct filter_frame){
		.symbol = event->symbol,
		.ip = event->ip,
		.flags = event->flags,
		.keep = keep,
		.hide = (verdict & VERDICT_HIDE) != 0,
		.root = root,
		.slow = slow,
		.outside = outside,
	};
	if (filter->next->details)
		frame->detail = track->now;
	if (track->visible && !outside)
		enter(track, frame, event->time);
	settle(track, event->time, false);
}

static void end_filtered(struct filter_track *track, const struct slice_event *event)
{
	struct filter_frame *frame;
	uint64_t time = event->time;

	if (!track->count)
		return;
	settle(track, time, false);
	frame = &track->frames[track->count - 1];
	track->end_flags = event->flags;
	leave(track, track->count - 1, time);
	track->end_flags = 0;
	track->count--;
	track->keep -= frame->keep;
	track->roots -= frame->root;
	track->slow -= frame->slow;
	if (frame->keep || frame->slow)
		update(track, time);
}

/* An instant makes the enclosing slices visible, even those below --min-duration. */
static void show_instant(struct filter_track *track, const struct slice_event *event)
{
	if (!track->visible || !is_inside(track))
		return;
	settle(track, event->time, true);
	pass_event(track, event, NULL);
}

static void filter_events(const struct slice_sink *sink, void *track_,
			  const struct slice_batch *batch)
{
	const struct slice_event *event = batch->events, *end = event + batch->count, *plain;
	struct slice_filter *filter = sink->context;
	const struct selection *selection = filter->choice.selection;
	const struct slice_detail *detail;
	struct filter_track *track = track_;
	bool can_pass = !sink->details && !selection->depth && !selection->min_duration &&
			!selection->work.chosen;
	/* The ends of shown slices have the counts of the last event. */
	bool takes_leaves = !sink->details && (selection->depth || selection->min_duration) &&
			    !selection->work.chosen;

	for (; event < end; event++) {
		plain = event;
		if (can_pass) {
			const struct slice_event *open[64];
			size_t depth = 0, most = is_inside(track) ? COUNT_OF(open) : 0;

			/*
			 * Take events that pass unchanged inside a shown part, or are outside.
			 * Without a minimum duration, no slice is pending between two events.
			 * Slices that also end here need no frame.
			 */
			if (track->visible)
				most = MIN(most, track->filter->most - track->levels);
			for (; event < end; event++) {
				if (event->kind == SLICE_BEGIN) {
					if (depth == most || !is_plain(track, event))
						break;
					open[depth++] = event;
				} else if (event->kind == SLICE_END && depth) {
					depth--;
				} else {
					break;
				}
			}
			for (size_t i = 0; i < depth; i++)
				open_plain(track, open[i]);
		}
		if (event > plain && track->visible)
			pass_run(track, plain, (size_t)(event - plain));
		if (event == end)
			break;
		if (takes_leaves && event + 1 < end && event->kind == SLICE_BEGIN &&
		    event[1].kind == SLICE_END && take_leaf(track, event)) {
			event++;
			continue;
		}
		detail = slice_batch_detail(batch, event);
		if (selection->work.chosen) {
			const struct work_range *work = &track->filter->choice.selection->work;

			/* `detail`: of the event, or NULL. */
			if (track->work == BEFORE_WORK &&
			    event->time + (event->kind == SLICE_BEGIN) > work->from)
				pass_bound(track, detail, work->from, true);
			if (track->work == IN_WORK && event->time > work->to)
				pass_bound(track, detail, work->to, false);
		}
		if (detail)
			track->now = *detail;
		else
			track->now.caller = NULL;
		if (event->kind == SLICE_BEGIN)
			begin_filtered(track, event);
		else if (event->kind == SLICE_END)
			end_filtered(track, event);
		else
			show_instant(track, event);
	}
	pass_waiting(track);
}

void slice_filter_init(struct slice_filter *filter, const struct selection *selection,
		       const struct slice_sink *next, struct diag *diag)
{
	*filter = (struct slice_filter){
		.next = next,
		.diag = diag,
		.most = SIZE_MAX,
		.choice.selection = selection,
	};
	filter->sink = (struct slice_sink){
		.events = filter_events,
		.context = filter,
		.details = next->details,
		.arrows = next->arrows,
	};
}

void slice_filter_release(struct slice_filter *filter)
{
	while (filter->tracks) {
		struct filter_track *track = filter->tracks;

		filter->tracks = track->next;
		free(track->frames);
		free(track);
	}
	function_choice_release(&filter->choice);
}

struct filter_track *slice_filter_track(struct slice_filter *filter, void *next_track)
{
	struct filter_track *track = alloc_zeroed(1, sizeof(*track));

	track->filter = filter;
	track->next_track = next_track;
	track->work = filter->choice.selection->work.from ? BEFORE_WORK : IN_WORK;
	track->visible = is_chosen(track, 0, 0);
	track->next = filter->tracks;
	filter->tracks = track;
	return track;
}

void slice_filter_set_calls(struct filter_track *track, const uint64_t *durations, uint64_t longer)
{
	track->calls = durations;
	track->longer = longer;
}

void slice_filter_finish(struct slice_filter *filter)
{
	const struct selection *selection = filter->choice.selection;
	bool parts = selection->start || selection->within.function || selection->symbols.count ||
		     selection->dsos.count;

	for (const struct filter_track *track = filter->tracks; track; track = track->next)
		filter->counts.unended += track->between;
	if (function_choice_warn_names(&filter->choice, VERDICT_HIDE, filter->diag) || !parts ||
	    filter->counts.parts)
		; /* already explained, or no selection */
	else if (selection->within.function && !selection->symbols.count &&
		 !selection->dsos.count && !selection->start)
		diag_warn(filter->diag, "nothing-selected",
			  "no call of '%s' took longer than --within says; choose a shorter time",
			  selection->within.function);
	else if (selection->dsos.count && !selection->symbols.count && !selection->start)
		diag_warn(
			filter->diag, "nothing-selected",
			"no function of a file matching '%s' was called; `ptrace2ftf list` shows the "
			"recorded files",
			selection->dsos.patterns[0]);
	else
		diag_warn(
			filter->diag, "nothing-selected",
			"no call matches the options --symbol, --dso, --between, --within and --from "
			"together");
	if (filter->counts.unended)
		diag_warn(filter->diag, "between-unended",
			  "on %" PRIu64
			  " thread%s %s was called without a call of %s after it: shown to "
			  "the end of the trace",
			  filter->counts.unended, filter->counts.unended == 1 ? "" : "s",
			  selection->start, selection->stop);
	if (filter->counts.too_deep)
		diag_warn(filter->diag, "too-deep",
			  "%" PRIu64 " slices were left out, as at most %zu can be nested",
			  filter->counts.too_deep, filter->most);
}
