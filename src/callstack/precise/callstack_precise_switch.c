/* SPDX-License-Identifier: MIT */
/*
 * Several stacks of one thread: coroutines, goroutines, swapcontext().
 *
 * A stack that is left is parked; a branch to just after one of its calls resumes it. Often several
 * stacks fit, for example all that yield by the same call, and only a difference between them
 * identifies the resumed one. So the frames that all candidates share are resumed first. The other
 * frames are added when a return leaves one candidate, or several with equal frames; their slices
 * enclose the slices in between (SLICE_ORDER_DEFERRED). If the stack is left earlier, the candidate
 * that was left first is assumed, and the slices that only this candidate has are marked
 * (SLICE_UNCERTAIN_LEVEL). An exception's landing pad compares candidates as a return does; if
 * several have it outside of their common frames, the one that was left last is assumed, because an
 * inner coroutine's resume() throws what ended it. From then on the parked frames of the other
 * candidates are doubtful: one of these stacks perhaps ran in its stead. A comparison with doubtful
 * frames proves nothing, so what a doubtful candidate has is marked, and so are all stacks that
 * come back after a loss.
 *
 * A function can enter a stack by a call, and that stack can return to the function's own stack
 * without ending (OCaml's effects). Such a fiber is parked alone, and resumes on top of the stack
 * that switches to it.
 */
#include "src/callstack/precise/callstack_precise_stack.h"

/* ---- Candidates ---------------------------------------------------------- */

static struct stack_fit *fit_of(const struct precise_stack *stack,
				const struct parked_stack *parked)
{
	return &stack->fits[parked - stack->pool->parked];
}

static bool is_candidate(const struct precise_stack *stack, const struct parked_stack *parked)
{
	return stack->candidates && fit_of(stack, parked)->candidate;
}

/* Returns whether a parked stack is a candidate of another thread. */
static bool is_wanted(const struct precise_stack *stack, const struct parked_stack *parked)
{
	const struct precise_stack *user = stack->pool->users;

	while (user && (user == stack || !is_candidate(user, parked)))
		user = user->next_user;
	return user;
}

void precise_forget_candidates(struct precise_stack *stack)
{
	if (stack->candidates)
		memset(stack->fits, 0, STACKS_MAX * sizeof(*stack->fits));
	stack->candidates = 0;
	stack->known = 0;
	if (!stack->below)
		return;
	stack->group.since = stack->below_since;
	stack->at_since = stack->at_below_since;
	stack->watched = stack->begun_by_jump = false;
	stack->below = 0;
	if (stack->has_root)
		timestamp_group_settle(&stack->group, true);
}

/* Returns the candidate that was left first, or last; there must be one. */
static struct parked_stack *find_left(struct precise_stack *stack, bool last)
{
	struct parked_stack *found = NULL;

	for (size_t i = 0; i < stack->pool->count; i++) {
		struct parked_stack *parked = &stack->pool->parked[i];

		if (is_candidate(stack, parked) && (!found || (parked->left < found->left) != last))
			found = parked;
	}
	return found;
}

static bool same_frame(const struct frame *a, const struct frame *b)
{
	return a->symbol == b->symbol && a->kind == b->kind && a->return_ip == b->return_ip &&
	       a->hidden == b->hidden;
}

/*
 * Returns the number of frames around the known ones that all candidates share, from the innermost
 * outwards; the outermost of these may return to different addresses. `*all`: all frames are equal.
 */
static size_t count_common(struct precise_stack *stack, bool *all)
{
	const struct parked_stack *first = find_left(stack, false);
	size_t most = fit_of(stack, first)->kept - stack->known, common = most;

	*all = true;
	for (size_t i = 0; i < stack->pool->count; i++) {
		const struct parked_stack *other = &stack->pool->parked[i];
		const struct frame *a = first->frames.frames + most, *b;
		size_t count, n = 0;

		if (!is_candidate(stack, other))
			continue;
		count = fit_of(stack, other)->kept - stack->known;
		b = other->frames.frames + count;

		while (n < common && n < count && same_frame(a - 1 - n, b - 1 - n))
			n++;
		if (n < most || n < count)
			*all = false;
		/* One function, called from different addresses. */
		if (n < common && n < count &&
		    a[-1 - (ptrdiff_t)n].symbol == b[-1 - (ptrdiff_t)n].symbol)
			n++;
		common = MIN(n, common);
	}
	return common;
}

