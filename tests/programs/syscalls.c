/* SPDX-License-Identifier: MIT */
/*
 * System calls whose number is an argument of libc's syscall() (-O2): a constant, one of two by a
 * branch, by code that seldom runs, by a jump to syscall(), and an argument of the caller.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile long sum;

__attribute__((noinline)) static void one(void)
{
	sum += syscall(SYS_getppid);
	sum += syscall(SYS_getpriority, 0, 0);
}

__attribute__((noinline)) static void one_of_two(int which)
{
	long number = SYS_getuid;

	if (which) {
		sum++;
		number = SYS_getgid;
	}
	sum += syscall(number);
}

__attribute__((noinline, cold)) static void seldom(void)
{
	sum += 2;
}

__attribute__((noinline)) static void seldom_another(int which)
{
	long number = SYS_geteuid;

	if (__builtin_expect(which, 0)) {
		seldom();
		number = SYS_getegid;
	}
	sum += syscall(number);
}

/*
 * Jumps to syscall(), with a number that its own call has elsewhere: where syscall() takes its
 * number from, the call has another constant.
 */
__attribute__((noipa)) static long by_jump(long other, long number)
{
	sum += other;
	return syscall(number);
}

__attribute__((noinline)) static long passed_on(long number)
{
	long result = syscall(number);

	return result + sum;
}

int main(void)
{
	for (int i = 0; i < 6; i++) {
		one();
		one_of_two(i % 2);
		seldom_another(i == 3);
		sum += by_jump(SYS_getegid, i % 2 ? SYS_getpid : SYS_gettid);
		sum += passed_on(i % 3 ? SYS_getpgrp : SYS_sched_yield);
	}
	printf("%d\n", sum != 0);
	return 0;
}
