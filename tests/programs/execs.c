/* SPDX-License-Identifier: MIT */
/*
 * Programs that become another program at the same addresses: LEVELS times itself, then PROGRAM. A
 * signal before each exec makes user code resume elsewhere than it stopped; children become PROGRAM
 * by fork and by vfork.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

__attribute__((noinline)) static int work(int n)
{
	return n < 2 ? n : work(n - 1) + work(n - 2);
}

static void on_signal(int signal)
{
	(void)signal;
	signals += work(3);
}

static void run_child(const char *program, pid_t pid)
{
	if (pid == 0) {
		execl(program, program, (char *)NULL);
		_exit(127);
	}
	work(4);
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	int levels = argc > 2 ? atoi(argv[1]) : 0;
	char text[16];

	if (argc < 3)
		return 64;
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	if (levels == 2)
		run_child(argv[2], fork());
	if (levels == 1)
		run_child(argv[2], vfork());
	work(5);
	raise(SIGUSR1);
	snprintf(text, sizeof(text), "%d", levels - 1);
	if (levels > 0)
		execl(argv[0], argv[0], text, argv[2], (char *)NULL);
	else
		execl(argv[2], argv[2], (char *)NULL);
	return 127;
}
