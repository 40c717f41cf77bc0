/* SPDX-License-Identifier: MIT */
/* Ends calls of libiberty's demanglers that take too long, and lends them their memory. */
#include "symbols/names/demangle_limits.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/budget.h"

#ifndef sigev_notify_thread_id /* glibc 2.36 has it in the kernel's header only */
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define NS_PER_S 1000000000

/* Each piece of memory begins with its size, and both are aligned as malloc()'s. */
#define ALIGNMENT sizeof(max_align_t)

struct call {
	jmp_buf end;
	char *memory; /* borrowed from the limits */
	size_t used;  /* bytes */
};

/* The call of this thread that may be ended now; NULL: none. */
static __thread struct call *volatile current;

/* The timer of this thread's CPU time. */
static __thread struct {
	timer_t timer;
	pid_t process; /* that made it: a child does not inherit it; 0: none was made */
} clock_of_thread;

_Noreturn void demangle_limits_end(void)
{
	struct call *call = current;

	current = NULL;
	longjmp(call->end, 1);
}

static void on_expiry(int number)
{
	(void)number;
	if (current)
		demangle_limits_end();
}

/* ---- The memory of the demanglers: what libiberty knows as malloc() and free() ------------ */

void *demangle_malloc(size_t size);
void *demangle_realloc(void *old, size_t size);
void demangle_free(void *memory);
void *demangle_xmalloc(size_t size);
void *demangle_xrealloc(void *old, size_t size);

void *demangle_malloc(size_t size)
{
	struct call *call = current;
	size_t left = DEMANGLE_NAME_MEMORY - call->used;
	char *piece = call->memory + call->used;

	if (size > left || left - size < 2 * ALIGNMENT)
		demangle_limits_end();
	memcpy(piece, &size, sizeof(size));
	call->used += ALIGNMENT + (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return piece + ALIGNMENT;
}

void *demangle_realloc(void *old, size_t size)
{
	void *new = demangle_malloc(size);
	size_t old_size;

	if (!old)
		return new;
	memcpy(&old_size, (char *)old - ALIGNMENT, sizeof(old_size));
	return memcpy(new, old, old_size < size ? old_size : size);
}

/* The next name has all of it again. */
void demangle_free(void *memory)
{
	(void)memory;
}

void *demangle_xmalloc(size_t size)
{
	return demangle_malloc(size);
}

void *demangle_xrealloc(void *old, size_t size)
{
	return demangle_realloc(old, size);
}

/* ---- Time -------------------------------------------------------------------------------- */

/* SA_NODEFER, because the handler does not return. */
static void set_handler(void)
{
	struct sigaction action = { .sa_handler = on_expiry, .sa_flags = SA_NODEFER | SA_RESTART };

	sigaction(SIGVTALRM, &action, NULL);
}

/* Make the thread's timer, unless this process has it.  Returns false if the system has none. */
static bool make_timer(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGVTALRM };
	sigset_t signals;

	if (clock_of_thread.process == getpid())
		return true;
	pthread_once(&once, set_handler);
	event.sigev_notify_thread_id = gettid();
	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &clock_of_thread.timer) != 0)
		return false;
	/* Threads of a pool have all signals blocked. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGVTALRM);
	pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
	clock_of_thread.process = getpid();
	return true;
}

/* Set the timer to a time from now; 0: stop it.  Returns the time (ns) that was left. */
static uint64_t set_timer(uint64_t ns)
{
	struct itimerspec new = { .it_value = { (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) } };
	struct itimerspec old = { 0 };

	timer_settime(clock_of_thread.timer, 0, &new, &old);
	return (uint64_t)old.it_value.tv_sec * NS_PER_S + (uint64_t)old.it_value.tv_nsec;
}

/* ---- Calls ------------------------------------------------------------------------------- */

void demangle_limits_release(struct demangle_limits *limits)
{
	free(limits->memory);
	*limits = (struct demangle_limits){ 0 };
}

/* Returns whether the call came to its end. */
static bool call_within(struct call *call, uint64_t ns, void (*work)(void *), void *context)
{
	if (setjmp(call->end))
		return false;
	current = call;
	set_timer(ns);
	work(context);
	current = NULL;
	return true;
}

bool demangle_limits_run(struct demangle_limits *limits, size_t length, void (*work)(void *),
			 void *context)
{
	uint64_t usual = DEMANGLE_USUAL_NS + length * (uint64_t)DEMANGLE_USUAL_BYTE_NS;
	struct call call = { .used = 0 };
	uint64_t spent;
	bool ended;

	if (limits->spent > DEMANGLE_RUN_NS || !make_timer())
		return false;
	if (!limits->memory)
		limits->memory = alloc_zeroed(DEMANGLE_NAME_MEMORY, 1);
	call.memory = limits->memory;
	ended = call_within(&call, DEMANGLE_NAME_NS, work, context);
	spent = DEMANGLE_NAME_NS - set_timer(0);
	if (spent > usual)
		limits->spent += spent - usual;
	return ended;
}
