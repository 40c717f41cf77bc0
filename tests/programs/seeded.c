/* SPDX-License-Identifier: MIT */
/* Branches by random bytes of the kernel or of the program's starter. */
#include <stdint.h>
#include <sys/auxv.h>
#include <unistd.h>

static volatile int taken;

__attribute__((noinline)) static void take(uint64_t bits)
{
	for (int i = 0; i < 64; i++)
		if (bits >> i & 1)
			taken++;
}

int main(void)
{
	const uint64_t *random = (const uint64_t *)getauxval(AT_RANDOM);

	take(random[0]);
	take(random[1]);
	take((uintptr_t)&random);
	take((uintptr_t)main);
	for (char **variable = environ; *variable; variable++)
		for (const char *at = *variable; *at; at++)
			take((uint64_t)*at);
	return 0;
}
