/* SPDX-License-Identifier: MIT */
/*
 * Side-band records are first put into the order of time, then told one after
 * the other; what they change is kept as history in tables.  A record
 * without a time was synthesised by perf for what existed before, so it counts
 * as time 0.
 */
#include "decoder/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "decoder/file_table.h"
#include "decoder/loss_table.h"
#include "decoder/perf_file.h"
#include "decoder/perf_record.h"
#include "decoder/perf_sample.h"
#include "decoder/process_table.h"
#include "decoder/sched_points.h"
#include "decoder/switch_table.h"
#include "decoder/thread_table.h"

struct ordered_record {
	uint64_t time, position; /* position: of perf_file_next() */
};

/* When a CPU's last sample with trace data was taken. */
struct sampled_cpu {
	int32_t cpu;
	uint64_t time; /* ns */
	UT_hash_handle hh;
};

struct timeline {
	struct arena arena;
	struct diag *diag; /* borrowed, while building */
	struct file_table files;
	struct process_table processes;
	struct thread_table threads;
	struct switch_table switches;
	struct loss_table losses;
	struct kernel_symbol *symbols; /* owned */
	size_t symbol_count, symbol_room;
	struct code_patch *patches; /* owned */
	size_t patch_count, patch_room;
	const struct perf_file *file; /* borrowed, while building */
	bool samples_tell; /* who runs: there are samples with trace data, and no switches */
	bool points_tell;  /* who runs: there are sched_switch tracepoints, and no switches */
	struct sched_points points;
	struct sampled_cpu *sampled_cpus; /* hash, while building */
	uint64_t lost_records, lost_samples;
	struct perf_record *thread_maps; /* owned, while building */
	size_t thread_map_count, thread_map_room;
	const struct written_code *code; /* borrowed, while building */
	size_t code_count, code_told;
	int32_t *writers; /* owned, while building: the processes of `code`, each once */
	size_t writer_count, writer_room;
	uint64_t unknown_records;
};

/* ---- Records ------------------------------------------------------------- */

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

static void list_writers(struct timeline *tl)
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

