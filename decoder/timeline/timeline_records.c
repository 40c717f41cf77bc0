/* SPDX-License-Identifier: MIT */
/* Apply each sideband record to the history. */
#include "decoder/timeline/timeline.h"

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
		*ARRAY_ADD(tl->writers, tl->writer_count, tl->writer_room) = tl->code[i].pid;
	}
}

void timeline_apply_code(struct timeline *tl, uint64_t time)
{
	for (; tl->code_applied < tl->code_count && tl->code[tl->code_applied].time < time;
	     tl->code_applied++) {
		const struct perf_mmap *code = &tl->code[tl->code_applied];
		struct mapping mapping = { code->begin, code->end, code->file_offset,
					   file_table_borrow(&tl->files, code->path, code->build_id,
							     code->build_id_size) };

		process_table_map_code(&tl->processes, code->pid, code->time, &mapping);
	}
}

/*
 * Returns the name of the file in perf's BUILD_ID feature (util/vdso.c). The kernel also calls a
 * 32-bit process's vdso "[vdso]". A vdso is near the top of the address space
 * (arch/x86/entry/vdso/vma.c): 4 GiB for a process of ELF class 32, else 128 TiB.
 */
static const char *name_of_file(const struct perf_mmap *mmap)
{
	bool is_vdso32 = strcmp(mmap->path, "[vdso]") == 0 && mmap->begin <= UINT32_MAX;

	return is_vdso32 ? "[vdso32]" : mmap->path;
}

/* Keep the offsets and the inode of a file's code. Later mprotect(2) can cover more than code. */
static void note_file(struct mapped_file *file, const struct perf_mmap *mmap)
{
	if (!file->end)
		file->begin = mmap->file_offset;
	if (mmap->file_offset >= file->end)
		file->end = mmap->file_offset + (mmap->end - mmap->begin);
	if (!file->inode) {
		file->inode = mmap->inode;
		file->major = mmap->major;
	}
	file->several |= mmap->inode && file->inode != mmap->inode;
}

static int apply_mmap(struct timeline *tl, const struct perf_record *record)
{
	struct mapping mapping = { 0 };
	struct perf_mmap mmap;

	if (perf_record_read_mmap(record, &mmap) < 0)
		return -1;
	if (!mmap.executable || mmap.guest || mmap.begin == mmap.end)
		return 0;
	if (space_builder_is_anonymous(mmap.path) && writes_code(tl, mmap.pid))
		return 0;
	mapping.begin = mmap.begin;
	mapping.end = mmap.end;
	mapping.file_offset = mmap.file_offset;
	mapping.file = file_table_borrow(&tl->files, name_of_file(&mmap), mmap.build_id,
					 mmap.build_id_size);
	if (mmap.kernel) {
		space_builder_add(&tl->processes.kernel, &mapping);
		return 0;
	}
	note_file((struct mapped_file *)mapping.file, &mmap); /* the arena's copy */
	/* Its plain mapping would hide the code of compilers. */
	/*
	 * Memory that other processes can have: "/dev/zero (deleted)" is anonymous memory
	 * (mm/shmem.c). A recorder without inodes does not know the flags either.
	 */
	if (tl->writer_count &&
	    (starts_with(mmap.path, "/dev/zero (") || starts_with(mmap.path, "/dev/shm/") ||
	     (space_builder_is_memory(mmap.path) && !space_builder_is_anonymous(mmap.path))) &&
	    !(mmap.private && mmap.inode)) {
		const struct shared_memory memory = { mapping,
						      (uint64_t)mmap.major << 32 | mmap.minor,
						      mmap.inode, NULL };

		process_table_share(&tl->processes, mmap.pid, record->id.time, &memory);
		return 0;
	}
	/*
	 * A program that overwrites code first makes it writable, by mprotect(2), of which the
	 * kernel writes a record (mm/mprotect.c). If it is not executable meanwhile, there is no
	 * such record.
	 */
	if (mmap.writable && process_table_has(&tl->processes, mmap.pid, &mapping))
		diag_warn(tl->diag, "code-writable",
			  "%s: process %d made code of this file writable, so other code may have "
			  "run: calls in it, and from it, may be wrong",
			  mapping.file->path, mmap.pid);
	process_table_map(&tl->processes, mmap.pid, record->id.time, &mapping);
	return 0;
}

/* PERF_RECORD_FORK and EXIT. */
struct task {
	int32_t pid, parent_pid, tid, parent_tid;
};

