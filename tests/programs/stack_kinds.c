/* SPDX-License-Identifier: MIT */
/*
 * Stacks that are switched by returns, direct jumps and longjmp(), stacks on top of others, as
 * effect handlers have them, and exceptions that enter a function at its start: three programs of
 * each kind. All are deep when they switch, and several stacks wait in the same function.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define STACK (1 << 16)

static volatile int total;

__attribute__((noinline)) static void work(int n)
{
	total += n;
}

static uintptr_t *new_stack(void)
{
	char *stack = malloc(STACK);

	if (!stack)
		abort();
	return (uintptr_t *)(((uintptr_t)stack + STACK - 256) & ~(uintptr_t)15);
}

/* ---- Returns ------------------------------------------------------------- */

struct fiber {
	uintptr_t *sp;
};
void switch_by_return(struct fiber *from, struct fiber *to);
void switch_by_push(struct fiber *from, struct fiber *to);
void switch_by_restore(struct fiber *from, struct fiber *to);

__asm__(".text\n"
	".macro function name\n"
	".globl \\name\n"
	".type \\name, @function\n"
	"\\name:\n"
	".endm\n"
	".macro end name\n"
	".size \\name, . - \\name\n"
	".endm\n"
	".macro save\n"
	"push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
	".endm\n"
	".macro restore\n"
	"pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
	".endm\n"
	"function switch_by_return\n"
	"	save\n"
	"	mov %rsp, (%rdi)\n"
	"	mov (%rsi), %rsp\n"
	"	restore\n"
	"	ret\n"
	"end switch_by_return\n"
	/* swapcontext() restores the return address. */
	"function switch_by_push\n"
	"	save\n"
	"	mov %rsp, (%rdi)\n"
	"	mov (%rsi), %rsp\n"
	"	restore\n"
	"	pop %rcx\n"
	"	push %rcx\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	"end switch_by_push\n"
	/* A direct jump to code that restores registers. */
	"function restore_registers\n"
	"	restore\n"
	"	ret\n"
	"end restore_registers\n"
	"function switch_by_restore\n"
	"	save\n"
	"	mov %rsp, (%rdi)\n"
	"	mov (%rsi), %rsp\n"
	"	jmp restore_registers\n"
	"end switch_by_restore\n");

static void (*switch_fiber)(struct fiber *from, struct fiber *to);
static struct fiber home, fibers[3];
static int current, ended[3];

static void prepare(int number, void (*body)(void))
{
	uintptr_t *top = new_stack() - 7;

	top[6] = (uintptr_t)body;
	fibers[number].sp = top;
	ended[number] = 0;
}

__attribute__((noinline)) static void give_back(void)
{
	work(1);
	switch_fiber(&fibers[current], &home);
	work(2);
}

__attribute__((noinline)) static void enter(int number)
{
	current = number;
	switch_fiber(&home, &fibers[number]);
	work(3);
}

/* Both stacks run the same interpreter. */
__attribute__((noinline)) static const char *execute(const char *code)
{
	for (; *code && *code != ')'; code++) {
		if (*code == '(')
			code = execute(code + 1);
		else if (*code == 'y')
			give_back();
		else if (*code == 'w')
			work(4);
		else
			enter(*code - '0');
	}
	return code;
}

static void interpret(void)
{
	execute("w(y(wy)y)w");
	ended[current] = 1;
	for (;;)
		give_back();
}

__attribute__((noinline)) static void interpreters(void)
{
	prepare(0, interpret);
	execute("w(0)(w(0)0)(00)w0(w0)w");
}

__attribute__((noinline)) static void descend(int depth)
{
	work(depth);
	if (depth)
		descend(depth - 1);
	give_back();
	work(depth);
}

static void generate(void)
{
	descend(current + 1);
	ended[current] = 1;
	give_back();
	abort();
}

/* Their depths differ. */
__attribute__((noinline)) static void generators(void)
{
	for (int i = 0; i < 3; i++)
		prepare(i, generate);
	while (!ended[0] || !ended[1] || !ended[2]) {
		for (int i = 0; i < 3; i++) {
			if (!ended[i])
				enter(i);
		}
	}
}

static void pass_on(void)
{
	for (int round = 0;; round++) {
		int number = current;

		current = (number + 1) % 3;
		work(round);
		if (number == 2 && round == 3)
			switch_fiber(&fibers[number], &home);
		else
			switch_fiber(&fibers[number], &fibers[current]);
	}
}

/* Switch to the next stack of the ring. */
__attribute__((noinline)) static void ring(void)
{
	for (int i = 0; i < 3; i++)
		prepare(i, pass_on);
	enter(0);
}

/* ---- longjmp() ----------------------------------------------------------- */

