/* SPDX-License-Identifier: MIT */
/*
 * System calls with the number as an argument of libc's syscall() (-O2): a constant; one of two by
 * a branch, by cold code, by a jump to syscall(), in a function with two entries; the caller's
 * argument; and through several functions.  Prints whether it is optimized: otherwise callers keep
 * numbers in memory.
 */
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __clang__ /* has no copies, and no noipa */
#define SEPARATE __attribute__((noinline))
#else
#define SEPARATE __attribute__((noipa))
#endif

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

/* The same with the SYSCALL instruction in the function itself. */
SEPARATE static long seldom_another_itself(int which)
{
	long number = SYS_geteuid, result;

	if (__builtin_expect(which, 0)) {
		seldom();
		number = SYS_getegid;
	}
	__asm__ volatile("syscall" : "=a"(result) : "0"(number) : "rcx", "r11", "memory");
	return result;
}

/*
 * Jumps to syscall() with a number that its own call passes elsewhere; at the place of syscall()'s
 * number, the call has another constant.
 */
SEPARATE static long by_jump(long other, long number)
{
	sum += other;
	return syscall(number);
}

__attribute__((noinline)) static long passed_on(long number)
{
	long result = syscall(number);

	return result + sum;
}

/*
 * Passes on 152 (munlockall) when entered at its start, and its argument when entered 5 bytes
 * later.
 */
long two_entries(long number);
__asm__(".text\n"
	".type two_entries, @function\n"
	"two_entries:\n"
	"	movl $152, %edi\n"
	"	subq $8, %rsp\n"
	"	call syscall@PLT\n"
	"	addq $8, %rsp\n"
	"	ret\n"
	".size two_entries, . - two_entries");

SEPARATE static long after_the_begin(long number)
{
	return ((long (*)(long))((char *)two_entries + 5))(number) + 1;
}

/* The number is in main(). */
SEPARATE static long passed_by_main(long number)
{
	return syscall(number) + 1;
}

/*
 * Like read() and others of glibc 2.41: three functions pass on the number, on the stack and in a
 * register.
 */
SEPARATE static long innermost(long *state, long number, long argument)
{
	long result;

	if (*state < 0)
		return 0;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(argument)
			 : "rcx", "r11", "memory");
	return result;
}

SEPARATE static long inner(long a, long b, long c, long d, long e, long f, long number)
{
	long state = b + c + d + e + f;

	return innermost(&state, number, a) + state;
}

SEPARATE static long outer(long a, long b, long c, long d, long e, long f, long number)
{
	return inner(a, b, c, d, e, f, number) + 1;
}

__attribute__((noinline)) static void passed_on_thrice(void)
{
	sum += outer(0, 0, 0, 0, 0, 0, SYS_getpgid);
	sum += outer(0, 0, 0, 0, 0, 0, SYS_getsid);
}

/* The target of the jump has the number, and passes it on. */
SEPARATE static long jumped_to(void)
{
	return outer(0, 0, 0, 0, 0, 0, SYS_getresuid) + 1;
}

__attribute__((noinline)) static long jumps(void)
{
	sum++;
	return jumped_to();
}

int main(void)
{
	for (int i = 0; i < 6; i++) {
		one();
		one_of_two(i % 2);
		seldom_another(i == 3);
		sum += seldom_another_itself(i == 3);
		sum += by_jump(SYS_getegid, i % 2 ? SYS_getpid : SYS_gettid);
		sum += passed_on(i % 3 ? SYS_getpgrp : SYS_sched_yield);
		sum += two_entries(0);
		sum += after_the_begin(SYS_getgid);
		sum += passed_by_main(SYS_getuid);
		passed_on_thrice();
		sum += jumps();
	}
#ifdef __OPTIMIZE__
	puts("optimized");
#endif
	return sum == 0;
}
