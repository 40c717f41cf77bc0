/* SPDX-License-Identifier: MIT */
/* Code generated at run time, rewritten once, and named in /tmp/perf-PID.map. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* lea (value)(%rdi), %eax; ret */
static void emit(uint8_t *code, uint8_t value)
{
	const uint8_t bytes[] = { 0x8d, 0x47, value, 0xc3 };

	memcpy(code, bytes, sizeof(bytes));
}

static void name(void *code, const char *text)
{
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "a");
	if (!map)
		return;
	fprintf(map, "%lx 4 %s\n", (unsigned long)code, text);
	fclose(map);
}

int main(void)
{
	uint8_t *code =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int (*function)(int);
	char path[64];
	int sum = 0;

	*(void **)&function = code;
	for (uint8_t i = 1; i <= 2; i++) {
		mprotect(code, 4096, PROT_READ | PROT_WRITE);
		emit(code, i);
		mprotect(code, 4096, PROT_READ | PROT_EXEC);
		name(code, i == 1 ? "jit_first" : "jit_second");
		for (int n = 0; n < 50; n++)
			sum += function(n);
	}
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path);
	printf("%d\n", sum);
	return 0;
}
