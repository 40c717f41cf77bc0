/* SPDX-License-Identifier: MIT */
/*
 * Inlined calls: work() is called 10 times and inlines twice(), which inlines add() two times;
 * add() calls a function.  early() returns from its middle.  ask() is inlined into asks(), and
 * makes a system call.
 */
#include <stdio.h>
#include <sys/syscall.h>

static volatile int sum;

static __attribute__((noinline)) void count(int n)
{
	sum += n;
}

static inline __attribute__((always_inline)) void add(int n)
{
	count(n);
	sum++;
}

static inline __attribute__((always_inline)) void twice(int n)
{
	sum++;
	add(n);
	sum++;
	add(n);
	sum++;
}

static inline __attribute__((always_inline)) void early(int n)
{
	if (n % 2)
		return;
	count(n);
	sum++;
}

static __attribute__((noinline)) void work(int n)
{
	sum++;
	twice(n);
	sum++;
	early(n);
	sum++;
}

static inline __attribute__((always_inline)) void ask(void)
{
	long result = SYS_getppid;

	sum++;
	__asm__ volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
	sum++;
}

static __attribute__((noinline)) void less(void)
{
	sum--;
}

static __attribute__((noinline)) void asks(void)
{
	ask();
	sum++;
	less();
	sum++;
}

int main(void)
{
	for (int n = 0; n < 10; n++) {
		work(n);
		asks();
	}
	printf("%d\n", sum);
	return 0;
}
