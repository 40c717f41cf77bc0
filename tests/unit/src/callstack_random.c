/* SPDX-License-Identifier: MIT */
/*
 * The precise machine on random programs: a small machine calls, returns and switches between
 * stacks, knows its frames, and notes when each began and ended.
 * Events are 10 ns apart, timestamps 10 or 50.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "src/callstack/callstack.h"
#include "src/slices/slice_sorter.h"
#include "symbols/dso/dso_store.h"
#include "tests/support/stack_branch.h"
#include "tests/support/unit.h"
#include "tests/unit/src/slice_log.h"

#define BASE       UINT64_C(1000000)
#define STEPS      300
#define FRAMES_MAX 300
#define STACKS     6
#define PROGRAMS   288
#define AT_ONCE    4
#define LINES_MAX  8192

/* Where stacks are left by a call that several have. */
#define SHARED_SITE 0xff00

enum true_kind { ROOT, CALLED, TAIL, HANDLER, ENTRY, PAUSE, STACK, INLINED };

struct true_frame {
	char letter; /* its function */
	enum true_kind kind;
	uint64_t back;   /* offset in the function that continues after it */
	unsigned number; /* of all frames */
	bool shown;      /* a stub is not */
	uint64_t insns;  /* when it was called */
	unsigned traps;  /* its exception handlers (OCaml) */
	bool caught;     /* its caller stored the stack pointer, for a throw */
};

struct true_stack {
	struct true_frame frames[FRAMES_MAX];
	size_t depth;            /* 0: not used */
	struct true_frame slice; /* with --fibers: what it shows of one stretch */
};

static struct {
	unsigned random, numbers, sites;
	uint32_t pushed;      /* offset of a return address that the code pushed */
	uint64_t time, insns; /* so far */
	uint64_t tick;        /* ns between two timestamps */
	bool replaces;        /* tail calls end the function that jumps */
	bool has_details;     /* slices have instructions */
	bool fibers;          /* so have stacks */
	size_t deepest;       /* at most this many frames */
	uint8_t call_length;  /* bytes; 0: the trace does not say */
	unsigned stack_count; /* without the first */
	struct true_stack stacks[STACKS], *now, saved;
	bool in_tx;
	struct branch_notes notes; /* of the next branch */
	/* The last setjmp(): its frame, and where it returns. */
	struct {
		const struct true_stack *stack;
		unsigned number;
		uint64_t back;
	} jump;
	char text[1 << 18]; /* what the slices should be */
	size_t length;
	/* Instructions executed at the begins and ends of slices: the true ones and the found ones.
	 */
	uint64_t executed[LINES_MAX], found[LINES_MAX];
	size_t count, found_count;
} program;

static struct name_table names;
static struct arena arena;
static struct diag diag;
static struct symbol *symbols[128];
static struct slice_log slices;
static struct slice_sorter sorter;
static struct callstack_machine *machine;
static struct callstack *stack;

static struct stack_branch held[AT_ONCE]; /* not fed yet */
static size_t held_count, at_once;        /* `at_once` 0: with empty notes */

static unsigned draw(unsigned sides)
{
	program.random = program.random * 1103515245 + 12345;
	return (program.random >> 16) % sides;
}

/* Returns the last timestamp. */
static uint64_t timestamp(void)
{
	return BASE + (program.time - BASE) / program.tick * program.tick;
}

/* ---- Feeding --------------------------------------------------------------- */

/* Functions are 0x10000 bytes apart; upper case is a PLT stub, a digit is in the kernel. */
static struct symbol *function(char letter)
{
	char text[2] = { letter, 0 };
	struct symbol **symbol = &symbols[(int)letter];

	if (!*symbol) {
		*symbol = arena_alloc(&arena, sizeof(**symbol));
		(*symbol)->name = (*symbol)->linkage = name_intern_text(&names, text);
		if (letter >= 'A' && letter <= 'Z')
			(*symbol)->kind = SYMBOL_PLT;
	}
	return *symbol;
}

static struct location at(char letter, uint64_t offset)
{
	uint64_t base = (uint64_t)letter * 0x10000;

	if (letter >= '0' && letter <= '9')
		base |= UINT64_C(0xffffffff80000000);
	return letter ? (struct location){ base + offset, function(letter), offset }
		      : (struct location){ 0 };
}

