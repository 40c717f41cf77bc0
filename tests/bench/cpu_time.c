/* SPDX-License-Identifier: MIT */
/*
 * `cpu-time FILE PROGRAM ARGS...` runs a program and writes to FILE its CPU time, user and system,
 * its elapsed time, in seconds with six decimals, its peak memory in kB, and its page faults
 * without I/O (wait4(2)). time(1) prints hundredths of a second, a tenth of the time of a small
 * recording. With WITHOUT_HUGE_PAGES in the environment, the program has none: how many the kernel
 * gives depends on its free memory.
 */
#include "tests/bench/child.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static int write_usage(const char *path, const struct rusage *usage, double elapsed)
{
	FILE *file = fopen(path, "w");

	if (file)
		fprintf(file, "%.6f %.6f %ld %ld\n",
			seconds(usage->ru_utime) + seconds(usage->ru_stime), elapsed,
			usage->ru_maxrss, usage->ru_minflt);
	if (file && fclose(file) == 0)
		return 0;
	perror(path);
	return -1;
}

int main(int argc, char **argv)
{
	struct rusage usage = { 0 };
	double begin = child_clock();
	int status = 0;
	pid_t child;

	if (getenv("WITHOUT_HUGE_PAGES"))
		prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	if (argc < 3) {
		fprintf(stderr, "usage: %s FILE PROGRAM ARGS...\n", argv[0]);
		return 64;
	}
	child = child_start(argv + 2, false);
	while (wait4(child, &status, 0, &usage) != child)
		continue;
	if (write_usage(argv[1], &usage, child_clock() - begin) < 0)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); /* as in a shell */
}
