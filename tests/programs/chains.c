/* SPDX-License-Identifier: MIT */
/*
 * Requests whose functions end in calls: by a pointer, direct, and several in a row. Compiled with
 * -foptimize-sibling-calls these calls are jumps, without it calls; else both programs are alike.
 */
#include <stdio.h>

#define NOINLINE __attribute__((noinline))

static volatile int steps;

NOINLINE static int leaf(int n)
{
	return steps += n;
}

NOINLINE static int innermost(int n)
{
	for (int i = 0; i < n; i++)
		leaf(i);
	return n;
}

NOINLINE static int inner(int n)
{
	leaf(n);
	return innermost(n + 1);
}

NOINLINE static int handle(int n)
{
	leaf(n);
	return inner(n + 2);
}

static int (*const volatile handlers[])(int) = { handle, inner, innermost };

NOINLINE static int request(int n)
{
	leaf(n);
	return handlers[n % 3](n);
}

int main(void)
{
	int sum = 0;

	for (int n = 0; n < 30; n++)
		sum += request(n);
	printf("%d %d\n", sum, steps);
	return 0;
}
