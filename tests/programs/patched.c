/* SPDX-License-Identifier: MIT */
/*
 * A program that changes its own code in memory, as tracers like XRay do: patched() is called 10
 * times with a NOP, then 20 times with a call of hook() instead.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int patched(int n);
extern uint8_t sled[];

__asm__(".pushsection .text\n"
	".balign 4096\n"
	".globl patched, sled\n"
	".type patched, @function\n"
	"patched: lea 1(%rdi), %eax\n"
	"sled: .byte 0x0f, 0x1f, 0x44, 0, 0\n"
	"ret\n"
	".size patched, . - patched\n"
	".balign 4096\n"
	".popsection\n");

__attribute__((noinline)) int hook(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 2;
}

int main(void)
{
	uint8_t *page = (uint8_t *)((uintptr_t)sled & ~(uintptr_t)4095), call[5] = { 0xe8 };
	int32_t distance = (int32_t)((uintptr_t)hook - (uintptr_t)sled - sizeof(call));
	int sum = 0;

	for (int n = 0; n < 10; n++)
		sum += patched(n);
	memcpy(call + 1, &distance, sizeof(distance));
	if (mprotect(page, 4096, PROT_READ | PROT_WRITE) != 0)
		return 1;
	memcpy(sled, call, sizeof(call));
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0)
		return 1;
	for (int n = 0; n < 20; n++)
		sum += patched(n);
	printf("%d\n", sum);
	return 0;
}
