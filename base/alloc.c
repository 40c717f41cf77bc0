/* SPDX-License-Identifier: MIT */
/* Allocation that never returns NULL. */
#include "base/alloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

void (*alloc_fail_hook)(void);

void alloc_fail(size_t size)
{
	if (alloc_fail_hook)
		alloc_fail_hook();
	if (size)
		fprintf(stderr, "ptrace2ftf: out of memory: cannot allocate %zu bytes\n", size);
	else
		fputs("ptrace2ftf: out of memory\n", stderr);
	exit(EXIT_FAILURE);
}

void *alloc_bytes(size_t size)
{
	void *memory = malloc(size ? size : 1);

	if (!memory)
		alloc_fail(size);
	return memory;
}

void alloc_check(void)
{
	if (errno == ENOMEM)
		alloc_fail(0);
}

void *alloc_checked(void *result)
{
	if (!result)
		alloc_check();
	return result;
}

char *alloc_text(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		alloc_fail(0);
	va_end(args);
	return text;
}

/* glibc's fclose() succeeds even if memory for the whole text is lacking. */
void alloc_close_text(FILE *stream, char *const *text)
{
	if (fclose(stream) != 0 || !*text)
		alloc_fail(0);
}

void *alloc_zeroed(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size ? size : 1);

	if (!memory)
		alloc_fail(count * size);
	return memory;
}

void *alloc_more(void *array, size_t *room, size_t need, size_t size)
{
	size_t wanted = *room ? *room : 16;

	while (wanted < need)
		wanted = wanted > SIZE_MAX / 2 ? need : wanted * 2;
	array = reallocarray(array, wanted, size);
	if (!array)
		alloc_fail(need);
	*room = wanted;
	return array;
}