/* Returns whether a parked stack is a fiber: a function of another stack entered it. */
static bool is_fiber(const struct parked_stack *parked)
{
	return parked->frames.depth > 1 && parked->frames.frames[0].roles & FRAME_OF_FIBER;
}

/* Returns 1 + the number of frames that remain if `to` resumes a parked stack; 0: it does not. */
static size_t count_kept(const struct precise_stack *stack, struct parked_stack *parked,
			 const struct location *to, enum precise_resume how)
{
	struct frame_list *list = &parked->frames;
	const struct frame *innermost = &list->frames[list->depth - 1];
	bool last = how == RESUME_LAST_SETJMP;

	if (!list->depth || (last && !parked->dropped))
		return 0;
	switch (how) {
	case RESUME_LAST_SETJMP:
	case RESUME_ANY_SETJMP:
		return precise_find_setjmp(&parked->jumps, list, to->ip, last);
	case RESUME_TOP_FIBER:
		return is_fiber(parked) && frame_returns_to(innermost, to->ip) ? list->depth : 0;
	case RESUME_FIBER_FUNCTION:
		return is_fiber(parked) &&
				       frame_list_find_function(list, FRAME_BY_FUNCTION, to->symbol)
			       ? list->depth
			       : 0;
	case RESUME_TOP_CALL:
		return frame_returns_to(innermost, to->ip) ? list->depth : 0;
	case RESUME_LANDING:
		return precise_find_landing(list, list->depth - 1, to) ? list->depth : 0;
	case RESUME_TOP_FUNCTION:
		return symbol_is_function(to->symbol) &&
				       same_function(innermost->symbol, to->symbol)
			       ? list->depth + 1
			       : 0;
	case RESUME_ANY_FUNCTION: {
		size_t at = parked->left == stack->switches
				    ? frame_list_find_function(list, FRAME_BY_FUNCTION, to->symbol)
				    : 0;
		return at > 1 || (at && !(list->frames->roles & FRAME_SWITCHED_TO)) ? at + 1 : 0;
	}
	case RESUME_ANY_CALL:
		break;
	}
	return frame_list_find(list, FRAME_BY_RETURN, to->ip);
}

static bool has_candidate(struct precise_stack *stack, const struct location *to,
			  enum precise_resume how)
{
	for (size_t i = 0; i < stack->pool->count; i++) {
		if (count_kept(stack, &stack->pool->parked[i], to, how))
			return true;
	}
	return false;
}

/* Remove the frames that a parked stack left by tail calls. Returns whether there were any. */
static bool remove_left(const struct precise_stack *stack, struct parked_stack *parked)
{
	struct stack_fit *fit = fit_of(stack, parked);
	struct frame_list *list = &parked->frames;
	size_t depth = 0;

	if (is_wanted(stack, parked))
		return false;
	frame_list_cut(list, 0);
	for (size_t i = 0; i < list->depth; i++) {
		if (!frame_is_left(list, i)) {
			list->frames[depth] = list->frames[i];
			list->frames[depth++].tail = false;
			continue;
		}
		fit->kept -= fit->kept > depth;
		for (size_t n = 0; n < JUMP_POINTS; n++)
			parked->jumps.points[n].depth -= parked->jumps.points[n].depth > depth;
	}
	if (depth == list->depth)
		return false;
	list->depth = depth;
	return true;
}

/* Candidates that differ do not show which functions called their common ones by tail calls. */
static void compare_candidates(struct precise_stack *stack)
{
	bool all = true;

	if (stack->candidates > 1)
		count_common(stack, &all);
	for (size_t i = 0; !all && i < stack->pool->count; i++) {
		struct parked_stack *parked = &stack->pool->parked[i];

		if (is_candidate(stack, parked) && remove_left(stack, parked))
			stack->resume_flags = SLICE_UNCERTAIN_LEVEL;
	}
}

