/* SPDX-License-Identifier: MIT */
/*
 * Stacks that are switched by indirect jumps: as in boost.context, which pops the address to resume
 * at and starts a coroutine at a trampoline; by an address in memory, in the switching function
 * (libco); and as in Go's scheduler, which parks a task by a call on the scheduler's stack that
 * never returns, and starts and resumes tasks by a jump.  Between them are ordinary indirect jumps
 * and loads of the stack pointer.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STACK   65536
#define WORKERS 3
#define TASKS   4

/* The top of a suspended stack: R15 to R12, RBX, RBP, and the address to resume at. */
void switch_by_pop(void *to, void *argument, void **left);
void begin_by_pop(void);

struct context {
	uintptr_t sp, ip;
};
void switch_by_memory(struct context *from, struct context *to);

/* A task of the scheduler. */
struct task {
	uintptr_t sp, ip, kept[6];
};
struct task *current;
uintptr_t scheduler_sp, sp_around;
void park(void (*scheduler)(void));          /* as mcall() */
void resume_task(struct task *task);         /* as gogo() */
void on_scheduler_stack(void (*work)(void)); /* as systemstack() */
void end_task(void);                         /* as goexit() */
void task_ended(void);

__asm__(".text\n"
	".type switch_by_pop, @function\n"
	"switch_by_pop:\n"
	"	push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
	"	mov %rsp, (%rdx)\n"
	"	mov %rdi, %rsp\n"
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
	"	mov %rsi, %rdi\n"
	"	pop %r8\n"
	"	jmp *%r8\n"
	".size switch_by_pop, .-switch_by_pop\n"
	".type begin_by_pop, @function\n"
	"begin_by_pop:\n"
	"	push %rbp\n"
	"	jmp *%rbx\n"
	".size begin_by_pop, .-begin_by_pop\n"
	".type switch_by_memory, @function\n"
	"switch_by_memory:\n"
	"	push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
	"	lea 1f(%rip), %rax\n"
	"	mov %rax, 8(%rdi)\n"
	"	mov %rsp, (%rdi)\n"
	"	mov 8(%rsi), %rcx\n"
	"	mov (%rsi), %rsp\n"
	"	test %rcx, %rcx\n"
	"	je 2f\n"
	"	jmp *%rcx\n"
	"2:	ud2\n"
	"1:	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
	"	ret\n"
	".size switch_by_memory, .-switch_by_memory\n"
	".type park, @function\n"
	"park:\n"
	"	mov current(%rip), %rax\n"
	"	mov (%rsp), %rcx\n"
	"	mov %rcx, 8(%rax)\n"
	"	lea 8(%rsp), %rcx\n"
	"	mov %rcx, (%rax)\n"
	"	mov %rbx, 16(%rax); mov %rbp, 24(%rax); mov %r12, 32(%rax)\n"
	"	mov %r13, 40(%rax); mov %r14, 48(%rax); mov %r15, 56(%rax)\n"
	"	mov scheduler_sp(%rip), %rsp\n"
	"	push %rax\n"
	"	push %rax\n"
	"	call *%rdi\n"
	"	ud2\n"
	".size park, .-park\n"
	".type resume_task, @function\n"
	"resume_task:\n"
	"	mov (%rdi), %rsp\n"
	"	mov 16(%rdi), %rbx; mov 24(%rdi), %rbp; mov 32(%rdi), %r12\n"
	"	mov 40(%rdi), %r13; mov 48(%rdi), %r14; mov 56(%rdi), %r15\n"
	"	mov 8(%rdi), %rcx\n"
	"	jmp *%rcx\n"
	".size resume_task, .-resume_task\n"
	".type on_scheduler_stack, @function\n"
	"on_scheduler_stack:\n"
	"	push %rbp\n"
	"	mov %rsp, sp_around(%rip)\n"
	"	mov scheduler_sp(%rip), %rsp\n"
	"	call *%rdi\n"
	"	mov sp_around(%rip), %rsp\n"
	"	pop %rbp\n"
	"	ret\n"
	".size on_scheduler_stack, .-on_scheduler_stack\n"
	".type end_task, @function\n"
	"end_task:\n"
	"	nop\n"
	"	call task_ended\n"
	"	ud2\n"
	".size end_task, .-end_task\n");

static volatile int total;

/* ---- Ordinary jumps ------------------------------------------------------ */

__attribute__((noinline)) static int add(int n)
{
	total += n;
	return n;
}

__attribute__((noinline)) static int subtract(int n)
{
	total -= n;
	return -n;
}

static int (*const volatile operations[])(int) = { add, subtract };

/* The program is built without tail calls, except for these functions. */
#ifdef __clang__
#define MAKES_TAIL_CALLS noinline
#define TAIL_CALL        __attribute__((musttail))
#else
#define MAKES_TAIL_CALLS noinline, optimize("O2")
#define TAIL_CALL
#endif

/* A tail call by an indirect jump. */
__attribute__((MAKES_TAIL_CALLS)) static int operate(int n)
{
	TAIL_CALL return operations[n & 1](n + 1);
}

/* A jump table. */
__attribute__((noinline)) static int choose(int n)
{
	switch (n) {
	case 0:
		return add(5);
	case 1:
		total ^= 3;
		return subtract(2) + 1;
	case 2:
		total *= 3;
		return 7;
	case 3:
		total += 12;
		return operate(n) + 2;
	case 4:
		total -= 70;
		return add(1) + operate(2);
	default:
		return n;
	}
}

