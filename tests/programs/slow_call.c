/* SPDX-License-Identifier: MIT */
/*
 * slow_call CAUSE SEED: 150 requests, of which one takes longer than the others, for a known
 * cause: `rare` calls a function that no other request calls, `loop` goes round more often, `work`
 * finds nothing in a cache and calls compute() for each entry, `lock` waits for another thread.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))
#define REQUESTS 150

static volatile long sink;
static volatile bool held;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static NOINLINE void parse(int length)
{
	for (int i = 0; i < length; i++)
		sink += i;
}

static NOINLINE void repair(void)
{
	for (int i = 0; i < 2000; i++)
		sink -= i;
}

static NOINLINE void compute(int entry)
{
	for (int i = 0; i < 20; i++)
		sink += i * entry;
}

static NOINLINE void look_up(bool all_are_missing)
{
	for (int entry = 0; entry < 30; entry++) {
		if (all_are_missing || entry % 15 == 0)
			compute(entry);
	}
}

static NOINLINE void *hold(void *unused)
{
	pthread_mutex_lock(&lock);
	held = true;
	for (int i = 0; i < 6000; i++)
		sink += i;
	pthread_mutex_unlock(&lock);
	return unused;
}

static NOINLINE void reserve(void)
{
	pthread_mutex_lock(&lock);
	sink++;
	pthread_mutex_unlock(&lock);
}

static NOINLINE void request(int number, const char *cause)
{
	parse(20 + number * 7 % 13);
	if (strcmp(cause, "rare") == 0)
		repair();
	look_up(strcmp(cause, "work") == 0);
	reserve();
	parse(strcmp(cause, "loop") == 0 ? 2000 : 20);
}

int main(int argc, char **argv)
{
	const char *cause = argc > 1 ? argv[1] : "none";
	int slow = argc > 2 ? atoi(argv[2]) * 37 % REQUESTS : 0;
	pthread_t holder;

	for (int i = 0; i < REQUESTS; i++) {
		if (i == slow && strcmp(cause, "lock") == 0) {
			pthread_create(&holder, NULL, hold, NULL);
			while (!held)
				;
		}
		request(i, i == slow ? cause : "none");
	}
	return 0;
}
