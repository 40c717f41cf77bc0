/* SPDX-License-Identifier: MIT */
/*
 * Two versions of a program, for `ptrace2ftf diff`: the new one (-DNEW) makes parse_word() longer,
 * calls added() instead of removed(), and is otherwise the same as the old one.
 */
#ifdef __clang__ /* does not clone functions */
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

#ifdef NEW
#define ROUNDS 25
#else
#define ROUNDS 20
#endif

static volatile long sink;

static NOINLINE void parse_word(void)
{
	for (int i = 0; i < ROUNDS; i++)
		sink += i;
}

static NOINLINE void parse_line(void)
{
	for (int i = 0; i < 10; i++)
		parse_word();
}

static NOINLINE void check(int n)
{
	sink ^= n;
}

#ifdef NEW
static NOINLINE void added(void)
{
	sink = 3;
}
#else
static NOINLINE void removed(void)
{
	sink = 4;
}
#endif

int main(void)
{
	for (int i = 0; i < 20; i++) {
		parse_line();
		check(i);
	}
#ifdef NEW
	added();
#else
	removed();
#endif
	return 0;
}
