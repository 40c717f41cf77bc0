/* SPDX-License-Identifier: MIT */
/*
 * What each event does (top: the innermost frame; "matches": the address is
 * just behind the frame's call instruction):
 *
 *   event              action
 *   -----------------  -----------------------------------------------------------
 *   any, from known    the top is brought to from's function first: an empty stack
 *                      gets it as an inferred root; else pop to it or replace the top
 *   call               push (not for `call $+5`); a PLT stub is shown as its target
 *   return             top matches: pop; a deeper frame matches: pop to it;
 *                      out of a handler: its restorer takes the frame;
 *                      to a function's entry (retpoline): as a jump;
 *                      out of the root: pop, the target is an inferred root;
 *                      into a function deeper down: pop to it;
 *                      else another stack: leave this one, find or begin that one
 *   jump to an entry   tail call: replace the top, which keeps where it returns
 *   jump into a body   of the top's function: nothing; to a remembered setjmp, or just
 *                      behind a call: pop to it; from Go's gogo: another stack; of a
 *                      function deeper down: pop to it; else replace the top
 *   either, to a       the innermost frame that installed one is meant, if it is of
 *   handler of OCaml   that function: pop to it
 *   off                push a pause that knows where execution goes on
 *   on                 pop the pause; where it goes on elsewhere: a handler that ends
 *                      there (sigreturn): pop it; a function's entry: push a handler
 *   syscall, interrupt push an entry frame that knows where it goes on
 *   sysret, iret       pop the innermost entry frame
 *   gap                close all; from here to the next event is a slice of its own
 *   transaction        the stack is kept as it is before the first branch in it, and
 *                      brought back by an abort: what was called in between did not
 *                      happen for the program, but it ran, so it is shown
 */
#include "callstack_precise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "callstack_batch.h"

/* x86 instructions have at most 15 bytes, and calls at least 2. */
#define CALL_LENGTH_MAX 15

/* Stacks that were left and may come back, per thread; setjmps that may be gone back to. */
#define PARKED_MAX 64
#define JUMP_POINTS 32

enum frame_kind {
	FRAME_CALLED,   /* the call was seen */
	FRAME_INFERRED, /* it was not */
	FRAME_PAUSE,    /* not traced: [syscall], [untraced] */
	FRAME_HANDLER,  /* of a signal */
	FRAME_ENTRY,    /* of the kernel: system call, interrupt */
};

/* What a thread has executed. */
struct counts {
	uint64_t insns, cycles;
};

struct frame {
	const struct symbol *symbol;
	const struct symbol *caller; /* CALLED: where the call instruction is; may be NULL */
	uint64_t caller_offset;
	uint64_t call_ip;   /* CALLED: of the call instruction */
	uint64_t resume_ip; /* PAUSE, HANDLER, ENTRY: where what is below goes on; 0: unknown */
	uint64_t entry_ip;
	struct counts called; /* of what ran before it */
	const struct span_event *event; /* of its slice: more of the interrupt; NULL: nothing */
	uint16_t span_flags; /* of its slice: an interrupt's vector */
	uint32_t traps;     /* OCaml exception handlers that it has installed */
	uint8_t kind;       /* enum frame_kind */
	bool returned;      /* PAUSE: tracing went off at a return, by a filter */
	bool hidden;        /* a PLT stub that has not reached its target: no slice yet */
};

struct frame_list {
	struct frame *frames; /* owned */
	size_t depth, room;
};

/* Where a setjmp returned to, and how deep the stack was. */
struct jump_point {
	uint64_t call_ip;
	size_t depth;
};

enum special { SPECIAL_UNTRACED, SPECIAL_SYSCALL, SPECIAL_UNKNOWN, SPECIAL_GUEST, SPECIALS };

struct gap_name {
	struct symbol symbol;
	struct gap_name *next;
};

struct precise {
	struct callstack_machine base;
	struct name_table *names;
	struct symbol specials[SPECIALS];
	const struct name *unwind_resume, *gogo;
	struct gap_name *gaps; /* owned: a symbol per reason that occurred */
};

