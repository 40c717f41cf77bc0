/* SPDX-License-Identifier: MIT */
/* A thread ends the process while the leader and another thread compute. */
#include <pthread.h>
#include <unistd.h>

static volatile unsigned total;

__attribute__((noinline)) static void work(unsigned rounds)
{
	for (unsigned i = 0; i != rounds; i++)
		total = total * 31 + i;
}

static void *compute(void *unused)
{
	for (;;)
		work(100);
	return unused;
}

static void *end(void *unused)
{
	work(3000);
	_exit(0);
	return unused;
}

int main(void)
{
	pthread_t other, last;

	pthread_create(&other, NULL, compute, NULL);
	pthread_create(&last, NULL, end, NULL);
	compute(NULL);
	return 1;
}
