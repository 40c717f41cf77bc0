/* SPDX-License-Identifier: MIT */
/* Long jumps to setjmp() in wrappers without a return address on the stack (wrappers.S). */
#include <setjmp.h>
#include <stdio.h>

struct place {
	jmp_buf buffer;
	void *room[2];
};

#define TWICE __attribute__((returns_twice))
#define APART __attribute__((noinline))

int wrap_jumps(struct place *) TWICE;
int wrap_returns(struct place *) TWICE;
int wrap_goes(struct place *) TWICE;

static struct place *top;
static volatile int count;

APART static void throws(int n)
{
	count++;
	longjmp(top->buffer, n);
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

#define GUARD(wrapper)                                                                             \
	APART static int guard_##wrapper(int n)                                                    \
	{                                                                                          \
		struct place here, *outer = top;                                                   \
		int result;                                                                        \
                                                                                                   \
		top = &here;                                                                       \
		result = wrapper(&here) == 0 ? middle(n) : leaf(1);                                \
		top = outer;                                                                       \
		return result + leaf(2);                                                           \
	}
GUARD(wrap_jumps)
GUARD(wrap_returns)
GUARD(wrap_goes)

APART static int work(int n)
{
	return guard_wrap_jumps(n) + guard_wrap_returns(n) + guard_wrap_goes(n);
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 8; i++)
		sum += work(i);
	printf("%d %d\n", sum, count);
	return 0;
}
