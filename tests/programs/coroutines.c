/* SPDX-License-Identifier: MIT */
/* Two coroutines and the main program take turns; one of them ends first. */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define STACK 65536

static ucontext_t home, contexts[2];
static volatile int turns;

__attribute__((noinline)) static void yield(int number)
{
	turns++;
	swapcontext(&contexts[number], &home);
}

__attribute__((noinline)) static void descend(int number, int depth)
{
	if (depth == 0)
		return;
	yield(number);
	descend(number, depth - 1);
	yield(number);
}

static void run(int number)
{
	descend(number, 3 + number);
}

int main(void)
{
	for (int i = 0; i < 2; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = malloc(STACK);
		contexts[i].uc_stack.ss_size = STACK;
		contexts[i].uc_link = &home;
		makecontext(&contexts[i], (void (*)(void))run, 1, i);
	}
	for (int turn = 0; turn < 6; turn++) {
		for (int i = 0; i < 2; i++)
			swapcontext(&home, &contexts[i]);
	}
	printf("%d\n", turns);
	return 0;
}
