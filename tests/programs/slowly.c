/* SPDX-License-Identifier: MIT */
/*
 * slowly CALLS EVERY [MODE...]: call request() CALLS times, of which each EVERYth call is slow.
 *
 * Modes: "jump": some calls are left by longjmp(), also inner ones into a slow call; "nest":
 * request() calls itself twice; "thread": a new thread for each 50 calls; "child": in a child
 * process; "line": after a line on standard input.  At the end it prints "N calls, M slow by its
 * own clock".
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ns: the bound of the test. */
#define BOUND 20000

static volatile int work;
static jmp_buf out, inside;
static long calls, slow, number, total, every;
static int jumps, nests;

__attribute__((noinline)) static void usual(void)
{
	work++;
}

/* Some 60 us. */
__attribute__((noinline)) static void spin(void)
{
	for (int i = 0; i < 100000; i++)
		work++;
}

__attribute__((noinline)) static void answer(void)
{
	work--;
}

__attribute__((noinline)) static void request(int level, int is_slow)
{
	usual();
	if (level > 0)
		request(level - 1, 0);
	if (jumps && number % 7 == 3)
		longjmp(out, 1);
	if (is_slow)
		spin();
	if (is_slow && jumps && !setjmp(inside))
		request(-1, 0);
	if (level < 0)
		longjmp(inside, 1);
}

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void *call(void *unused)
{
	(void)unused;
	for (int i = 0; i < 50 && number < total; i++) {
		long begin = now();

		number++;
		if (!setjmp(out)) {
			request(nests ? 2 : 0, number % every == 0);
			calls += nests ? 3 : 1;
		}
		slow += now() - begin > BOUND ? nests ? 3 : 1 : 0;
		answer();
	}
	return NULL;
}

int main(int argc, char *argv[])
{
	int threads = 0;
	pthread_t thread;

	total = atol(argv[1]);
	every = atol(argv[2]);
	for (int i = 3; i < argc; i++) {
		jumps |= strcmp(argv[i], "jump") == 0;
		nests |= strcmp(argv[i], "nest") == 0;
		threads |= strcmp(argv[i], "thread") == 0;
		if (strcmp(argv[i], "line") == 0)
			getchar();
		if (strcmp(argv[i], "child") == 0 && fork()) {
			wait(NULL);
			return 0;
		}
	}
	while (number < total) {
		if (!threads)
			call(NULL);
		else if (pthread_create(&thread, NULL, call, NULL) == 0)
			pthread_join(thread, NULL);
	}
	printf("%ld calls, %ld slow by its own clock\n", calls, slow);
	return 0;
}
