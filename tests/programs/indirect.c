/* SPDX-License-Identifier: MIT */
/* Calls through a table, and qsort() calling back. */
#include <stdio.h>
#include <stdlib.h>

typedef int operation(int, int);

static int add(int a, int b)
{
	return a + b;
}
static int subtract(int a, int b)
{
	return a - b;
}
static int multiply(int a, int b)
{
	return a * b;
}
static int either(int a, int b)
{
	return a | b;
}

static operation *volatile table[] = { add, subtract, multiply, either };

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int main(void)
{
	int values[100];

	for (int i = 0; i < 100; i++)
		values[i] = table[i * 7 % 4](i * 37 % 101, i);
	qsort(values, 100, sizeof(*values), compare);
	printf("%d %d\n", values[0], values[99]);
	return 0;
}