struct precise_stack {
	struct callstack base;
	struct callstack_batch batch;
	struct frame_list now;
	struct frame_list parked[PARKED_MAX]; /* left stacks; depth 0: free */
	unsigned next_parked;
	struct jump_point jumps[JUMP_POINTS];
	unsigned next_jump;
	struct frame_list before; /* the stack when the transaction began, if in_tx */
	size_t untouched;   /* outermost frames that are as they were then */
	bool in_tx;
	bool rolled_back;   /* the next branch comes from what was undone */
	int64_t since;      /* mapped: an unseen frame may have run since then */
	struct counts counts, counts_since; /* so far, and at `since` */
	int64_t last_time;  /* mapped */
	int64_t gap_begin;  /* mapped; of the gap that is going on */
	const struct symbol *gap; /* its slice's name; NULL: none */
	bool started;
	bool rooted;        /* the outermost frame was called by none */
	unsigned unsettled; /* branches since spans were settled, if rooted */
	int64_t settled;    /* mapped: what begins earlier cannot be given out any more */
};

static struct precise *machine_of(const struct precise_stack *stack)
{
	return (struct precise *)stack->base.machine;
}

static const struct symbol *symbol_of(const struct precise_stack *stack,
				      const struct location *location)
{
	return location->symbol ? location->symbol
				: &machine_of(stack)->specials[SPECIAL_UNKNOWN];
}

/* ---- Frames -------------------------------------------------------------- */

static struct frame *top(struct precise_stack *stack)
{
	return stack->now.depth ? &stack->now.frames[stack->now.depth - 1] : NULL;
}

static struct frame *add_frame(struct frame_list *list, const struct frame *frame)
{
	list->frames = alloc_grow(list->frames, &list->room, list->depth + 1,
				  sizeof(*list->frames));
	list->frames[list->depth] = *frame;
	return &list->frames[list->depth++];
}

static void emit_begin(struct precise_stack *stack, int64_t time, const struct frame *frame)
{
	struct batch_event event = {
		.symbol = frame->symbol,
		.ip = frame->event ? (uintptr_t)frame->event : frame->entry_ip,
		.kind = BATCH_CALL,
		.flags = frame->span_flags,
		.detail = { frame->called.insns, frame->called.cycles, frame->caller,
			    frame->caller_offset },
	};

	callstack_batch_add(&stack->batch, time, &event);
}

static void emit_end(struct precise_stack *stack, int64_t time, const struct frame *frame)
{
	struct batch_event event = {
		.symbol = frame->symbol,
		.kind = BATCH_RETURN,
		.detail = { .insns = stack->counts.insns, .cycles = stack->counts.cycles },
	};

	callstack_batch_add(&stack->batch, time, &event);
}

static void push(struct precise_stack *stack, int64_t time, const struct frame *frame)
{
	struct frame *added = add_frame(&stack->now, frame);

	added->called = stack->counts;
	if (!frame->hidden)
		emit_begin(stack, time, added);
}

/* Frames from `depth` on are no longer those of the transaction's begin. */
static void touch(struct precise_stack *stack, size_t depth)
{
	if (depth < stack->untouched)
		stack->untouched = depth;
}

static void pop(struct precise_stack *stack, int64_t time)
{
	struct frame *frame = top(stack);

	if (!frame->hidden)
		emit_end(stack, time, frame);
	stack->now.depth--;
	touch(stack, stack->now.depth);
}

static void pop_to(struct precise_stack *stack, int64_t time, size_t depth)
{
	while (stack->now.depth > depth)
		pop(stack, time);
}

/* A stub that does not go straight to its target gets a slice of its own. */
static void reveal(struct precise_stack *stack, int64_t time)
{
	struct frame *frame = top(stack);

	if (frame && frame->hidden)
		emit_begin(stack, time, frame);
	if (frame)
		frame->hidden = false;
}

/* A frame that runs since the segment began, under all that was seen since. */
static void emit_inferred(struct precise_stack *stack, const struct frame *frame)
{
	struct batch_event event = {
		.symbol = frame->symbol,
		.ip = frame->entry_ip,
		.kind = BATCH_INFERRED_CALL,
		.detail = { .insns = stack->counts_since.insns,
			    .cycles = stack->counts_since.cycles },
	};

	callstack_batch_pass(&stack->batch, stack->since, &event);
}

/* What is inferred from now on began now. */
static void set_since(struct precise_stack *stack, int64_t time)
{
	stack->since = time;
	stack->counts_since = stack->counts;
}

/* What follows has nothing to do with what was seen before. */
static void begin_stack(struct precise_stack *stack, int64_t time)
{
	callstack_batch_flush(&stack->batch, time);
	set_since(stack, time);
}

/* An unseen caller. */
static void infer_root(struct precise_stack *stack, const struct location *location)
{
	if (stack->since < stack->settled)
		begin_stack(stack, stack->last_time);

	struct frame frame = { .symbol = symbol_of(stack, location), .entry_ip = location->ip,
			       .kind = FRAME_INFERRED };

	emit_inferred(stack, &frame);
	add_frame(&stack->now, &frame);
}