static struct task read_task(struct cursor *c)
{
	struct task task;

	task.pid = (int32_t)cursor_u32(c);
	task.parent_pid = (int32_t)cursor_u32(c);
	task.tid = (int32_t)cursor_u32(c);
	task.parent_tid = (int32_t)cursor_u32(c);
	return task;
}

/*
 * perf synthesizes FORK records of tasks that existed when the recording began. Since 4.20 it marks
 * them with a bit that the kernel uses only for COMM (tools/perf/util/synthetic-events.c); older
 * versions only omit the time of the fork.
 */
static int apply_fork(struct timeline *tl, const struct perf_record *record)
{
	struct cursor c = perf_record_fields(record);
	struct live_thread *parent = NULL;
	uint64_t time = record->id.time;
	struct task task = read_task(&c);
	bool synthesized = !cursor_u64(&c) || record->misc & PERF_RECORD_MISC_FORK_EXEC;

	if (c.short_)
		return -1;
	if (!synthesized)
		parent = thread_table_borrow(&tl->threads, task.parent_pid, task.parent_tid, time);
	thread_table_fork(&tl->threads, task.pid, task.tid, time, parent);
	if (parent && task.pid != task.parent_pid)
		process_table_fork(&tl->processes, task.parent_pid, task.pid, time);
	return 0;
}

static int apply_exit(struct timeline *tl, const struct perf_record *record)
{
	struct cursor c = perf_record_fields(record);
	struct task task = read_task(&c);

	cursor_u64(&c); /* time */
	if (c.short_)
		return -1;
	if (!thread_table_exit(&tl->threads, task.pid, task.tid, record->id.time))
		diag_warn(
			tl->diag, "exit-of-another",
			"the record at offset 0x%llx ends thread %d of process %d, but that thread "
			"is of another process; left out",
			(unsigned long long)record->offset, task.tid, task.pid);
	return 0;
}

static void keep_switch(struct timeline *tl, const struct cpu_switch *change)
{
	struct cpu_switch *added = ARRAY_ADD(tl->switches, tl->switch_count, tl->switch_room);

	*added = *change;
	added->order = tl->switch_count;
}

/* The thread (tid -1: unknown) now runs on the record's CPU. */
static void add_switch(struct timeline *tl, const struct perf_record *record, int32_t pid,
		       int32_t tid)
{
	struct cpu_switch change = {
		.time = record->id.time,
		.cpu = record->id.cpu,
		.preempted = record->type != PERF_RECORD_ITRACE_START &&
			     record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT,
		.exec = record->type == PERF_RECORD_COMM,
	};

	if (record->id.cpu < 0 || tid < 0)
		return;
	change.thread =
		thread_table_view(thread_table_borrow(&tl->threads, pid, tid, record->id.time));
	keep_switch(tl, &change);
}

/*
 * An exec ends all other threads of the process; the caller gets the leader's tid (execve(2)). So
 * the leader now runs on this CPU.
 */
static int apply_comm(struct timeline *tl, const struct perf_record *record)
{
	struct cursor c = perf_record_fields(record);
	int32_t pid = (int32_t)cursor_u32(&c), tid = (int32_t)cursor_u32(&c);
	const char *name = cursor_text(&c);
	uint64_t time = record->id.time;
	struct live_thread *thread;

	if (c.short_)
		return -1;
	thread = thread_table_borrow(&tl->threads, pid, tid, time);
	thread_table_name(&tl->threads, thread, time, name);
	if (!(record->misc & PERF_RECORD_MISC_COMM_EXEC))
		return 0;
	process_table_exec(&tl->processes, pid, time, thread_table_exec(thread));
	if (!tl->sample_switches) /* samples have their own times */
		add_switch(tl, record, pid, pid);
	return 0;
}

/* PERF_RECORD_SWITCH, SWITCH_CPU_WIDE, and ITRACE_START, which names its thread. */
static int apply_switch(struct timeline *tl, const struct perf_record *record)
{
	struct cursor c = perf_record_fields(record);
	int32_t pid = 0, tid = 0; /* SWITCH lacks the next thread */

	if (record->type != PERF_RECORD_SWITCH) {
		pid = (int32_t)cursor_u32(&c);
		tid = (int32_t)cursor_u32(&c);
	}
	if (c.short_)
		return -1;
	if (record->type != PERF_RECORD_ITRACE_START &&
	    !(record->misc & PERF_RECORD_MISC_SWITCH_OUT)) {
		pid = record->id.pid;
		tid = record->id.tid;
	}
	add_switch(tl, record, pid, tid);
	return 0;
}

