/* SPDX-License-Identifier: MIT */
/*
 * Calls of serve(), a few of them slow for the cause that the first argument names, which is in a
 * loop or another thread.  The second argument is a seed, the third another number of calls.
 *
 *	chain	a key at the end of a long list: find_key() goes round more often
 *	beside	the same, and another thread computes meanwhile
 *	inline	the same in an inlined function: scan_items()
 *	init	the first call fills a table: fill_table()
 *	hold	another thread, in dump_stats(), holds a lock: it calls format_stats()
 *	queue	an empty queue: the producer, in produce(), makes an item by make_item()
 *	pipe	an empty pipe: the writer is in compress_block()
 *	relay	an empty queue: the producer, in refresh(), waits for a lock of a third thread,
 *which is in sort_store() of rebuild()
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALLS    1000
#define NOINLINE __attribute__((noinline))

static const char *cause;
static bool relays; /* the queue of `relay` */
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

NOINLINE static void work(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		result = result * 31 + i;
}

/* ---- chain, inline, init ------------------------------------------------- */

static struct item {
	struct item *next;
	unsigned key;
} list[400];

/* The loop of find_key() begins in it. */
static inline __attribute__((always_inline)) bool is_key(const struct item *item, unsigned key)
{
	for (unsigned bit = 1; bit; bit <<= 16)
		if ((item->key ^ key) & (bit * 0xffff))
			return false;
	return true;
}

NOINLINE static unsigned find_key(unsigned key)
{
	struct item *item = list;

	while (!is_key(item, key))
		item = item->next;
	return item->key;
}

static inline __attribute__((always_inline)) unsigned scan_items(unsigned count)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += list[i].key ^ sum << 3;
	return sum;
}

static unsigned table[600];

NOINLINE static void fill_table(void)
{
	for (unsigned i = 0; i < 600; i++)
		table[i] = i * i;
}

/* ---- hold, queue, pipe: the other thread --------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t asked, held, waiting, items;
static int ends[2];
static volatile bool done;

NOINLINE static void format_stats(void)
{
	work(4000);
}

NOINLINE static void dump_stats(void)
{
	pthread_mutex_lock(&lock);
	sem_post(&held);
	sem_wait(&waiting);
	format_stats();
	pthread_mutex_unlock(&lock);
}

NOINLINE static void make_item(void)
{
	work(4001);
}

NOINLINE static void produce(void)
{
	make_item();
	sem_post(&items);
}

NOINLINE static void compress_block(void)
{
	work(4002);
}

NOINLINE static void send_block(void)
{
	compress_block();
	if (write(ends[1], "x", 1) != 1)
		_exit(1);
}

/* ---- relay: a third thread ----------------------------------------------- */

static pthread_mutex_t store = PTHREAD_MUTEX_INITIALIZER;
static sem_t called, locked;

NOINLINE static void sort_store(void)
{
	work(8003);
}

NOINLINE static void rebuild(void)
{
	pthread_mutex_lock(&store);
	sem_post(&locked);
	sem_wait(&waiting);
	sort_store();
	pthread_mutex_unlock(&store);
}

NOINLINE static void refresh(void)
{
	sem_post(&called);
	sem_wait(&locked);
	sem_post(&waiting);
	pthread_mutex_lock(&store);
	pthread_mutex_unlock(&store);
	sem_post(&items);
}

static void *third_thread(void *argument)
{
	while (sem_wait(&called) == 0 && !done)
		rebuild();
	return argument;
}

static void *other_thread(void *argument)
{
	while (sem_wait(&asked) == 0 && !done) {
		if (is("hold"))
			dump_stats();
		if (is("queue") && relays)
			refresh();
		else if (is("queue"))
			produce();
		if (is("pipe"))
			send_block();
		if (is("beside"))
			work(300);
	}
	return argument;
}

/* ---- All ----------------------------------------------------------------- */

NOINLINE static void use_lock(bool rare)
{
	if (rare)
		sem_post(&waiting);
	pthread_mutex_lock(&lock);
	result++;
	pthread_mutex_unlock(&lock);
}

NOINLINE static void take_item(void)
{
	sem_wait(&items);
}

NOINLINE static void read_block(void)
{
	char byte;

	if (read(ends[0], &byte, 1) != 1)
		_exit(1);
}

NOINLINE static void serve(unsigned number, bool rare)
{
	work(10 + random_below(20));
	if (is("chain") || is("beside"))
		result += find_key(rare ? 390 : random_below(8));
	if (is("inline"))
		result += scan_items(rare ? 380 : 5 + random_below(5));
	if (is("init") && !table[599])
		fill_table();
	if (is("hold"))
		use_lock(rare);
	if (is("queue"))
		take_item();
	if (is("pipe"))
		read_block();
	result += number;
}

/* The other thread begins before a slow call; for others, all is ready. */
static void prepare(bool rare)
{
	if (rare && (is("hold") || is("queue") || is("pipe") || is("beside")))
		sem_post(&asked);
	if (rare && is("hold"))
		sem_wait(&held);
	if (!rare && is("queue"))
		sem_post(&items);
	if (!rare && is("pipe") && write(ends[1], "x", 1) != 1)
		_exit(1);
}

int main(int argc, char **argv)
{
	pthread_t other, third;
	unsigned calls;

	cause = argc > 1 ? argv[1] : "";
	relays = is("relay");
	cause = relays ? "queue" : cause;
	seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	calls = argc > 3 ? (unsigned)atoi(argv[3]) : CALLS;
	for (unsigned i = 0; i < 400; i++)
		list[i] = (struct item){ &list[(i + 1) % 400], i };
	if (pipe(ends) != 0 || pthread_create(&other, NULL, other_thread, NULL) != 0 ||
	    (relays && pthread_create(&third, NULL, third_thread, NULL) != 0))
		return 1;
	for (unsigned i = 0; i < calls; i++) {
		bool rare = i > 20 && random_below(150) == 0;

		prepare(rare);
		serve(i, rare);
	}
	done = true;
	sem_post(&asked);
	pthread_join(other, NULL);
	sem_post(&called);
	if (relays)
		pthread_join(third, NULL);
	printf("%u\n", result);
	return 0;
}
