/* SPDX-License-Identifier: MIT */
/* A signal handler with more calls than the functions after it, so a trace can begin in it. */
#include <signal.h>

__attribute__((noinline)) static int work(volatile int n)
{
	return n < 2 ? n : work(n - 1) + work(n - 2);
}

static void on_signal(int signal)
{
	work(signal + 6);
}

__attribute__((noinline)) static int deep(volatile int n)
{
	return n ? deep(n - 1) + work(3) : raise(SIGUSR1);
}

int main(void)
{
	signal(SIGUSR1, on_signal);
	return deep(5) < 0;
}