struct routine {
	sigjmp_buf environment;
	struct routine *caller;
	void (*body)(struct routine *);
	int value, done;
};
static struct routine leader, *running, *created;
static sigjmp_buf creator;
void begin_on(void *sp, void (*function)(void)) __attribute__((noreturn));
__asm__("function begin_on\n"
	"	mov %rdi, %rsp\n"
	"	call *%rsi\n"
	"	hlt\n"
	"end begin_on\n");

__attribute__((noinline)) static int change(struct routine *from, struct routine *to, int action)
{
	int result;

	running = to;
	result = sigsetjmp(from->environment, 0);
	if (!result)
		siglongjmp(to->environment, action);
	return result;
}

static void routine_begins(void)
{
	struct routine *self = created;

	if (!sigsetjmp(self->environment, 0))
		siglongjmp(creator, 1);
	for (;;) {
		self->body(self);
		self->done = 1;
		change(self, self->caller, 2);
	}
}

__attribute__((noinline)) static struct routine *create(void (*body)(struct routine *))
{
	struct routine *made = calloc(1, sizeof(*made));

	made->body = body;
	created = made;
	if (!sigsetjmp(creator, 0))
		begin_on(new_stack(), routine_begins);
	return made;
}

__attribute__((noinline)) static void suspend(struct routine *routine)
{
	change(routine, routine->caller, 1);
}

__attribute__((noinline)) static void proceed(struct routine *routine)
{
	routine->caller = running;
	change(running, routine, 3);
}

__attribute__((noinline)) static void nested(struct routine *routine, int depth)
{
	if (depth)
		nested(routine, depth - 1);
	else
		suspend(routine);
	work(depth);
}

static void body_deep(struct routine *routine)
{
	for (int i = 0; i < 4; i++)
		nested(routine, i);
}

static void body_flat(struct routine *routine)
{
	for (int i = 0; i < 3; i++) {
		work(i);
		suspend(routine);
	}
}

__attribute__((noinline)) static void routines(void)
{
	struct routine *a, *b;

	running = &leader;
	a = create(body_deep);
	b = create(body_flat);
	while (!a->done || !b->done) {
		if (!a->done)
			proceed(a);
		if (!b->done)
			proceed(b);
	}
}

/* An exception in a routine goes to that routine's setjmp(). */
static jmp_buf *catcher_of[3];

__attribute__((noinline)) static void throw_out(int number, int depth)
{
	if (depth)
		throw_out(number, depth - 1);
	else
		longjmp(*catcher_of[number], 1);
	work(depth);
}

#define GUARDED(name, body, step)                                                                  \
	__attribute__((noinline)) static void name(struct routine *routine, int depth)             \
	{                                                                                          \
		jmp_buf buffer, **slot = &catcher_of[routine->value], *outer = *slot;              \
                                                                                                   \
		*slot = &buffer;                                                                   \
		if (!setjmp(buffer)) {                                                             \
			suspend(routine);                                                          \
			if (depth)                                                                 \
				name(routine, depth - 1);                                          \
			throw_out(routine->value, depth);                                          \
		}                                                                                  \
		*slot = outer;                                                                     \
		work(step);                                                                        \
	}                                                                                          \
                                                                                                   \
	static void body(struct routine *routine)                                                  \
	{                                                                                          \
		name(routine, 1 + routine->value);                                                 \
	}
GUARDED(guarded_a, body_a, 2)
GUARDED(guarded_b, body_b, 3)

__attribute__((noinline)) static void guarded_routines(void)
{
	struct routine *all[2];

	running = &leader;
	for (int i = 0; i < 2; i++) {
		all[i] = create(i ? body_b : body_a);
		all[i]->value = i;
	}
	while (!all[0]->done || !all[1]->done) {
		for (int i = 0; i < 2; i++) {
			if (!all[i]->done)
				proceed(all[i]);
		}
	}
}

/* One routine resumes another. */
static void body_outer(struct routine *routine)
{
	struct routine *inner = create(body_flat);

	while (!inner->done) {
		proceed(inner);
		work(7);
		suspend(routine);
	}
}

__attribute__((noinline)) static void nested_routines(void)
{
	struct routine *outer;

	running = &leader;
	outer = create(body_outer);
	while (!outer->done)
		proceed(outer);
}

/* Stacks of signal handlers that have returned, entered again by longjmp(): QEMU's coroutines. */
static struct routine *entered;
static sigjmp_buf handler_end;

static void stay_on_stack(struct routine *self)
{
	if (!sigsetjmp(self->environment, 0))
		siglongjmp(creator, 1);
	for (;;) {
		self->body(self);
		self->done = 1;
		change(self, self->caller, 2);
	}
}

static void on_own_stack(int signal)
{
	(void)signal;
	if (!sigsetjmp(handler_end, 0))
		return;
	stay_on_stack(entered);
}

