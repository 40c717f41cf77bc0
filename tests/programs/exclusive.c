/* SPDX-License-Identifier: MIT */
/*
 * Two threads take a lock in turns, and call inside() while they have it, so that no two such calls
 * overlap in time.  After every 16th the thread sleeps.
 */
#include <pthread.h>
#include <unistd.h>

#define ROUNDS 200

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned sum;

__attribute__((noinline)) static void inside(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		sum += i;
}

__attribute__((noinline)) static void take_nap(void)
{
	usleep(50);
}

static void *run(void *seed)
{
	unsigned random = *(const unsigned *)seed;
	volatile unsigned spins;

	for (int i = 1; i <= ROUNDS; i++) {
		random = random * 1103515245 + 12345;
		pthread_mutex_lock(&lock);
		inside(random >> 16 & 31);
		pthread_mutex_unlock(&lock);
		for (spins = random >> 24 & 31; spins; spins--)
			;
		if (i % 16 == 0)
			take_nap();
	}
	return NULL;
}

int main(void)
{
	unsigned seeds[2] = { 1, 2 };
	pthread_t other;

	if (pthread_create(&other, NULL, run, &seeds[0]) != 0)
		return 1;
	run(&seeds[1]);
	return pthread_join(other, NULL);
}
