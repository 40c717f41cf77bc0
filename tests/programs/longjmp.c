/* SPDX-License-Identifier: MIT */
/* Long jumps out of many frames, repeatedly, and one within a function. */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf outer, inner;
static volatile int count;

__attribute__((noinline)) static void dive(int n, jmp_buf *target)
{
	count++;
	if (n == 0)
		longjmp(*target, 1);
	dive(n - 1, target);
	count--;
}

__attribute__((noinline)) static void middle(int n)
{
	if (setjmp(inner) == 0)
		dive(n, &inner);
	count++;
	if (n % 3 == 0)
		dive(n, &outer);
	count++;
}

int main(void)
{
	for (volatile int i = 1; i < 12; i++) {
		if (setjmp(outer) == 0)
			middle(i);
		else
			count++;
	}
	printf("%d\n", count);
	return 0;
}