__attribute__((noinline)) static struct routine *create_by_signal(void (*body)(struct routine *))
{
	stack_t stack = { .ss_sp = malloc(STACK), .ss_size = STACK },
		none = { .ss_flags = SS_DISABLE };
	struct sigaction action = { .sa_handler = on_own_stack, .sa_flags = SA_ONSTACK };
	struct routine *made = calloc(1, sizeof(*made));

	made->body = body;
	entered = made;
	sigaction(SIGUSR2, &action, NULL);
	sigaltstack(&stack, NULL);
	raise(SIGUSR2);
	sigaltstack(&none, NULL);
	if (!sigsetjmp(creator, 0))
		siglongjmp(handler_end, 1);
	return made;
}

__attribute__((noinline)) static void routines_of_signals(void)
{
	struct routine *all[3];
	int left = 3;

	running = &leader;
	all[0] = create_by_signal(body_deep);
	all[1] = create_by_signal(body_flat);
	all[2] = create_by_signal(body_deep);
	while (left) {
		left = 0;
		for (int i = 0; i < 3; i++) {
			if (all[i]->done)
				continue;
			proceed(all[i]);
			left++;
		}
	}
}

/* ---- Effects ------------------------------------------------------------- */

/* As in OCaml 5 (runtime/amd64.S); the surrounding functions save registers. */
struct effect_stack {
	uintptr_t *sp;
	struct effect_stack *parent;
};
struct effect_stack bottom, *current_stack = &bottom;
int run_apart(struct effect_stack *stack, int (*body)(int));
int perform(int effect);
int resume(struct effect_stack *stack, int (*begin)(int), int value);
int handle(int effect, struct effect_stack *performer);
int end_apart(int value);

__asm__(".macro saving name, inner\n"
	"function \\name\n"
	"	save\n"
	"	sub $8, %rsp\n"
	"	call \\inner\n"
	"	add $8, %rsp\n"
	"	restore\n"
	"	ret\n"
	"end \\name\n"
	".endm\n"
	"saving run_apart, run_on\n"
	"saving perform, leave_for_parent\n"
	"saving resume, go_to\n"
	"function run_on\n"
	"	mov current_stack(%rip), %rcx\n"
	"	mov %rsp, (%rcx)\n"
	"	mov %rcx, 8(%rdi)\n"
	"	mov %rdi, current_stack(%rip)\n"
	"	mov (%rdi), %rsp\n"
	"	call *%rsi\n"
	"	mov current_stack(%rip), %rcx\n"
	"	mov 8(%rcx), %r10\n"
	"	mov %r10, current_stack(%rip)\n"
	"	mov (%r10), %rsp\n"
	"	mov %eax, %edi\n"
	"	jmp end_apart\n"
	"end run_on\n"
	"function leave_for_parent\n"
	"	mov current_stack(%rip), %rsi\n"
	"	mov 8(%rsi), %r10\n"
	"	mov %rsp, (%rsi)\n"
	"	mov %r10, current_stack(%rip)\n"
	"	mov (%r10), %rsp\n"
	"	jmp handle\n"
	"end leave_for_parent\n"
	"function go_to\n"
	"	mov current_stack(%rip), %rcx\n"
	"	mov %rcx, 8(%rdi)\n"
	"	mov %rsp, (%rcx)\n"
	"	mov %rdi, current_stack(%rip)\n"
	"	mov (%rdi), %rsp\n"
	"	mov %edx, %edi\n"
	"	jmp *%rsi\n"
	"end go_to\n");

static struct effect_stack *waiting[8];
static int first_waiting, waiting_count;

int end_apart(int value)
{
	work(value);
	return value;
}

__attribute__((noinline)) static int answer(int value)
{
	work(value);
	return value + 1;
}

int handle(int effect, struct effect_stack *performer)
{
	int value = effect;

	work(effect);
	if (effect < 100)
		value = resume(performer, answer, effect);
	else
		waiting[waiting_count++ % 8] = performer;
	work(1);
	return value;
}

__attribute__((noinline)) static int apart(int (*body)(int))
{
	struct effect_stack *stack = calloc(1, sizeof(*stack));
	int value;

	stack->sp = new_stack();
	value = run_apart(stack, body);
	work(2);
	return value;
}

__attribute__((noinline)) static int ask(int depth, int effect)
{
	int value = depth ? ask(depth - 1, effect) : 1;

	work(depth);
	value += perform(effect);
	work(value);
	return value;
}

static int ask_often(int value)
{
	return ask(3, 5) + ask(1, 6) + value;
}

static int wait_deep(int value)
{
	return ask(2, 100) + value;
}

