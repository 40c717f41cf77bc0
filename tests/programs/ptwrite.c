/* SPDX-License-Identifier: MIT */
/*
 * Values written by the PTWRITE that perf emulates: a jump over a signature, then a conditional
 * jump for each bit, to the next instruction in either case (perf-intel-pt(1), "EMULATED PTWRITE").
 * Also from a signal handler.  Prints the values.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>

#define VALUES 20

static uint64_t written[2 * VALUES];
static volatile int count;

void perf_emulate_ptwrite(uint64_t value);

__asm__(".text\n"
	".type perf_emulate_ptwrite, @function\n"
	"perf_emulate_ptwrite:\n"
	"	jmp 1f\n"
	"	ud2\n"
	"	.ascii \"perf,ptwrite  \"\n"
	"1:	mov %rdi, %rax\n"
	"	.rept 64\n"
	"	add %rax, %rax\n"
	"	jc 2f\n"
	"2:\n"
	"	.endr\n"
	"	ret\n"
	".size perf_emulate_ptwrite, . - perf_emulate_ptwrite\n");

__attribute__((noinline)) static void note(uint64_t value)
{
	written[count++] = value;
	perf_emulate_ptwrite(value);
}

static void handle(int number)
{
	note(UINT64_C(0x5160) << 16 | (unsigned)number);
}

int main(void)
{
	uint64_t value = UINT64_C(0x123456789abcdef0);

	signal(SIGUSR1, handle);
	for (int i = 0; i < VALUES; i++) {
		note(value);
		value = value * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		if (i % 4 == 0)
			raise(SIGUSR1);
	}
	note(0);
	note(UINT64_MAX);
	for (int i = 0; i < count; i++)
		printf("value=0x%llx\n", (unsigned long long)written[i]);
	return 0;
}
