/* SPDX-License-Identifier: MIT */
/*
 * Threads that pthread_cancel() and pthread_exit() end: each unwinds recursive functions with
 * destructors, cleanup handlers and handlers that rethrow, from a test, a wait, a loop (by a
 * signal, at any instruction) or by itself.  They map memory before they end.  At last main()
 * ends before the thread that it started.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#ifdef __clang__ /* does not clone functions */
#define QUIET __attribute__((noinline))
#else
#define QUIET __attribute__((noinline, noclone))
#endif

enum way { AT_TEST, IN_WAIT, IN_LOOP, BY_EXIT, WAYS };

struct order {
	enum way way;
	int depth;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static volatile int undone;

struct guard {
	QUIET ~guard()
	{
		undone = undone + 1;
	}
};

/* An exception of its own while another one is under way. */
struct thrower {
	QUIET ~thrower()
	{
		try {
			throw 1;
		} catch (int count) {
			undone = undone + count;
		}
	}
};

QUIET static void unlock(void *)
{
	pthread_mutex_unlock(&mutex);
}

/*
 * Without anything to undo: an exception may come from any instruction.  Each round has a branch
 * that the trace shows, so rounds can be counted.
 */
QUIET static void loop()
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (volatile unsigned i = 1; i; i = i + 1)
		;
}

QUIET static void leave(enum way way)
{
	guard here;

	switch (way) {
	case AT_TEST:
		for (;;)
			pthread_testcancel();
	case IN_WAIT:
		pthread_mutex_lock(&mutex);
		pthread_cleanup_push(unlock, NULL);
		for (;;)
			pthread_cond_wait(&never, &mutex);
		pthread_cleanup_pop(1);
		break;
	case IN_LOOP:
		loop();
		break;
	default:
		pthread_exit(NULL);
	}
}

QUIET static void level(const struct order *order, int depth)
{
	guard here;

	try {
		if (depth % 3 == 2) {
			thrower between;

			level(order, depth - 1);
		} else if (depth) {
			level(order, depth - 1);
		} else {
			leave(order->way);
		}
	} catch (...) {
		guard there;

		undone = undone + 1;
		throw;
	}
	undone = undone + 1;
}

static void *run(void *argument)
{
	const struct order *order = (const struct order *)argument;

	level(order, order->depth);
	return NULL;
}

static void *outlive(void *leader)
{
	pthread_join(*(pthread_t *)leader, NULL);
	printf("%d\n", undone);
	return NULL;
}

int main()
{
	static pthread_t self = pthread_self();
	pthread_t thread;

	for (int i = 0; i < 2 * WAYS; i++) {
		struct order order = { (enum way)(i % WAYS), i };

		pthread_create(&thread, NULL, run, &order);
		usleep(200);
		pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
	pthread_create(&thread, NULL, outlive, &self);
	pthread_detach(thread);
	pthread_exit(NULL);
}