static int apply_aux(struct timeline *tl, const struct perf_record *record)
{
	struct perf_aux aux;
	struct loss loss;

	if (perf_record_read_aux(record, &aux) < 0)
		return -1;
	if (!(aux.flags &
	      (PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL | PERF_AUX_FLAG_COLLISION)))
		return 0;
	loss = (struct loss){ .owner = owner_of_cpu(record->id.cpu),
			      .time = record->id.time,
			      .flags = aux.flags,
			      .aux_offset = aux.offset,
			      .aux_size = aux.size,
			      .order = tl->loss_count };
	*ARRAY_ADD(tl->losses, tl->loss_count, tl->loss_room) = loss;
	loss.owner = owner_of_thread(record->id.tid);
	*ARRAY_ADD(tl->losses, tl->loss_count, tl->loss_room) = loss;
	/* The remedy depends on the cause (perf_session__warn_about_errors() of perf). */
	tl->losses_reported++;
	if (aux.flags & PERF_AUX_FLAG_TRUNCATED)
		diag_warn(tl->diag, "aux-truncated",
			  "perf lost trace: its buffer was full; record with a larger one, "
			  "perf record -m,64M");
	else if (aux.flags & PERF_AUX_FLAG_PARTIAL)
		diag_warn(tl->diag, "aux-partial",
			  "trace is missing from a time in which the CPU did not trace: did a KVM "
			  "guest run? A larger buffer does not help; record while no guest runs");
	else
		diag_warn(tl->diag, "aux-collision",
			  "trace is missing where a sample collided with another one; a larger "
			  "buffer does not help; record with fewer samples");
	return 0;
}

static int apply_ksymbol(struct timeline *tl, const struct perf_record *record)
{
	const uint32_t gone = 1; /* PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER */
	struct cursor c = perf_record_fields(record);
	struct kernel_symbol symbol = { .time = record->id.time, .begin = cursor_u64(&c) };
	uint32_t length = cursor_u32(&c), type_and_flags = cursor_u32(&c); /* 16 bits each */
	const char *name = cursor_text(&c);

	if (c.short_)
		return -1;
	symbol.end = length > UINT64_MAX - symbol.begin ? UINT64_MAX : symbol.begin + length;
	if (symbol.begin == symbol.end)
		return 0;
	symbol.gone = type_and_flags >> 16 & gone;
	symbol.name = arena_text(&tl->arena, name, strlen(name));
	*ARRAY_ADD(tl->symbols, tl->symbol_count, tl->symbol_room) = symbol;
	return 0;
}

static int apply_text_poke(struct timeline *tl, const struct perf_record *record)
{
	struct cursor c = perf_record_fields(record);
	struct code_patch patch = { .time = record->id.time, .address = cursor_u64(&c) };

	patch.old_size = cursor_u16(&c);
	patch.new_size = cursor_u16(&c);
	patch.old_bytes = cursor_take(&c, patch.old_size);
	patch.new_bytes = cursor_take(&c, patch.new_size);
	if (c.short_)
		return -1;
	patch.old_bytes = arena_copy(&tl->arena, patch.old_bytes, patch.old_size);
	patch.new_bytes = arena_copy(&tl->arena, patch.new_bytes, patch.new_size);
	*ARRAY_ADD(tl->patches, tl->patch_count, tl->patch_room) = patch;
	return 0;
}

/* Apply the record at the end: it has no time, and names of COMM records have priority. */
static int keep_thread_map(struct timeline *tl, const struct perf_record *record)
{
	*ARRAY_ADD(tl->thread_maps, tl->thread_map_count, tl->thread_map_room) = *record;
	return 0;
}

/* perf's THREAD_MAP: the threads of perf record --tid or --pid (util/event.h). */
void timeline_name_threads(struct timeline *tl)
{
	for (size_t i = 0; i < tl->thread_map_count; i++) {
		struct cursor c = perf_record_fields(&tl->thread_maps[i]);

		for (uint64_t left = cursor_u64(&c); left && !c.short_; left--) {
			int32_t tid = (int32_t)cursor_u64(&c);
			const void *name = cursor_take(&c, SCHED_NAME_SIZE);

			if (name)
				thread_table_name_last(&tl->threads, tid, name, SCHED_NAME_SIZE);
		}
	}
	free(tl->thread_maps);
	tl->thread_maps = NULL;
}