static void feed_held(void)
{
	struct known_branch known[AT_ONCE] = { 0 };
	struct branch_event events[AT_ONCE];
	size_t fed = 0;

	for (size_t i = 0; i < held_count; i++) {
		known[i].locations = location_pair_of(&held[i].from, &held[i].to, NULL);
		known[i].locations.reached = true;
		events[i] = held[i].event;
		events[i].known = &known[i];
	}
	while (fed < held_count) {
		fed += callstack_feed_plain(stack, &events[fed], held_count - fed, true);
		if (fed < held_count)
			stack_branch_feed(stack, &held[fed++]);
	}
	held_count = 0;
}

/* `effect`: 0 if the code does not show any. */
static void feed(enum branch_kind kind, struct location from, struct location to, unsigned flags,
		 unsigned effect)
{
	struct stack_branch branch = {
		.event = { .time = timestamp(),
			   .kind = (uint8_t)kind,
			   .flags = (uint8_t)(flags | (program.in_tx ? BRANCH_IN_TX : 0)),
			   .from_length = kind == BRANCH_SYSCALL ? 2 : program.call_length,
			   .insns = draw(9) },
		.from = from,
		.to = to,
		.notes = program.notes,
		.has_notes = !at_once || program.notes.trap_count || program.notes.enters_trap,
	};
	struct location_pair locations = location_pair_of(&from, &to, NULL);
	struct resolved_branch resolved = { &branch.event, &locations };

	program.insns += branch.event.insns;
	program.notes = (struct branch_notes){ 0 };
	if (effect || branch.has_notes)
		feed_held();
	if (effect) {
		locations.call = (uint8_t)effect;
		locations.offset = program.pushed;
		callstack_feed(stack, &resolved, NULL);
	} else if (branch.has_notes) {
		stack_branch_feed(stack, &branch);
	} else {
		held[held_count++] = branch;
		if (held_count == at_once)
			feed_held();
	}
	program.time += 10;
}

/* ---- The truth ------------------------------------------------------------- */

/* An offset in a function that no other branch has. */
static uint64_t site(void)
{
	return 0x20 + 32 * (++program.sites % 2000);
}

static char some_function(void)
{
	return (char)('a' + draw(18));
}

static struct true_frame *top(void)
{
	return &program.now->frames[program.now->depth - 1];
}

static void note(char kind, const struct true_frame *frame, const char *flags)
{
	char name[12] = { frame->letter, 0 };

	if (!frame->shown)
		return;
	if (frame->kind == STACK)
		sprintf(name, "<%u>", frame->number);
	if (frame->kind == PAUSE)
		strcpy(name, frame->letter == 's' ? "[syscall]" : "[untraced]");
	program.length += (size_t)sprintf(program.text + program.length, "%c %d %s%s\n", kind,
					  (int)(timestamp() - BASE), name, flags);
	ck_assert_uint_lt(program.length, sizeof(program.text) - 100);
	ck_assert_uint_lt(program.count, LINES_MAX);
	program.executed[program.count++] = kind == 'B' ? frame->insns : program.insns;
}

static void begin_stretch(bool is_new)
{
	struct true_frame *slice = &program.now->slice;

	slice->kind = STACK;
	slice->shown = program.fibers;
	slice->number = is_new ? ++program.stack_count : slice->number;
	slice->insns = program.insns;
	note('B', slice, "");
}

static void note_begin(const struct true_frame *frame)
{
	note('B', frame, frame->kind == TAIL ? " tail" : "");
}

static void push(char letter, enum true_kind kind, uint64_t back)
{
	struct true_frame frame = { .letter = letter,
				    .kind = kind,
				    .back = back,
				    .number = ++program.numbers,
				    .shown = letter < 'A' || letter > 'Z',
				    .insns = program.insns };

	ck_assert_uint_lt(program.now->depth, FRAMES_MAX);
	program.now->frames[program.now->depth++] = frame;
	note_begin(&frame);
}

/* The frames of the stack, starting at an index, begin a second time. */
static void begin_again(size_t first)
{
	for (size_t i = first; i < program.now->depth; i++) {
		program.now->frames[i].insns = program.insns;
		note_begin(&program.now->frames[i]);
	}
}

static void pop_to(size_t depth)
{
	while (program.now->depth > depth) {
		note('E', top(), "");
		program.now->depth--;
	}
}

