/* SPDX-License-Identifier: MIT */
/*
 * Two thousand calls of serve(), a few of them slow for the cause that the first argument names.
 * The second argument is a seed, the third another number of calls.
 *
 *	rehash	a hash table grows: rehash()
 *	gc	the heap is full: collect()
 *	jump	bad input: longjmp() to the handler, which calls recover()
 *	lazy	a kind's first use builds its tables: build_tables()
 *	compact	a queue moves its items to the front: compact()
 *	deep	a degenerate list: descend() calls itself
 *	rounds	a longer message: more rounds in digest()
 *	filter	a rarely used function of a table: slow_filter()
 *	spill	a buffer is written: spill(), in write()
 *	twice	a conflict: attempt() is called again and again
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALLS    2000
#define NOINLINE __attribute__((noinline))

static const char *cause;
static unsigned seed;
static volatile unsigned result;

static unsigned random_below(unsigned limit)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 16) % limit;
}

static bool is(const char *name)
{
	return strcmp(cause, name) == 0;
}

NOINLINE static unsigned digest(const unsigned char *text, unsigned length)
{
	unsigned sum = 1;

	for (unsigned i = 0; i < length; i++)
		sum = sum * 31 + text[i % 64];
	return sum;
}

/* ---- rehash -------------------------------------------------------------- */

static unsigned *table, size = 64, used;

NOINLINE static void put(unsigned *to, unsigned slots, unsigned key)
{
	unsigned at = key * 2654435761u % slots;

	while (to[at] && to[at] != key)
		at = (at + 1) % slots;
	to[at] = key;
}

NOINLINE static void rehash(void)
{
	unsigned *larger = calloc(2 * size, sizeof(*larger));

	for (unsigned i = 0; i < size; i++)
		if (table[i])
			put(larger, 2 * size, table[i]);
	free(table);
	table = larger;
	size *= 2;
}

NOINLINE static void insert(unsigned key)
{
	if (!table)
		table = calloc(size, sizeof(*table));
	if (++used * 2 > size)
		rehash();
	put(table, size, key);
}

/* ---- gc ------------------------------------------------------------------ */

static struct object {
	struct object *next;
	unsigned marked;
} heap[512], *roots[8];
static unsigned next_free;

NOINLINE static void mark(struct object *object)
{
	for (; object && !object->marked; object = object->next)
		object->marked = 1;
}

NOINLINE static void sweep(void)
{
	for (unsigned i = 0; i < 512; i++)
		heap[i].marked = 0;
}

NOINLINE static void collect(void)
{
	for (unsigned i = 0; i < 8; i++)
		mark(roots[i]);
	sweep();
	next_free = 0;
}

NOINLINE static void allocate(void)
{
	if (next_free == 512)
		collect();
	heap[next_free].next =
		roots[next_free % 8] == &heap[next_free] ? NULL : roots[next_free % 8];
	if (heap[next_free].next && next_free < 16)
		heap[next_free].next = NULL;
	roots[next_free % 8] = &heap[next_free];
	next_free++;
}

/* ---- jump ---------------------------------------------------------------- */

static jmp_buf handler;
static char message[256];

NOINLINE static void recover(unsigned code)
{
	for (unsigned i = 0; i < 20; i++)
		snprintf(message, sizeof(message), "line %u: error %u", i, code);
}

NOINLINE static void parse(unsigned value)
{
	if (value % 200 == 7)
		longjmp(handler, (int)value);
	result += digest((const unsigned char *)message, 20);
}

NOINLINE static void parse_safely(unsigned value)
{
	if (setjmp(handler))
		recover(value);
	else
		parse(value);
}

/* ---- lazy, compact, deep ------------------------------------------------- */

static unsigned tables[8][256], built[8], items[4096], first, last, links[400];

NOINLINE static void build_tables(unsigned kind)
{
	for (unsigned i = 0; i < 256; i++)
		for (unsigned bit = tables[kind][i] = i; bit; bit >>= 1)
			tables[kind][i] = tables[kind][i] * 3 + kind;
	built[kind] = 1;
}

NOINLINE static void encode(unsigned kind)
{
	if (!built[kind])
		build_tables(kind);
	for (unsigned i = 0; i < 40; i++)
		result += tables[kind][i];
}

NOINLINE static void compact(void)
{
	for (unsigned i = first; i < last; i++)
		items[i - first] = items[i];
	last -= first;
	first = 0;
}

NOINLINE static void push(unsigned value)
{
	if (last == 600)
		compact();
	items[last++] = value;
	if (last - first > 300)
		first++;
}

NOINLINE static unsigned descend(unsigned at, unsigned left)
{
	return left ? descend(links[at], left - 1) + 1 : at;
}

/* ---- filter, spill, twice ------------------------------------------------ */

static char buffer[4096];
static unsigned filled;
static int null_file;

NOINLINE static void fast_filter(void)
{
	result += digest((const unsigned char *)message, 10);
}

NOINLINE static void slow_filter(void)
{
	for (unsigned i = 0; i < 30; i++)
		result += digest((const unsigned char *)message, 30);
}

static void (*volatile filters[2])(void) = { fast_filter, slow_filter };

NOINLINE static void spill(void)
{
	for (unsigned i = 0; i < filled; i += 1024)
		result += (unsigned)write(null_file, buffer + i, 1024);
	filled = 0;
}

NOINLINE static void append(void)
{
	filled += 20;
	if (filled > 4000)
		spill();
}

NOINLINE static unsigned attempt(unsigned left)
{
	result += digest((const unsigned char *)message, 25);
	return left;
}

/* ---- All ----------------------------------------------------------------- */

NOINLINE static void serve(unsigned number)
{
	bool rare = random_below(150) == 0;

	result += digest((const unsigned char *)message,
			 10 + random_below(20) + (is("rounds") && rare ? 1500 : 0));
	if (is("rehash"))
		insert(number + 1);
	if (is("gc"))
		for (unsigned i = 0; i < 3; i++)
			allocate();
	if (is("jump"))
		parse_safely(random_below(1000));
	if (is("lazy"))
		encode(rare ? random_below(8) : 0);
	if (is("compact"))
		push(number);
	if (is("deep"))
		result += descend(0, rare ? 300 : 4);
	if (is("filter"))
		filters[rare]();
	if (is("spill"))
		append();
	for (unsigned left = is("twice") ? rare ? 40 : 1 : 0; left; left--)
		attempt(left);
}

int main(int argc, char **argv)
{
	unsigned calls;

	cause = argc > 1 ? argv[1] : "";
	seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	calls = argc > 3 ? (unsigned)atoi(argv[3]) : CALLS;
	null_file = open("/dev/null", O_WRONLY);
	for (unsigned i = 0; i < 400; i++)
		links[i] = (i + 1) % 400;
	for (unsigned i = 0; i < calls; i++)
		serve(i);
	printf("%u\n", result);
	return 0;
}