/* Another function goes on in the top's place; where it returns to stays. */
static void replace(struct precise_stack *stack, int64_t time, const struct location *to)
{
	struct frame *frame = top(stack);

	touch(stack, stack->now.depth - 1);
	/* What a stub ran is its target's; after a tail call counting begins anew. */
	if (!frame->hidden) {
		emit_end(stack, time, frame);
		frame->called = stack->counts;
	}
	frame->symbol = symbol_of(stack, to);
	frame->entry_ip = to->ip;
	frame->hidden = frame->symbol->kind == SYMBOL_PLT;
	frame->traps = 0;
	if (!frame->hidden)
		emit_begin(stack, time, frame);
}

/* ---- Finding frames ------------------------------------------------------ */

static bool returns_to(const struct frame *frame, uint64_t ip)
{
	return frame->kind == FRAME_CALLED && ip > frame->call_ip &&
	       ip - frame->call_ip <= CALL_LENGTH_MAX;
}

static bool is_function(const struct symbol *symbol)
{
	return symbol && (symbol->kind == SYMBOL_FUNCTION || symbol->kind == SYMBOL_PLT);
}

/* Whether the code is of one function, perhaps of different parts of it (symbols/symbol.h). */
static bool same_function(const struct symbol *a, const struct symbol *b)
{
	return symbol_function(a) == symbol_function(b);
}

static bool is_entry(const struct location *location)
{
	return is_function(location->symbol) && location->offset == 0;
}

/* Returns 1 + the index of the innermost frame of a list that returns to ip; 0: none. */
static size_t find_return(const struct frame_list *list, uint64_t ip)
{
	size_t at = list->depth;

	while (at && !returns_to(&list->frames[at - 1], ip))
		at--;
	return at;
}

/* The same for a function. */
static size_t find_function(const struct precise_stack *stack, const struct symbol *symbol)
{
	size_t at = is_function(symbol) ? stack->now.depth : 0;

	while (at && !same_function(stack->now.frames[at - 1].symbol, symbol))
		at--;
	return at;
}

/*
 * The same for the function that an unwinder enters in mid-body.  A frame that
 * called _Unwind_Resume() is done with its clean-up: unwinding goes on below
 * it, which tells recursive functions apart.
 */
static size_t find_landing(const struct precise_stack *stack, const struct symbol *symbol)
{
	const struct name *resume = machine_of(stack)->unwind_resume;
	size_t at = is_function(symbol) ? stack->now.depth : 0;
	bool done = false;

	for (; at; at--) {
		const struct frame *frame = &stack->now.frames[at - 1];

		if (same_function(frame->symbol, symbol) && !done)
			return at;
		done = frame->symbol->name == resume;
	}
	return 0;
}

/* The same for a handler or kernel entry below which execution goes on at ip. */
static size_t find_resumed(const struct precise_stack *stack, uint64_t ip)
{
	size_t at = stack->now.depth;

	while (at && (stack->now.frames[at - 1].kind != FRAME_HANDLER ||
		      stack->now.frames[at - 1].resume_ip != ip))
		at--;
	return at;
}

/* ---- Switching stacks ---------------------------------------------------- */

static void park(struct precise_stack *stack, int64_t time)
{
	struct frame_list *slot = &stack->parked[stack->next_parked++ % PARKED_MAX];

	stack->rooted = false;
	slot->depth = 0;
	for (size_t i = 0; i < stack->now.depth; i++)
		add_frame(slot, &stack->now.frames[i]);
	pop_to(stack, time, 0);
}

/* Bring back what is left of a parked stack when the frame at `at - 1` returns. */
static void unpark(struct precise_stack *stack, int64_t time, struct frame_list *slot, size_t at)
{
	begin_stack(stack, time);
	for (size_t i = 0; i + 1 < at; i++)
		push(stack, time, &slot->frames[i]);
	slot->depth = 0;
}

static void switch_stack(struct precise_stack *stack, int64_t time, const struct location *to)
{
	struct frame_list *slot = NULL;
	size_t at = 0;

	/* Stacks that were left at the same place look the same: the one left first comes first. */
	for (unsigned i = 0; i < PARKED_MAX && !at; i++) {
		slot = &stack->parked[(stack->next_parked + i) % PARKED_MAX];
		at = find_return(slot, to->ip);
	}
	if (at) {
		struct frame_list found = *slot;

		*slot = (struct frame_list){ 0 };
		park(stack, time);
		unpark(stack, time, &found, at);
		free(found.frames);
		return;
	}
	park(stack, time);
	begin_stack(stack, time);
	infer_root(stack, to);
}

