/* SPDX-License-Identifier: MIT */
/* A plug-in; NAME distinguishes its two builds. */
#define JOIN(a, b) a##b
#define WORK(name) JOIN(work_of_, name)

int plugin(int n);
int WORK(NAME)(int n);

__attribute__((noinline)) int WORK(NAME)(int n)
{
	return n < 2 ? n : WORK(NAME)(n - 1) + WORK(NAME)(n - 2) + (int)sizeof("x");
}

int plugin(int n)
{
	return WORK(NAME)(n);
}
