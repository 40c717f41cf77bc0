/* SPDX-License-Identifier: MIT */
/*
 * Exceptions between stacks, and stacks that setjmp() prepares:
 * - a coroutine's exception is thrown again by the call that resumed it, through several
 * coroutines;
 * - a function on top of a suspended coroutine throws, to end it;
 * - threads as State Threads makes them: the function that calls setjmp() has returned.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>

static volatile int total;

__attribute__((noinline)) static void work(int n)
{
	total = total + n;
}

/* Switch to the stack `to`; call_on() calls a function there, as boost's ontop_fcontext(). */
extern "C" void transfer(void **from, void *to);
extern "C" void call_on(void **from, void *to, void (*on_top)());
__asm__(".text\n"
	".macro change_stack\n"
	"	push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
	".endm\n"
	".globl transfer\n"
	".type transfer, @function\n"
	"transfer:\n"
	"	change_stack\n"
	"	pop %rcx\n"
	"	jmp *%rcx\n"
	".size transfer, . - transfer\n"
	".globl call_on\n"
	".type call_on, @function\n"
	"call_on:\n"
	"	change_stack\n"
	"	jmp *%rdx\n"
	".size call_on, . - call_on\n");

struct coroutine {
	void *sp, *resumer;
	coroutine *outer;
	void (*body)(int);
	int argument, value;
	bool ended;
	std::exception_ptr thrown;
};
static coroutine bottom, *current = &bottom;

struct guard {
	int n;
	~guard()
	{
		work(n);
	}
};

struct cancelled {
};

static void begin()
{
	coroutine *self = current;

	try {
		self->body(self->argument);
	} catch (const cancelled &) {
		work(100);
	} catch (...) {
		self->thrown = std::current_exception();
	}
	self->ended = true;
	current = self->outer;
	transfer(&self->sp, self->resumer);
	abort();
}

static char *new_stack()
{
	return static_cast<char *>(aligned_alloc(4096, 1 << 18)) + (1 << 18) - 4096;
}

static coroutine *create(void (*body)(int), int argument)
{
	coroutine *made = new coroutine();
	void **top = reinterpret_cast<void **>(new_stack());

	top[0] = reinterpret_cast<void *>(begin);
	made->sp = top - 6;
	made->body = body;
	made->argument = argument;
	return made;
}

__attribute__((noinline)) static int resume(coroutine *to)
{
	to->outer = current;
	current = to;
	transfer(&to->resumer, to->sp);
	if (to->thrown)
		std::rethrow_exception(to->thrown);
	work(1);
	return to->value;
}

__attribute__((noinline)) static void yield(int value)
{
	coroutine *self = current;

	self->value = value;
	current = self->outer;
	transfer(&self->sp, self->resumer);
	work(2);
}

__attribute__((noinline)) static void throw_cancelled()
{
	work(3);
	throw cancelled();
}

__attribute__((noinline)) static void cancel(coroutine *to)
{
	to->outer = current;
	current = to;
	call_on(&to->resumer, to->sp, throw_cancelled);
	work(4);
}

/* ---- Exceptions out of resume() ------------------------------------------ */

static void counts(int n)
{
	guard here = { n };

	for (int i = 0; i < n; i++)
		yield(i);
	if (n & 1)
		throw n;
}

__attribute__((noinline)) static void drains(coroutine *inner)
{
	guard here = { 5 };

	while (!inner->ended)
		yield(resume(inner));
}

static void passes(int n)
{
	drains(create(n > 3 ? passes : counts, n - 1));
}

static void fails(int n)
{
	guard here = { n };

	throw n;
}

/* Two alternating functions without landing pads; those of drains() and begin() fit both. */
static void relays(int n);

static void forwards(int n)
{
	drains(create(n > 1 ? relays : fails, n - 1));
}

static void relays(int n)
{
	drains(create(n > 1 ? forwards : fails, n - 1));
}

static void catches(int n)
{
	for (int i = 1; i <= n; i++) {
		try {
			drains(create(counts, n + i));
		} catch (int thrown) {
			work(thrown);
			yield(-1);
		}
	}
}

__attribute__((noinline)) static void exceptions(void (*body)(int), int n)
{
	coroutine *outer = create(body, n);

	try {
		while (!outer->ended)
			work(resume(outer));
	} catch (int thrown) {
		work(thrown);
	}
}

/* ---- Functions on top of suspended coroutines ---------------------------- */

