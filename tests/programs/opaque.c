/* SPDX-License-Identifier: MIT */
/*
 * Code that no file has, in five forms:
 *   opaque leaf      a matcher with a loop, as a regular expression's, from two callers
 *   opaque closure   it calls known code, and counts, as foreign function interfaces do
 *   opaque tail      it has a loop, and jumps to known code
 *   opaque nested    trampolines on the stack: nested functions of GCC
 *   opaque evaluate  trampolines that an interpreter calls, as CPython's -X perf: these call it
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef int function(int);

static function *generated;

/* lea (%rdi), %eax; 1: test $1, %al; je 2; inc %edx; 2: shr %eax; jne 1; mov %edx, %eax; ret */
static const uint8_t count_bits[] = { 0x31, 0xd2, 0x8d, 0x07, 0xa8, 0x01, 0x74, 0x02, 0xff,
				      0xc2, 0xd1, 0xe8, 0x75, 0xf6, 0x89, 0xd0, 0xc3 };

/* mov $known, %rax; push %rbx; mov %edi, %ebx; call *%rax; test $1, %al; je 1; inc %eax; 1: add
 * %ebx, %eax; pop %rbx; ret */
static const uint8_t call_known[] = { 0x48, 0xb8, 0,    0,    0,    0,    0,    0,    0,
				      0,    0x53, 0x89, 0xfb, 0xff, 0xd0, 0xa8, 0x01, 0x74,
				      0x02, 0xff, 0xc0, 0x01, 0xd8, 0x5b, 0xc3 };

/* mov $known, %rax; mov %edi, %ecx; 1: test $1, %cl; je 2; inc %edx; 2: shr %ecx; jne 1; jmp *%rax
 */
static const uint8_t jump_to_known[] = { 0x48, 0xb8, 0,    0,    0,    0,    0,    0,    0,
					 0,    0x89, 0xf9, 0xf6, 0xc1, 0x01, 0x74, 0x02, 0xff,
					 0xc2, 0xd1, 0xe9, 0x75, 0xf5, 0xff, 0xe0 };

/* sub $8, %rsp; call *%rsi; add $8, %rsp; ret */
static const uint8_t trampoline[] = { 0x48, 0x83, 0xec, 0x08, 0xff, 0xd6,
				      0x48, 0x83, 0xc4, 0x08, 0xc3 };

static void generate(const uint8_t *code, size_t size, function *known)
{
	uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(page, code, size);
	if (known)
		memcpy(page + 2, &known, sizeof(known));
	memcpy(&generated, &page, sizeof(page));
}

__attribute__((noinline)) int weigh(int x)
{
	return x & 4 ? x * 3 : x + 1;
}

__attribute__((noinline)) int helper(int x)
{
	int sum = weigh(x);

	for (int i = 0; i < (x & 3); i++)
		sum += weigh(sum + i);
	return sum;
}

__attribute__((noinline)) int match(int x)
{
	int sum = generated(x);

	return sum + weigh(sum);
}

__attribute__((noinline)) int search(int x)
{
	int sum = weigh(x);

	if (x & 1)
		sum += generated(x + 1);
	return sum + weigh(sum);
}

__attribute__((noinline)) int line(int x)
{
	int sum = 0;

	for (int i = 0; i < 3; i++)
		sum += i == 1 ? search(x + i) : match(x + i);
	return sum + weigh(sum);
}

__attribute__((noinline)) int apply(function *f, int x)
{
	int sum = 0;

	for (int i = 0; i < 3; i++)
		sum += f(x + i);
	return sum + weigh(sum);
}

__attribute__((noinline)) int nest(int base)
{
	int calls = 0;

	__attribute__((noinline)) int nested(int x)
	{
		calls++;
		return weigh(x + base);
	}
	__attribute__((noinline)) int outer(int x)
	{
		return x & 1 ? apply(nested, x) : x + calls;
	}

	return apply(nested, base) + apply(outer, base) + outer(base);
}

int evaluate(int x);

__attribute__((noinline)) int call(int x)
{
	return ((int (*)(int, function *))generated)(x - 1, evaluate) + weigh(x);
}

__attribute__((noinline)) int evaluate(int x)
{
	static function *const volatile operations[] = { weigh, call, helper, call };
	int sum = 0;

	for (int i = 0; i < 4 && i <= x; i++)
		sum += operations[i](x - (i >> 1));
	return sum;
}

int main(int argc, char **argv)
{
	const char *form = argc > 1 ? argv[1] : "leaf";
	bool nested = !strcmp(form, "nested"), evaluates = !strcmp(form, "evaluate");
	int sum = 0;

	if (!strcmp(form, "closure"))
		generate(call_known, sizeof(call_known), helper);
	else if (!strcmp(form, "evaluate"))
		generate(trampoline, sizeof(trampoline), NULL);
	else if (!strcmp(form, "tail"))
		generate(jump_to_known, sizeof(jump_to_known), helper);
	else
		generate(count_bits, sizeof(count_bits), NULL);
	for (int i = 0; i < 20; i++)
		sum += nested ? nest(i) : evaluates ? evaluate(i % 6) : line(i * 7);
	return sum == 1;
}