/* The first frame of the innermost function's chain of tail calls. */
static size_t chain_begin(void)
{
	size_t depth = program.now->depth - 1;

	while (program.now->frames[depth].kind == TAIL)
		depth--;
	return depth;
}

static bool has_kind(enum true_kind kind)
{
	for (size_t i = 0; i < program.now->depth; i++)
		if (program.now->frames[i].kind == kind)
			return true;
	return false;
}

/* ---- What the program does ------------------------------------------------- */

static void go_call(char to, unsigned effect)
{
	uint64_t offset = site();

	if (program.now->depth >= program.deepest - 4)
		return;
	feed(BRANCH_CALL, at(top()->letter, offset), at(to, 0), 0, effect);
	program.time -= 10;
	push(to, CALLED, offset + 5);
	program.time += 10;
}

static void go_return(void)
{
	size_t first = chain_begin();
	const struct true_frame *frame = &program.now->frames[first];

	if (frame->kind != CALLED || !first)
		return;
	feed(BRANCH_RETURN, at(top()->letter, site()), at(frame[-1].letter, frame->back), 0, 0);
	program.time -= 10;
	pop_to(first);
	program.time += 10;
}

static void go_within(void)
{
	feed(draw(2) ? BRANCH_JUMP : BRANCH_COND, at(top()->letter, site()),
	     at(top()->letter, site()), 0, 0);
}

/* A function that the chain contains continues. */
static void go_tail_call(char to)
{
	size_t first = chain_begin(), depth = program.now->depth;

	if (program.now->frames[first].kind != CALLED || depth - first > 8 ||
	    depth > program.deepest - 8 || top()->traps)
		return;
	feed(BRANCH_JUMP, at(top()->letter, site()), at(to, 0), 0, 0);
	program.time -= 10;
	if (program.jump.number == top()->number) /* its frame is gone */
		program.jump.number = 0;
	if (program.replaces && to != top()->letter) {
		uint64_t back = top()->back;

		pop_to(depth - 1);
		push(to, CALLED, back);
		program.time += 10;
		return;
	}
	for (size_t i = first; i < depth; i++)
		if (program.now->frames[i].letter == to) {
			pop_to(i + 1);
			program.time += 10;
			return;
		}
	push(to, TAIL, 0);
	program.time += 10;
}

/* A jump for which the code pushed an address of its own. */
static void go_call_by_jump(char to)
{
	if (program.now->depth > program.deepest - 4)
		return;
	program.pushed = (uint32_t)site();
	feed(BRANCH_JUMP, at(top()->letter, site()), at(to, 0), BRANCH_INDIRECT, JUMP_CALLS);
	program.time -= 10;
	push(to, CALLED, program.pushed);
	program.time += 10;
	program.pushed = 0;
}

/* One function at a time waits for a throw, which a function continues in its frame. */
static void go_catch(void)
{
	for (size_t i = 0; i < program.now->depth; i++)
		if (program.now->frames[i].caught)
			return;
	if (program.now->depth > program.deepest - 4 || top()->kind > CALLED || !top()->shown)
		return;
	go_call(some_function(), CALL_CATCHES);
	top()->caught = true;
}

static void go_throw(char to)
{
	size_t i = program.now->depth - 1;

	while (i && !program.now->frames[i].caught)
		i--;
	if (!i || has_kind(HANDLER) || has_kind(ENTRY))
		return;
	feed(BRANCH_JUMP, at(top()->letter, site()), at(to, 0), BRANCH_INDIRECT, THROWS_TO_ENTRY);
	program.time -= 10;
	pop_to(i);
	note('E', top(), "");
	top()->letter = to;
	top()->number = ++program.numbers;
	top()->insns = program.insns;
	top()->traps = 0;
	note('B', top(), "");
	program.time += 10;
}

/* A call by a stub, which jumps to the function. */
static void go_by_stub(char to)
{
	go_call((char)(to - 'a' + 'A'), 0);
	if (top()->shown)
		return;
	feed(BRANCH_JUMP, at(top()->letter, 6), at(to, 0), 0, 0);
	program.time -= 10;
	top()->letter = to;
	top()->shown = true;
	note_begin(top());
	program.time += 10;
}

