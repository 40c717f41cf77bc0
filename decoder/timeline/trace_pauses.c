/* SPDX-License-Identifier: MIT */
/* Find the pauses of the trace, from samples of the events that paused it. */
#include "decoder/timeline/trace_pauses.h"

#include "decoder/history.h"
#include "decoder/perf_data/perf_file.h"

void trace_pauses_note(struct trace_pauses *pauses, const struct perf_file *file,
		       const struct perf_record *sample)
{
	const struct perf_attr *attr = perf_file_borrow_attr(file, sample->id.id);
	uint32_t actions = attr ? attr->aux_action & (AUX_ACTION_PAUSE | AUX_ACTION_RESUME) : 0;

	if (!actions || !sample->id.time)
		return;
	*ARRAY_ADD(pauses->points, pauses->point_count, pauses->point_room) = (struct pause_point){
		.time = sample->id.time,
		.cpu = sample->id.cpu,
		.tid = sample->id.tid,
		.resumes = actions & AUX_ACTION_RESUME,
	};
}

COMPARE_BY_TWO(compare_points, struct pause_point, cpu, time)

COMPARE_BY_TWO(compare_pauses, struct trace_pause, tid, begin)

static void add_pause(struct trace_pauses *pauses, const struct trace_pause *pause)
{
	if (pause->tid <= 0)
		return;
	*ARRAY_ADD(pauses->pauses, pauses->count, pauses->room) = *pause;
}

/* Add the threads that entered the CPU between a pause and the next resumption. */
static void add_others(struct trace_pauses *pauses, const struct cpu_switch *switches, size_t count,
		       const struct pause_point *pause, uint64_t until)
{
	int32_t cpu = pause->cpu;

	for (size_t i = LOWER_BOUND(k, count,
				    switches[k].cpu < cpu || (switches[k].cpu == cpu &&
							      switches[k].time < pause->time));
	     i < count && switches[i].cpu == cpu && switches[i].time < until; i++) {
		if (switches[i].thread->tid != pause->tid)
			add_pause(pauses, &(struct trace_pause){ switches[i].thread->tid, cpu,
								 switches[i].time, until });
	}
}

void trace_pauses_finish(struct trace_pauses *pauses, const struct cpu_switch *switches,
			 size_t count)
{
	const struct pause_point *points = pauses->points;
	bool paused = false;
	struct trace_pause *kept;

	SORT(pauses->points, pauses->point_count, compare_points);
	for (size_t i = 0; i < pauses->point_count; i++) {
		const struct pause_point *point = &points[i];
		size_t next = i + 1;

		paused &= i && points[i - 1].cpu == point->cpu;
		if (!point->resumes)
			add_pause(pauses,
				  &(struct trace_pause){ point->tid, point->cpu, point->time, 0 });
		/* A repeated pause does not affect other threads. */
		if (!point->resumes && !paused && point->cpu >= 0) {
			while (next < pauses->point_count && !points[next].resumes &&
			       points[next].cpu == point->cpu)
				next++;
			add_others(pauses, switches, count, point,
				   next < pauses->point_count && points[next].cpu == point->cpu
					   ? points[next].time
					   : UINT64_MAX);
		}
		paused = !point->resumes;
	}
	free(pauses->points);
	pauses->points = NULL;
	SORT(pauses->pauses, pauses->count, compare_pauses);
	/* Keep only the first of a thread's entries of a pause. */
	kept = pauses->pauses;
	for (size_t i = 1; i < pauses->count; i++) {
		const struct trace_pause *pause = &pauses->pauses[i];

		if (!pause->until || pause->tid != kept->tid || pause->cpu != kept->cpu ||
		    pause->until != kept->until)
			*++kept = *pause;
	}
	if (pauses->count)
		pauses->count = (size_t)(kept - pauses->pauses) + 1;
}

void trace_pauses_release(struct trace_pauses *pauses)
{
	free(pauses->points);
	free(pauses->pauses);
	*pauses = (struct trace_pauses){ 0 };
}

/* At most one pause per CPU did not end before `on`, so the search skips few. */
uint64_t trace_pauses_find(const struct trace_pauses *pauses, int32_t tid, int32_t cpu,
			   uint64_t off, uint64_t on)
{
	const struct trace_pause *all = pauses->pauses;
	size_t i = LOWER_BOUND(k, pauses->count,
			       all[k].tid < tid || (all[k].tid == tid && all[k].begin < off));

	for (; i < pauses->count && all[i].tid == tid && all[i].begin <= on; i++) {
		if (!all[i].until || (cpu >= 0 && (all[i].until <= on || all[i].cpu != cpu)))
			return all[i].begin;
	}
	return 0;
}
