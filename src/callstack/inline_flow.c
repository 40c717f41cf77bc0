/* SPDX-License-Identifier: MIT */
#include "src/callstack/inline_flow.h"

#include "src/callstack/precise/callstack_precise.h"

/* Pieces that one run of code may pass; a run is at most a function long. */
#define PIECES_MAX 4096

/* No return goes behind this address, so no real return ends an inlined call. */
#define NO_CALL_IP UINT64_MAX

/* What is fed: one thread's branch, and where it is told. */
struct feeding {
	struct inline_flow *flow;
	struct resolver *resolver;
	struct callstack *stack;
	const struct address_space *space;
	const struct resolved_branch *branch;
};

/* Find the inlined call at ip: flow->call.  What is not known of is of no call. */
static void look_up(const struct feeding *feeding, uint64_t ip)
{
	struct inline_flow *flow = feeding->flow;
	const struct mapping *mapping = address_space_borrow_mapping(feeding->space, ip);
	struct inlined_code code;
	uint64_t offset;

	if (flow->space == feeding->space && ip - flow->begin < flow->end - flow->begin)
		return;
	flow->space = feeding->space;
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

static void feed(const struct feeding *feeding, enum branch_kind kind, struct location from,
		 struct location to)
{
	struct resolved_branch branch = { .time = feeding->branch->time,
					  .from = from,
					  .to = to,
					  .kind = (uint8_t)kind,
					  .untimed = feeding->branch->untimed };

	callstack_branch(feeding->stack, &branch);
}

static unsigned depth_of(const struct inlined_call *call)
{
	unsigned depth = 0;

	for (; call; call = call->parent)
		depth++;
	return depth;
}

/* Returns the innermost call that both are or lie in; NULL: the function itself. */
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

/* End a call and those that it is in, up to `outer`. */
static void leave(const struct feeding *feeding, const struct inlined_call *call,
		  const struct inlined_call *outer, const struct symbol *function, uint64_t ip)
{
	struct location from = { ip, call->symbol, 1 };
	struct location to = { ip, symbol_of(outer, symbol_function(function)), 1 };

	feed(feeding, BRANCH_JUMP, from, to);
}

/* Enter all calls from below `outer` to `call`, the outermost first. */
static void enter(const struct feeding *feeding, const struct inlined_call *outer,
		  const struct inlined_call *call, const struct symbol *function, uint64_t ip)
{
	struct location from, to;

	if (call == outer)
		return;
	enter(feeding, outer, call->parent, function, ip);
	from = (struct location){ NO_CALL_IP, symbol_of(call->parent, function), 1 };
	to = (struct location){ ip, call->symbol, 0 };
	feed(feeding, BRANCH_CALL, from, to);
}

/* The outermost function that an inlined call's frame stands on is the physical one. */
static bool is_top(const struct feeding *feeding, const struct symbol *function,
		   const struct inlined_call **call)
{
	const struct symbol *top = callstack_precise_top(feeding->stack);

	*call = top ? top->inlined : NULL;
	return top && (*call ? callstack_precise_function(feeding->stack) : symbol_function(top)) ==
			      symbol_function(function);
}

/* Bring the frames of inlined calls to what holds at ip, if `function` is on top. */
static void go_to(const struct feeding *feeding, const struct symbol *function, uint64_t ip)
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

/* Pass the code that ran in a line from the last branch to this one. */
static void pass_run(const struct feeding *feeding)
{
	const struct location *from = &feeding->branch->from;
	uint64_t ip = feeding->flow->run_begin;

	if (!ip || ip > from->ip)
		ip = from->ip;
	for (unsigned i = 0; i < PIECES_MAX && ip <= from->ip; i++) {
		go_to(feeding, from->symbol, ip);
		if (feeding->flow->end <= ip)
			break;
		ip = feeding->flow->end;
	}
}

static bool is_jump(const struct resolved_branch *branch)
{
	return (branch->kind == BRANCH_JUMP || branch->kind == BRANCH_COND) &&
	       !(branch->flags & (BRANCH_TRACE_ON | BRANCH_TRACE_OFF));
}

static bool stays(const struct resolved_branch *branch)
{
	return is_jump(branch) &&
	       symbol_function(branch->from.symbol) == symbol_function(branch->to.symbol);
}

/* A tail call ends the function, and with it all that was inlined in it. */
static bool leaves_function(const struct resolved_branch *branch)
{
	return is_jump(branch) && !stays(branch);
}

void inline_flow_branch(struct inline_flow *flow, struct resolver *resolver,
			struct callstack *stack, const struct branch_event *event,
			const struct resolved_branch *branch)
{
	struct feeding feeding = { flow, resolver, stack, event->space, branch };
	struct resolved_branch seen = *branch;
	const struct inlined_call *call = NULL;
	bool on_top;

	if (branch->kind == BRANCH_GAP || branch->flags & BRANCH_EXEC)
		flow->run_begin = 0;
	if (branch->kind == BRANCH_GAP) {
		callstack_branch(stack, branch);
		return;
	}
	if (branch->from.ip && !(branch->flags & BRANCH_EXEC))
		pass_run(&feeding);
	on_top = branch->from.symbol && is_top(&feeding, branch->from.symbol, &call);
	if (on_top && call && leaves_function(branch)) {
		leave(&feeding, call, NULL, branch->from.symbol, branch->from.ip);
	} else if (on_top && call) {
		/* An inlined call's symbol starts at 0, so that the place stays the same. */
		seen.from.offset += branch->from.symbol->start;
		seen.from.symbol = call->symbol;
	}
	if (!on_top || !stays(branch))
		callstack_branch(stack, &seen);
	flow->run_begin = branch->to.ip;
	if (branch->to.ip && !(branch->flags & BRANCH_TRACE_OFF))
		go_to(&feeding, branch->to.symbol, branch->to.ip);
}