/* To a caller's caller, as a function that drops its caller's frame. */
static void go_deep_return(void)
{
	size_t to = 1 + draw((unsigned)program.now->depth);

	for (size_t i = 0; i < STACKS; i++) /* they may be marked then */
		if (&program.stacks[i] != program.now && program.stacks[i].depth)
			return;
	for (size_t i = to; i < program.now->depth; i++)
		if (program.now->frames[i].kind > TAIL)
			return;
	if (to >= program.now->depth || program.now->frames[to].kind != CALLED)
		return;
	feed(BRANCH_RETURN, at(top()->letter, site()),
	     at(program.now->frames[to - 1].letter, program.now->frames[to].back), 0, 0);
	program.time -= 10;
	pop_to(to);
	program.time += 10;
}

/* A system call that the trace does not show, or an interrupt. */
static void pause_trace(bool is_syscall, uint64_t offset)
{
	feed(is_syscall ? BRANCH_SYSCALL : BRANCH_NONE, at(top()->letter, offset), at(0, 0),
	     BRANCH_TRACE_OFF | (is_syscall ? 0 : BRANCH_ASYNC), 0);
	program.time -= 10;
	push(is_syscall ? 's' : 'u', PAUSE, offset + (is_syscall ? 2 : 0));
	program.time += 10;
}

static void resume_trace(void)
{
	feed(BRANCH_NONE, at(0, 0), at(top()[-1].letter, top()->back), BRANCH_TRACE_ON, 0);
	program.time -= 10;
	pop_to(program.now->depth - 1);
	program.time += 10;
}

/* A signal: its handler returns to a restorer, whose system call ends in the interrupted code. */
static void go_signal(char handler)
{
	uint64_t offset = site();

	if (program.now->depth > program.deepest - 8)
		return;
	pause_trace(false, offset);
	feed(BRANCH_NONE, at(0, 0), at(handler, 0), BRANCH_TRACE_ON, 0);
	program.time -= 10;
	pop_to(program.now->depth - 1);
	push(handler, HANDLER, offset);
	program.time += 10;
}

static void end_signal(void)
{
	uint64_t back = top()->back;

	feed(BRANCH_RETURN, at(top()->letter, site()), at('z', 0), 0, 0);
	program.time -= 10;
	pop_to(program.now->depth - 1);
	push('z', HANDLER, back);
	program.time += 10;
	pause_trace(true, 0x10);
	feed(BRANCH_NONE, at(0, 0), at(top()[-2].letter, back), BRANCH_TRACE_ON, 0);
	program.time -= 10;
	pop_to(program.now->depth - 2);
	program.time += 10;
}

/* The kernel is traced. */
static void enter_kernel(bool interrupt)
{
	uint64_t offset = site();

	if (program.now->depth > program.deepest - 8)
		return;
	feed(interrupt ? BRANCH_INTERRUPT : BRANCH_SYSCALL, at(top()->letter, offset),
	     at(interrupt ? '2' : '1', 0), interrupt ? BRANCH_ASYNC : 0, 0);
	program.time -= 10;
	push(interrupt ? '2' : '1', ENTRY, offset + (interrupt ? 0 : 2));
	program.time += 10;
}

static void leave_kernel(void)
{
	bool interrupt = top()->letter == '2';

	feed(interrupt ? BRANCH_IRET : BRANCH_SYSRET, at(top()->letter, site()),
	     at(top()[-1].letter, top()->back), 0, 0);
	program.time -= 10;
	pop_to(program.now->depth - 1);
	program.time += 10;
}

/* Call the function that leaves a stack, from a place of its own or always the same. */
static void leave_by(bool shared)
{
	if (!shared) {
		go_call('y', 0);
		return;
	}
	go_call('x', 0);
	if (top()->letter != 'x')
		return;
	feed(BRANCH_CALL, at('x', SHARED_SITE), at('y', 0), 0, 0);
	program.time -= 10;
	push('y', CALLED, SHARED_SITE + 5);
	program.time += 10;
}