/* Set the candidates.  Returns their number. */
static size_t find_candidates(struct precise_stack *stack, const struct location *to,
			      enum precise_resume how)
{
	if (!stack->fits)
		stack->fits = alloc_zeroed(STACKS_MAX, sizeof(*stack->fits));
	stack->candidates = 0;
	stack->resume_flags = stack->unseen ? SLICE_UNCERTAIN_LEVEL : 0;
	for (size_t i = 0; i < stack->pool->count; i++) {
		struct parked_stack *parked = &stack->pool->parked[i];
		struct stack_fit *fit = &stack->fits[i];
		size_t kept = count_kept(stack, parked, to, how);

		fit->candidate = kept;
		fit->kept = kept ? kept - 1 : 0;
		if (fit->kept < parked->frames.depth && kept > 1)
			fit->kept = frame_list_around(&parked->frames, kept);
		stack->candidates += fit->candidate;
		if (kept && parked->doubtful)
			stack->resume_flags = SLICE_UNCERTAIN_LEVEL;
	}
	compare_candidates(stack);
	return stack->candidates;
}

/* ---- Resuming -------------------------------------------------------------- */

/* Put frames around the current ones. Their slices begin when the stack was resumed. */
static void enclose(struct precise_stack *stack, const struct frame *frames, size_t count,
		    uint16_t flags)
{
	struct frame_list *now = &stack->now;
	size_t depth = now->depth - stack->below;
	struct frame *outermost;

	precise_before_change(stack, stack->below);
	while (now->depth < stack->below + depth + count)
		frame_list_add(now);
	outermost = now->frames + stack->below;
	memmove(outermost + count, outermost, depth * sizeof(*outermost));
	memcpy(outermost, frames, count * sizeof(*outermost));
	for (size_t i = count; i-- > 0;) {
		outermost[i].called_insns = stack->at_since.insns;
		outermost[i].slice_flags |= flags;
		if (!outermost[i].hidden)
			precise_emit_enclosing(stack, &outermost[i], 0);
	}
	for (size_t i = 0; i < JUMP_POINTS; i++) {
		struct jump_point *point = &stack->jumps.points[i];

		point->depth += point->depth >= stack->below ? count : 0;
	}
	if (!stack->below && count && !outermost->hidden)
		stack->root_number = stack->group.outer.count;
}

/* Free a slot; its stack is no candidate of any thread any more. */
static void free_parked(const struct precise_stack *stack, struct parked_stack *parked)
{
	size_t at = (size_t)(parked - stack->pool->parked);

	for (struct precise_stack *user = stack->pool->users; user; user = user->next_user) {
		if (!user->candidates || !user->fits[at].candidate)
			continue;
		user->fits[at].candidate = false;
		user->candidates--;
	}
	frame_list_clear(&parked->frames);
	parked->doubtful = false;
}

/* The current stack is a parked one. If others fit as well, any of them may be another one. */
static void adopt(struct precise_stack *stack, const struct parked_stack *parked)
{
	bool several = stack->candidates > 1;

	stack->fiber = parked->fiber;
	stack->confused = parked->confused || several;
	for (size_t i = 0; several && i < stack->pool->count; i++)
		stack->pool->parked[i].confused |= stack->fits[i].candidate;
}

/* Choose a candidate: add its other frames. */
static void take(struct precise_stack *stack, struct parked_stack *parked, uint16_t flags)
{
	struct jump_points since;

	flags |= stack->resume_flags;
	enclose(stack, parked->frames.frames, fit_of(stack, parked)->kept - stack->known, flags);
	since = stack->jumps;
	if (!stack->below) {
		unsigned kept = MIN(since.next, JUMP_POINTS);

		stack->jumps = parked->jumps;
		for (unsigned i = since.next - kept; i < since.next; i++)
			stack->jumps.points[stack->jumps.next++ % JUMP_POINTS] =
				since.points[i % JUMP_POINTS];
		adopt(stack, parked);
	}
	free_parked(stack, parked);
	precise_forget_candidates(stack);
}

/* Begin an empty stack with frames. Frames found later around the first begin at the same time. */
static void begin_with(struct precise_stack *stack, int64_t time, const struct frame *frames,
		       size_t count)
{
	precise_set_since(stack, time);
	timestamp_group_switch(&stack->group);
	for (size_t i = 0; i < count; i++) {
		precise_push(stack, time, &frames[i]);
		if (frames[i].hidden)
			continue;
		if (!stack->watched)
			timestamp_group_watch(&stack->group);
		stack->watched = true;
		if (frames[i].slice_flags & SLICE_UNCERTAIN_LEVEL)
			callstack_count_uncertain(stack->base.machine, time);
	}
}

