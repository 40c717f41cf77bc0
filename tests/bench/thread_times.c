/* SPDX-License-Identifier: MIT */
/*
 * `thread-times PROGRAM ARGS...` prints, in seconds, a program's elapsed time, the CPU time of all
 * its threads, the largest CPU time of one thread, and each thread's, in the order of their ends.
 *
 * On a busy machine threads take longer, but hardly more CPU time: the largest one shows how fast
 * the program can be on an idle machine.
 *
 * At its end each thread stops (ptrace(2), PTRACE_EVENT_EXIT), and /proc/PID/task/TID/schedstat has
 * its running time in ns.
 */
#include "tests/bench/child.h"

#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#define THREADS_MAX 1024
#define NS_PER_S    1e9

/* Returns seconds, 0 without schedstat. */
static double cpu_time(pid_t process, pid_t thread)
{
	char path[64];
	uint64_t ns = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", process, thread);
	file = fopen(path, "r");
	if (file && fscanf(file, "%" SCNu64, &ns) != 1)
		ns = 0;
	if (file)
		fclose(file);
	return (double)ns / NS_PER_S;
}

/* Returns the signal to deliver after a stop: 0 for stops of ptrace itself. */
static int signal_of(int status)
{
	int number = WSTOPSIG(status);

	return status >> 16 || number == SIGTRAP || number == SIGSTOP ? 0 : number;
}

/* Returns the number of threads whose times are in `times`. */
static size_t follow(pid_t child, double *times, int *end)
{
	size_t count = 0;
	pid_t thread;
	int status;

	while ((thread = waitpid(-1, &status, __WALL)) > 0) {
		if (thread == child && (WIFEXITED(status) || WIFSIGNALED(status)))
			*end = status;
		if (!WIFSTOPPED(status))
			continue;
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8) && count < THREADS_MAX)
			times[count++] = cpu_time(child, thread);
		ptrace(PTRACE_CONT, thread, NULL, (void *)(intptr_t)signal_of(status));
	}
	return count;
}

int main(int argc, char **argv)
{
	const intptr_t options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL;
	double times[THREADS_MAX], begin, wall, sum = 0, most = 0;
	size_t count;
	int status = 0;
	pid_t child;

	if (argc < 2) {
		fprintf(stderr, "usage: %s PROGRAM ARGS...\n", argv[0]);
		return 64;
	}
	child = child_start(argv + 1, true);
	waitpid(child, &status, 0);
	ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)options);
	begin = child_clock();
	ptrace(PTRACE_CONT, child, NULL, NULL);
	count = follow(child, times, &status);
	wall = child_clock() - begin;
	for (size_t i = 0; i < count; i++) {
		sum += times[i];
		most = times[i] > most ? times[i] : most;
	}
	printf("%.3f %.3f %.3f", wall, sum, most);
	for (size_t i = 0; i < count; i++)
		printf(" %.3f", times[i]);
	printf("\n");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