/* ---- Branches ------------------------------------------------------------ */

/* The top is the function that the branch comes from. */
static void come_from(struct precise_stack *stack, int64_t time, const struct location *from)
{
	size_t at;

	if (!from->ip)
		return;
	if (stack->now.depth && top(stack)->kind == FRAME_PAUSE)
		pop(stack, time);
	if (!stack->now.depth) {
		infer_root(stack, from);
		return;
	}
	if (same_function(top(stack)->symbol, symbol_of(stack, from)) || !is_function(from->symbol))
		return;
	at = find_function(stack, from->symbol);
	if (at)
		pop_to(stack, time, at);
	else
		replace(stack, time, from);
}

/* setjmp, _setjmp, sigsetjmp, __sigsetjmp, and stubs of them. */
static bool is_setjmp(const struct name *name)
{
	static const char setjmp[] = "setjmp", stub[] = "setjmp@plt";
	const char *end = name->text + name->length;

	return (name->length >= sizeof(setjmp) - 1 &&
		memcmp(end - (sizeof(setjmp) - 1), setjmp, sizeof(setjmp) - 1) == 0) ||
	       (name->length >= sizeof(stub) - 1 &&
		memcmp(end - (sizeof(stub) - 1), stub, sizeof(stub) - 1) == 0);
}

static void remember_setjmp(struct precise_stack *stack, uint64_t call_ip, const struct symbol *to)
{
	if (!to || !is_setjmp(to->name))
		return;
	stack->jumps[stack->next_jump++ % JUMP_POINTS] =
		(struct jump_point){ call_ip, stack->now.depth };
}

static void on_call(struct precise_stack *stack, int64_t time, const struct resolved_branch *branch)
{
	const struct location *to = &branch->to;
	struct frame frame = { .symbol = symbol_of(stack, to), .call_ip = branch->from.ip,
			       .caller = branch->from.symbol, .caller_offset = branch->from.offset,
			       .entry_ip = to->ip, .kind = FRAME_CALLED };

	/* `call $+5; pop` reads the instruction pointer. */
	if (to->ip == branch->from.ip + 5 && !is_entry(to))
		return;
	remember_setjmp(stack, branch->from.ip, to->symbol);
	frame.hidden = frame.symbol->kind == SYMBOL_PLT;
	push(stack, time, &frame);
}

/* Returns whether a setjmp returned to ip before; pops to where it was called. */
static bool go_back_to_setjmp(struct precise_stack *stack, int64_t time, uint64_t ip)
{
	for (unsigned i = 1; i <= JUMP_POINTS; i++) {
		const struct jump_point *point =
			&stack->jumps[(stack->next_jump - i) % JUMP_POINTS];

		if (!point->call_ip || ip <= point->call_ip ||
		    ip - point->call_ip > CALL_LENGTH_MAX || point->depth > stack->now.depth)
			continue;
		pop_to(stack, time, point->depth);
		return true;
	}
	return false;
}

static void on_jump(struct precise_stack *stack, int64_t time, const struct location *to)
{
	size_t at;

	if (!stack->now.depth) {
		infer_root(stack, to);
		return;
	}
	if (is_entry(to) && !same_function(top(stack)->symbol, to->symbol)) {
		replace(stack, time, to);
		return;
	}
	if (same_function(top(stack)->symbol, symbol_of(stack, to)))
		return;
	if (go_back_to_setjmp(stack, time, to->ip))
		return;
	/* To just behind a call: a return in all but name (a goroutine that goes on). */
	at = find_return(&stack->now, to->ip);
	if (at) {
		pop_to(stack, time, at - 1);
		return;
	}
	if (top(stack)->symbol->name == machine_of(stack)->gogo) {
		switch_stack(stack, time, to);
		return;
	}
	at = find_landing(stack, to->symbol);
	if (at)
		pop_to(stack, time, at);
	else if (is_function(to->symbol))
		replace(stack, time, to);
}

/*
 * A return whose address was put on the stack by hand: by a retpoline, whose
 * call inside the thunk itself only made room for it, or by who begins to run
 * on another stack (setcontext).
 */
static void jump_by_return(struct precise_stack *stack, int64_t time, const struct location *to)
{
	const struct frame_list *now = &stack->now;

	if (now->depth > 1 && top(stack)->kind == FRAME_CALLED &&
	    same_function(now->frames[now->depth - 2].symbol, top(stack)->symbol)) {
		pop(stack, time);
		on_jump(stack, time, to);
	} else {
		switch_stack(stack, time, to);
	}
}

