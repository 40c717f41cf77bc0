/* SPDX-License-Identifier: MIT */
/*
 * Build the history: sort the sideband records by time, then apply them one by one to the tables.
 * perf synthesizes records without a time for the state before the recording; their time is 0.
 */
#include "decoder/timeline/timeline.h"

/* ---- Building ------------------------------------------------------------ */

/*
 * Note the waker of a thread. A softirq can run for the thread or for an interrupt. Without
 * sched_waking, an interrupt can be another CPU's request for the sched_wakeup.
 */
static void note_waking(struct timeline *tl, const struct perf_sample *sample,
			const struct sched_point *point)
{
	bool interrupt = point->flags & SCHED_IN_HARDIRQ || !sample->tid;
	bool again = tl->points.formats[SCHED_WAKING].recorded;

	if (point->kind == SCHED_SWITCH || sample->tid < 0 ||
	    (!interrupt && point->flags & SCHED_IN_SOFTIRQ) ||
	    (point->kind == SCHED_WAKEUP && (again || interrupt)))
		return;
	*ARRAY_ADD(tl->wakings, tl->waking_count, tl->waking_room) =
		(struct thread_waking){ sample->time, point->tid, interrupt ? 0 : sample->tid };
}

COMPARE_BY_TWO(compare_wakings, struct thread_waking, tid, time)

/* Returns whether the record is part of the history. Notes a sample's time and tid. */
static bool is_used(struct timeline *tl, struct perf_record *record)
{
	struct perf_sample sample;
	struct sched_point point;

	if (record->type != PERF_RECORD_SAMPLE)
		return timeline_has_handler(record->type);
	if ((!tl->sample_switches && !tl->has_points) ||
	    perf_sample_read(tl->file, record, &sample) < 0)
		return false;
	record->id.time = sample.time;
	if (sched_points_read(&tl->points, &sample, &point)) {
		tl->highest_id = MAX(tl->highest_id, point.tid);
		note_waking(tl, &sample, &point);
	}
	return (tl->sample_switches && sample.aux.size > 0) ||
	       (tl->tracepoint_switches && point.kind == SCHED_SWITCH);
}

COMPARE_BY_TWO(compare_positions, struct record_position, time, position)

/* Apply the records of the history in order of time. */
static void apply_records(struct timeline *tl, const struct perf_file *file)
{
	struct record_position *records = NULL;
	struct perf_record record;
	uint64_t position = 0, at;
	size_t count = 0, room = 0;

	for (at = position; perf_file_next(file, &position, &record, tl->diag); at = position) {
		if (record.type == PERF_RECORD_SAMPLE) {
			trace_pauses_note(&tl->pauses, file, &record);
			hits_note(&tl->hits, &record, at);
		}
		if (!is_used(tl, &record)) {
			tl->unknown_records += !perf_record_is_known(record.type);
			continue;
		}
		*ARRAY_ADD(records, count, room) = (struct record_position){ record.id.time, at };
	}
	SORT(records, count, compare_positions);
	for (size_t i = 0; i < count; i++) {
		position = records[i].position;
		timeline_apply_code(tl, records[i].time);
		if (perf_file_next(file, &position, &record, NULL))
			timeline_apply_record(tl, &record);
	}
	timeline_apply_code(tl, UINT64_MAX);
	free(records);
}

COMPARE_BY_TWO(compare_switches, struct cpu_switch, cpu, order)

/*
 * Returns whether the thread differs from the previous switch's (`before` NULL: first of the CPU).
 * A switch-out and the following switch-in name the same thread. An exec only changes its thread's
 * tid.
 */
static bool changes_thread(const struct cpu_switch *before, const struct cpu_switch *change)
{
	if (!before || before->thread == change->thread)
		return !before && !change->exec;
	return !change->exec || before->thread->process == change->thread->process;
}

static void finish_switches(struct timeline *tl)
{
	uint32_t *last, threads = 0;
	const struct cpu_switch *before = NULL;
	size_t kept = 0;

	if (!tl->switch_count)
		return;
	/* Set `stayed`. The switches of all CPUs must be sorted by time. */
	for (size_t i = 0; i < tl->switch_count; i++)
		threads = MAX(threads, tl->switches[i].thread->index + 1);
	last = alloc_zeroed(threads, sizeof(*last));
	for (size_t i = 0; i < tl->switch_count; i++) {
		struct cpu_switch *change = &tl->switches[i];
		uint32_t *cpu = &last[change->thread->index]; /* 1 + index, or 0 */

		change->stayed = *cpu == (uint32_t)change->cpu + 1;
		*cpu = (uint32_t)change->cpu + 1;
	}
	free(last);
	SORT(tl->switches, tl->switch_count, compare_switches);
	for (size_t i = 0; i < tl->switch_count; i++) {
		const struct cpu_switch change = tl->switches[i];

		if (before && before->cpu != change.cpu)
			before = NULL;
		if (!changes_thread(before, &change))
			continue;
		tl->switches[kept] = change;
		before = &tl->switches[kept++];
	}
	tl->switch_count = kept;
}

