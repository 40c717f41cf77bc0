/* SPDX-License-Identifier: MIT */
/* Keeps the symbols that hold at the current time in a tree. */
#include "src/resolve/kernel_names.h"

#include <search.h>
#include <stdlib.h>

#include "base/alloc.h"

/* Ranges that overlap are "equal", so that tfind() finds one of them. */
static int compare_ranges(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->start + a->size <= b->start)
		return -1;
	return a->start >= b->start + b->size;
}

static struct symbol *find_overlapping(const struct kernel_names *kernel,
				       const struct symbol *range)
{
	void *node = tfind(range, &kernel->tree, compare_ranges);

	return node ? *(struct symbol **)node : NULL;
}

static void insert_symbol(struct kernel_names *kernel, struct symbol *symbol)
{
	if (!tsearch(symbol, &kernel->tree, compare_ranges))
		alloc_fail(sizeof(*symbol));
}

void kernel_names_init(struct kernel_names *kernel, const struct kernel_symbol *records,
		       size_t count, struct name_table *names)
{
	*kernel = (struct kernel_names){ .records = records, .count = count, .begin = UINT64_MAX };
	kernel->symbols = alloc_zeroed(count, sizeof(*kernel->symbols));
	for (size_t i = 0; i < count; i++) {
		struct symbol *symbol = &kernel->symbols[i];

		symbol->start = records[i].begin;
		symbol->size = records[i].end - records[i].begin;
		symbol->name = symbol->linkage = name_intern_text(names, records[i].name);
		symbol->binding = SYMBOL_GLOBAL;
		if (records[i].begin < kernel->begin)
			kernel->begin = records[i].begin;
		if (records[i].end > kernel->end)
			kernel->end = records[i].end;
		/* Also a symbol that is unregistered held before, if nothing registered it. */
		if (!find_overlapping(kernel, symbol))
			insert_symbol(kernel, symbol);
	}
}

static void keep_symbol(void *symbol)
{
	(void)symbol; /* it is an element of the array */
}

void kernel_names_release(struct kernel_names *kernel)
{
	tdestroy(kernel->tree, keep_symbol);
	free(kernel->symbols);
	*kernel = (struct kernel_names){ 0 };
}

void kernel_names_advance(struct kernel_names *kernel, uint64_t time)
{
	for (; kernel->next < kernel->count && kernel->records[kernel->next].time <= time;
	     kernel->next++) {
		struct symbol *symbol = &kernel->symbols[kernel->next], *old;
		bool gone = kernel->records[kernel->next].gone;

		while ((old = find_overlapping(kernel, symbol)) &&
		       (!gone || old->start == symbol->start)) {
			tdelete(old, &kernel->tree, compare_ranges);
			if (gone)
				break;
		}
		if (!gone)
			insert_symbol(kernel, symbol);
	}
}

const struct symbol *kernel_names_find(const struct kernel_names *kernel, uint64_t ip)
{
	struct symbol here = { .start = ip, .size = 1 };

	return kernel->tree && ip < UINT64_MAX ? find_overlapping(kernel, &here) : NULL;
}