/*
 * Begin an empty stack as one of the candidates; its outermost slice gets the `flags`. If all have
 * equal frames, all give the same slices.
 */
static void begin_candidate(struct precise_stack *stack, int64_t time, uint16_t flags)
{
	struct parked_stack *first = find_left(stack, false);
	bool all;
	size_t kept = fit_of(stack, first)->kept, common = count_common(stack, &all);
	size_t count = !common || all ? kept : common;
	struct frame *frames = first->frames.frames + kept - count;

	frames->slice_flags |= flags | stack->resume_flags;
	begin_with(stack, time, frames, count);
	if (common && !all) {
		stack->now.frames[stack->below].kind = FRAME_INFERRED;
		stack->known = common;
		return;
	}
	if (!stack->below) {
		stack->jumps = first->jumps;
		adopt(stack, first);
	}
	free_parked(stack, first);
	precise_forget_candidates(stack);
}

/* Add the frames that the candidates share. Returns false if they share no frame. */
static bool reveal_common(struct precise_stack *stack)
{
	struct parked_stack *first = find_left(stack, false);
	size_t around = fit_of(stack, first)->kept - stack->known, common;
	bool all;

	common = count_common(stack, &all);
	if (all) {
		take(stack, first, 0);
		return true;
	}
	if (!common)
		return false;
	enclose(stack, first->frames.frames + around - common, common, stack->resume_flags);
	stack->now.frames[stack->below].kind = FRAME_INFERRED;
	stack->known += common;
	return true;
}

/* The outermost frame was called by a candidate's. Returns false if its call is known. */
static bool set_call(struct precise_stack *stack, const struct parked_stack *parked)
{
	const struct frame *frame =
		&parked->frames.frames[fit_of(stack, parked)->kept - stack->known];
	struct frame *root = stack->now.frames + stack->below;

	if (stack->now.depth <= stack->below || root->kind != FRAME_INFERRED)
		return false;
	precise_before_change(stack, stack->below);
	root->caller = frame->caller;
	root->caller_offset = frame->caller_offset;
	do {
		root->kind = frame->kind;
		root->return_ip = frame->return_ip;
		root->return_slack = frame->return_slack;
		root->call_length = frame->call_length;
	} while (root++ < top(stack) && root->tail);
	return true;
}

/* Guess that a candidate is the stack. */
static void guess(struct precise_stack *stack, struct parked_stack *parked)
{
	if (!set_call(stack, parked)) {
		precise_forget_candidates(stack);
		return;
	}
	for (size_t i = 0; i < stack->pool->count; i++)
		stack->pool->parked[i].doubtful |= stack->fits[i].candidate;
	take(stack, parked, SLICE_UNCERTAIN_LEVEL);
}

void precise_guess_candidate(struct precise_stack *stack)
{
	if (stack->candidates)
		guess(stack, find_left(stack, false));
	else
		precise_forget_candidates(stack);
}

/* A function entered by a jump returns after a parked stack's call (boost's ontop_fcontext()). */
static bool return_to_parked(struct precise_stack *stack, int64_t time, const struct location *to)
{
	enum precise_resume how = stack->below ? RESUME_TOP_FIBER : RESUME_TOP_CALL;

	if (!stack->begun_by_jump || !has_candidate(stack, to, how))
		return false;
	stack->begun_by_jump = false;
	find_candidates(stack, to, how);
	precise_pop(stack, time);
	if (!reveal_common(stack) || !stack->now.depth)
		precise_infer_root(stack, to);
	return true;
}

/* Go's handlers make the interrupted function call another one, which can switch stacks. */
static bool continues_at(const struct frame *frame, uint64_t ip)
{
	return frame_returns_to(frame, ip) ||
	       (frame->kind == FRAME_HANDLER && frame->resume_ip == ip);
}

/* Returns whether a parked stack is a candidate, and continues (`lands`: by an exception) at `to`.
 */
static bool continues_in(const struct precise_stack *stack, struct parked_stack *parked,
			 const struct location *to, bool lands)
{
	size_t around;

	if (!is_candidate(stack, parked))
		return false;
	around = fit_of(stack, parked)->kept - stack->known;
	return lands ? precise_find_landing(&parked->frames, around, to)
		     : continues_at(&parked->frames.frames[around], to->ip);
}

