/* SPDX-License-Identifier: MIT */
/*
 * An existing thread calls late() once it has read a line. Then it waits, or exits if there
 * is an argument.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile int calls;

__attribute__((noinline)) static void late(void)
{
	calls++;
}

/* Never called. */
__attribute__((noinline, used)) static void never(void)
{
	calls--;
}

static void *run(void *ends)
{
	getchar();
	late();
	if (!ends)
		pause();
	return NULL;
}

int main(int argc, char *argv[])
{
	pthread_t thread;

	pthread_create(&thread, NULL, run, argv[1]);
	(void)argc;
	pthread_join(thread, NULL);
	return 0;
}