static int count_lost(struct timeline *tl, const struct perf_record *record)
{
	*(record->type == PERF_RECORD_LOST ? &tl->lost_records : &tl->lost_samples) +=
		perf_record_lost_count(record);
	return 0;
}

/* Trace data in a sample belongs to its thread since the CPU's previous sample: like a switch. */
static void apply_aux_sample(struct timeline *tl, const struct perf_sample *sample)
{
	struct cpu_switch change = { .cpu = sample->cpu };
	struct sampled_cpu *cpu;

	if (!sample->aux.size || sample->cpu < 0 || sample->tid < 0)
		return;
	HASH_FIND_OR_ADD_IN(tl->sampled_cpus, cpu, &sample->cpu, cpu,
			    arena_alloc(&tl->arena, sizeof(*cpu)));
	change.time = cpu->time;
	change.thread = thread_table_view(
		thread_table_borrow(&tl->threads, sample->pid, sample->tid, sample->time));
	keep_switch(tl, &change);
	cpu->time = sample->time;
}

/* The tracepoint names no process: a thread without other records gets its own process. */
static void apply_sched_switch(struct timeline *tl, const struct perf_sample *sample,
			       const struct sched_point *point)
{
	struct cpu_switch change = { .time = sample->time,
				     .cpu = sample->cpu,
				     .preempted = point->runnable,
				     .dead = point->dead };
	struct live_thread *thread;

	if (sample->cpu < 0 || point->tid < 0)
		return;
	thread = thread_table_borrow_any(&tl->threads, point->tid, sample->time);
	if (point->name && point->tid)
		thread_table_name_last(&tl->threads, point->tid, point->name, SCHED_NAME_SIZE);
	change.thread = thread_table_view(thread);
	keep_switch(tl, &change);
}

static int apply_sample(struct timeline *tl, const struct perf_record *record)
{
	struct perf_sample sample;
	struct sched_point point;

	if (perf_sample_read(tl->file, record, &sample) < 0)
		return 0;
	if (tl->tracepoint_switches &&
	    sched_points_read(&tl->points, &sample, &point) == SCHED_SWITCH)
		apply_sched_switch(tl, &sample, &point);
	else if (tl->sample_switches)
		apply_aux_sample(tl, &sample);
	return 0;
}

/* Each returns 0; -1 if the record is damaged. */
static const struct {
	uint32_t type;
	int (*apply)(struct timeline *tl, const struct perf_record *record);
} handlers[] = {
	{ PERF_RECORD_MMAP, apply_mmap },
	{ PERF_RECORD_MMAP2, apply_mmap },
	{ PERF_RECORD_COMM, apply_comm },
	{ PERF_RECORD_FORK, apply_fork },
	{ PERF_RECORD_EXIT, apply_exit },
	{ PERF_RECORD_SWITCH, apply_switch },
	{ PERF_RECORD_SWITCH_CPU_WIDE, apply_switch },
	{ PERF_RECORD_ITRACE_START, apply_switch },
	{ PERF_RECORD_AUX, apply_aux },
	{ PERF_RECORD_LOST, count_lost },
	{ PERF_RECORD_LOST_SAMPLES, count_lost },
	{ PERF_RECORD_SAMPLE, apply_sample },
	{ PERF_RECORD_KSYMBOL, apply_ksymbol },
	{ PERF_RECORD_TEXT_POKE, apply_text_poke },
	{ PERF_USER_THREAD_MAP, keep_thread_map },
};

#define HANDLERS (COUNT_OF(handlers))

/* Returns the index in handlers; HANDLERS if the type is not part of this history. */
static size_t find_handler(uint32_t type)
{
	size_t i = 0;

	while (i < HANDLERS && handlers[i].type != type)
		i++;
	return i;
}

bool timeline_has_handler(uint32_t type)
{
	return find_handler(type) != HANDLERS;
}

void timeline_apply_record(struct timeline *tl, const struct perf_record *record)
{
	if (handlers[find_handler(record->type)].apply(tl, record) < 0)
		diag_warn(tl->diag, "event-damaged",
			  "the record of type %u at offset 0x%llx is damaged and left out",
			  record->type, (unsigned long long)record->offset);
}