static void on_return(struct precise_stack *stack, int64_t time, const struct location *to)
{
	size_t at = find_return(&stack->now, to->ip);

	if (at) {
		pop_to(stack, time, at - 1);
	} else if (top(stack)->kind == FRAME_HANDLER) {
		replace(stack, time, to);
	} else if (is_entry(to)) {
		jump_by_return(stack, time, to);
	} else if (stack->now.depth == 1 && top(stack)->kind == FRAME_INFERRED) {
		pop(stack, time);
		infer_root(stack, to);
	} else if (go_back_to_setjmp(stack, time, to->ip)) {
		return;
	} else if ((at = find_landing(stack, to->symbol))) {
		pop_to(stack, time, at);
	} else {
		switch_stack(stack, time, to);
	}
}

/* ---- OCaml's exceptions -------------------------------------------------- */

/* The top installed and removed handlers on its way to its next branch. */
static void pass_traps(struct precise_stack *stack, const struct resolved_branch *branch)
{
	struct frame *frame = top(stack);

	for (uint32_t i = 0; frame && i < branch->trap_count; i++) {
		if (branch->traps[i].kind == TRAP_INSTALLED)
			frame->traps++;
		else if (branch->traps[i].kind == TRAP_REMOVED && frame->traps)
			frame->traps--;
	}
}

/* Returns whether an exception came to the handler at `to`; pops to the frame that has it. */
static bool handle_exception(struct precise_stack *stack, int64_t time,
			     const struct resolved_branch *branch)
{
	size_t at = branch->enters_trap ? stack->now.depth : 0;

	if (branch->kind != BRANCH_RETURN && branch->kind != BRANCH_JUMP)
		return false;
	while (at && !stack->now.frames[at - 1].traps)
		at--;
	if (!at || stack->now.frames[at - 1].symbol != branch->to.symbol)
		return false;
	pop_to(stack, time, at);
	top(stack)->traps--;
	return true;
}

/* ---- Pauses -------------------------------------------------------------- */

static uint16_t vector_flags(const struct resolved_branch *branch)
{
	unsigned flags = branch->vector ? SPAN_HAS_VECTOR | (branch->vector - 1u) << 8 : 0;

	return (uint16_t)(flags | (branch->event ? SPAN_HAS_EVENT : 0));
}

static void on_off(struct precise_stack *stack, int64_t time, const struct resolved_branch *branch)
{
	const struct precise *machine = machine_of(stack);
	struct frame pause = { .kind = FRAME_PAUSE, .span_flags = vector_flags(branch),
			       .event = branch->event };

	if (branch->kind == BRANCH_RETURN && stack->now.depth)
		pop(stack, time);
	reveal(stack, time);
	pause.symbol = &machine->specials[branch->kind == BRANCH_SYSCALL ? SPECIAL_SYSCALL
									 : SPECIAL_UNTRACED];
	/* The host goes on where it told the processor to, not behind the entry. */
	if (branch->flags & BRANCH_GUEST)
		pause.symbol = &machine->specials[SPECIAL_GUEST];
	else if (branch->flags & BRANCH_ASYNC || branch->kind == BRANCH_NONE)
		pause.resume_ip = branch->from.ip;
	else if (branch->kind == BRANCH_RETURN)
		pause.returned = true;
	else if (branch->from_length)
		pause.resume_ip = branch->from.ip + branch->from_length;
	push(stack, time, &pause);
}

/* Execution goes on at `to`, and was to go on at `expected` (0: unknown). */
static void resume(struct precise_stack *stack, int64_t time, const struct location *to,
		   uint64_t expected)
{
	struct frame handler = { .symbol = symbol_of(stack, to), .resume_ip = expected,
				 .entry_ip = to->ip, .kind = FRAME_HANDLER };
	size_t at;

	/* A system call that is started again goes back over its instruction. */
	if (!expected || to->ip == expected || to->ip + 2 == expected || !stack->now.depth)
		return;
	at = find_resumed(stack, to->ip);
	if (!at)
		at = find_resumed(stack, to->ip + 2);
	if (at)
		pop_to(stack, time, at - 1);
	else if (is_entry(to) || !is_function(to->symbol))
		push(stack, time, &handler); /* in code without symbols, a guess: nothing else is as common */
	else if (!same_function(top(stack)->symbol, to->symbol))
		on_jump(stack, time, to);
}

