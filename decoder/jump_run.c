/* SPDX-License-Identifier: MIT */
/* The memory of runs. */
#include "decoder/jump_run.h"

#include <pthread.h>

#include "base/arena.h"

/* Jumps of all runs together: 6 MiB, and up to 16 MiB for the runs. */
#define JUMP_RUNS_JUMPS ((size_t)1 << 19)

struct jump_runs {
	pthread_mutex_t lock;
	struct arena arena; /* owns the runs */
	size_t jumps;
};

struct jump_runs *jump_runs_open(void)
{
	struct jump_runs *runs = alloc_zeroed(1, sizeof(*runs));

	pthread_mutex_init(&runs->lock, NULL);
	arena_init(&runs->arena);
	return runs;
}

void jump_runs_close(struct jump_runs *runs)
{
	if (!runs)
		return;
	arena_release(&runs->arena);
	pthread_mutex_destroy(&runs->lock);
	free(runs);
}

struct jump_run *jump_runs_add(struct jump_runs *runs, const struct local_jump *jumps, size_t count,
			       int32_t end)
{
	struct jump_run *run = NULL;

	pthread_mutex_lock(&runs->lock);
	if (runs->jumps + count <= JUMP_RUNS_JUMPS) {
		run = arena_alloc(&runs->arena, sizeof(*run) + count * sizeof(*jumps));
		run->end = end;
		run->jump_count = (uint32_t)count;
		memcpy(run->jumps, jumps, count * sizeof(*jumps));
		runs->jumps += count;
	}
	pthread_mutex_unlock(&runs->lock);
	return run;
}
