/* SPDX-License-Identifier: MIT */
/* Four threads with names, a lock and a barrier. Argument: the rounds of each thread (20). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static long total;
static int rounds = 20;
static volatile long least = 6; /* read in each round, so that clang calls work() each time */

__attribute__((noinline)) static long work(long n)
{
	return n < 2 ? n : work(n - 1) + work(n - 2);
}

static void *run(void *argument)
{
	long number = (long)argument;
	char name[16];

	snprintf(name, sizeof(name), "worker-%ld", number);
	pthread_setname_np(pthread_self(), name);
	for (int i = 0; i < rounds; i++) {
		long value = work(least + number);

		pthread_mutex_lock(&lock);
		total += value;
		pthread_mutex_unlock(&lock);
	}
	pthread_barrier_wait(&barrier);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	if (argc > 1)
		rounds = atoi(argv[1]);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", total);
	return 0;
}