static void on_on(struct precise_stack *stack, int64_t time, const struct location *to)
{
	struct frame called = { .symbol = symbol_of(stack, to), .entry_ip = to->ip,
				.kind = FRAME_HANDLER };
	uint64_t expected;
	bool returned;

	if (!stack->now.depth || top(stack)->kind != FRAME_PAUSE)
		return;
	expected = top(stack)->resume_ip;
	returned = top(stack)->returned;
	pop(stack, time);
	/* Of filtered functions one was left, and one is called by code that is not traced. */
	if (returned && is_entry(to))
		push(stack, time, &called);
	else
		resume(stack, time, to, expected);
}

static void on_kernel_entry(struct precise_stack *stack, int64_t time,
			    const struct resolved_branch *branch)
{
	struct frame entry = { .symbol = symbol_of(stack, &branch->to), .entry_ip = branch->to.ip,
			       .kind = FRAME_ENTRY, .resume_ip = branch->from.ip,
			       .span_flags = vector_flags(branch), .event = branch->event };

	if (branch->kind != BRANCH_INTERRUPT)
		entry.resume_ip += branch->from_length;
	push(stack, time, &entry);
}

static void on_kernel_exit(struct precise_stack *stack, int64_t time, const struct location *to)
{
	size_t at = stack->now.depth;
	uint64_t expected;

	while (at && stack->now.frames[at - 1].kind != FRAME_ENTRY)
		at--;
	if (!at) {
		pop_to(stack, time, 0);
		infer_root(stack, to);
		return;
	}
	expected = stack->now.frames[at - 1].resume_ip;
	pop_to(stack, time, at - 1);
	resume(stack, time, to, expected);
}

/* ---- Transactions -------------------------------------------------------- */

static void begin_transaction(struct precise_stack *stack)
{
	stack->before.depth = 0;
	for (size_t i = 0; i < stack->now.depth; i++)
		add_frame(&stack->before, &stack->now.frames[i]);
	stack->untouched = stack->now.depth;
	stack->in_tx = true;
}

static void end_transaction(struct precise_stack *stack)
{
	stack->in_tx = false;
	stack->untouched = 0;
}

/* What it left goes on in slices of their own: their old ones have ended. */
static void roll_back(struct precise_stack *stack, int64_t time)
{
	if (!stack->in_tx || !stack->before.depth)
		return;
	pop_to(stack, time, stack->untouched);
	for (size_t i = stack->now.depth; i < stack->before.depth; i++)
		push(stack, time, &stack->before.frames[i]);
	end_transaction(stack);
	stack->rolled_back = true;
}

static void follow_transaction(struct precise_stack *stack, int64_t time,
			       const struct resolved_branch *branch)
{
	if (branch->kind == BRANCH_TX_ABORT)
		roll_back(stack, time);
	else if (!(branch->flags & BRANCH_IN_TX))
		end_transaction(stack);
	else if (!stack->in_tx)
		begin_transaction(stack);
}

/* ---- Segments ------------------------------------------------------------ */

static void end_segment(struct precise_stack *stack, int64_t time)
{
	const struct span_sink *sink = stack->base.machine->sink;

	pop_to(stack, time, 0);
	end_transaction(stack);
	callstack_batch_flush(&stack->batch, time);
	callstack_batch_drain_start(&stack->batch);
	sink->segment_end(sink, stack->base.track);
	for (unsigned i = 0; i < PARKED_MAX; i++)
		stack->parked[i].depth = 0;
	memset(stack->jumps, 0, sizeof(stack->jumps));
	stack->rooted = false;
}

/* Then all is given out that came so far. */
#define SETTLE_BRANCHES 4096

/* Nothing will be found that encloses what came so far: whoever orders it need not keep it. */
static void settle(struct precise_stack *stack)
{
	const struct span_sink *sink = stack->base.machine->sink;

	if (++stack->unsettled < SETTLE_BRANCHES || stack->batch.time <= stack->since)
		return;
	callstack_batch_drain_start(&stack->batch);
	sink->segment_end(sink, stack->base.track);
	stack->settled = stack->batch.time;
	stack->unsettled = 0;
}