/* RSP comes from another register before the tail call. */
__attribute__((MAKES_TAIL_CALLS)) static int with_array(int n)
{
	for (int i = 1; i < 3; i++) {
		char array[n + i];

		memset(array, i, (size_t)(n + i));
		total += array[n];
	}
	TAIL_CALL return operations[n & 1](n);
}

__attribute__((noinline)) static void work(int n)
{
	choose(n % 6);
	operate(n);
	with_array(n + 3);
}

static char *new_stack(void)
{
	char *stack = malloc(STACK);

	if (!stack)
		abort();
	return stack + STACK - 128;
}

/* ---- By pop -------------------------------------------------------------- */

static void *home, *workers[WORKERS];
static int ended[WORKERS];

__attribute__((noinline)) static void yield(int number)
{
	switch_by_pop(home, NULL, &workers[number]);
	total++;
}

__attribute__((noinline)) static void descend(int number, int depth)
{
	work(number + depth);
	if (depth)
		descend(number, depth - 1);
	yield(number);
	work(depth);
}

/* Ends with a switch after which it is never resumed. */
static void run_by_pop(int *number)
{
	descend(*number, 2 + *number);
	ended[*number] = 1;
	yield(*number);
	abort();
}

__attribute__((noinline)) static void resume(int number, void *argument)
{
	switch_by_pop(workers[number], argument, &home);
	total++;
}

static void prepare(int number)
{
	void **top = (void **)new_stack();

	top[4] = (void *)run_by_pop;   /* RBX */
	top[6] = (void *)begin_by_pop; /* the address to resume at */
	workers[number] = top;
}

static void all_by_pop(void)
{
	int numbers[WORKERS] = { 0, 1, 2 }, left = WORKERS;

	for (int i = 0; i < WORKERS; i++)
		prepare(i);
	while (left) {
		for (int i = 0; i < WORKERS; i++) {
			if (ended[i])
				continue;
			resume(i, &numbers[i]);
			left -= ended[i];
			work(i);
		}
	}
}

/* ---- By memory, from one to the next ------------------------------------- */

static struct context contexts[WORKERS + 1];
static int next;

__attribute__((noinline)) static void pass(int number)
{
	next = (number + 1) % (WORKERS + 1);
	switch_by_memory(&contexts[number], &contexts[next]);
	work(number);
}

__attribute__((noinline)) static void dig(int number, int depth)
{
	if (depth)
		dig(number, depth - 1);
	else
		pass(number);
	work(depth);
}

static void run_by_memory(void)
{
	int number = next;

	for (int round = 0;; round++)
		dig(number, 4 * number + round);
}

static void all_by_memory(void)
{
	for (int i = 1; i <= WORKERS; i++) {
		contexts[i].sp = (uintptr_t)new_stack() - 8;
		contexts[i].ip = (uintptr_t)run_by_memory;
	}
	for (int round = 0; round < 4; round++)
		pass(0);
}

/* ---- A scheduler --------------------------------------------------------- */

static struct task tasks[TASKS + 1];
static struct task *queue[TASKS + 1];
static int queued, tasks_left = TASKS;

static void schedule(void)
{
	struct task *task = queue[0];

	memmove(queue, queue + 1, sizeof(queue) - sizeof(queue[0]));
	queued--;
	current = task;
	resume_task(task);
}

__attribute__((noinline)) static void ready(struct task *task)
{
	queue[queued++] = task;
}

static void give_way(void)
{
	ready(current);
	schedule();
}

static void drop_task(void)
{
	tasks_left--;
	schedule();
}

void task_ended(void)
{
	park(drop_task);
}

__attribute__((noinline)) static void wait_turn(void)
{
	park(give_way);
	total++;
}

static void count_work(void)
{
	work(total & 3);
}

__attribute__((noinline)) static void send(int n)
{
	on_scheduler_stack(count_work);
	wait_turn();
	work(n);
}

__attribute__((noinline)) static void receive(int n)
{
	wait_turn();
	work(n + 1);
}

__attribute__((noinline)) static void nest(int depth)
{
	if (depth)
		nest(depth - 1);
	else
		receive(depth);
	send(depth);
}

static void sender(void)
{
	for (int i = 0; i < 3; i++)
		send(i);
}

static void receiver(void)
{
	receive(1);
	nest(3);
	receive(2);
}

static void all_scheduled(void)
{
	static void (*const runs[])(void) = { sender, receiver };

	scheduler_sp = (uintptr_t)new_stack();
	current = &tasks[TASKS];
	for (int i = 0; i < TASKS; i++) {
		uintptr_t *top = (uintptr_t *)new_stack() - 1;

		*top = (uintptr_t)end_task + 1;
		tasks[i] = (struct task){ .sp = (uintptr_t)top, .ip = (uintptr_t)runs[i & 1] };
		ready(&tasks[i]);
	}
	while (tasks_left) {
		wait_turn();
		work(tasks_left);
	}
	for (int i = 0; i < 3; i++)
		wait_turn(); /* alone */
}

int main(void)
{
	all_by_pop();
	all_by_memory();
	all_scheduled();
	printf("%d\n", total);
	return 0;
}
