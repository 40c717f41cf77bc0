/* SPDX-License-Identifier: MIT */
#include "tests/bench/child.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1e9

double child_clock(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / NS_PER_S;
}

pid_t child_start(char **arguments, bool traced)
{
	pid_t child = fork();

	if (child < 0) {
		perror("fork");
		exit(1);
	}
	if (child)
		return child;
	if (traced) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
	}
	execvp(arguments[0], arguments);
	perror(arguments[0]);
	_exit(127);
}