/* Few messages exist, so a list is the right map. */
static const struct symbol *gap_symbol(struct precise *machine, const char *message)
{
	const struct name *name;
	struct gap_name *gap;
	char text[200];

	snprintf(text, sizeof(text), "[lost: %s]", message);
	name = name_intern_text(machine->names, text);
	for (gap = machine->gaps; gap; gap = gap->next) {
		if (gap->symbol.name == name)
			return &gap->symbol;
	}
	gap = alloc_zeroed(1, sizeof(*gap));
	gap->symbol.name = gap->symbol.linkage = name;
	gap->symbol.kind = SYMBOL_SPECIAL;
	gap->next = machine->gaps;
	machine->gaps = gap;
	return &gap->symbol;
}

static void on_gap(struct precise_stack *stack, int64_t time, const struct resolved_branch *branch)
{
	const char *message = branch->message
				      ? branch->message
				      : callstack_gap_text((enum gap_reason)branch->gap);

	if (stack->gap)
		return; /* one after the other is one gap */
	end_segment(stack, time);
	stack->gap = gap_symbol(machine_of(stack), message);
	stack->gap_begin = time;
}

/* The first event after a gap (there is one) tells its length. */
static void end_gap(struct precise_stack *stack, int64_t time)
{
	const struct callstack_machine *machine = stack->base.machine;
	const struct span_sink *sink = machine->sink;

	callstack_batch_flush(&stack->batch, time); /* marks within the gap */
	sink->complete(sink, stack->base.track, callstack_perf_time(machine, stack->gap_begin),
		       callstack_perf_time(machine, time), stack->gap, 0);
	sink->segment_end(sink, stack->base.track);
	stack->gap = NULL;
	set_since(stack, time);
}

/* ---- The machine --------------------------------------------------------- */

static void dispatch(struct precise_stack *stack, int64_t time,
		     const struct resolved_branch *branch)
{
	follow_transaction(stack, time, branch);
	if (branch->flags & BRANCH_TRACE_ON) {
		stack->rolled_back = false;
		on_on(stack, time, &branch->to);
		return;
	}
	if (!stack->rolled_back) {
		come_from(stack, time, &branch->from);
		pass_traps(stack, branch);
	}
	stack->rolled_back = false;
	if (handle_exception(stack, time, branch))
		return;
	if (branch->flags & BRANCH_TRACE_OFF) {
		on_off(stack, time, branch);
		return;
	}
	switch ((enum branch_kind)branch->kind) {
	case BRANCH_CALL:
		on_call(stack, time, branch);
		break;
	case BRANCH_RETURN:
		if (stack->now.depth)
			on_return(stack, time, &branch->to);
		break;
	case BRANCH_JUMP:
	case BRANCH_COND:
	case BRANCH_TX_ABORT:
		on_jump(stack, time, &branch->to);
		break;
	case BRANCH_SYSCALL:
	case BRANCH_SOFTINT:
	case BRANCH_INTERRUPT:
		on_kernel_entry(stack, time, branch);
		break;
	case BRANCH_SYSRET:
	case BRANCH_IRET:
		on_kernel_exit(stack, time, &branch->to);
		break;
	default:
		break;
	}
}

/* Returns the time since the run's first event; it does not go back on a thread. */
static int64_t event_time(struct precise_stack *stack, const struct resolved_branch *branch)
{
	struct callstack_machine *machine = stack->base.machine;
	int64_t time = stack->last_time;

	if (!branch->untimed) {
		if (!machine->has_base_time)
			machine->base_time = branch->time;
		machine->has_base_time = true;
		time = (int64_t)(branch->time - machine->base_time);
	}
	if (!stack->started)
		stack->since = stack->batch.time = time;
	else if (time < stack->last_time)
		time = stack->last_time;
	stack->started = true;
	stack->last_time = time;
	return time;
}

/* Marks change nothing (but that of an abort, which its branch follows), and end no gap. */
static void show_mark(struct precise_stack *stack, int64_t time,
		      const struct resolved_branch *branch)
{
	struct batch_event mark = { .symbol = branch->mark, .ip = branch->mark_value,
				    .kind = BATCH_MARK,
				    .detail = { stack->counts.insns, stack->counts.cycles } };

	if (branch->kind == BRANCH_TX_ABORT)
		roll_back(stack, time);
	callstack_batch_add(&stack->batch, time, &mark);
}

static void precise_branch(struct callstack *base, const struct resolved_branch *branch)
{
	struct precise_stack *stack = (struct precise_stack *)base;
	int64_t time = event_time(stack, branch);

	if (branch->mark) {
		show_mark(stack, time, branch);
		return;
	}
	if (branch->kind == BRANCH_GAP) {
		on_gap(stack, time, branch);
		return;
	}
	if (stack->gap)
		end_gap(stack, time);
	stack->counts.insns += branch->insns;
	stack->counts.cycles += branch->cycles;
	if (branch->flags & BRANCH_EXEC) {
		end_segment(stack, time);
		set_since(stack, time);
	}
	if (branch->enters_program && !stack->now.depth)
		stack->rooted = true;
	dispatch(stack, time, branch);
	if (stack->rooted)
		settle(stack);
}

