/* SPDX-License-Identifier: MIT */
/* Follow stretches in jobs, and join them to a thread's stack. */

#include "decoder/streams/pt_streams.h"
#include "src/callstack/call_stretch.h"
#include "src/callstack/precise/callstack_precise_stack.h"
#include "src/resolve/resolve.h"

/* Shorter stretches cost more than they save. */
#define BRANCHES_LEAST 16

/* Slices of a segment's stretches: 8 MiB of events. */
#define SLICES_MOST ((size_t)1 << 18)

/* Limits of a stretch's frames, and of its calls and returns at one time: room never runs out. */
#define DEPTH_MOST 1024
#define GROUP_MOST 512

/* The stretches of a segment, and the machine that follows them. All arrays are owned. */
struct stretches {
	struct precise machine;          /* for this segment only */
	const struct resolver *resolver; /* borrowed */
	struct precise_stack stack;
	bool (*follow)(struct precise_stack *stack, const struct branch_event *event);
	struct slice_sink sink; /* adds to `slices` */
	struct call_stretch *stretches;
	struct slice_event *slices; /* slices of all stretches, in order, as are the frames */
	struct frame *frames;
	size_t count, room, slice_count, slice_room, frame_count, frame_room;
};

/* ---- Following, in any thread -------------------------------------------- */

static void add_slices(struct stretches *all, const struct slice_event *events, size_t count)
{
	if (!count)
		return;
	ARRAY_GROW(all->slices, all->slice_room, all->slice_count + count);
	memcpy(all->slices + all->slice_count, events, count * sizeof(*all->slices));
	all->slice_count += count;
}

static void keep_slices(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	(void)track;
	add_slices(sink->context, batch->events, batch->count);
}

/* Returns both ends of a near branch with permanent names, or NULL. */
static const struct location_pair *named_locations(const struct stretches *all,
						   const struct branch_event *event)
{
	if (!branch_is_near(event) || !event->known)
		return NULL;
	return known_branch_is_named(event->known)
		       ? &event->known->locations
		       : resolver_find_ahead(all->resolver, event->known);
}

/* Note the file of a function (NULL: unknown). Returns false if the stretch has too many files. */
static bool note_file(struct call_stretch *stretch, const struct symbol *function)
{
	struct dso *file = function ? function->dso : NULL;
	size_t at = 0;

	while (file && at < stretch->file_count && stretch->files[at] != file)
		at++;
	if (!file || at < stretch->file_count)
		return true;
	if (at == STRETCH_FILES)
		return false;
	stretch->files[stretch->file_count++] = file;
	return true;
}

/* Follow a branch. Returns false, with nothing changed, if the stretch ends before it. */
static bool follow_branch(struct stretches *all, struct call_stretch *stretch,
			  const struct branch_event *event)
{
	const struct location_pair *locations = named_locations(all, event);
	size_t files = stretch->file_count;

	if (locations && note_file(stretch, locations->from.symbol) &&
	    note_file(stretch, locations->to.symbol) && all->follow(&all->stack, event))
		return true;
	stretch->file_count = files;
	return false;
}

/* Begin with one frame, for the first branch's function, and no instructions. */
static void begin_stretch(struct stretches *all, const struct symbol *function,
			  const struct branch_event *first)
{
	struct timestamp_group *group = &all->stack.group;

	all->stack.now.depth = 0;
	*frame_list_add(&all->stack.now) =
		(struct frame){ .symbol = function, .kind = FRAME_CALLED };
	all->stack.last_time = 0;
	all->stack.insns = 0 - (uint64_t)first->insns;
	group->count = group->distributed = group->calls = group->past_calls = 0;
	group->time = INT64_MIN;
	group->full = 0;
	group->simple = true;
}

