/* SPDX-License-Identifier: MIT */
/*
 * A preloaded library that delays threads: before each lock, after each unlock and at a thread's
 * start, with a probability of 1/4, by up to DELAY_US microseconds.  DELAY_SEED chooses the delays.
 * DELAY_COUNT names a file for their number.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct start {
	void *(*run)(void *);
	void *context;
};

static unsigned long most, count;
static uint64_t seed;
static int report = -1;

static __thread uint64_t state;

__attribute__((constructor)) static void init(void)
{
	const char *us = getenv("DELAY_US"), *from = getenv("DELAY_SEED"),
		   *path = getenv("DELAY_COUNT");

	most = us ? strtoul(us, NULL, 10) : 0;
	seed = from ? strtoull(from, NULL, 10) : 1;
	/* Opened at once: the program may give up this right. */
	report = path ? creat(path, 0666) : -1;
}

__attribute__((destructor)) static void print_count(void)
{
	if (report >= 0)
		dprintf(report, "%lu\n", count);
}

static void delay(void)
{
	/* Seeded by the address of the thread's memory. */
	if (!state)
		state = seed * UINT64_C(0x9e3779b97f4a7c15) ^ (uintptr_t)&state;
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	if (!most || state >> 62)
		return;
	__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
	usleep((useconds_t)((state >> 32) % most));
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	static int (*next)(pthread_mutex_t *);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	delay();
	return next(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	static int (*next)(pthread_mutex_t *);
	int status;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
	status = next(mutex);
	delay();
	return status;
}

static void *begin(void *context)
{
	struct start start = *(struct start *)context;

	free(context);
	delay();
	return start.run(start.context);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
		   void *context)
{
	static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	struct start *start = malloc(sizeof(*start));
	int status;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
	*start = (struct start){ run, context };
	status = next(thread, attributes, begin, start);
	if (status)
		free(start);
	return status;
}
