/* SPDX-License-Identifier: MIT */
/* Functions that call each other by jumps (-O2), and a function that ends with a jump. */
#include <stdio.h>

static volatile int steps;

int even(int n);
int odd(int n);
int finish(int n);

__attribute__((noinline)) int finish(int n)
{
	steps++;
	return n;
}

__attribute__((noinline)) int even(int n)
{
	steps++;
	return n ? odd(n - 1) : finish(1);
}

__attribute__((noinline)) int odd(int n)
{
	steps++;
	return n ? even(n - 1) : finish(0);
}

__attribute__((noinline)) static int twice(int (*function)(int), int n)
{
	return function(n) + function(n + 1);
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 20; i++)
		sum += twice(i % 2 ? even : odd, i);
	printf("%d %d\n", sum, steps);
	return 0;
}
