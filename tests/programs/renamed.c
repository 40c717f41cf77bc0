/* SPDX-License-Identifier: MIT */
/*
 * Two versions of a program, for `ptrace2ftf diff`.  In the new one (-DNEW) count_words() is called
 * tally_words(); trim_line() is called strip_line(), and does a little more.  old_sum() and
 * pass_first() are gone; new_mix() is as long as old_sum(), and pass_second() has the code of
 * pass_first(), but calls another function.
 */
#ifdef __clang__ /* does not clone functions */
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

#ifdef NEW
#define count_words tally_words
#define trim_line   strip_line
#define SKIPPED     3
/* Moves all that follows. */
volatile long pad[64] = { 1 };
#else
#define SKIPPED 2
#endif

volatile long sink, words;

NOINLINE static void next_word(long n)
{
	sink += n;
	words++;
}

NOINLINE static void skip_blank(long n)
{
	sink ^= n;
}

NOINLINE static void count_words(long n)
{
	for (long i = 0; i < n; i++)
		next_word(words + i);
}

NOINLINE static void trim_line(long n)
{
	for (long i = 0; i < SKIPPED; i++)
		skip_blank(n);
	next_word(n * SKIPPED);
}

#ifdef NEW
NOINLINE static void new_mix(long n)
{
	for (long i = 0; i < n; i++)
		sink |= i;
}

NOINLINE static void pass_second(long n)
{
	for (long i = 0; i < n; i++)
		skip_blank(i);
}
#else
NOINLINE static void old_sum(long n)
{
	for (long i = 0; i < n; i++)
		sink += i;
}

NOINLINE static void pass_first(long n)
{
	for (long i = 0; i < n; i++)
		next_word(i);
}
#endif

int main(void)
{
	for (int i = 0; i < 5; i++) {
		count_words(7);
		trim_line(i);
#ifdef NEW
		new_mix(9);
		pass_second(4);
#else
		old_sum(9);
		pass_first(4);
#endif
	}
	return 0;
}