/* Keep the candidates that fit. Returns false, with nothing changed, if no candidate does. */
static bool keep_candidates(struct precise_stack *stack, const struct location *to, bool lands)
{
	size_t count = 0;

	for (size_t i = 0; i < stack->pool->count; i++)
		count += continues_in(stack, &stack->pool->parked[i], to, lands);
	for (size_t i = 0; count && i < stack->pool->count; i++)
		stack->fits[i].candidate = continues_in(stack, &stack->pool->parked[i], to, lands);
	stack->candidates = count ? count : stack->candidates;
	return count;
}

bool precise_land_on_parked(struct precise_stack *stack, const struct location *to)
{
	struct parked_stack *last;

	if (stack->candidates) {
		if (!keep_candidates(stack, to, true)) {
			precise_guess_candidate(stack);
			return true;
		}
	} else if (!stack->begun_by_jump || stack->below ||
		   !find_candidates(stack, to, RESUME_LANDING)) {
		return false;
	}
	stack->begun_by_jump = false;
	last = find_left(stack, true);
	if (set_call(stack, last)) {
		if (reveal_common(stack) &&
		    (!stack->candidates || precise_find_landing(&stack->now, stack->now.depth, to)))
			return true;
		stack->now.frames[stack->below].kind = FRAME_INFERRED;
	}
	guess(stack, last);
	return true;
}

bool precise_return_to_candidate(struct precise_stack *stack, int64_t time,
				 const struct location *to)
{
	if (!stack->candidates)
		return return_to_parked(stack, time, to);
	if (!keep_candidates(stack, to, false)) {
		precise_forget_candidates(stack);
		return false;
	}
	precise_pop(stack, time);
	if (!reveal_common(stack) && stack->below)
		take(stack, find_left(stack, false), SLICE_UNCERTAIN_LEVEL);
	else if (!stack->known && !stack->now.depth)
		precise_infer_root(stack, to);
	return true;
}

enum handler_state precise_handler_of_candidates(const struct precise_stack *stack, uint64_t ip)
{
	enum handler_state state = HANDLER_NONE;

	for (size_t i = 0; precise_is_root(stack) && i < stack->pool->count; i++) {
		const struct parked_stack *parked = &stack->pool->parked[i];
		const struct frame *frame;

		if (!is_candidate(stack, parked))
			continue;
		frame = parked->frames.frames + fit_of(stack, parked)->kept - stack->known;
		if (frame->kind != FRAME_HANDLER)
			return HANDLER_NONE;
		if (frame->resume_ip == ip)
			state = HANDLER_ENDS;
		else if (state == HANDLER_NONE)
			state = HANDLER_RUNS;
	}
	return state;
}

/* ---- Leaving ------------------------------------------------------------- */

/* Limit of the search for a frame with a role. */
#define ROLE_FRAMES ((size_t)4096)

size_t precise_find_role(const struct precise_stack *stack, unsigned role)
{
	size_t depth = stack->now.depth, at = depth;
	size_t least = depth > ROLE_FRAMES ? depth - ROLE_FRAMES : 0;

	while (at > least && !(stack->now.frames[at - 1].roles & role))
		at--;
	return at > least ? at : 0;
}

/* Returns whether to discard parked stack `a` before `b`. */
static bool is_worse(const struct precise_stack *stack, const struct parked_stack *a,
		     const struct parked_stack *b)
{
	if (is_candidate(stack, a) != is_candidate(stack, b))
		return is_candidate(stack, b);
	if (a->dropped != b->dropped)
		return a->dropped;
	return a->left < b->left;
}

/* Returns a slot: a free one, a new one, or that of the worst stack, which is discarded. */
static struct parked_stack *find_slot(struct precise_stack *stack)
{
	struct parked_stack *worst = NULL;

	for (size_t i = 0; i < stack->pool->count; i++) {
		struct parked_stack *parked = &stack->pool->parked[i];

		if (!parked->frames.depth)
			return parked;
		if (!worst || is_worse(stack, parked, worst))
			worst = parked;
	}
	if (stack->pool->count < STACKS_MAX) {
		struct stack_pool *pool = stack->pool;

		ARRAY_GROW(pool->parked, pool->room, pool->count + 1);
		worst = &pool->parked[pool->count++];
		*worst = (struct parked_stack){ .frames.resume = stack->now.resume };
	}
	return worst;
}