/* Tell of what JIT compilers wrote before `time`. */
static void tell_code(struct timeline *tl, uint64_t time)
{
	for (; tl->code_told < tl->code_count && tl->code[tl->code_told].time < time;
	     tl->code_told++) {
		const struct written_code *code = &tl->code[tl->code_told];
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
	thread_table_name(&tl->threads,
			  thread_table_borrow(&tl->threads, comm.pid, comm.tid, time), time,
			  comm.text);
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
	change.thread = thread_table_view(
		thread_table_borrow(&tl->threads, pid, tid, record->id.time));
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
	if (!(aux.flags & (PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL |
			   PERF_AUX_FLAG_COLLISION)))
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
	diag_warn(tl->diag, "aux-truncated",
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
	tl->patches = alloc_grow(tl->patches, &tl->patch_room, tl->patch_count + 1,
				 sizeof(*tl->patches));
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

static void name_threads(struct timeline *tl)
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
	change.thread = thread_table_view(thread_table_borrow(&tl->threads, sample->pid, sample->tid,
							      sample->time));
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
	struct cpu_switch change = { .time = sample->time, .preempted = point->runnable,
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

/* ---- Building ------------------------------------------------------------ */

static int compare_order(const void *left, const void *right)
{
	const struct ordered_record *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->position < b->position ? -1 : a->position > b->position;
}

static void count_unread(struct timeline *tl, uint32_t type)
{
	if (!perf_record_is_known(type))
		tl->unknown_records++;
}

/* Whether the record is part of the history; completes the time of a sample. */
static bool is_told(const struct timeline *tl, struct perf_record *record)
{
	struct perf_sample sample;
	struct sched_point point;

	if (record->type != PERF_RECORD_SAMPLE)
		return teller_of(record->type) != TELLERS;
	if ((!tl->samples_tell && !tl->points_tell) ||
	    perf_sample_read(tl->file, record, &sample) < 0)
		return false;
	record->id.time = sample.time;
	return (tl->samples_tell && sample.aux.size > 0) ||
	       (tl->points_tell && sched_points_read(&tl->points, &sample, &point) == SCHED_SWITCH);
}

/*
 * The records to tell, in the order of time.
 * Returns an array of `*count` that the caller frees.
 */
static struct ordered_record *order_records(struct timeline *tl, const struct perf_file *file,
					    size_t *count)
{
	struct ordered_record *records = NULL;
	struct perf_record record;
	uint64_t position = 0, at;
	size_t room = 0;

	*count = 0;
	for (at = position; perf_file_next(file, &position, &record, tl->diag); at = position) {
		if (!is_told(tl, &record)) {
			count_unread(tl, record.type);
			continue;
		}
		records = alloc_grow(records, &room, *count + 1, sizeof(*records));
		records[(*count)++] = (struct ordered_record){ record.id.time, at };
	}
	if (*count)
		qsort(records, *count, sizeof(*records), compare_order);
	return records;
}

static void tell_records(struct timeline *tl, const struct perf_file *file)
{
	struct ordered_record *records;
	struct perf_record record;
	size_t count;

	records = order_records(tl, file, &count);
	for (size_t i = 0; i < count; i++) {
		uint64_t position = records[i].position;

		tell_code(tl, records[i].time);
		if (perf_file_next(file, &position, &record, NULL))
			tellers[teller_of(record.type)].tell(tl, &record);
	}
	tell_code(tl, UINT64_MAX);
	free(records);
}

/* If no event asked for switches, the next best tells who runs. */
static void choose_teller(struct timeline *tl)
{
	bool trace = false;

	sched_points_init(&tl->points, tl->file);
	for (size_t i = 0; i < tl->file->attr_count; i++) {
		if (tl->file->attrs[i].attr.context_switch)
			return;
		trace |= (tl->file->attrs[i].attr.sample_type & PERF_SAMPLE_AUX) != 0;
	}
	tl->points_tell = tl->points.formats[SCHED_SWITCH].recorded;
	tl->samples_tell = trace && !tl->points_tell;
}

static void warn_lost(const struct timeline *tl)
{
	if (tl->lost_records)
		diag_warn(tl->diag, "records-lost",
			  "perf lost %llu records: threads or mappings may be wrong from then on",
			  (unsigned long long)tl->lost_records);
	if (tl->lost_samples)
		diag_warn(tl->diag, "samples-lost", "perf lost %llu samples",
			  (unsigned long long)tl->lost_samples);
}

struct timeline *timeline_open(const struct perf_file *file, struct diag *diag, struct error *err)
{
	return timeline_open_written(file, NULL, 0, diag, err);
}

struct timeline *timeline_open_written(const struct perf_file *file,
				       const struct written_code *code, size_t count,
				       struct diag *diag, struct error *err)
{
	struct timeline *tl = alloc_zeroed(1, sizeof(*tl));

	(void)err;
	tl->diag = diag;
	tl->file = file;
	choose_teller(tl);
	tl->code = code;
	tl->code_count = count;
	list_writers(tl);
	file_table_init(&tl->files, &tl->arena, file);
	process_table_init(&tl->processes, &tl->arena, diag, file->size);
	thread_table_init(&tl->threads, &tl->arena, &tl->processes);
	tell_records(tl, file);
	warn_lost(tl);
	HASH_CLEAR(hh, tl->sampled_cpus);
	name_threads(tl);
	process_table_finish(&tl->processes);
	thread_table_finish(&tl->threads);
	switch_table_finish(&tl->switches, &tl->arena);
	loss_table_finish(&tl->losses);
	return tl;
}

void timeline_close(struct timeline *tl)
{
	if (!tl)
		return;
	file_table_release(&tl->files);
	process_table_release(&tl->processes);
	thread_table_release(&tl->threads);
	switch_table_release(&tl->switches);
	loss_table_release(&tl->losses);
	free(tl->symbols);
	free(tl->patches);
	free(tl->writers);
	arena_release(&tl->arena);
	free(tl);
}

/* ---- What it tells ------------------------------------------------------- */

const struct thread *const *timeline_threads(const struct timeline *tl, size_t *count)
{
	*count = tl->threads.count;
	return tl->threads.threads;
}

const struct thread *timeline_borrow_thread(const struct timeline *tl, int32_t tid, uint64_t time)
{
	return thread_table_find(&tl->threads, tid, time);
}

bool timeline_ran_exec(const struct process *process, const struct address_space *before,
		       const struct address_space *now)
{
	bool exec = false;

	for (size_t i = 0; i < process->epoch_count; i++) {
		exec |= process->epochs[i].exec;
		if (process->epochs[i].space == before)
			exec = false;
		if (process->epochs[i].space == now)
			break;
	}
	return exec;
}

int32_t timeline_switched_cpu(const struct timeline *tl, size_t index)
{
	return switch_table_cpu(&tl->switches, index);
}

const struct cpu_switch *timeline_switches(const struct timeline *tl, int32_t cpu, size_t *count)
{
	return switch_table_find(&tl->switches, cpu, count);
}

const struct loss *timeline_losses(const struct timeline *tl, int32_t cpu, int32_t tid,
				   size_t *count)
{
	return loss_table_find(&tl->losses, cpu, tid, count);
}

const struct kernel_symbol *timeline_kernel_symbols(const struct timeline *tl, size_t *count)
{
	*count = tl->symbol_count;
	return tl->symbols;
}

const struct code_patch *timeline_code_patches(const struct timeline *tl, size_t *count)
{
	*count = tl->patch_count;
	return tl->patches;
}

const struct mapped_file *const *timeline_files(const struct timeline *tl, size_t *count)
{
	*count = tl->files.count;
	return tl->files.files;
}

size_t timeline_space_count(const struct timeline *tl)
{
	return tl->processes.space_count;
}

uint64_t timeline_unknown_records(const struct timeline *tl)
{
	return tl->unknown_records;
}
