/* SPDX-License-Identifier: MIT */
#include "decoder/timeline/timeline_records.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/perf_data/perf_sample.h"

static void warn_damaged(struct timeline *tl, const struct perf_record *record)
{
	diag_warn(tl->diag, "event-damaged",
		  "the record of type %u at offset 0x%llx is damaged and left out", record->type,
		  (unsigned long long)record->offset);
}

static bool writes_code(const struct timeline *tl, int32_t pid)
{
	for (size_t i = 0; i < tl->writer_count; i++)
		if (tl->writers[i] == pid)
			return true;
	return false;
}

void timeline_list_writers(struct timeline *tl)
{
	for (size_t i = 0; i < tl->code_count; i++) {
		if (writes_code(tl, tl->code[i].pid))
			continue;
		tl->writers = alloc_grow(tl->writers, &tl->writer_room, tl->writer_count + 1,
					 sizeof(*tl->writers));
		tl->writers[tl->writer_count++] = tl->code[i].pid;
	}
}

/* The kernel's names for memory without a file (fs/proc/task_mmu.c, perf_event_mmap_event()). */
static bool is_anonymous(const char *path)
{
	return strncmp(path, "//anon", 6) == 0 || strncmp(path, "[anon:", 6) == 0 ||
	       strncmp(path, "/anon_hugepage", 14) == 0;
}

void timeline_tell_code(struct timeline *tl, uint64_t time)
{
	for (; tl->code_told < tl->code_count && tl->code[tl->code_told].time < time;
	     tl->code_told++) {
		const struct jit_mapping *code = &tl->code[tl->code_told];
		struct mapping mapping = { code->begin, code->end, code->file_offset,
					   file_table_borrow(&tl->files, code->path, NULL, 0) };

		process_table_map(&tl->processes, code->pid, code->time, &mapping);
	}
}

static void on_mmap(struct timeline *tl, const struct perf_record *record)
{
	struct mapping mapping = { 0 };
	struct perf_mmap mmap;

	if (perf_record_read_mmap(record, &mmap) < 0) {
		warn_damaged(tl, record);
		return;
	}
	if (!mmap.executable || mmap.guest || mmap.begin == mmap.end)
		return;
	if (is_anonymous(mmap.path) && writes_code(tl, mmap.pid))
		return;
	mapping.begin = mmap.begin;
	mapping.end = mmap.end;
	mapping.file_offset = mmap.file_offset;
	mapping.file = file_table_borrow(&tl->files, mmap.path, mmap.build_id, mmap.build_id_size);
	if (mmap.kernel)
		process_table_map_kernel(&tl->processes, &mapping);
	else
		process_table_map(&tl->processes, mmap.pid, record->id.time, &mapping);
}

static void on_comm(struct timeline *tl, const struct perf_record *record)
{
	uint64_t time = record->id.time;
	struct perf_comm comm;

	if (perf_record_read_comm(record, &comm) < 0) {
		warn_damaged(tl, record);
		return;
	}
	thread_table_name(&tl->threads, thread_table_borrow(&tl->threads, comm.pid, comm.tid, time),
			  time, comm.text);
	if (comm.exec)
		process_table_exec(&tl->processes, comm.pid, time);
}

static void on_fork(struct timeline *tl, const struct perf_record *record)
{
	struct live_thread *parent = NULL;
	uint64_t time = record->id.time;
	struct perf_task task;

	if (perf_record_read_task(record, &task) < 0) {
		warn_damaged(tl, record);
		return;
	}
	if (!task.synthesized)
		parent = thread_table_borrow(&tl->threads, task.parent_pid, task.parent_tid, time);
	thread_table_fork(&tl->threads, task.pid, task.tid, time, parent);
	if (parent && task.pid != task.parent_pid)
		process_table_fork(&tl->processes, task.parent_pid, task.pid, time);
}

static void on_thread_exit(struct timeline *tl, const struct perf_record *record)
{
	uint64_t time = record->id.time;
	struct perf_task task;

	if (perf_record_read_task(record, &task) < 0) {
		warn_damaged(tl, record);
		return;
	}
	thread_table_exit(thread_table_borrow(&tl->threads, task.pid, task.tid, time), time);
}

