/* SPDX-License-Identifier: MIT */
/*
 * A program that prints its own functions, each as a line FILE-OFFSET NAME DISTANCE LINE with
 * hexadecimal numbers but LINE, which is 0 for a place without a source line.  The addresses come
 * from the running code and the kernel's list of mappings, not from the ELF file's tables.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/*
 * Each on one line: for some compilers a function starts on the line of its name, for others on
 * that of its brace.
 */
#define LINE_OF(function) enum { function##_line = __LINE__ };

/* clang-format off */
LINE_OF(sample_global) int sample_global(int x) { return x + 1; }

LINE_OF(sample_static) static __attribute__((used)) int sample_static(int x) { return x + 2; }
/* clang-format on */

int sample_strong(int x)
{
	return x + 3;
}

/* Two names of one function: the strong one is shown. */
int sample_a_weak_alias(int x) __attribute__((weak, alias("sample_strong")));

/*
 * Symbols that compilers do not make: one inside another, one without a size, and one called
 * through the linkage table.
 */
__asm__(".text\n"
	".type sample_outer, @function\n"
	"sample_outer: nop; nop\n"
	".type sample_inner, @function\n"
	"sample_inner: nop; nop\n"
	".size sample_inner, . - sample_inner\n"
	"nop; ret\n"
	".size sample_outer, . - sample_outer\n"
	"sample_sizeless: nop; ret\n"
	".type sample_call, @function\n"
	"sample_call: call getpid@PLT; ret\n"
	".size sample_call, . - sample_call\n");

extern const uint8_t sample_outer[], sample_inner[], sample_sizeless[], sample_call[];

/* Returns the file offset of a mapped address, by /proc/self/maps. */
static uint64_t file_offset(uintptr_t address)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	uint64_t begin, end, offset, found = 0;
	char line[4096];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &begin, &end, &offset) !=
		    3)
			continue;
		if (address >= begin && address < end)
			found = address - begin + offset;
	}
	if (maps)
		fclose(maps);
	return found;
}

static void report(const void *address, const char *name, unsigned distance, int line)
{
	printf("%" PRIx64 " %s %x %d\n", file_offset((uintptr_t)address), name, distance, line);
}

int main(void)
{
	int32_t distance_to_stub;

	report((const void *)sample_global, "sample_global", 0, sample_global_line);
	report((const uint8_t *)sample_global + 1, "sample_global", 1, sample_global_line);
	report((const void *)sample_static, "sample_static", 0, sample_static_line);
	report((const void *)sample_a_weak_alias, "sample_strong", 0, 0);
	report(sample_outer + 1, "sample_outer", 1, 0);
	report(sample_inner, "sample_inner", 0, 0);
	report(sample_inner + 1, "sample_inner", 1, 0);
	report(sample_inner + 2, "sample_outer", 4, 0);
	report(sample_sizeless + 1, "sample_sizeless", 1, 0);
	report(sample_call, "sample_call", 0, 0);
	memcpy(&distance_to_stub, sample_call + 1, sizeof(distance_to_stub));
	report(sample_call + 5 + distance_to_stub, "getpid@plt", 0, 0);
	return 0;
}
