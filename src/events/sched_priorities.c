/* SPDX-License-Identifier: MIT */
/* Collect the priorities of threads from the scheduler's tracepoints. */
#include "src/events/sched_priorities.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/tables/lower_bound.h"
#include "decoder/perf_data/perf_sample.h"
#include "decoder/timeline/sched_points.h"

struct sched_priority {
	uint64_t time;
	int32_t tid, priority;
};

static int by_thread(const void *left, const void *right)
{
	const struct sched_priority *a = left, *b = right;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->time < b->time ? -1 : a->time > b->time;
}

static bool have_priorities(const struct sched_points *points)
{
	for (int kind = 0; kind < SCHED_KINDS; kind++) {
		if (points->formats[kind].recorded &&
		    points->formats[kind].fields[PLACE_PRIORITY].size)
			return true;
	}
	return false;
}

void sched_priorities_read(struct sched_priorities *priorities, const struct perf_file *file)
{
	struct sched_points points;
	struct perf_record record;
	struct perf_sample sample;
	struct sched_point point;
	uint64_t position = 0;

	*priorities = (struct sched_priorities){ 0 };
	sched_points_init(&points, file);
	if (!have_priorities(&points))
		return;
	while (perf_file_next(file, &position, &record, NULL)) {
		if (record.type != PERF_RECORD_SAMPLE ||
		    perf_sample_read(file, &record, &sample) < 0 ||
		    !sched_points_read(&points, &sample, &point) || !point.has_priority)
			continue;
		priorities->all = alloc_grow(priorities->all, &priorities->room,
					     priorities->count + 1, sizeof(*priorities->all));
		priorities->all[priorities->count++] =
			(struct sched_priority){ sample.time, point.tid, point.priority };
	}
	if (priorities->count)
		qsort(priorities->all, priorities->count, sizeof(*priorities->all), by_thread);
}

int32_t sched_priorities_find(const struct sched_priorities *priorities, int32_t tid, uint64_t time)
{
	const struct sched_priority *all = priorities->all, wanted = { .tid = tid, .time = time };
	size_t after = LOWER_BOUND(i, priorities->count, by_thread(&all[i], &wanted) <= 0);

	if (after && all[after - 1].tid == tid)
		return all[after - 1].priority;
	return after < priorities->count && all[after].tid == tid ? all[after].priority
								  : SCHED_PRIORITY_DEFAULT;
}

void sched_priorities_release(struct sched_priorities *priorities)
{
	free(priorities->all);
	*priorities = (struct sched_priorities){ 0 };
}