/* A coroutine switches to another stack: to a new one, or back to an earlier one. */
static void switch_stack(void)
{
	struct true_stack *to = &program.stacks[draw(STACKS)];
	char first = some_function();
	bool is_new = !to->depth;
	bool shared = !is_new && to->frames[to->depth - 1].back == SHARED_SITE + 5;
	size_t kept;

	if (to == program.now || has_kind(HANDLER) || has_kind(ENTRY))
		return;
	/* Stacks that were left by a jump are unknown if there are several
	 * (callstack_precise_switch.c). */
	leave_by(draw(2) && !has_kind(TAIL));
	if (top()->letter != 'y')
		return;
	if (is_new)
		feed(BRANCH_JUMP, at('y', site()), at(first, 0), BRANCH_INDIRECT, SWITCHES_STACK);
	else
		feed(draw(2) ? BRANCH_JUMP : BRANCH_RETURN, at('y', site()),
		     at(to->frames[to->depth - 2].letter, to->frames[to->depth - 1].back), 0,
		     SWITCHES_STACK);
	program.time -= 10;
	kept = program.now->depth;
	pop_to(0);
	note('E', &program.now->slice, "");
	program.now->depth = kept;
	program.now = to;
	begin_stretch(is_new);
	if (is_new)
		push(first, ROOT, 0);
	else
		to->depth--;
	if (!is_new)
		begin_again(0);
	program.time += 10;
	/* Until this return, the stack can be any that was left there. */
	if (shared) {
		go_call(some_function(), 0);
		go_return();
		go_return();
	}
}

static void call_setjmp(void)
{
	if (program.now->depth > program.deepest - 8)
		return;
	go_call('w', CALL_SETJMP);
	program.jump.stack = program.now;
	program.jump.number = top()[-1].number;
	program.jump.back = top()->back;
	go_return();
}

/* To the last setjmp(), if its function is on this stack and has not returned. */
static void call_longjmp(void)
{
	size_t depth = program.now->depth;

	while (depth && program.now->frames[depth - 1].number != program.jump.number)
		depth--;
	if (program.now != program.jump.stack || depth < 1 || depth == program.now->depth ||
	    has_kind(HANDLER) || has_kind(ENTRY))
		return;
	feed(BRANCH_JUMP, at(top()->letter, site()),
	     at(program.now->frames[depth - 1].letter, program.jump.back), BRANCH_INDIRECT,
	     SWITCHES_STACK);
	program.time -= 10;
	pop_to(depth);
	program.time += 10;
}

/* The code of the innermost function moves between its inlined calls: 5 has 6, which has 7; 8. */
static struct inlined_call inlined[4];

static size_t inlined_depth(const struct inlined_call *call)
{
	return call ? 1 + inlined_depth(call->parent) : 0;
}

static bool is_inside(const struct inlined_call *call, const struct inlined_call *outer)
{
	return !outer || (call && (call == outer || is_inside(call->parent, outer)));
}

static void push_inlined(const struct inlined_call *call, const struct inlined_call *outer)
{
	if (call == outer)
		return;
	push_inlined(call->parent, outer);
	push((char)('5' + (call - inlined)), INLINED, 0);
}

/* Calls that the code is in no longer end, and others begin, at the last branch. */
static void enter_inlined(const struct location *at_code, const struct inlined_call *from,
			  const struct inlined_call *call)
{
	const struct inlined_call *outer = from;

	while (!is_inside(call, outer))
		outer = outer->parent;
	program.time -= 10;
	pop_to(program.now->depth - (inlined_depth(from) - inlined_depth(outer)));
	push_inlined(call, outer);
	program.time += 10;
	ck_assert(callstack_set_inlined(stack, at_code, call));
}

static void run_inlined(void)
{
	const struct location at_code = at(top()->letter, site());
	const struct inlined_call *now = NULL, *next;

	if (program.now->depth > program.deepest - 10 || !top()->shown)
		return;
	feed_held();
	for (unsigned i = 1 + draw(5); i; i--) {
		struct branch_event passed = { .time = timestamp(), .insns = draw(9) };

		next = draw(5) ? &inlined[draw(4)] : NULL;
		enter_inlined(&at_code, now, next);
		now = next;
		if (draw(3))
			continue;
		program.insns += passed.insns;
		callstack_pass(stack, &passed);
		program.time += 10;
	}
	enter_inlined(&at_code, now, NULL);
}

/* Functions install handlers, of which a raise uses the innermost one up. */
static void call_with_handler(void)
{
	static const struct trap installed = { .kind = TRAP_INSTALLED };

	if (program.now->depth > program.deepest - 8 || !top()->shown)
		return;
	program.notes = (struct branch_notes){ .traps = &installed, .trap_count = 1 };
	top()->traps++;
	go_call(some_function(), 0);
}

