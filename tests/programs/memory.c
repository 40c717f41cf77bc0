/* SPDX-License-Identifier: MIT */
/*
 * Calls of serve(), a few of them slow for the cause that the first argument names.  The second
 * argument is a seed.  `ptsim --memory` has a cache and page faults.
 *
 *	chase	as many steps through a list, whose items are not in the cache: follow()
 *	touch	the first access to a page: fill_page()
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CALLS    150
#define SLOW     7 /* at most */
#define STEPS    40
#define PAGE     4096
#define LINE     64 /* bytes of a cache of 32 KiB */
#define STRIDE   (PAGE + 2 * LINE)
#define NOINLINE __attribute__((noinline))

static unsigned seed;
static volatile unsigned result;
static char *memory;
static volatile char other[32 * 1024];

static unsigned random_below(unsigned limit)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 16) % limit;
}

NOINLINE static void work(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		result = result * 31 + i;
}

/* All lists have the same length. */
static char **make_list(char *start, size_t stride)
{
	for (unsigned i = 0; i < STEPS; i++)
		*(char **)(start + i * stride) = i + 1 < STEPS ? start + (i + 1) * stride : NULL;
	return (char **)start;
}

NOINLINE static unsigned follow(char **item)
{
	unsigned steps = 0;

	for (; item; item = (char **)*item)
		steps++;
	return steps;
}

NOINLINE static void fill_page(char *page)
{
	*page = 1;
}

/* `slow`: number of the slow call, from 1; 0: it is a usual one. */
NOINLINE static void serve(bool chase, unsigned slow)
{
	work(10 + random_below(20));
	if (chase)
		result += follow((char **)(memory + (size_t)slow * STEPS * STRIDE));
	else
		fill_page(memory + (size_t)slow * PAGE);
	work(5);
}

int main(int argc, char **argv)
{
	bool chase = argc > 1 && strcmp(argv[1], "chase") == 0;
	unsigned slow = 0;

	seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	memory = mmap(NULL, (size_t)(SLOW + 1) * STEPS * STRIDE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (unsigned i = 0; chase && i <= SLOW; i++)
		make_list(memory + (size_t)i * STEPS * STRIDE, i ? STRIDE : sizeof(char *));
	for (unsigned i = 0; chase && i < sizeof(other); i += LINE)
		other[i] = 1; /* the lists leave the cache */
	for (unsigned i = 0; i < CALLS; i++) {
		bool rare = i > 20 && slow < SLOW && random_below(25) == 0;

		slow += rare;
		serve(chase, rare ? slow : 0);
	}
	printf("%u\n", result);
	return 0;
}
