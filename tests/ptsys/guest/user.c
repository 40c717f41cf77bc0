/* SPDX-License-Identifier: MIT */
/*
 * The guest's user program: calls, faults, system calls and waits, in a different mix per process.
 */
#include <stdint.h>

#include "abi.h"

static long system_call(long number, long a, long b)
{
	long result;

	asm volatile("syscall"
		     : "=a"(result)
		     : "a"(number), "D"(a), "S"(b)
		     : "rcx", "r11", "rdx", "memory");
	return result;
}

__attribute__((noinline)) static uint64_t fibonacci(uint64_t n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__attribute__((noinline)) static uint64_t collatz(uint64_t n)
{
	uint64_t steps = 0;

	for (; n != 1; steps++)
		n = n % 2 ? 3 * n + 1 : n / 2;
	return steps;
}

__attribute__((noinline)) static uint64_t fill(uint64_t page)
{
	uint8_t *bytes = (uint8_t *)(USER_HEAP + (page << 12));

	for (int i = 0; i < 40; i++)
		bytes[i] = (uint8_t)(i * page); /* the first one faults */
	return (uint64_t)system_call(SYS_SUM, (long)bytes, 40);
}

/* The kernel reads unmapped memory and faults itself. */
__attribute__((noinline)) static uint64_t sum_untouched(uint64_t page)
{
	return (uint64_t)system_call(SYS_SUM, (long)(USER_HEAP + ((page + 512) << 12)), 100);
}

__attribute__((noinline)) static uint64_t trap(uint64_t n)
{
	if (n % 2)
		asm volatile("int3" ::: "rax"); /* the kernel returns a value in it */
	else
		asm volatile("ud2"); /* the kernel skips it */
	return n;
}

__attribute__((noinline)) static uint64_t leave(uint64_t n)
{
	system_call(n % 3 ? SYS_SLEEP : SYS_YIELD, (long)(n % 4), 0);
	return n;
}

__attribute__((noinline)) static uint64_t toggle(uint64_t n)
{
	if (n > 7)
		system_call(SYS_TRACE, n % 2 == 0, 0);
	return n;
}

/* Kernel events with stacks of their own. */
__attribute__((noinline)) static uint64_t shake(uint64_t n)
{
	return (uint64_t)system_call(n % 2 ? SYS_NMI : SYS_DOUBLE_FAULT, 0, 0);
}

typedef uint64_t work(uint64_t n);

__attribute__((noinline)) static uint64_t run(work *const *works, uint64_t count, uint64_t round)
{
	uint64_t result = 0;

	for (uint64_t i = 0; i < count; i++)
		result += works[i](round + i);
	return result;
}

__attribute__((section(".text.start"), used, noreturn)) void _start(uint64_t number)
{
	work *first[] = { fibonacci, fill, leave, collatz, trap };
	work *second[] = { fibonacci, toggle, leave, trap, collatz, sum_untouched };
	work *third[] = { fill, fibonacci, shake, collatz };

	for (uint64_t round = 1; round < 12; round++) {
		if (number == 1)
			run(first, 5, round);
		else if (number == 2)
			run(second, 6, round);
		else
			run(third, 4, round);
	}
	system_call(SYS_EXIT, 0, 0);
	__builtin_unreachable();
}