/* Returns whether the stretch may grow by a branch. */
static bool has_room(const struct stretches *all)
{
	const struct timestamp_group *group = &all->stack.group;

	return all->stack.now.depth < DEPTH_MOST &&
	       group->count - group->distributed < GROUP_MOST &&
	       all->slice_count + group->count < SLICES_MOST;
}

/*
 * Follow branches of one burst and program while they change only frames above the base. Returns
 * their number. Sets the size of the stretch's first group, and the stretch's maximum depth.
 */
static size_t follow_branches(struct stretches *all, struct call_stretch *stretch,
			      const struct branch_event *events, size_t count)
{
	const struct timestamp_group *group = &all->stack.group;
	size_t begin = all->slice_count, done;

	for (done = 0; done < count && has_room(all); done++) {
		/* Near branches of one burst follow one another. */
		if (events[done].thread != events->thread ||
		    (events[done].time ^ events->time) >= BRANCH_MERGE_QUANTUM ||
		    events[done].space != events->space ||
		    !follow_branch(all, stretch, &events[done]))
			break;
		if (all->stack.now.depth > stretch->deepest)
			stretch->deepest = all->stack.now.depth;
		if (stretch->slices.head || all->slice_count + group->distributed == begin)
			continue;
		/* The first group has ended, but its time and pace are provisional. */
		stretch->slices.head = all->slice_count + group->distributed - begin;
		all->stack.group.past_calls = 0;
	}
	return done;
}

static void end_stretch(struct stretches *all, struct call_stretch *stretch, size_t begin)
{
	struct timestamp_group *group = &all->stack.group;
	struct group_stretch *slices = &stretch->slices;

	timestamp_group_emit(group);
	slices->middle = all->slice_count - begin - slices->head;
	*(slices->head ? &slices->tail : &slices->head) = group->count;
	slices->past_calls = group->past_calls;
	slices->past_time = group->past_time;
	add_slices(all, group->events, group->count);
	stretch->last_time = (uint64_t)all->stack.last_time;
	stretch->insns = all->stack.insns;
	stretch->depth = all->stack.now.depth - 1;
	if (!stretch->depth)
		return;
	ARRAY_GROW(all->frames, all->frame_room, all->frame_count + stretch->depth);
	memcpy(all->frames + all->frame_count, all->stack.now.frames + 1,
	       stretch->depth * sizeof(*all->frames));
	all->frame_count += stretch->depth;
}

/* Follow the stretch that begins with the first event. Returns its length. */
static size_t follow_stretch(struct stretches *all, struct branch_event *events, size_t count)
{
	const struct location_pair *locations = named_locations(all, events);
	struct call_stretch stretch = {
		.events = events, .known = events->known, .kind = events->kind, .time = events->time
	};
	size_t begin = all->slice_count;

	if (!locations || !symbol_is_function(locations->from.symbol))
		return 0;
	stretch.function = locations->from.symbol;
	begin_stretch(all, stretch.function, events);
	stretch.count = follow_branches(all, &stretch, events, count);
	if (stretch.count < BRANCHES_LEAST) {
		all->slice_count = begin;
		return stretch.count;
	}
	end_stretch(all, &stretch, begin);
	all->stretches = alloc_grow(all->stretches, &all->room, all->count + 1, sizeof(stretch));
	all->stretches[all->count++] = stretch;
	return stretch.count;
}

/* The arrays no longer move: mark the first event of each stretch. */
static void mark_stretches(void *state)
{
	struct stretches *all = state;
	const struct slice_event *slices = all->slices;
	const struct frame *frames = all->frames;

	for (size_t i = 0; i < all->count; i++) {
		struct call_stretch *stretch = &all->stretches[i];

		stretch->slices.events = slices;
		stretch->frames = frames;
		slices += stretch->slices.head + stretch->slices.middle + stretch->slices.tail;
		frames += stretch->depth;
		stretch->events->kind = BRANCH_FOLLOWED;
		stretch->events->followed = stretch;
	}
}

static void begin_segment(void *state)
{
	struct stretches *all = state;

	all->count = all->slice_count = all->frame_count = 0;
}

