/* SPDX-License-Identifier: MIT */
/* A task of 200 steps. Every 40th one parks its stack, which a new thread "worker" resumes. */
#include <pthread.h>
#include <stdlib.h>
#include <ucontext.h>

#define STACK 65536

static ucontext_t home, task;
static volatile int done, steps;

__attribute__((noinline)) static void step(int number)
{
	for (int i = 0; i < 20; i++)
		steps++;
	if (number % 40 == 39)
		swapcontext(&task, &home);
}

static void run(void)
{
	for (int i = 0; i < 200; i++)
		step(i);
	done = 1;
}

static void *work(void *unused)
{
	pthread_setname_np(pthread_self(), "worker");
	swapcontext(&home, &task);
	return unused;
}

int main(void)
{
	pthread_t thread;

	getcontext(&task);
	task.uc_stack.ss_sp = malloc(STACK);
	task.uc_stack.ss_size = STACK;
	task.uc_link = &home;
	makecontext(&task, run, 0);
	swapcontext(&home, &task);
	while (!done) {
		pthread_create(&thread, NULL, work, NULL);
		pthread_join(thread, NULL);
	}
	return steps != 4000;
}
