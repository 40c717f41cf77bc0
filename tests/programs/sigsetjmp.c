/* SPDX-License-Identifier: MIT */
/* Long jumps that restore signals, and not; a child by vfork(). For libcs that are not glibc. */
#include <setjmp.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static sigjmp_buf *top;
static volatile int count;

APART static void throws(int n)
{
	siglongjmp(*top, n);
}

APART static int leaf(int n)
{
	count++;
	if (n % 3 == 0)
		throws(n + 1);
	return n;
}

APART static int middle(int n)
{
	int result = leaf(n);

	count++;
	return result + 1;
}

APART static int guard(int n, int mask)
{
	sigjmp_buf here, *outer = top;
	int result;

	top = &here;
	result = sigsetjmp(here, mask) == 0 ? middle(n) : leaf(1);
	top = outer;
	return result + leaf(2);
}

APART static int work(int n)
{
	int sum = 0;

	for (int i = 0; i < 4; i++)
		sum += guard(i + n, i & 1);
	return sum;
}

APART static int spawns(int n)
{
	pid_t child = vfork();
	int status;

	if (child == 0)
		_exit(n);
	waitpid(child, &status, 0);
	return leaf(WEXITSTATUS(status));
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 3; i++)
		sum += work(i);
	sum += spawns(4);
	printf("%d %d\n", sum + work(5), count);
	return 0;
}