static void follow_events(void *state, struct branch_event *events, size_t count)
{
	struct stretches *all = state;

	/* The branch after a stretch belongs to no stretch: it may change the base. */
	for (size_t at = 0; at < count && all->slice_count < SLICES_MOST; at++)
		at += follow_stretch(all, events + at, count - at);
}

static void *open_stretches(const struct segment_follower *base)
{
	const struct call_follower *follower = (const struct call_follower *)base;
	const struct precise *machine = (const struct precise *)follower->machine;
	struct stretches *all = alloc_zeroed(1, sizeof(*all));

	all->resolver = follower->resolver;
	all->sink = (struct slice_sink){ .events = keep_slices, .context = all };
	all->machine.base.sink = &all->sink;
	all->machine.base.resolution = machine->base.resolution;
	all->machine.base.pending_most = SLICES_MOST;
	all->machine.base.has_base_time = true;
	all->machine.base.open_most = SIZE_MAX;
	all->machine.nests = machine->nests;
	all->follow = machine->base.sites ? precise_follow_sites : precise_follow_above;
	all->stack.base.machine = &all->machine.base;
	all->stack.group.owner = &all->stack.base;
	all->stack.group.sorted = true;
	return all;
}

static void close_stretches(void *state)
{
	struct stretches *all = state;

	timestamp_group_release(&all->stack.group);
	frame_list_release(&all->stack.now);
	free(all->stretches);
	free(all->slices);
	free(all->frames);
	free(all);
}

void call_follower_init(struct call_follower *follower, const struct callstack_machine *machine,
			const struct resolver *resolver)
{
	*follower = (struct call_follower){
		.base = { open_stretches, begin_segment, follow_events, mark_stretches,
			  close_stretches },
		.machine = machine,
		.resolver = resolver,
	};
}

/* ---- Joining, in order --------------------------------------------------- */

/* Returns whether the stretch fits a stack, whose innermost frame becomes the stretch's base. */
static bool fits(const struct precise_stack *stack, const struct call_stretch *stretch)
{
	const struct frame *base = top(stack);
	int64_t time = (int64_t)(stretch->time - stack->base.machine->base_time);

	return stack->plain && base && base->kind != FRAME_PAUSE && !base->hidden &&
	       same_function(base->symbol, stretch->function) && time >= 0 &&
	       time >= stack->last_time && stretch->events->time == stretch->time;
}

/* Reserve room for the stretch's frames. Returns false if there are too many frames. */
static bool make_room(struct precise_stack *stack, const struct call_stretch *stretch)
{
	struct frame_list *now = &stack->now;
	size_t need = now->depth + stretch->deepest;

	if (need > now->room && machine_of(stack)->room + 2 * need > stack->base.machine->open_most)
		return false;
	/* Grow in the same steps as by single branches. */
	while (now->room < need)
		ARRAY_GROW(now->frames, now->room, now->room + 1);
	precise_watch_room(stack);
	return true;
}

bool callstack_join(struct callstack *base, const struct call_stretch *stretch)
{
	struct precise_stack *stack = (struct precise_stack *)base;

	if (!fits(stack, stretch) || !make_room(stack, stretch))
		return false;
	stack->insns += stretch->events->insns;
	timestamp_group_join(&stack->group, &stretch->slices, precise_insns(stack));
	stack->insns += stretch->insns;
	for (size_t i = 0; i < stretch->depth; i++)
		*frame_list_add(&stack->now) = stretch->frames[i];
	stack->last_time = (int64_t)(stretch->last_time - stack->base.machine->base_time);
	return true;
}

void callstack_emit(struct callstack *base)
{
	struct timestamp_group *group = &((struct precise_stack *)base)->group;

	/* A group that settles emits at fixed numbers of events. */
	if (!group->settles && !base->machine->sink->details)
		timestamp_group_emit(group);
}
