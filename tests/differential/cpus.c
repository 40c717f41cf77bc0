/* SPDX-License-Identifier: MIT */
/* A preloaded library: the program sees eight CPUs. */
#include <sched.h>
#include <string.h>

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	(void)pid;
	memset(set, 0, size);
	for (int cpu = 0; cpu < 8; cpu++)
		CPU_SET(cpu, set);
	return 0;
}