/* If switch records were not requested, use tracepoints or samples instead. */
static void choose_switch_source(struct timeline *tl)
{
	bool trace = false;

	sched_points_init(&tl->points, tl->file);
	for (int kind = SCHED_NONE + 1; kind < SCHED_KINDS; kind++)
		tl->has_points |= tl->points.formats[kind].recorded;
	for (size_t i = 0; i < tl->file->attr_count; i++) {
		tl->has_switches |= tl->file->attrs[i].attr.context_switch;
		trace |= (tl->file->attrs[i].attr.sample_type & PERF_SAMPLE_AUX) != 0;
	}
	if (tl->has_switches)
		return;
	tl->has_switches = tl->tracepoint_switches = tl->points.formats[SCHED_SWITCH].recorded;
	tl->sample_switches = trace && !tl->tracepoint_switches;
}

COMPARE_BY_TWO(compare_losses, struct loss, owner, order)

static const struct thread *find_thread(const void *timeline, int32_t tid, uint64_t time)
{
	return timeline_borrow_thread(timeline, tid, time);
}

struct timeline *timeline_open(const struct perf_file *file, const struct perf_mmap *code,
			       size_t count, struct diag *diag)
{
	struct timeline *tl = alloc_zeroed(1, sizeof(*tl));

	tl->diag = diag;
	tl->file = file;
	tl->off = alloc_zeroed(1, sizeof(*tl->off));
	choose_switch_source(tl);
	tl->code = code;
	tl->code_count = count;
	timeline_list_writers(tl);
	hits_init(&tl->hits, file);
	file_table_init(&tl->files, &tl->arena, file);
	process_table_init(&tl->processes, &tl->arena, diag, file->size);
	tl->threads = (struct thread_table){ .arena = &tl->arena, .processes = &tl->processes };
	apply_records(tl, file);
	if (tl->lost_records)
		diag_warn(tl->diag, "records-lost",
			  "perf lost %llu records: later threads or mappings may be wrong",
			  (unsigned long long)tl->lost_records);
	if (tl->lost_samples)
		diag_warn(tl->diag, "samples-lost", "perf lost %llu samples",
			  (unsigned long long)tl->lost_samples);
	HASH_CLEAR(hh, tl->sampled_cpus);
	timeline_name_threads(tl);
	process_table_finish(&tl->processes);
	thread_table_finish(&tl->threads);
	finish_switches(tl);
	SORT(tl->wakings, tl->waking_count, compare_wakings);
	trace_pauses_finish(&tl->pauses, tl->switches, tl->switch_count);
	SORT(tl->hits.positions, tl->hits.count, compare_positions);
	SORT(tl->losses, tl->loss_count, compare_losses);
	tl->history = (struct history){ tl->switches,   tl->switch_count, tl->losses,
					tl->loss_count, find_thread,      tl };
	return tl;
}

void timeline_close(struct timeline *tl)
{
	if (!tl)
		return;
	file_table_release(&tl->files);
	process_table_release(&tl->processes);
	thread_table_release(&tl->threads);
	free(tl->switches);
	free(tl->off->times);
	free(tl->off);
	trace_pauses_release(&tl->pauses);
	hits_release(&tl->hits);
	free(tl->wakings);
	free(tl->losses);
	free(tl->symbols);
	free(tl->patches);
	free(tl->writers);
	arena_release(&tl->arena);
	free(tl);
}

/* ---- Queries ------------------------------------------------------------- */

int32_t timeline_highest_id(const struct timeline *tl)
{
	int32_t highest = tl->highest_id;

	for (size_t i = 0; i < tl->threads.count; i++) {
		const struct thread *thread = tl->threads.threads[i];

		highest = MAX(highest, thread->pid);
		highest = MAX(highest, thread->tid);
	}
	return highest;
}

const struct thread *timeline_borrow_thread(const struct timeline *tl, int32_t tid, uint64_t time)
{
	return thread_table_find(&tl->threads, tid, time);
}

const struct epoch *timeline_first_exec(const struct process *process,
					const struct address_space *before,
					const struct address_space *now)
{
	const struct epoch *exec = NULL;

	for (size_t i = 0; i < process->epoch_count; i++) {
		const struct epoch *epoch = &process->epochs[i];

		if (epoch->space == before)
			exec = NULL;
		else if (epoch->exec && !exec)
			exec = epoch;
		if (epoch->space == now)
			break;
	}
	return exec;
}

uint64_t timeline_run_begin(const struct timeline *tl, const struct thread *thread, int32_t cpu,
			    uint64_t time)
{
	size_t count, after;
	const struct cpu_switch *of_cpu = history_switches(&tl->history, cpu, &count);

	after = tl->sample_switches ? 0 : LOWER_BOUND(i, count, of_cpu[i].time <= time);
	return after && of_cpu[after - 1].thread == thread ? of_cpu[after - 1].time : 0;
}

