/* SPDX-License-Identifier: MIT */
/*
 * Looks like an OCaml 5 program to runtime events: functions have the runtime's names, one call
 * reads the time for each message of a ring, and two domains run with garbage collections.  Prints
 * the messages as `RING KIND ID VALUE`, each ring's in its order.
 *
 * The recorder's clock differs from this machine's: the test gives each message the time at which
 * the recorder saw caml_time_counter called.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define MESSAGES_MAX 1000

enum kind { KIND_LIFECYCLE, KIND_BEGIN, KIND_END, KIND_COUNTER, KIND_USER };

struct message {
	enum kind kind;
	unsigned id;
	unsigned long value;
};

static struct message rings[2][MESSAGES_MAX];
static unsigned used[2];
static __thread unsigned domain;
static volatile unsigned sink;

__attribute__((noinline)) uint64_t caml_time_counter(void)
{
	return sink++;
}

__attribute__((noinline)) static void write_to_ring(enum kind kind, unsigned id,
						    unsigned long value)
{
	caml_time_counter();
	rings[domain][used[domain]++] = (struct message){ kind, id, value };
}

__attribute__((noinline)) void caml_ev_begin(unsigned phase)
{
	write_to_ring(KIND_BEGIN, phase, 0);
}

__attribute__((noinline)) void caml_ev_end(unsigned phase)
{
	write_to_ring(KIND_END, phase, 0);
}

__attribute__((noinline)) void caml_ev_counter(unsigned counter, unsigned long value)
{
	write_to_ring(KIND_COUNTER, counter, value);
}

__attribute__((noinline)) void caml_ev_lifecycle(unsigned event, unsigned long value)
{
	write_to_ring(KIND_LIFECYCLE, event, value);
}

__attribute__((noinline)) void caml_runtime_events_user_write(unsigned event, unsigned long value)
{
	write_to_ring(KIND_USER, event, value);
}

__attribute__((noinline)) static void work(unsigned amount)
{
	for (unsigned i = 0; i < amount; i++)
		sink += i * i;
}

/* Phases of OCaml 5.3: minor is 11, its local roots 12. */
__attribute__((noinline)) static void minor_collection(unsigned amount)
{
	caml_ev_begin(11);
	caml_ev_begin(12);
	work(amount % 37);
	caml_ev_end(12);
	caml_ev_counter(4, amount * 8UL);
	caml_ev_counter(5, amount * 16UL);
	caml_ev_end(11);
}

static void *run_domain(void *argument)
{
	unsigned state = 7;

	domain = argument ? 1 : 0;
	caml_ev_lifecycle(domain ? 6 : 0, 4242);
	for (unsigned i = 0; i < 30; i++) {
		state = state * 1664525 + 1013904223 + domain;
		work((state >> 20) % 200);
		if (state >> 30)
			minor_collection(state >> 22);
		else
			caml_runtime_events_user_write(3, i);
	}
	caml_ev_lifecycle(domain ? 7 : 1, 4242);
	return NULL;
}

int main(void)
{
	static const char *const kinds[] = { "lifecycle", "begin", "end", "counter", "user" };
	pthread_t other;

	if (pthread_create(&other, NULL, run_domain, &other))
		return 1;
	run_domain(NULL);
	pthread_join(other, NULL);
	for (unsigned ring = 0; ring < 2; ring++)
		for (unsigned i = 0; i < used[ring]; i++)
			printf("%u %s %u %lu\n", ring, kinds[rings[ring][i].kind],
			       rings[ring][i].id, rings[ring][i].value);
	return 0;
}
