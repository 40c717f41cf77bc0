/* SPDX-License-Identifier: MIT */
/* Add calls and returns of inlined functions between two branches. */
#include "src/callstack/inline_flow.h"

/* Pieces of code with different inlined calls between two branches: bounds the time. */
#define PIECES_MAX 4096

struct feeding {
	struct inline_flow *flow;
	struct resolver *resolver;
	struct callstack *stack;
	const struct resolved_branch *branch;
};

/* Set flow->call to the inlined call at ip; NULL: none is known. */
static void look_up(const struct feeding *feeding, uint64_t ip)
{
	struct inline_flow *flow = feeding->flow;
	const struct address_space *space = feeding->branch->event->space;
	const struct mapping *mapping = address_space_borrow_mapping(space, ip);
	struct inlined_code code;
	uint64_t offset;

	if (flow->space == space && ip - flow->begin < flow->end - flow->begin)
		return;
	flow->space = space;
	flow->call = NULL;
	flow->begin = ip;
	flow->end = ip + 1;
	if (!mapping)
		return;
	offset = ip - mapping->begin + mapping->file_offset;
	if (!dso_find_inlined(resolver_borrow_dso(feeding->resolver, mapping->file), offset, &code))
		return;
	flow->begin = ip - (offset - code.begin);
	flow->end = ip + (code.end - offset);
	flow->call = code.innermost;
}

static void feed_near(const struct feeding *feeding, enum branch_kind kind, struct location from,
		      struct location to)
{
	struct branch_event event = { .time = feeding->branch->event->time, .kind = (uint8_t)kind };
	/* No return instruction ends an inlined call. */
	struct location_pair places = { from, to, CALL_NEVER_RETURNS };

	callstack_feed(feeding->stack, &(struct resolved_branch){ &event, &places }, 1, NULL);
}

static unsigned depth_of(const struct inlined_call *call)
{
	unsigned depth = 0;

	for (; call; call = call->parent)
		depth++;
	return depth;
}

/* Returns the innermost call that both are equal to or inlined in; NULL: only the function. */
static const struct inlined_call *common(const struct inlined_call *a, const struct inlined_call *b)
{
	unsigned depth_a = depth_of(a), depth_b = depth_of(b);

	for (; depth_a > depth_b; depth_a--)
		a = a->parent;
	for (; depth_b > depth_a; depth_b--)
		b = b->parent;
	while (a != b) {
		a = a->parent;
		b = b->parent;
	}
	return a;
}

static const struct symbol *symbol_of(const struct inlined_call *call,
				      const struct symbol *function)
{
	return call ? call->symbol : function;
}

/* End a call and those that it is inlined in, up to `outer`, which continues. */
static void leave(const struct feeding *feeding, const struct inlined_call *call,
		  const struct inlined_call *outer, const struct symbol *function, uint64_t ip)
{
	struct location from = { ip, call->symbol, 1 };
	struct location to = { ip, symbol_of(outer, symbol_function(function)), 1 };

	feed_near(feeding, BRANCH_JUMP, from, to);
}

/* Enter the calls inlined in `outer` down to `call`, the outermost first. */
static void enter(const struct feeding *feeding, const struct inlined_call *outer,
		  const struct inlined_call *call, const struct symbol *function, uint64_t ip)
{
	struct location from, to;

	if (call == outer)
		return;
	enter(feeding, outer, call->parent, function, ip);
	from = (struct location){ ip, symbol_of(call->parent, function), 1 };
	to = (struct location){ ip, call->symbol, 0 };
	feed_near(feeding, BRANCH_CALL, from, to);
}

/* Returns whether the innermost physical frame is the function's; *call: what is inlined in it. */
static bool is_top(const struct feeding *feeding, const struct symbol *function,
		   const struct inlined_call **call)
{
	struct callstack_top top = callstack_top(feeding->stack);

	*call = top.symbol ? top.symbol->inlined : NULL;
	return top.symbol && top.function == symbol_function(function);
}

/* Make the inlined frames those of the code at ip, if `function` is the innermost one. */
static void enter_code_at(const struct feeding *feeding, const struct symbol *function, uint64_t ip)
{
	const struct inlined_call *now, *outer;

	if (!function || !is_top(feeding, function, &now))
		return;
	look_up(feeding, ip);
	outer = common(now, feeding->flow->call);
	if (now != outer)
		leave(feeding, now, outer, function, ip);
	enter(feeding, outer, feeding->flow->call, function, ip);
}

/* Follow the straight-line code from the previous branch to this one. */
static void follow_code(const struct feeding *feeding)
{
	const struct location *from = &feeding->branch->places->from;
	uint64_t ip = feeding->flow->run_begin;

	if (!ip || ip > from->ip)
		ip = from->ip;
	for (unsigned i = 0; i < PIECES_MAX && ip <= from->ip; i++) {
		enter_code_at(feeding, from->symbol, ip);
		if (feeding->flow->end <= ip)
			break;
		ip = feeding->flow->end;
	}
}

static bool is_jump(const struct branch_event *event)
{
	return (event->kind == BRANCH_JUMP || event->kind == BRANCH_COND) &&
	       !(event->flags & (BRANCH_TRACE_ON | BRANCH_TRACE_OFF));
}

void inline_flow_feed(struct inline_flow *flow, struct resolver *resolver, struct callstack *stack,
		      const struct resolved_branch *branch, const struct branch_notes *notes)
{
	const struct branch_event *event = branch->event;
	const struct location *from = &branch->places->from, *to = &branch->places->to;
	struct feeding feeding = { flow, resolver, stack, branch };
	struct location_pair places = *branch->places;
	const struct inlined_call *call = NULL;
	bool on_top, stays;

	if (event->kind == BRANCH_GAP || notes->exec)
		flow->run_begin = 0;
	if (event->kind == BRANCH_GAP) {
		callstack_feed(stack, branch, 1, notes);
		return;
	}
	if (from->ip && !notes->exec)
		follow_code(&feeding);
	on_top = from->symbol && is_top(&feeding, from->symbol, &call);
	stays = is_jump(event) && symbol_function(from->symbol) == symbol_function(to->symbol);
	if (on_top && call && is_jump(event) && !stays) {
		/* A tail call ends the function, and all that was inlined in it. */
		leave(&feeding, call, NULL, from->symbol, from->ip);
	} else if (on_top && call) {
		/* An inlined call's symbol starts at 0: keep the address in the file. */
		places.from.offset += from->symbol->start;
		places.from.symbol = call->symbol;
	}
	if (!on_top || !stays)
		callstack_feed(stack, &(struct resolved_branch){ event, &places }, 1, notes);
	flow->run_begin = to->ip;
	if (to->ip && !(event->flags & BRANCH_TRACE_OFF))
		enter_code_at(&feeding, to->symbol, to->ip);
}
