/* SPDX-License-Identifier: MIT */
/*
 * Calls of find_key(), one of 50 slow: for a key at the end of a list.  The first argument says
 *what the slow calls share; the second is a seed.
 *
 *	sites	they are the second one of two calls in serve()
 *	threads	they are in another thread
 *	pauses	they follow a sleep
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALLS    600
#define NOINLINE __attribute__((noinline))

static const char *shared;
static unsigned seed;
static volatile unsigned result;
static sem_t asked;
static volatile bool done;

static struct item {
	struct item *next;
	unsigned key;
} list[400];

static unsigned random_below(unsigned limit)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 16) % limit;
}

static bool share(const char *name)
{
	return strcmp(shared, name) == 0;
}

NOINLINE static unsigned find_key(unsigned key)
{
	struct item *item = list;

	while (item->key != key)
		item = item->next;
	return item->key;
}

NOINLINE static void look_up(unsigned key)
{
	result += find_key(key);
}

NOINLINE static void serve(bool slow)
{
	result += find_key(random_below(8));
	if (slow)
		result += find_key(389);
}

static void *other_thread(void *argument)
{
	while (sem_wait(&asked) == 0 && !done)
		look_up(390);
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t other;

	shared = argc > 1 ? argv[1] : "";
	seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	for (unsigned i = 0; i < 400; i++)
		list[i] = (struct item){ &list[(i + 1) % 400], i };
	if (pthread_create(&other, NULL, other_thread, NULL) != 0)
		return 1;
	for (unsigned i = 0; i < CALLS; i++) {
		bool slow = i > 20 && random_below(50) == 0;

		if (slow && share("threads"))
			sem_post(&asked);
		if (slow && share("pauses"))
			usleep(2000);
		if (share("sites"))
			serve(slow);
		else
			look_up(slow && share("pauses") ? 390 : random_below(8));
	}
	done = true;
	sem_post(&asked);
	pthread_join(other, NULL);
	printf("%u\n", result);
	return 0;
}