/* Park a copy of the innermost frames, starting at `at`. Returns the slot. */
static struct parked_stack *park_inner(struct precise_stack *stack, size_t at)
{
	struct parked_stack *slot = find_slot(stack);
	size_t count = stack->now.depth - at;

	free_parked(stack, slot);
	slot->frames.frames =
		alloc_grow(slot->frames.frames, &slot->frames.room, count, sizeof(struct frame));
	memcpy(slot->frames.frames, stack->now.frames + at, count * sizeof(struct frame));
	slot->frames.depth = count;
	slot->jumps.next = 0;
	slot->fiber = NULL;
	slot->left = stack->switches = ++stack->pool->switches;
	slot->dropped = slot->doubtful = slot->confused = false;
	return slot;
}

/*
 * Split off the frames above a FRAME_LEAVES_STACK as a stack of their own. `dropped`: nothing
 * resumes it, so forget it.
 */
static bool split_stack(struct precise_stack *stack, bool dropped)
{
	size_t at = precise_find_role(stack, FRAME_LEAVES_STACK);

	if (!at)
		return false;
	if (!dropped)
		park_inner(stack, at);
	precise_before_change(stack, at);
	stack->now.depth = at;
	return true;
}

/* ---- Fibers -------------------------------------------------------------- */

/* Returns the symbol that means the current stack. */
static const struct symbol *fiber_of(struct precise_stack *stack)
{
	struct precise *machine = machine_of(stack);

	if (!stack->fiber)
		stack->fiber = machine->fibers->add(machine->fibers->context, stack->base.track,
						    ++machine->base.fibers, stack->first);
	return stack->fiber;
}

void precise_end_stretch(struct precise_stack *stack, int64_t time)
{
	struct frame stretch = { .kind = FRAME_INFERRED };

	if (!stack->in_stretch || !machine_of(stack)->fibers)
		return;
	stack->in_stretch = false;
	stretch.symbol = fiber_of(stack);
	stretch.slice_flags = stack->confused ? SLICE_UNCERTAIN_LEVEL : 0;
	precise_emit_enclosing(stack, &stretch, 0);
	precise_emit_end(stack, time, &stretch);
}

void precise_begin_anew(struct precise_stack *stack)
{
	const struct callstack_fibers *fibers = machine_of(stack)->fibers;

	if (fibers && stack->ended &&
	    (stack->ended_first == stack->first ||
	     stack->ended == fibers->add(fibers->context, stack->base.track, 0, NULL)))
		stack->fiber = stack->ended;
	stack->ended = NULL;
}

/*
 * Returns the number of frames that stay open while the stack is parked. Frames on top of a
 * FRAME_LEAVES_STACK do not; if nothing can resume the stack, no frame does.
 */
static size_t count_staying(const struct precise_stack *stack, bool dropped)
{
	size_t at = stack->leaves ? precise_find_role(stack, FRAME_LEAVES_STACK) : 0;

	if (!machine_of(stack)->fibers)
		return 0;
	if (at)
		return at;
	return dropped && !stack->jumps.next ? 0 : stack->now.depth;
}

/* Moves the list of frames with its index, because it can be long. */
static void park(struct precise_stack *stack, int64_t time, bool dropped)
{
	struct parked_stack *slot;
	struct frame_list freed;
	bool doubtful = false;
	size_t staying = count_staying(stack, dropped);

	precise_set_root(stack, false);
	stack->root_number = 0;
	for (size_t i = stack->now.depth; i-- > 0;) {
		struct frame *frame = &stack->now.frames[i];

		doubtful |= frame->slice_flags & SLICE_UNCERTAIN_LEVEL;
		stack->end_flags = i < staying ? SLICE_CONTINUED : 0;
		frame->slice_flags |= stack->end_flags;
		if (!frame->hidden)
			precise_emit_end(stack, time, frame);
	}
	stack->end_flags = 0;
	precise_end_stretch(stack, time);
	if (!staying) {
		stack->ended = stack->fiber;
		stack->ended_first = stack->first;
	}
	if (stack->unchanged)
		precise_save_for_undo(stack, 0);
	dropped &= !split_stack(stack, dropped);
	slot = find_slot(stack);
	free_parked(stack, slot);
	freed = slot->frames;
	frame_list_clear(&freed);
	*slot = (struct parked_stack){ .frames = stack->now,
				       .jumps = stack->jumps,
				       .fiber = stack->fiber,
				       .confused = stack->confused,
				       .left = stack->switches = ++stack->pool->switches,
				       .doubtful = doubtful,
				       .dropped = dropped };
	stack->now = freed;
	stack->jumps.next = 0;
	stack->fiber = NULL;
	stack->first = NULL;
	stack->confused = false;
}