static void raise(void)
{
	size_t depth = program.now->depth;

	while (depth && !program.now->frames[depth - 1].traps)
		depth--;
	if (!depth || has_kind(HANDLER) || has_kind(ENTRY))
		return;
	program.notes.enters_trap = true;
	feed(draw(2) ? BRANCH_JUMP : BRANCH_RETURN, at(top()->letter, site()),
	     at(program.now->frames[depth - 1].letter, site()), BRANCH_INDIRECT, 0);
	program.time -= 10;
	pop_to(depth);
	top()->traps--;
	program.time += 10;
}

/* Calls and returns, which an abort takes back: functions that they left begin again. */
static void run_transaction(bool commits)
{
	size_t same = 0;

	go_within(); /* only flags of branches show transactions */
	program.saved = *program.now;
	program.in_tx = true;
	for (unsigned i = 1 + draw(6); i; i--)
		draw(2) ? go_call(some_function(), 0) : go_return();
	program.in_tx = false;
	if (commits)
		return;
	feed(BRANCH_TX_ABORT, at(top()->letter, site()),
	     at(program.saved.frames[program.saved.depth - 1].letter, site()), BRANCH_ASYNC, 0);
	program.time -= 10;
	while (same < program.saved.depth && same < program.now->depth &&
	       program.saved.frames[same].number == program.now->frames[same].number)
		same++;
	pop_to(same);
	*program.now = program.saved;
	begin_again(same);
	program.time += 10;
}

static void step(void)
{
	unsigned what = draw(52);

	if (program.deepest > 40 && draw(3) == 0)
		go_call(some_function(), 0);
	else if (top()->kind == HANDLER && draw(3) == 0)
		end_signal();
	else if (top()->kind == ENTRY && draw(3) == 0)
		leave_kernel();
	else if (what < 12)
		go_call(some_function(), 0);
	else if (what < 21)
		go_return();
	else if (what < 23)
		go_within();
	else if (what < 26)
		go_tail_call(some_function());
	else if (what < 28)
		go_by_stub(some_function());
	else if (what < 30)
		pause_trace(what % 2, site()), resume_trace();
	else if (what < 31)
		go_signal(some_function());
	else if (what < 33)
		enter_kernel(what % 2);
	else if (what < 35)
		switch_stack();
	else if (what < 36)
		call_setjmp();
	else if (what < 38)
		call_longjmp();
	else if (what >= 51)
		go_call_by_jump(some_function());
	else if (what >= 47)
		what < 49 ? go_catch() : go_throw(some_function());
	else if (what == 46)
		go_deep_return();
	else if (what >= 44)
		run_inlined();
	else if (what >= 40)
		what < 42 ? call_with_handler() : raise();
	else if (chain_begin() == program.now->depth - 1 && top()->kind == CALLED)
		run_transaction(what % 2);
}

/* ---- The comparison -------------------------------------------------------- */

static void note_detail(struct slice_log *log, const struct slice_event *event,
			const struct slice_detail *detail)
{
	(void)log;
	(void)event;
	ck_assert_uint_lt(program.found_count, LINES_MAX);
	program.found[program.found_count++] = detail ? detail->insns : 0;
}

static const struct symbol *add_fiber(void *context, void *track, uint32_t number,
				      const struct symbol *first)
{
	static struct symbol fibers[STACKS];
	char text[16];

	(void)context, (void)track, (void)first;
	ck_assert_uint_lt(number, STACKS);
	snprintf(text, sizeof(text), "<%u>", (unsigned)number);
	fibers[number] = symbol_special(&names, text, SPECIAL_STACK);
	return &fibers[number];
}

static void open_machine(void)
{
	static const struct callstack_fibers fibers = { add_fiber, NULL };
	struct callstack_options options = {
		.mode = TRACE_MODE_USER,
		.sink = &sorter.sink,
		.names = &names,
		.diag = &diag,
		.tail_calls = program.replaces ? TAIL_CALLS_REPLACE : TAIL_CALLS_NEST,
		.fibers = program.fibers ? &fibers : NULL,
	};

	name_table_init(&names);
	diag_init(&diag);
	slice_log_init(&slices);
	slices.base = BASE;
	slices.names_ends = true;
	slices.before = note_detail;
	slices.sink.details = program.has_details;
	slice_sorter_init(&sorter, &slices.sink, &diag);
	sorter.sink.details = program.has_details;
	machine = callstack_precise_open(&options);
	stack = callstack_open(machine, slice_sorter_track(&sorter, NULL));
}

