/* SPDX-License-Identifier: MIT */
/* Recursion deeper than the processor's return stack (64) and than any fixed table. */
#include <stdio.h>
#include <stdlib.h>

static volatile int sink;

__attribute__((noinline)) static int depth(int n)
{
	int below = n ? depth(n - 1) : 0;

	sink = n;
	return below + 1;
}

__attribute__((noinline)) static int fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

int main(void)
{
	printf("%d %d %d %d\n", depth(60), depth(70), depth(1500), fibonacci(12));
	return 0;
}
