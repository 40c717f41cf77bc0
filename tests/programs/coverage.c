/* SPDX-License-Identifier: MIT */
/* Every kind of control flow in C, for --format=lcov: gcov counts the same lines. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
	struct node *left, *right;
	int key;
};

static jmp_buf back;
static int calls;

static inline int square(int x)
{
	return x * x;
}

static int classify(int x)
{
	switch (x % 6) {
	case 0:
		return 1;
	case 1:
	case 2:
		x += 3;
		/* fall through */
	case 3:
		x *= 2;
		break;
	default:
		if (x > 20 && x % 2 == 0)
			x = -x;
		else if (x > 10 || x == 4)
			x++;
	}
	return x;
}

static struct node *insert(struct node *tree, int key)
{
	if (!tree) {
		tree = calloc(1, sizeof(*tree));
		if (!tree)
			abort();
		tree->key = key;
		return tree;
	}
	if (key < tree->key)
		tree->left = insert(tree->left, key);
	else if (key > tree->key)
		tree->right = insert(tree->right, key);
	return tree;
}

static int sum(const struct node *tree)
{
	return tree ? tree->key + sum(tree->left) + sum(tree->right) : 0;
}

static int compare(const void *a, const void *b)
{
	const int *x = a, *y = b;

	calls++;
	return *x < *y ? -1 : *x > *y;
}

static void leave(int depth)
{
	if (depth == 0)
		longjmp(back, 7);
	leave(depth - 1);
}

static int loops(int n)
{
	int total = 0, i = 0;

	for (int a = 0; a < n; a++)
		for (int b = a; b < n; b += 2)
			total += a * b;
	while (i < n) {
		i++;
		if (i % 3 == 0)
			continue;
		if (i > 17)
			break;
		total ^= i;
	}
	do {
		total--;
	} while (--i > 0);
	// clang-format off
	for (i = 0; i < 5; i++) total += square(i);
	while (i --> 0) ;
	// clang-format on
again:
	if (total++ % 7)
		goto again;
	return total;
}

static int never(int x)
{
	if (x)
		return 3;
	return 4;
}

int main(int argc, char **argv)
{
	int values[40], total = 0;
	struct node *tree = NULL;
	int (*how)(int) = classify;

	(void)argv;
	for (int i = 0; i < 40; i++) {
		values[i] = (i * 37 + 11) % 41;
		tree = insert(tree, values[i]);
	}
	qsort(values, 40, sizeof(values[0]), compare);
	for (int i = 0; i < 40; i++)
		total += i % 5 ? how(values[i]) : loops(i);
	if (setjmp(back) == 0)
		leave(9);
	if (argc > 5)
		total += never(argc);
	total += sum(tree) + (calls > 0 ? square(3) : square(4));
	printf("%d %zu\n", total, strlen("text"));
	return 0;
}