/* ---- Switching ----------------------------------------------------------- */

/* precise_resume_stack(); the outermost slice gets the `flags`. */
static bool resume_stack(struct precise_stack *stack, int64_t time, const struct location *to,
			 enum precise_resume how, bool dropped, uint16_t flags)
{
	if (!has_candidate(stack, to, how))
		return false;
	precise_guess_candidate(stack);
	if (!find_candidates(stack, to, how))
		return false;
	park(stack, time, dropped);
	begin_candidate(stack, time, flags);
	return true;
}

bool precise_resume_stack(struct precise_stack *stack, int64_t time, const struct location *to,
			  enum precise_resume how, bool dropped)
{
	return resume_stack(stack, time, to, how, dropped, 0);
}

void precise_begin_other_stack(struct precise_stack *stack, int64_t time, const struct location *to,
			       bool dropped, uint16_t flags)
{
	struct frame first = { .symbol = symbol_of(stack, to),
			       .entry_ip = to->ip,
			       .slice_flags = flags,
			       .kind = FRAME_INFERRED,
			       .roles = FRAME_SWITCHED_TO };

	precise_guess_candidate(stack);
	park(stack, time, dropped);
	stack->first = first.symbol;
	if (location_is_function_entry(to)) {
		begin_with(stack, time, &first, 1);
		if (stack->now.depth)
			top(stack)->slice_flags = 0;
		stack->begun_by_jump = true;
		return;
	}
	precise_begin_stack(stack, time);
	precise_infer_root(stack, to);
	top(stack)->roles = FRAME_SWITCHED_TO;
	if (flags)
		precise_mark_level(stack);
}

void precise_copy_stack(struct precise_stack *stack, int64_t time, const struct location *to)
{
	struct jump_points jumps;
	struct frame *frames;
	size_t count;

	precise_guess_candidate(stack);
	if (precise_resume_stack(stack, time, to, RESUME_TOP_CALL, false))
		return;
	count = frame_list_around(&stack->now, stack->now.depth);
	jumps = stack->jumps;
	frames = alloc_zeroed(count + 1, sizeof(*frames));
	if (count)
		memcpy(frames, stack->now.frames, count * sizeof(*frames));
	park(stack, time, false);
	begin_with(stack, time, frames, count);
	stack->jumps = jumps;
	if (!count)
		precise_infer_root(stack, to);
	free(frames);
}

void precise_doubt_stacks(struct precise_stack *stack)
{
	for (size_t i = 0; i < stack->pool->count; i++)
		stack->pool->parked[i].doubtful = true;
}

void precise_switch_stack(struct precise_stack *stack, int64_t time, const struct location *to)
{
	if (!resume_stack(stack, time, to, RESUME_TOP_CALL, false, SLICE_UNCERTAIN_LEVEL) &&
	    !resume_stack(stack, time, to, RESUME_ANY_CALL, false, SLICE_UNCERTAIN_LEVEL)) {
		precise_begin_other_stack(stack, time, to, false, SLICE_UNCERTAIN_LEVEL);
	} else if (!stack->now.depth) {
		precise_infer_root(stack, to);
		precise_mark_level(stack);
	}
	precise_doubt_stacks(stack);
}

/* ---- Stacks on top of others --------------------------------------------- */

void precise_enter_stack(struct precise_stack *stack, bool returns)
{
	struct frame *frame = physical_top(stack);

	if (!frame)
		return;
	frame->roles |= returns ? FRAME_ENTERS_STACK : FRAME_LEAVES_STACK;
	stack->leaves |= !returns;
}

bool precise_return_to_own_stack(struct precise_stack *stack, int64_t time,
				 const struct location *to)
{
	size_t at = stack->leaves ? precise_find_role(stack, FRAME_LEAVES_STACK) : 0;

	if (!at || !frame_returns_to(&stack->now.frames[at - 1], to->ip))
		return false;
	if (!has_candidate(stack, to, RESUME_TOP_CALL)) {
		precise_pop_to(stack, time, at - 1);
		return true;
	}
	/* It can also be a stack that was left by the same call: the returns show which one. */
	precise_guess_candidate(stack);
	park(stack, time, true);
	find_candidates(stack, to, RESUME_TOP_CALL);
	begin_candidate(stack, time, 0);
	return true;
}