static void close_machine(void)
{
	callstack_close(stack);
	callstack_machine_close(machine);
	slice_sorter_release(&sorter);
	name_table_release(&names);
	diag_release(&diag);
	arena_release(&arena);
	memset(symbols, 0, sizeof(symbols));
}

/* Returns whether a line is of an inlined call. */
static bool is_inlined(const char *line)
{
	return strchr("5678", line[2 + strcspn(line + 2, " \n") + 1]) != NULL;
}

/* Returns the next time of a function after that of a line; INT_MAX: none. */
static int next_time(const char *line)
{
	int time = atoi(line + 2), next = time;

	while (*line && (next == time || is_inlined(line))) {
		line += strcspn(line, "\n") + 1;
		next = *line ? atoi(line + 2) : INT_MAX;
	}
	return next;
}

/* Functions that begin or end at one time share the time up to the next one. */
static bool is_same(const char *found, const char *wanted)
{
	size_t size = strcspn(found + 2, " \n"), expected = strcspn(wanted + 2, " \n");
	int time = atoi(found + 2), begin = atoi(wanted + 2);
	const char *name = found + 2 + size, *wanted_name = wanted + 2 + expected;

	size = strcspn(name, "\n");
	/* Inlined calls share the function's time by instructions, and are marked. */
	if (is_inlined(wanted))
		return *found == *wanted && name[1] == wanted_name[1];
	return *found == *wanted && size == strcspn(wanted_name, "\n") &&
	       !memcmp(name, wanted_name, size) && time >= begin &&
	       (time == begin || time <= next_time(wanted));
}

static void compare(const char *found)
{
	const char *wanted = program.text;

	while (*found || *wanted) {
		bool is_flush = starts_with(found, "S\n");

		ck_assert_msg(is_flush || is_same(found, wanted), "found\n%.100s\nfor\n%.100s",
			      found, wanted);
		found += strcspn(found, "\n") + 1;
		if (!is_flush)
			wanted += strcspn(wanted, "\n") + 1;
	}
}

START_TEST(slices_are_when_functions_ran)
{
	memset(&program, 0, sizeof(program));
	program.random = (unsigned)_i;
	program.time = BASE;
	program.now = &program.stacks[0];
	program.replaces = _i / 3 % 3 == 1;
	program.has_details = _i / 9 % 2;
	program.tick = _i / 18 % 2 ? 50 : 10;
	program.fibers = _i / 36 % 2;
	program.deepest = _i / 72 % 2 ? FRAMES_MAX : 40;
	program.call_length = _i / 144 % 2 ? 0 : 5;
	at_once = (size_t)_i % 3 * 2;
	open_machine();
	for (size_t i = 0; i < COUNT_OF(inlined); i++) {
		inlined[i] = (struct inlined_call){
			.symbol = function((char)('5' + i)),
			.parent = i == 1 || i == 2 ? &inlined[i - 1] : NULL,
		};
		symbols['5' + i]->inlined = &inlined[i];
	}
	begin_stretch(false);
	push('a', ROOT, 0);
	program.length += (size_t)sprintf(program.text + program.length - 1, " inferred\n") - 1;
	go_call('b', 0);
	for (int i = 0; i < (program.deepest > 40 ? 3 * STEPS : STEPS); i++)
		step();
	feed_held();
	program.time -= 10; /* of the last event */
	pop_to(0);
	note('E', &program.now->slice, "");
	callstack_finish(stack);
	slice_sorter_finish(&sorter);
	compare(slice_log_take(&slices));
	ck_assert_uint_eq(program.found_count, program.count);
	for (size_t i = 0; program.has_details && i < program.count; i++)
		ck_assert_uint_eq(program.found[i], program.executed[i]);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 0);
	close_machine();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("callstack_random");
	TCase *all = tcase_create("callstack_random");

	tcase_add_loop_test(all, slices_are_when_functions_ran, 0, PROGRAMS);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
