/* SPDX-License-Identifier: MIT */
/* A thread that is not the leader becomes PROGRAM, while the leader and a third thread wait. */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static int work(int n)
{
	return n < 2 ? n : work(n - 1) + work(n - 2);
}

static void *wait_for_ever(void *unused)
{
	work(3);
	pthread_mutex_lock(&held);
	return unused;
}

static void *become(void *program)
{
	work(5);
	execl(program, program, (char *)NULL);
	_exit(127);
}

int main(int argc, char **argv)
{
	pthread_t waiter, caller;

	if (argc != 2)
		return 64;
	pthread_mutex_lock(&held);
	pthread_create(&waiter, NULL, wait_for_ever, NULL);
	work(4);
	pthread_create(&caller, NULL, become, argv[1]);
	pthread_join(caller, NULL);
	return 1;
}
