/* SPDX-License-Identifier: MIT */
/*
 * A JIT compiler that describes its code to perf: jitdump DIRECTORY writes
 * DIRECTORY/jit-PID.dump (tools/perf/Documentation/jitdump-specification.txt)
 * and calls jit_outer 20 times, which calls jit_inner. With a second argument, it also calls
 * code 20 times of which the dump knows nothing, in a page of its own and beside jit_outer.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct header {
	uint32_t magic, version, size, machine, padding, pid;
	uint64_t time, flags;
};

struct load {
	uint32_t type, size;
	uint64_t time;
	uint32_t pid, tid;
	uint64_t vma, address, code_size, index;
};

/* Write a function and its record. */
static void emit(FILE *dump, uint8_t *code, const void *bytes, size_t size, const char *name)
{
	static uint64_t index;
	struct load load = { .size = (uint32_t)(sizeof(load) + strlen(name) + 1 + size),
			     .pid = (uint32_t)getpid(),
			     .tid = (uint32_t)getpid(),
			     .vma = (uintptr_t)code,
			     .address = (uintptr_t)code,
			     .code_size = size,
			     .index = index++ };

	memcpy(code, bytes, size);
	fwrite(&load, sizeof(load), 1, dump);
	fwrite(name, strlen(name) + 1, 1, dump);
	fwrite(code, size, 1, dump);
}

/* Describe the lines of code that is written next. */
static void describe(FILE *dump, const uint8_t *code)
{
	const struct {
		uint64_t address;
		uint32_t line, discriminator;
		char file[8];
	} rows[] = { { (uintptr_t)code, 7, 0, "made.js" } };
	const struct {
		uint32_t type, size;
		uint64_t time, address, count;
	} record = { 2, sizeof(record) + sizeof(rows), 0, (uintptr_t)code, 1 };

	fwrite(&record, sizeof(record), 1, dump);
	fwrite(rows, sizeof(rows), 1, dump);
}

int main(int argc, char **argv)
{
	/* lea 1(%rdi), %eax; ret */
	static const uint8_t inner[] = { 0x8d, 0x47, 1, 0xc3 };
	/* call inner; add %eax, %eax; ret: inner is 64 bytes before */
	static const uint8_t outer[] = { 0xe8, 0xbb, 0xff, 0xff, 0xff, 0x01, 0xc0, 0xc3 };
	struct header header = { 0x4a695444, 1, sizeof(header), 62, 0, (uint32_t)getpid(), 0, 0 };
	uint8_t *code =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *other = (uint8_t *)mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) +
			 128;
	int (*function)(int);
	char path[4096];
	int sum = 0;
	FILE *dump;

	if (argc < 2)
		return 64;
	snprintf(path, sizeof(path), "%s/jit-%d.dump", argv[1], getpid());
	dump = fopen(path, "w+");
	if (!dump)
		return 1;
	fwrite(&header, sizeof(header), 1, dump);
	fflush(dump);
	/* perf finds the file by this mapping. */
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0);
	emit(dump, code, inner, sizeof(inner), "jit_inner");
	describe(dump, code + 64);
	emit(dump, code + 64, outer, sizeof(outer), "jit_outer");
	fclose(dump);
	memcpy(code + 128, inner, sizeof(inner));
	memcpy(other, outer, sizeof(outer));
	memcpy(other - 64, inner, sizeof(inner));
	mprotect(other - 128, 4096, PROT_READ | PROT_EXEC);
	mprotect(code, 4096, PROT_READ | PROT_EXEC);
	function = (int (*)(int))(uintptr_t)(code + 64);
	for (int n = 0; n < 20; n++)
		sum += function(n);
	for (int n = 0; argc == 3 && n < 20; n++)
		sum += ((int (*)(int))(uintptr_t)other)(n) +
		       ((int (*)(int))(uintptr_t)(code + 128))(n);
	printf("%d\n", sum);
	return 0;
}
