/* SPDX-License-Identifier: MIT */
/*
 * Handlers: of a signal to itself, of a timer, on a stack of its own, ones that jump out, and one
 * that has the program call a function.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile sig_atomic_t alarms, users;
static sigjmp_buf back;
static int *volatile nowhere;

__attribute__((noinline)) static int work(int n)
{
	return n < 2 ? n : work(n - 1) + work(n - 2);
}

/* A one-shot timer: code runs between two handlers, however slow the recorder is. */
static void set_timer(void)
{
	struct itimerval timer = { .it_value.tv_usec = 3000 };

	setitimer(ITIMER_REAL, &timer, NULL);
}

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
	work(4);
	if (alarms < 4)
		set_timer();
}

static void on_user(int signal)
{
	(void)signal;
	users++;
	work(3);
	if (users == 2)
		raise(SIGUSR2); /* nested handlers */
}

static void on_user2(int signal)
{
	(void)signal;
	work(2);
}

static void on_fault(int signal)
{
	(void)signal;
	siglongjmp(back, 1);
}

__attribute__((noinline, used)) static void called_by_program(void)
{
	work(3);
}

/* Saves all registers, and skips the red zone (System V ABI, 3.2.2). */
void called_first(void);
__asm__(".text\n"
	".type called_first, @function\n"
	"called_first:\n"
	"	pushfq\n"
	"	push %rax; push %rcx; push %rdx; push %rsi; push %rdi\n"
	"	push %r8; push %r9; push %r10; push %r11\n"
	"	call called_by_program\n"
	"	pop %r11; pop %r10; pop %r9; pop %r8\n"
	"	pop %rdi; pop %rsi; pop %rdx; pop %rcx; pop %rax\n"
	"	popfq\n"
	"	ret $128\n"
	".size called_first, . - called_first\n");

/* As Go's handlers do to stop a goroutine, and for a panic. */
static void on_urgent(int signal, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)signal;
	(void)info;
	registers[REG_RSP] -= 128 + 8;
	*(greg_t *)registers[REG_RSP] = registers[REG_RIP];
	registers[REG_RIP] = (greg_t)called_first;
}

__attribute__((noinline)) static void be_urgent(void)
{
	struct sigaction action = { .sa_sigaction = on_urgent, .sa_flags = SA_SIGINFO };

	sigaction(SIGURG, &action, NULL);
	for (int i = 0; i < 2; i++) {
		raise(SIGURG);
		work(2);
	}
}

static void handle(int signal, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(signal, &action, NULL);
}

__attribute__((noinline)) static void fault(void)
{
	for (volatile int i = 0; i < 3; i++) {
		if (sigsetjmp(back, 1) == 0)
			*nowhere = 1;
	}
	work(2);
}

/* The handler's stack lies above that of the code it interrupts. */
__attribute__((noinline)) static void fault_below_handler(void)
{
	char room[32768];
	stack_t above = { .ss_sp = room, .ss_size = sizeof(room) };

	sigaltstack(&above, NULL);
	handle(SIGSEGV, on_fault, SA_NODEFER | SA_ONSTACK);
	fault();
	handle(SIGUSR2, on_user2, SA_ONSTACK);
	raise(SIGUSR2);
	above.ss_flags = SS_DISABLE;
	sigaltstack(&above, NULL);
}

/*
 * SIGALRM is blocked outside of sigsuspend(): a signal between the test and the wait is not lost.
 */
static void wait_for_alarms(void)
{
	sigset_t alarm, before;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, &before);
	while (alarms < 4)
		sigsuspend(&before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

int main(void)
{
	stack_t own = { .ss_sp = malloc(65536), .ss_size = 65536 };

	sigaltstack(&own, NULL);
	handle(SIGALRM, on_alarm, SA_RESTART);
	handle(SIGUSR1, on_user, SA_ONSTACK);
	handle(SIGUSR2, on_user2, 0);
	handle(SIGSEGV, on_fault, SA_NODEFER);
	for (int i = 0; i < 3; i++)
		raise(SIGUSR1);
	fault();
	fault_below_handler();
	be_urgent();
	set_timer();
	for (int i = 0; i < 200 && alarms < 3; i++)
		work(9);
	wait_for_alarms();
	printf("%d\n", users);
	return 0;
}