static int wait_flat(int value)
{
	int sum = value;

	for (int i = 0; i < 4; i++)
		sum += ask(0, 101);
	return sum;
}

/* One stack on top of another; both perform effects. */
static int inner_stacks(int value)
{
	value += perform(7);
	value += apart(ask_often);
	return value + perform(8);
}

__attribute__((noinline)) static void schedule(void)
{
	for (; first_waiting < waiting_count; first_waiting++)
		work(resume(waiting[first_waiting % 8], answer, first_waiting));
}

__attribute__((noinline)) static void effects(void)
{
	work(apart(ask_often));
	apart(wait_deep);
	apart(wait_flat);
	apart(wait_flat);
	schedule();
	work(apart(inner_stacks));
}

/* ---- Exceptions that enter a function at its beginning ------------------- */

int run_guarded(int n), run_with_frame(int n), run_by_return(int n);
void throw_to_pops(void) __attribute__((noreturn));
void throw_to_leave(void) __attribute__((noreturn));
void throw_by_return(void) __attribute__((noreturn));
int dig_and_throw(int depth), dig_to_leave(int depth), dig_and_return(int depth);
int work_of_catcher(int n);
uintptr_t caught_sp, caught_bp;

__asm__(".macro guard name, inner\n"
	"function \\name\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	push %rbx\n"
	"	push caught_sp(%rip)\n"
	"	push caught_bp(%rip)\n"
	"	sub $8, %rsp\n"
	"	mov %rsp, caught_sp(%rip)\n"
	"	mov %rbp, caught_bp(%rip)\n"
	"	call \\inner\n"
	"	add $8, %rsp\n"
	"	pop caught_bp(%rip)\n"
	"	pop caught_sp(%rip)\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n"
	"end \\name\n"
	".endm\n"
	"guard run_guarded, dig_and_throw\n"
	"guard run_with_frame, dig_to_leave\n"
	"guard run_by_return, dig_and_return\n"
	"function catch_by_pops\n"
	"	mov $7, %edi\n"
	"	call work_of_catcher\n"
	"	add $8, %rsp\n"
	"	pop caught_bp(%rip)\n"
	"	pop caught_sp(%rip)\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n"
	"end catch_by_pops\n"
	"function catch_by_leave\n"
	"	mov $9, %edi\n"
	"	call work_of_catcher\n"
	"	mov -16(%rbp), %rcx\n"
	"	mov %rcx, caught_sp(%rip)\n"
	"	mov -24(%rbp), %rcx\n"
	"	mov %rcx, caught_bp(%rip)\n"
	"	mov -8(%rbp), %rbx\n"
	"	leave\n"
	"	ret\n"
	"end catch_by_leave\n"
	"function throw_to_pops\n"
	"	lea catch_by_pops(%rip), %rdi\n"
	"	mov caught_sp(%rip), %rsp\n"
	"	mov caught_bp(%rip), %rbp\n"
	"	jmp *%rdi\n"
	"end throw_to_pops\n"
	"function throw_to_leave\n"
	"	mov caught_sp(%rip), %rsp\n"
	"	mov caught_bp(%rip), %rbp\n"
	"	jmp catch_by_leave\n"
	"end throw_to_leave\n"
	"function throw_by_return\n"
	"	lea catch_by_pops(%rip), %rdi\n"
	"	mov caught_sp(%rip), %rsp\n"
	"	mov caught_bp(%rip), %rbp\n"
	"	push %rdi\n"
	"	ret\n"
	"end throw_by_return\n");

int work_of_catcher(int n)
{
	work(n);
	return n;
}

#define DIGGER(name, throw_, again)                                                                \
	int name(int depth)                                                                        \
	{                                                                                          \
		work(depth);                                                                       \
		if (!depth)                                                                        \
			throw_();                                                                  \
		depth = depth == 3 ? again(depth - 1) : name(depth - 1);                           \
		work(1);                                                                           \
		return depth;                                                                      \
	}
DIGGER(dig_and_throw, throw_to_pops, run_guarded)
DIGGER(dig_to_leave, throw_to_leave, run_with_frame)
DIGGER(dig_and_return, throw_by_return, run_by_return)

__attribute__((noinline)) static void throws(int (*run)(int))
{
	for (int i = 0; i < 5; i++)
		work(run(i));
}

int main(void)
{
	static void (*const by_return[])(struct fiber *, struct fiber *) = { switch_by_return,
									     switch_by_push,
									     switch_by_restore };

	for (int i = 0; i < 3; i++) {
		switch_fiber = by_return[i];
		interpreters();
		generators();
		ring();
	}
	routines();
	guarded_routines();
	nested_routines();
	routines_of_signals();
	effects();
	throws(run_guarded);
	throws(run_with_frame);
	throws(run_by_return);
	printf("%d\n", total);
	return 0;
}
