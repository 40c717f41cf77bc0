/* SPDX-License-Identifier: MIT */
/*
 * A thousand calls of request(), one of them slow for the cause that the first argument names.  The
 * second argument, a seed, chooses the slow call and how much work the others have.  Prints the
 * number of the slow call, from 0.  The third argument is the number of rounds of `loop`.
 *
 *	callee	a rare branch calls a slow function
 *	loop	a loop has many more rounds
 *	fault	a page is inaccessible until a SIGSEGV handler maps it
 *	sleep	it sleeps
 *	lock	another thread holds a lock
 *	cache	cached results are gone and are computed again
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define CALLS 1000
#define KEYS  8
#define PAGE  4096
#define NONE  (-1)

enum cause { CALLEE, LOOP, FAULT, SLEEP, LOCK, CACHE, CAUSES };

static const char *const words[CAUSES] = { "callee", "loop", "fault", "sleep", "lock", "cache" };

static enum cause cause;
static int planted;
static unsigned many_rounds;
static unsigned seed;
static volatile unsigned result;
static unsigned kept[KEYS];
static volatile char *page;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t wanted, held, waiting;

/* Unlike rand(), it returns the same numbers with any C library. */
static unsigned random_below(unsigned limit)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 16) % limit;
}

__attribute__((noinline)) static void work(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		result = result * 31 + i;
}

__attribute__((noinline)) static void rare_work(void)
{
	work(2000);
}

__attribute__((noinline)) static unsigned compute(unsigned key)
{
	work(300);
	return result | 1u | key;
}

__attribute__((noinline)) static void use_cache(void)
{
	for (unsigned key = 0; key < KEYS; key++)
		if (!kept[key])
			kept[key] = compute(key);
}

__attribute__((noinline)) static void use_lock(int number)
{
	if (number == planted)
		sem_post(&waiting);
	pthread_mutex_lock(&lock);
	result++;
	pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static void take_nap(void)
{
	const struct timespec nap = { .tv_nsec = 1000000 };

	nanosleep(&nap, NULL);
}

/* One of a thousand calls. Each kind does the same in all calls but the planted one. */
__attribute__((noinline)) static void request(int number)
{
	unsigned rounds = 5 + random_below(20);

	if (cause == LOOP && number == planted)
		rounds = many_rounds;
	work(rounds);
	if (cause == CALLEE && number == planted)
		rare_work();
	if (cause == FAULT)
		page[number % PAGE] = 1;
	if (cause == SLEEP && number == planted)
		take_nap();
	if (cause == LOCK)
		use_lock(number);
	if (cause == CACHE)
		use_cache();
}

/* ---- Causes of the planted slow call --------------------------------------- */

static void on_fault(int signal)
{
	(void)signal;
	work(1000);
	if (mprotect((void *)page, PAGE, PROT_READ | PROT_WRITE) != 0)
		_exit(1);
}

static void *hold_lock(void *argument)
{
	sem_wait(&wanted);
	pthread_mutex_lock(&lock);
	sem_post(&held);
	sem_wait(&waiting);
	work(8000);
	pthread_mutex_unlock(&lock);
	return argument;
}

static void prepare_planted(void)
{
	if (cause == FAULT)
		mprotect((void *)page, PAGE, PROT_NONE);
	if (cause == CACHE)
		memset(kept, 0, sizeof(kept));
	if (cause == LOCK) {
		sem_post(&wanted);
		sem_wait(&held);
	}
}

static int choose_cause(const char *word)
{
	for (int i = 0; i < CAUSES; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return NONE;
}

int main(int argc, char **argv)
{
	int chosen = argc == 3 || argc == 4 ? choose_cause(argv[1]) : NONE;
	pthread_t holder;

	if (chosen == NONE)
		return 64;
	cause = (enum cause)chosen;
	seed = (unsigned)atoi(argv[2]);
	many_rounds = argc == 4 ? (unsigned)atoi(argv[3]) : 2000;
	planted = 100 + (int)random_below(CALLS - 200);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	signal(SIGSEGV, on_fault);
	use_cache();
	if (cause == LOCK)
		pthread_create(&holder, NULL, hold_lock, NULL);
	for (int i = 0; i < CALLS; i++) {
		if (i == planted)
			prepare_planted();
		request(i);
	}
	if (cause == LOCK)
		pthread_join(holder, NULL);
	printf("%d\n", planted);
	return 0;
}
