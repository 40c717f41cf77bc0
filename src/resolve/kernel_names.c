/* SPDX-License-Identifier: MIT */
#include "src/resolve/kernel_names.h"

#include <search.h>
#include <stdlib.h>

#include "base/alloc.h"

/* Order of ranges that do not overlap; ranges that do are "equal", so that tfind() finds one. */
static int compare(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->start + a->size <= b->start)
		return -1;
	return a->start >= b->start + b->size;
}

static struct symbol *overlapping(const struct kernel_names *kernel, const struct symbol *range)
{
	void *node = tfind(range, &kernel->tree, compare);

	return node ? *(struct symbol **)node : NULL;
}

static void insert(struct kernel_names *kernel, struct symbol *symbol)
{
	if (!tsearch(symbol, &kernel->tree, compare))
		alloc_fail(sizeof(*symbol));
}

static void come(struct kernel_names *kernel, struct symbol *symbol)
{
	struct symbol *old;

	while ((old = overlapping(kernel, symbol)))
		tdelete(old, &kernel->tree, compare);
	insert(kernel, symbol);
}

static void go(struct kernel_names *kernel, const struct symbol *symbol)
{
	struct symbol *old = overlapping(kernel, symbol);

	if (old && old->start == symbol->start)
		tdelete(old, &kernel->tree, compare);
}

void kernel_names_init(struct kernel_names *kernel, const struct kernel_symbol *told, size_t count,
		       struct name_table *names)
{
	*kernel = (struct kernel_names){ .told = told, .count = count, .begin = UINT64_MAX };
	kernel->symbols = alloc_zeroed(count, sizeof(*kernel->symbols));
	for (size_t i = 0; i < count; i++) {
		struct symbol *symbol = &kernel->symbols[i];

		symbol->start = told[i].begin;
		symbol->size = told[i].end - told[i].begin;
		symbol->name = symbol->linkage = name_intern_text(names, told[i].name);
		symbol->binding = SYMBOL_GLOBAL;
		if (told[i].begin < kernel->begin)
			kernel->begin = told[i].begin;
		if (told[i].end > kernel->end)
			kernel->end = told[i].end;
		/* Also one that goes was there before, if it was never told to come. */
		if (!overlapping(kernel, symbol))
			insert(kernel, symbol);
	}
}

static void keep(void *symbol)
{
	(void)symbol; /* lives in the array */
}

void kernel_names_release(struct kernel_names *kernel)
{
	tdestroy(kernel->tree, keep);
	free(kernel->symbols);
	*kernel = (struct kernel_names){ 0 };
}

void kernel_names_advance(struct kernel_names *kernel, uint64_t time)
{
	for (; kernel->next < kernel->count && kernel->told[kernel->next].time <= time;
	     kernel->next++) {
		if (kernel->told[kernel->next].gone)
			go(kernel, &kernel->symbols[kernel->next]);
		else
			come(kernel, &kernel->symbols[kernel->next]);
	}
}

const struct symbol *kernel_names_find(const struct kernel_names *kernel, uint64_t ip)
{
	struct symbol here = { .start = ip, .size = 1 };

	return kernel->tree && ip < UINT64_MAX ? overlapping(kernel, &here) : NULL;
}
