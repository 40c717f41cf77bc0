/* SPDX-License-Identifier: MIT */
/* Find the inlined calls at both ends of a branch, and show them on the stack. */
#include "src/callstack/thread_stacks.h"

/* The inlined calls at both ends of a branch; may be NULL. */
struct inline_ends {
	const struct inlined_call *from, *to;
	bool found;
};

void inline_flow_init(struct inline_flow *flow, const struct known_branches *branches)
{
	flow->branches = branches;
	flow->ends = alloc_zeroed((size_t)1 << KNOWN_BRANCHES_BITS, sizeof(*flow->ends));
}

void inline_flow_release(struct inline_flow *flow)
{
	free(flow->ends);
	*flow = (struct inline_flow){ 0 };
}

/* Returns the innermost inlined call at ip; may be NULL. */
static const struct inlined_call *find_call(const struct resolver *resolver,
					    const struct address_space *space, uint64_t ip)
{
	const struct mapping *mapping = address_space_borrow_mapping(space, ip);
	struct inlined_code code;

	if (!ip || !mapping ||
	    !dso_find_inlined(resolver->dsos[mapping->file->index],
			      ip - mapping->begin + mapping->file_offset, &code))
		return NULL;
	return code.innermost;
}

/* Returns whether a branch is near and has no inlined call at either end. */
static bool is_between_functions(const struct resolver *resolver, const struct branch_event *event,
				 const struct inline_ends *ends)
{
	if (!branch_is_near(event) || ends->from || ends->to)
		return false;
	/* A call instruction may be the last one of an inlined call. */
	return event->kind != BRANCH_RETURN || !find_call(resolver, event->space, event->to - 1);
}

static struct inline_ends ends_of(const struct inline_flow *flow, const struct resolver *resolver,
				  const struct branch_event *event)
{
	struct inline_ends unknown = { 0 }, *ends = &unknown;

	if (event->known)
		ends = &flow->ends[event->known - flow->branches->branches];
	if (ends->found)
		return *ends;
	ends->from = find_call(resolver, event->space, event->from);
	ends->to = find_call(resolver, event->space, event->to);
	ends->found = true;
	if (event->known && !is_between_functions(resolver, event, ends))
		event->known->locations.plain = 0; /* for callstack_feed_plain() */
	return *ends;
}

static bool is_jump(const struct branch_event *event)
{
	return (event->kind == BRANCH_JUMP || event->kind == BRANCH_COND) &&
	       !(event->flags & (BRANCH_TRACE_ON | BRANCH_TRACE_OFF));
}

static void feed_branch(struct callstack *stack, const struct resolved_branch *branch,
			const struct inlined_call *call, const struct branch_notes *notes)
{
	const struct branch_event *event = branch->event;
	struct location_pair locations = *branch->locations;

	/* Returns and jumps end the inlined calls; other branches come from the innermost one. */
	if (call && event->kind != BRANCH_RETURN && !is_jump(event)) {
		/* An inlined call's symbol starts at 0: keep the address in the file. */
		locations.from.offset += locations.from.symbol->start;
		locations.from.symbol = call->symbol;
	}
	callstack_feed(stack, &(struct resolved_branch){ event, &locations }, notes);
}

void inline_flow_feed(const struct inline_flow *flow, const struct resolver *resolver,
		      struct callstack *stack, const struct resolved_branch *branch,
		      const struct branch_notes *notes)
{
	const struct branch_event *event = branch->event;
	const struct location *from = &branch->locations->from, *to = &branch->locations->to;
	const struct inline_ends ends = ends_of(flow, resolver, event);
	bool inside;

	if (event->kind >= BRANCH_GAP) {
		callstack_feed(stack, branch, notes);
		return;
	}
	/* The instructions before a passage belong to the code before it. */
	inside = branch_is_passage(event) || (from->ip && !(notes && notes->exec) &&
					      callstack_set_inlined(stack, from, ends.from));
	if (inside && (branch_is_passage(event) ||
		       (is_jump(event) && !location_jumps_unusually(branch->locations) &&
			symbol_function(branch->locations->from.symbol) ==
				symbol_function(branch->locations->to.symbol))))
		callstack_pass(stack, event);
	else
		feed_branch(stack, branch, inside ? ends.from : NULL, notes);
	if (to->ip && !(event->flags & BRANCH_TRACE_OFF))
		callstack_set_inlined(stack, to, ends.to);
}
