/* SPDX-License-Identifier: MIT */
/*
 * Code generated at run time, with instructions and functions across multiples of 64 KiB, where
 * `ptrace2ftf record` ends segments of saved code.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define SEGMENT UINT64_C(0x10000)
#define ROOM    (4 * SEGMENT)

/* Functions of argument + 1 that begin 6 bytes before `seam`. */
static const uint8_t adds[] = { 0x89, 0xf8, 0x90, 0x90, 0x90, 0x83, 0xc0, 0x01, 0xc3 };
static const uint8_t jumps[] = { 0x8d, 0x47, 0x01, 0x90, 0xeb, 0x01, 0xcc, 0xc3 };
static const uint8_t calls[] = { 0x90, 0x90, 0xe8, 0x01, 0, 0, 0, 0xc3, 0x8d, 0x47, 0x01, 0xc3 };

int main(void)
{
	uint8_t *room =
		mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *seam = room + SEGMENT + 0x2000 - (((uintptr_t)room + 0x2000) & (SEGMENT - 1));
	int (*function)(int), sum = 0;

	memset(room, 0x90, ROOM);
	memcpy(seam - 6, adds, sizeof(adds));
	memcpy(seam + SEGMENT - 6, calls, sizeof(calls));
	memcpy(seam - 0x1000 - 5, jumps, sizeof(jumps));
	mprotect(room, ROOM, PROT_READ | PROT_EXEC);
	for (int n = 0; n < 50; n++) {
		uint8_t *entries[] = { seam - 6, seam + SEGMENT - 6, seam - 0x1000 - 5 };

		*(void **)&function = entries[n % 3];
		sum += function(n);
	}
	printf("%d\n", sum);
	return 0;
}