static bool has_fiber(const struct precise_stack *stack)
{
	for (size_t i = 0; i < stack->pool->count; i++) {
		if (is_fiber(&stack->pool->parked[i]))
			return true;
	}
	return false;
}

/*
 * OCaml's caml_reperform(): the frame that handled the effect of the fiber left just before leaves
 * its own fiber. Both fibers are passed on, and resume together.
 */
static void put_on_top(struct precise_stack *stack, struct parked_stack *parked)
{
	struct frame_list *list = &parked->frames;

	for (size_t i = 0; i < stack->pool->count; i++) {
		struct parked_stack *inner = &stack->pool->parked[i];

		if (!is_fiber(inner) || inner->left + 1 != parked->left)
			continue;
		for (size_t n = 0; n < inner->frames.depth; n++)
			*frame_list_add(list) = inner->frames.frames[n];
		free_parked(stack, inner);
		return;
	}
}

static void park_fiber(struct precise_stack *stack, size_t at)
{
	bool passes_on = top(stack)->roles & FRAME_HANDLES;
	struct parked_stack *parked = park_inner(stack, at);

	parked->frames.frames[0].roles |= FRAME_OF_FIBER;
	parked->frames.frames[0].hidden = true;
	parked->frames.frames[0].tail = false;
	if (passes_on)
		put_on_top(stack, parked);
}

/* Switch from the innermost entered stack back to the stack that entered it. */
static bool leave_fiber(struct precise_stack *stack, int64_t time, const struct location *to)
{
	size_t at = precise_find_role(stack, FRAME_ENTERS_STACK);

	if (!at || (at == 1 && stack->now.frames[0].roles & FRAME_OF_FIBER))
		return false;
	if (stack->now.depth > at)
		park_fiber(stack, at - 1);
	precise_pop_to(stack, time, at);
	if (top(stack)->roles & FRAME_OF_FIBER)
		precise_pop(stack, time);
	precise_hand_over(stack, time, to);
	top(stack)->roles = (top(stack)->roles & ~FRAME_ENTERS_STACK) | FRAME_HANDLES;
	return true;
}

/* Later frames run on top of the current ones. Returns false if their callers' start is unknown. */
static bool begin_on_top(struct precise_stack *stack)
{
	if (stack->watched && stack->group.watched)
		return false;
	stack->below = stack->now.depth;
	stack->below_since =
		stack->watched
			? (int64_t)(stack->group.around.time - stack->base.machine->base_time)
			: stack->group.since;
	stack->at_below_since = stack->at_since;
	if (stack->has_root)
		timestamp_group_settle(&stack->group, false);
	return true;
}

bool precise_change_fiber(struct precise_stack *stack, int64_t time, const struct location *to,
			  enum call_effect effect)
{
	struct frame frame = { .symbol = symbol_of(stack, to),
			       .entry_ip = to->ip,
			       .kind = FRAME_INFERRED };

	precise_guess_candidate(stack);
	if (effect == YIELDS_STACK)
		return leave_fiber(stack, time, to);
	if (effect != SWITCHES_STACK || !has_fiber(stack) || !begin_on_top(stack))
		return false;
	begin_with(stack, time, &frame, 1);
	stack->begun_by_jump = true;
	return true;
}

bool precise_throw_to_fiber(struct precise_stack *stack, const struct location *to)
{
	size_t count;

	if (!stack->below || stack->candidates)
		return false;
	count = find_candidates(stack, to, RESUME_FIBER_FUNCTION);
	if (count)
		take(stack, find_left(stack, false), count > 1 ? SLICE_UNCERTAIN_LEVEL : 0);
	return count;
}

/* The threads of a process share parked stacks: this thread may have resumed another one's. */
void precise_forget_stacks(struct precise_stack *stack)
{
	precise_forget_candidates(stack);
	precise_doubt_stacks(stack);
	for (size_t i = 0; !stack->pool->process && i < stack->pool->count; i++)
		free_parked(stack, &stack->pool->parked[i]);
	stack->whole = false;
	stack->unseen |= stack->switches;
	stack->candidates = 0;
	stack->jumps.next = 0;
}
