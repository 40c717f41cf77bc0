/* SPDX-License-Identifier: MIT */
/* Four threads that sort, recurse and make small calls on several CPUs at the same time. */
#include <pthread.h>
#include <stdlib.h>

#define THREADS 4
#define ROUNDS  40
#define NUMBERS 200

static int compare(const void *left, const void *right)
{
	int a = *(const int *)left, b = *(const int *)right;

	return a < b ? -1 : a > b;
}

__attribute__((noinline)) static int fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__attribute__((noinline)) static int leaf(int n)
{
	return n * 3 + 1;
}

__attribute__((noinline)) static int call_leaves(int n)
{
	int sum = 0;

	for (int i = 0; i < 5; i++)
		sum += leaf(n + i);
	return sum;
}

static void *run(void *argument)
{
	unsigned random = *(const unsigned *)argument;
	volatile int result = 0;
	int numbers[NUMBERS];

	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < NUMBERS; i++) {
			random = random * 1103515245 + 12345;
			numbers[i] = (int)(random >> 8);
		}
		qsort(numbers, NUMBERS, sizeof(numbers[0]), compare);
		result += numbers[0] + fibonacci(10);
		for (int i = 0; i < 60; i++)
			result += call_leaves(i);
	}
	return NULL;
}

int main(void)
{
	static unsigned seeds[THREADS] = { 1, 78, 155, 232 };
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, &seeds[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