__attribute__((noinline)) static void descends(int n)
{
	guard here = { n };

	if (n)
		descends(n - 1);
	else
		yield(0);
	work(n);
}

__attribute__((noinline)) static void waits(int n)
{
	guard here = { n };

	if (n)
		waits(n - 1);
	else
		yield(0);
	work(n);
}

static void recovers(int n)
{
	for (int i = 0; i < n; i++) {
		try {
			descends(i);
		} catch (const cancelled &) {
			work(6);
			yield(1);
		}
	}
}

/* A coroutine that another one has suspended in the midst of a third. */
static void holds(int n)
{
	coroutine *inner = create(waits, n);

	resume(inner);
	try {
		descends(1);
	} catch (const cancelled &) {
		cancel(inner);
		throw;
	}
}

__attribute__((noinline)) static void cancellations()
{
	coroutine *all[] = { create(recovers, 4), create(holds, 3) };

	for (coroutine *each : all)
		resume(each);
	resume(all[0]);
	for (coroutine *each : all) {
		while (!each->ended)
			cancel(each);
	}
}

/* ---- Threads of setjmp() ------------------------------------------------- */

extern "C" __attribute__((returns_twice)) int save_context(uintptr_t *context);
extern "C" void restore_context(const uintptr_t *context) __attribute__((noreturn));
__asm__(".globl save_context\n"
	".type save_context, @function\n"
	"save_context:\n"
	"	mov %rbx, (%rdi); mov %rbp, 8(%rdi); mov %r12, 16(%rdi); mov %r13, 24(%rdi)\n"
	"	mov %r14, 32(%rdi); mov %r15, 40(%rdi)\n"
	"	lea 8(%rsp), %rdx\n"
	"	mov %rdx, 48(%rdi)\n"
	"	mov (%rsp), %rax\n"
	"	mov %rax, 56(%rdi)\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	".size save_context, . - save_context\n"
	".globl restore_context\n"
	".type restore_context, @function\n"
	"restore_context:\n"
	"	mov (%rdi), %rbx; mov 8(%rdi), %rbp; mov 16(%rdi), %r12; mov 24(%rdi), %r13\n"
	"	mov 32(%rdi), %r14; mov 40(%rdi), %r15\n"
	"	mov $1, %eax\n"
	"	mov 56(%rdi), %rdx\n"
	"	mov 48(%rdi), %rsp\n"
	"	jmp *%rdx\n"
	".size restore_context, . - restore_context\n");

#define THREADS 12
struct thread {
	uintptr_t context[8];
	void (*body)(int);
	int argument;
	bool ended;
};
static thread leader, *threads[THREADS], *running = &leader;
static int created;

__attribute__((noinline)) static void change_to(thread *to)
{
	thread *from = running;

	if (!save_context(from->context)) {
		running = to;
		restore_context(to->context);
	}
}

__attribute__((noinline)) static void let_others_run()
{
	static int next;

	for (int i = 0; i < THREADS; i++) {
		thread *to = threads[next++ % THREADS];

		if (to && !to->ended && to != running) {
			change_to(to);
			return;
		}
	}
}

__attribute__((noinline)) static void thread_main()
{
	running->body(running->argument);
	running->ended = true;
	for (;;)
		change_to(&leader);
}

__attribute__((noinline)) static void start(void (*body)(int), int argument)
{
	thread *made = new thread();

	made->body = body;
	made->argument = argument;
	if (save_context(made->context))
		thread_main();
	made->context[6] = reinterpret_cast<uintptr_t>(new_stack());
	threads[created++] = made;
}

__attribute__((noinline)) static void deep(int n)
{
	if (n)
		deep(n - 1);
	if (n % 2 == 0)
		let_others_run();
	work(n);
}

static void works(int n)
{
	for (int i = 0; i < 3; i++)
		deep(n);
}

static void starts_another(int n)
{
	work(n);
	start(n & 1 ? works : starts_another, n + 1);
	let_others_run();
	work(n);
}

__attribute__((noinline)) static void run_threads()
{
	for (int i = 0; i < 4; i++)
		start(i == 2 ? starts_another : works, i);
	for (int i = 0; i < created; i++) {
		while (!threads[i]->ended)
			change_to(threads[i]);
	}
}

int main()
{
	exceptions(counts, 2);
	exceptions(counts, 3);
	exceptions(passes, 4);
	exceptions(passes, 6);
	exceptions(relays, 4);
	exceptions(catches, 4);
	cancellations();
	run_threads();
	printf("%d\n", total);
	return 0;
}