/* The child's frames are the parent's, since the fork; they return to the same places. */
static void precise_inherit(struct callstack *base, const struct callstack *parent_base,
			    uint64_t time)
{
	const struct precise_stack *parent = (const struct precise_stack *)parent_base;
	struct precise_stack *stack = (struct precise_stack *)base;

	stack->since = stack->last_time = stack->batch.time =
		(int64_t)(time - base->machine->base_time);
	stack->started = true;
	stack->rooted = parent->rooted;
	memcpy(stack->jumps, parent->jumps, sizeof(stack->jumps));
	stack->next_jump = parent->next_jump;
	for (size_t i = 0; i < parent->now.depth; i++)
		add_frame(&stack->now, &parent->now.frames[i]);
	/* Of inferred frames the one told last is the outermost. */
	for (size_t i = stack->now.depth; i-- > 0;) {
		if (!stack->now.frames[i].hidden)
			emit_inferred(stack, &stack->now.frames[i]);
	}
}

static void precise_finish(struct callstack *base)
{
	struct precise_stack *stack = (struct precise_stack *)base;

	if (stack->gap)
		end_gap(stack, stack->last_time);
	end_segment(stack, stack->last_time);
}

static struct callstack *precise_open(struct callstack_machine *machine, void *track)
{
	struct precise_stack *stack = alloc_zeroed(1, sizeof(*stack));

	stack->base.machine = machine;
	stack->base.track = track;
	stack->batch.owner = &stack->base;
	stack->settled = INT64_MIN;
	return &stack->base;
}

static void precise_close(struct callstack *base)
{
	struct precise_stack *stack = (struct precise_stack *)base;

	callstack_batch_release(&stack->batch);
	for (unsigned i = 0; i < PARKED_MAX; i++)
		free(stack->parked[i].frames);
	free(stack->now.frames);
	free(stack->before.frames);
	free(stack);
}

static void precise_machine_close(struct callstack_machine *base)
{
	struct precise *machine = (struct precise *)base;

	while (machine->gaps) {
		struct gap_name *gap = machine->gaps;

		machine->gaps = gap->next;
		free(gap);
	}
	free(machine);
}

static const struct callstack_ops precise_ops = {
	.open = precise_open,
	.branch = precise_branch,
	.inherit = precise_inherit,
	.finish = precise_finish,
	.close = precise_close,
	.machine_close = precise_machine_close,
};

struct callstack_machine *callstack_precise_open(const struct callstack_options *options)
{
	static const char *const names[SPECIALS] = { "[untraced]", "[syscall]", "[unknown]",
						      "[guest]" };
	struct precise *machine = alloc_zeroed(1, sizeof(*machine));

	machine->base.ops = &precise_ops;
	machine->base.sink = options->sink;
	machine->base.diag = options->diag;
	machine->base.mode = (uint8_t)options->mode;
	machine->names = options->names;
	machine->unwind_resume = name_intern_text(options->names, "_Unwind_Resume");
	machine->gogo = name_intern_text(options->names, "gogo");
	for (int i = 0; i < SPECIALS; i++) {
		machine->specials[i].kind = SYMBOL_SPECIAL;
		machine->specials[i].name = name_intern_text(options->names, names[i]);
		machine->specials[i].linkage = machine->specials[i].name;
	}
	return &machine->base;
}

const struct symbol *callstack_precise_top(const struct callstack *base)
{
	const struct precise_stack *stack = (const struct precise_stack *)base;

	return stack->now.depth ? stack->now.frames[stack->now.depth - 1].symbol : NULL;
}

const struct symbol *callstack_precise_function(const struct callstack *base)
{
	const struct precise_stack *stack = (const struct precise_stack *)base;
	size_t at = stack->now.depth;

	while (at && stack->now.frames[at - 1].symbol->inlined)
		at--;
	return at ? symbol_function(stack->now.frames[at - 1].symbol) : NULL;
}

size_t callstack_precise_depth(const struct callstack *base)
{
	const struct precise_stack *stack = (const struct precise_stack *)base;
	size_t called = 0;

	for (size_t i = 0; i < stack->now.depth; i++)
		called += stack->now.frames[i].kind == FRAME_CALLED;
	return called;
}
