/* SPDX-License-Identifier: MIT */
/*
 * Recursions in which a tracer has replaced return addresses, so that functions return to its
 * trampoline, and in which functions return by a jump, as hand-written code does. Where trace is
 * missing, the callers are found by such returns only.
 */
#include <stdio.h>

static void *kept[64];
static int kept_count;
static volatile unsigned sum;
static unsigned seed = 1;

void trampoline(void);
void *take(void);
void by_jump(unsigned n);
void descend(unsigned n);

/* The trampoline makes room for the address and returns to it. */
__asm__(".text\n"
	".type trampoline, @function\n"
	"trampoline:\n"
	"	subq	$8, %rsp\n"
	"	pushq	%rax\n"
	"	subq	$8, %rsp\n"
	"	call	take\n"
	"	movq	%rax, 16(%rsp)\n"
	"	addq	$8, %rsp\n"
	"	popq	%rax\n"
	"	ret\n"
	".size trampoline, . - trampoline\n"
	".type by_jump, @function\n"
	"by_jump:\n"
	"	subq	$8, %rsp\n"
	"	call	descend\n"
	"	addq	$8, %rsp\n"
	"	popq	%rcx\n"
	"	jmpq	*%rcx\n"
	".size by_jump, . - by_jump\n");

__attribute__((noinline)) static void work(unsigned n)
{
	for (unsigned i = 0; i < n % 8; i++)
		sum += i;
}

static unsigned chosen(void)
{
	seed = seed * 1103515245 + 12345;
	return seed >> 16;
}

__attribute__((noinline)) void *take(void)
{
	work(2);
	return kept[--kept_count];
}

__attribute__((noinline)) static void replace(void **address)
{
	kept[kept_count++] = *address;
	*address = (void *)trampoline;
}

__attribute__((noinline)) static void traced(unsigned n)
{
	replace((void **)__builtin_frame_address(0) + 1);
	work(n);
	descend(n);
	work(n + 1);
}

__attribute__((noinline)) void descend(unsigned n)
{
	work(n);
	for (unsigned i = chosen() % 3; n && i < 2; i++) {
		if (chosen() % 3)
			traced(n - 1);
		else
			by_jump(n - 1);
	}
	work(n + 2);
}

int main(void)
{
	for (unsigned i = 0; i < 40; i++)
		descend(i % 8);
	printf("%u\n", sum);
	return 0;
}