int32_t timeline_cpu_at(const struct timeline *tl, int32_t tid, uint64_t time)
{
	size_t all = !tl || tl->sample_switches ? 0 : tl->switch_count, count;

	for (size_t first = 0; first < all; first += count) {
		const struct cpu_switch *of_cpu =
			history_switches(&tl->history, tl->switches[first].cpu, &count);
		size_t after = LOWER_BOUND(i, count, of_cpu[i].time <= time);

		if (after && of_cpu[after - 1].thread->tid == tid)
			return of_cpu->cpu;
	}
	return -1;
}

/* A thread that leaves one CPU and enters another one at the same time leaves it first. */
COMPARE_WITH(compare_off_times, struct off_time,
	     COMPARE(a->tid, b->tid) ?: COMPARE(a->begin, b->begin) ?: COMPARE(b->leaves, a->leaves))

static const struct off_times *find_off_times(const struct timeline *tl)
{
	struct off_times *off = tl->off;
	size_t kept = 0;

	if (off->found)
		return off;
	off->found = true;
	/* List when threads leave a CPU and when they run again. */
	for (size_t i = 0; !tl->sample_switches && i < tl->switch_count; i++) {
		const struct cpu_switch *change = &tl->switches[i];

		if (i && change[-1].cpu == change->cpu)
			*ARRAY_ADD(off->times, off->count, off->room) =
				(struct off_time){ .tid = change[-1].thread->tid,
						   .begin = change->time,
						   .end = UINT64_MAX,
						   .cpu = change->cpu,
						   .leaves = true,
						   .preempted = change->preempted };
		*ARRAY_ADD(off->times, off->count, off->room) =
			(struct off_time){ .tid = change->thread->tid, .begin = change->time };
	}
	SORT(off->times, off->count, compare_off_times);
	for (size_t i = 0; i < off->count; i++) {
		struct off_time time = off->times[i], *last = kept ? &off->times[kept - 1] : NULL;
		bool same = last && last->tid == time.tid, open = same && last->end == UINT64_MAX;

		time.before = same && !open ? last->before + last->end - last->begin : 0;
		if (time.leaves && !open)
			off->times[kept++] = time;
		else if (!time.leaves && open)
			last->end = time.begin;
	}
	off->count = kept;
	return off;
}

/* Returns the index of a thread's first time off CPU that begins at `time` or later. */
static size_t first_off(const struct off_times *off, int32_t tid, uint64_t time)
{
	const struct off_time wanted = { .tid = tid, .begin = time, .leaves = true };

	return LOWER_BOUND(i, off->count, compare_off_times(&off->times[i], &wanted) < 0);
}

/* Returns the ns before `time` in which a thread was off CPU. */
static uint64_t off_before(const struct timeline *tl, int32_t tid, uint64_t time)
{
	const struct off_times *off = find_off_times(tl);
	size_t after = first_off(off, tid, time);
	const struct off_time *last = after ? &off->times[after - 1] : NULL;

	return last && last->tid == tid ? last->before + MIN(last->end, time) - last->begin : 0;
}

uint64_t timeline_off_ns(const struct timeline *tl, int32_t tid, uint64_t begin, uint64_t end)
{
	return off_before(tl, tid, end) - off_before(tl, tid, begin);
}

bool timeline_off_cpu(const struct timeline *tl, int32_t tid, uint64_t begin, uint64_t end,
		      struct off_cpu *off)
{
	const struct off_times *all = find_off_times(tl);
	struct thread_waking wanted = { .tid = tid };
	size_t waking;
	uint64_t *ns = NULL; /* by index of the thread */
	size_t room = 0, count;
	const struct cpu_switch *of_cpu;

	*off = (struct off_cpu){ 0 };
	for (size_t i = first_off(all, tid, begin);
	     i < all->count && all->times[i].tid == tid && all->times[i].begin < end; i++) {
		const struct off_time *time = &all->times[i];

		if (MIN(time->end, end) - time->begin > off->end - off->begin)
			*off = (struct off_cpu){ .begin = time->begin,
						 .end = MIN(time->end, end),
						 .cpu = time->cpu,
						 .preempted = time->preempted };
	}
	if (off->begin == off->end)
		return false;
	of_cpu = history_switches(&tl->history, off->cpu, &count);
	for (size_t at = LOWER_BOUND(i, count, of_cpu[i].time < off->begin);
	     at < count && of_cpu[at].time < off->end; at++) {
		const struct thread *thread = of_cpu[at].thread;
		uint64_t to = at + 1 < count ? of_cpu[at + 1].time : off->end;

		if (!thread->tid)
			continue;
		ns = alloc_grow_zeroed(ns, &room, (size_t)thread->index + 1, sizeof(*ns));
		ns[thread->index] += MIN(to, off->end) - of_cpu[at].time;
		if (ns[thread->index] > off->instead_ns) {
			off->instead = thread;
			off->instead_ns = ns[thread->index];
		}
	}
	free(ns);
	wanted.time = off->begin;
	waking = LOWER_BOUND(i, tl->waking_count, compare_wakings(&tl->wakings[i], &wanted) < 0);
	if (waking < tl->waking_count && tl->wakings[waking].tid == tid &&
	    tl->wakings[waking].time <= off->end)
		off->waking = &tl->wakings[waking];
	return true;
}