/* Unknown CPUs and threads (-1) tell nothing. */
static void run(struct timeline *tl, const struct perf_record *record, int32_t pid, int32_t tid)
{
	struct cpu_switch change = {
		.time = record->id.time,
		.preempted = record->type != PERF_RECORD_ITRACE_START &&
			     record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT,
	};

	if (record->id.cpu < 0 || tid < 0)
		return;
	change.thread =
		thread_table_view(thread_table_borrow(&tl->threads, pid, tid, record->id.time));
	switch_table_add(&tl->switches, record->id.cpu, &change);
}

static void on_switch(struct timeline *tl, const struct perf_record *record)
{
	struct perf_switch change;

	if (perf_record_read_switch(record, &change) < 0)
		warn_damaged(tl, record);
	else if (!change.out)
		run(tl, record, record->id.pid, record->id.tid);
	else if (record->type == PERF_RECORD_SWITCH)
		run(tl, record, 0, 0); /* who comes next is not said */
	else
		run(tl, record, change.pid, change.tid);
}

static void on_itrace_start(struct timeline *tl, const struct perf_record *record)
{
	int32_t pid, tid;

	if (perf_record_read_itrace_start(record, &pid, &tid) < 0)
		warn_damaged(tl, record);
	else
		run(tl, record, pid, tid);
}

static void on_aux(struct timeline *tl, const struct perf_record *record)
{
	struct perf_aux aux;

	if (perf_record_read_aux(record, &aux) < 0) {
		warn_damaged(tl, record);
		return;
	}
	if (!(aux.flags &
	      (PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL | PERF_AUX_FLAG_COLLISION)))
		return;
	loss_table_add(&tl->losses, &(struct loss){
					    .time = record->id.time,
					    .cpu = record->id.cpu,
					    .pid = record->id.pid,
					    .tid = record->id.tid,
					    .flags = aux.flags,
					    .aux_offset = aux.offset,
					    .aux_size = aux.size,
					    .file_offset = record->offset,
				    });
	diag_warn(
		tl->diag, "aux-truncated",
		"trace data was lost while recording (a larger buffer helps: perf record -m,64M)");
}

static void on_ksymbol(struct timeline *tl, const struct perf_record *record)
{
	struct perf_ksymbol symbol;

	if (perf_record_read_ksymbol(record, &symbol) < 0) {
		warn_damaged(tl, record);
		return;
	}
	if (symbol.begin == symbol.end)
		return;
	tl->symbols = alloc_grow(tl->symbols, &tl->symbol_room, tl->symbol_count + 1,
				 sizeof(*tl->symbols));
	tl->symbols[tl->symbol_count++] = (struct kernel_symbol){
		.time = record->id.time,
		.begin = symbol.begin,
		.end = symbol.end,
		.name = arena_text(&tl->arena, symbol.name, strlen(symbol.name)),
		.gone = symbol.gone,
	};
}

static void on_text_poke(struct timeline *tl, const struct perf_record *record)
{
	struct perf_text_poke poke;

	if (perf_record_read_text_poke(record, &poke) < 0) {
		warn_damaged(tl, record);
		return;
	}
	tl->patches =
		alloc_grow(tl->patches, &tl->patch_room, tl->patch_count + 1, sizeof(*tl->patches));
	tl->patches[tl->patch_count++] = (struct code_patch){
		.time = record->id.time,
		.address = poke.address,
		.old_bytes = arena_copy(&tl->arena, poke.old_bytes, poke.old_size),
		.new_bytes = arena_copy(&tl->arena, poke.new_bytes, poke.new_size),
		.old_size = poke.old_size,
		.new_size = poke.new_size,
	};
}

/* Told without a time; whether a COMM tells better is known in the end. */
static void on_thread_map(struct timeline *tl, const struct perf_record *record)
{
	tl->thread_maps = alloc_grow(tl->thread_maps, &tl->thread_map_room,
				     tl->thread_map_count + 1, sizeof(*tl->thread_maps));
	tl->thread_maps[tl->thread_map_count++] = *record;
}

void timeline_name_threads(struct timeline *tl)
{
	for (size_t i = 0; i < tl->thread_map_count; i++) {
		struct perf_thread_name name;

		for (uint64_t at = 0;
		     perf_record_read_thread_name(&tl->thread_maps[i], at, &name) == 0; at++)
			thread_table_name_last(&tl->threads, name.tid, name.text,
					       PERF_THREAD_NAME_SIZE);
	}
	free(tl->thread_maps);
	tl->thread_maps = NULL;
}

