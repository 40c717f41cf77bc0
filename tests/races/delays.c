/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into a program, makes its threads wait here and there: before each
 * lock, behind each unlock, and where a thread begins, a quarter of the times,
 * up to DELAY_US microseconds.  DELAY_SEED chooses where.  DELAY_COUNT names a
 * file that gets the number of delays.
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
	/* Now, as the program may give up the right to. */
	report = path ? creat(path, 0666) : -1;
}

__attribute__((destructor)) static void print_count(void)
{
	if (report >= 0)
		dprintf(report, "%lu\n", count);
}

static void delay(void)
{
	/* Threads begin anywhere: by where their memory is. */
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