static void on_lost(struct timeline *tl, const struct perf_record *record)
{
	if (record->type == PERF_RECORD_LOST)
		tl->lost_records += perf_record_lost_count(record);
	else
		tl->lost_samples += perf_record_lost_samples_count(record);
}

/*
 * Trace data in a sample is of the thread that was sampled, from the CPU's
 * sample before on; nothing else tells who ran if switches were not recorded.
 */
static void on_aux_sample(struct timeline *tl, const struct perf_sample *sample)
{
	struct cpu_switch change = { 0 };
	struct sampled_cpu *cpu;

	if (!sample->aux.size || sample->cpu < 0 || sample->tid < 0)
		return;
	HASH_FIND_INT(tl->sampled_cpus, &sample->cpu, cpu);
	if (!cpu) {
		cpu = arena_alloc(&tl->arena, sizeof(*cpu));
		cpu->cpu = sample->cpu;
		HASH_ADD_INT(tl->sampled_cpus, cpu, cpu);
	}
	change.time = cpu->time;
	change.thread = thread_table_view(
		thread_table_borrow(&tl->threads, sample->pid, sample->tid, sample->time));
	switch_table_add(&tl->switches, sample->cpu, &change);
	cpu->time = sample->time;
}

/*
 * A tracepoint of the scheduler: it does not say of which process the next thread
 * is.  If nothing else does, either, its own.
 */
static void on_sched_switch(struct timeline *tl, const struct perf_sample *sample,
			    const struct sched_point *point)
{
	struct cpu_switch change = { .time = sample->time,
				     .preempted = point->runnable,
				     .dead = point->dead };
	struct live_thread *thread;

	if (sample->cpu < 0 || point->tid < 0)
		return;
	thread = thread_table_borrow_any(&tl->threads, point->tid, sample->time);
	if (point->name && point->tid)
		thread_table_name_last(&tl->threads, point->tid, point->name, SCHED_NAME_SIZE);
	change.thread = thread_table_view(thread);
	switch_table_add(&tl->switches, sample->cpu, &change);
}

static void on_sample(struct timeline *tl, const struct perf_record *record)
{
	struct perf_sample sample;
	struct sched_point point;

	if (perf_sample_read(tl->file, record, &sample) < 0)
		return;
	if (tl->points_tell && sched_points_read(&tl->points, &sample, &point) == SCHED_SWITCH)
		on_sched_switch(tl, &sample, &point);
	else if (tl->samples_tell)
		on_aux_sample(tl, &sample);
}

static const struct {
	uint32_t type;
	void (*tell)(struct timeline *tl, const struct perf_record *record);
} tellers[] = {
	{ PERF_RECORD_MMAP, on_mmap },
	{ PERF_RECORD_MMAP2, on_mmap },
	{ PERF_RECORD_COMM, on_comm },
	{ PERF_RECORD_FORK, on_fork },
	{ PERF_RECORD_EXIT, on_thread_exit },
	{ PERF_RECORD_SWITCH, on_switch },
	{ PERF_RECORD_SWITCH_CPU_WIDE, on_switch },
	{ PERF_RECORD_ITRACE_START, on_itrace_start },
	{ PERF_RECORD_AUX, on_aux },
	{ PERF_RECORD_LOST, on_lost },
	{ PERF_RECORD_LOST_SAMPLES, on_lost },
	{ PERF_RECORD_SAMPLE, on_sample },
	{ PERF_RECORD_KSYMBOL, on_ksymbol },
	{ PERF_RECORD_TEXT_POKE, on_text_poke },
	{ PERF_USER_THREAD_MAP, on_thread_map },
};

#define TELLERS (sizeof(tellers) / sizeof(tellers[0]))

/* Returns the index in tellers; TELLERS if the type is not part of this history. */
static size_t teller_of(uint32_t type)
{
	size_t i = 0;

	while (i < TELLERS && tellers[i].type != type)
		i++;
	return i;
}

bool timeline_tells(uint32_t type)
{
	return teller_of(type) != TELLERS;
}

void timeline_tell(struct timeline *tl, const struct perf_record *record)
{
	tellers[teller_of(record->type)].tell(tl, record);
}
