/* SPDX-License-Identifier: MIT */
/*
 * Side-band records are first put into the order of time, then told one after
 * the other; what they change is kept as history.  A record without a time
 * was synthesised by perf for what existed before, so it counts as time 0.
 */
#include "decoder/timeline.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "decoder/perf_file.h"
#include "decoder/space_builder.h"

/*
 * Copying an address space for a new epoch costs memory in proportion to its
 * mappings, so a small hostile file could ask for much.  Past this many copied
 * mappings a process keeps its epoch.
 */
#define COPIES_MIN ((uint64_t)1 << 20)
#define FILE_BYTES_PER_COPY 8

/* Kernel addresses on x86-64 have the top bit set. */
#define KERNEL_PID (-1)

struct ordered_record {
	uint64_t time, position; /* position: of perf_file_next() */
};

struct live_epoch {
	uint64_t begin;
	struct space_builder *builder; /* borrowed from timeline.spaces, perhaps shared with a parent */
	bool shared;
	bool exec;
};

struct live_process {
	struct process process; /* what is handed out */
	struct live_epoch *epochs;
	size_t count, room;
	UT_hash_handle hh;
};

struct live_thread {
	struct thread thread; /* what is handed out */
	struct thread_name *names;
	size_t name_room;
	struct live_thread *older; /* that had the same tid before */
	bool ended;
};

/* The latest thread of a tid. */
struct live_tid {
	int32_t tid;
	struct live_thread *latest;
	UT_hash_handle hh;
};

struct live_cpu {
	int32_t cpu;
	struct cpu_switch *switches;
	size_t count, room;
	UT_hash_handle hh;
};

struct file_entry {
	struct mapped_file file;
	UT_hash_handle hh;
	char key[]; /* build id, then path */
};

/* From BUILD_ID: the id of a path. */
struct known_build_id {
	const char *path;
	const uint8_t *id;
	size_t size;
	UT_hash_handle hh;
};

struct timeline {
	struct arena arena;
	struct diag *diag; /* borrowed, while building */
	struct live_process *processes;
	struct live_tid *tids;
	const struct thread **threads;
	size_t thread_count, thread_room;
	struct live_cpu *cpus;
	struct file_entry *files_by_key;
	const struct mapped_file **files;
	size_t file_count, file_room;
	struct known_build_id *build_ids;
	struct space_builder **spaces;
	size_t space_count, space_room;
	struct space_builder kernel;
	struct loss *losses;
	size_t loss_count, loss_room;
	uint64_t unknown_records, copies_left;
};

/* ---- Files --------------------------------------------------------------- */

static void load_build_ids(struct timeline *tl, const struct perf_file *file)
{
	struct known_build_id *known;
	const uint8_t *id;
	const char *path;
	size_t position = 0, size;

	while (perf_features_next_build_id(file, &position, &path, &id, &size)) {
		HASH_FIND_STR(tl->build_ids, path, known);
		if (known)
			continue;
		known = arena_alloc(&tl->arena, sizeof(*known));
		known->path = path;
		known->id = id;
		known->size = size;
		HASH_ADD_KEYPTR(hh, tl->build_ids, path, strlen(path), known);
	}
}

/* BUILD_ID names the kernel "[kernel.kallsyms]"; its mapping is "[kernel.kallsyms]_text". */
static struct known_build_id *find_build_id(const struct timeline *tl, const char *path)
{
	static const char kernel[] = "[kernel.kallsyms]";
	struct known_build_id *known;

	if (strncmp(path, kernel, sizeof(kernel) - 1) == 0)
		path = kernel;
	HASH_FIND_STR(tl->build_ids, path, known);
	return known;
}

static const struct mapped_file *borrow_file(struct timeline *tl, const char *path,
					     const uint8_t *id, size_t id_size)
{
	size_t length = strlen(path);
	struct known_build_id *known;
	struct file_entry *entry, *found;

	if (!id_size) {
		known = find_build_id(tl, path);
		id_size = known ? known->size : 0;
		id = known ? known->id : NULL;
	}
	entry = arena_alloc(&tl->arena, sizeof(*entry) + id_size + length + 1);
	if (id_size)
		memcpy(entry->key, id, id_size);
	memcpy(entry->key + id_size, path, length);
	HASH_FIND(hh, tl->files_by_key, entry->key, id_size + length, found);
	if (found)
		return &found->file;
	entry->file.path = entry->key + id_size;
	entry->file.build_id_size = (uint8_t)id_size;
	if (id_size)
		memcpy(entry->file.build_id, id, id_size);
	entry->file.index = (uint32_t)tl->file_count;
	HASH_ADD_KEYPTR(hh, tl->files_by_key, entry->key, id_size + length, entry);
	tl->files = alloc_grow(tl->files, &tl->file_room, tl->file_count + 1, sizeof(*tl->files));
	tl->files[tl->file_count++] = &entry->file;
	return &entry->file;
}

/* ---- Processes and their address spaces ---------------------------------- */

static struct space_builder *new_space(struct timeline *tl)
{
	struct space_builder *builder = arena_alloc(&tl->arena, sizeof(*builder));

	space_builder_init(builder, &tl->arena);
	builder->space.index = (uint32_t)tl->space_count;
	tl->spaces = alloc_grow(tl->spaces, &tl->space_room, tl->space_count + 1,
				sizeof(*tl->spaces));
	tl->spaces[tl->space_count++] = builder;
	return builder;
}

/* Returns a copy, or NULL if too much was copied already. */
static struct space_builder *copy_space(struct timeline *tl, const struct space_builder *from)
{
	struct space_builder *copy;
	uint32_t index;

	if (from->count > tl->copies_left) {
		diag_warn(tl->diag, "too-many-epochs",
			  "code is mapped over code so often that not every state can be kept: "
			  "some addresses may be taken for what was mapped there before");
		return NULL;
	}
	tl->copies_left -= from->count;
	copy = new_space(tl);
	index = copy->space.index;
	space_builder_copy(copy, from);
	copy->space.index = index;
	return copy;
}

static void add_epoch(struct live_process *process, uint64_t begin, struct space_builder *builder,
		      bool shared)
{
	process->epochs = alloc_grow(process->epochs, &process->room, process->count + 1,
				     sizeof(*process->epochs));
	process->epochs[process->count++] =
		(struct live_epoch){ process->count ? begin : 0, builder, shared, false };
}

static struct live_process *borrow_process(struct timeline *tl, int32_t pid)
{
	struct live_process *process;

	HASH_FIND_INT(tl->processes, &pid, process);
	if (process)
		return process;
	process = arena_alloc(&tl->arena, sizeof(*process));
	process->process.pid = pid;
	HASH_ADD_INT(tl->processes, process.pid, process);
	add_epoch(process, 0, new_space(tl), false);
	return process;
}

static struct live_epoch *last_epoch(struct live_process *process)
{
	return &process->epochs[process->count - 1];
}

/* Before a change: a space shared with the parent becomes the process's own. */
static bool own_space(struct timeline *tl, struct live_epoch *epoch)
{
	struct space_builder *copy;

	if (!epoch->shared)
		return true;
	copy = copy_space(tl, epoch->builder);
	if (!copy)
		return false;
	epoch->builder = copy;
	epoch->shared = false;
	return true;
}

static void map(struct timeline *tl, int32_t pid, uint64_t time, const struct mapping *mapping)
{
	struct live_process *process;
	struct live_epoch *epoch;
	struct space_builder *copy;

	if (pid == KERNEL_PID) {
		space_builder_add(&tl->kernel, mapping);
		return;
	}
	process = borrow_process(tl, pid);
	epoch = last_epoch(process);
	if (space_builder_conflicts(epoch->builder, mapping)) {
		copy = copy_space(tl, epoch->builder);
		if (!copy)
			return;
		add_epoch(process, time, copy, false);
		epoch = last_epoch(process);
	}
	if (own_space(tl, epoch))
		space_builder_add(epoch->builder, mapping);
}

/* exec: all mappings are gone. */
static void unmap_all(struct timeline *tl, int32_t pid, uint64_t time)
{
	struct live_process *process = borrow_process(tl, pid);

	if (!last_epoch(process)->builder->count)
		return;
	add_epoch(process, time, new_space(tl), false);
	last_epoch(process)->exec = true;
}

/* fork: the child has what the parent has. */
static void inherit(struct timeline *tl, int32_t parent, int32_t child, uint64_t time)
{
	struct space_builder *builder = last_epoch(borrow_process(tl, parent))->builder;
	struct live_process *process = borrow_process(tl, child);
	struct live_epoch *epoch = last_epoch(process);

	if (process->count == 1 && !epoch->builder->count)
		*epoch = (struct live_epoch){ 0, builder, true, false };
	else
		add_epoch(process, time, builder, true);
}

/* ---- Threads ------------------------------------------------------------- */

static struct live_thread *add_thread(struct timeline *tl, int32_t pid, int32_t tid, uint64_t begin)
{
	struct live_thread *thread = arena_alloc(&tl->arena, sizeof(*thread));
	struct live_tid *entry;

	thread->thread.pid = pid;
	thread->thread.tid = tid;
	thread->thread.index = (uint32_t)tl->thread_count;
	thread->thread.process = &borrow_process(tl, pid)->process;
	thread->thread.begin = begin;
	thread->thread.end = UINT64_MAX;
	tl->threads = alloc_grow(tl->threads, &tl->thread_room, tl->thread_count + 1,
				 sizeof(*tl->threads));
	tl->threads[tl->thread_count++] = &thread->thread;
	HASH_FIND_INT(tl->tids, &tid, entry);
	if (!entry) {
		entry = arena_alloc(&tl->arena, sizeof(*entry));
		entry->tid = tid;
		HASH_ADD_INT(tl->tids, tid, entry);
	}
	thread->older = entry->latest;
	entry->latest = thread;
	return thread;
}

static struct live_thread *latest_thread(const struct timeline *tl, int32_t tid)
{
	struct live_tid *entry;

	HASH_FIND_INT(tl->tids, &tid, entry);
	return entry ? entry->latest : NULL;
}

/* The thread as it is now, made when first named. */
static struct live_thread *borrow_live(struct timeline *tl, int32_t pid, int32_t tid)
{
	struct live_thread *thread = latest_thread(tl, tid);

	if (thread && (pid == -1 || thread->thread.pid == pid))
		return thread;
	return add_thread(tl, pid, tid, 0);
}

static void name_thread(struct timeline *tl, struct live_thread *thread, uint64_t time,
			const char *text)
{
	(void)tl;
	thread->names = alloc_grow(thread->names, &thread->name_room,
				   thread->thread.name_count + 1, sizeof(*thread->names));
	thread->names[thread->thread.name_count++] =
		(struct thread_name){ thread->thread.name_count ? time : 0, text };
}

/* ---- Context switches ---------------------------------------------------- */

static void run(struct timeline *tl, int32_t cpu, int32_t pid, int32_t tid, uint64_t time)
{
	const struct thread *thread;
	struct live_cpu *entry;

	if (cpu < 0 || tid < 0)
		return;
	thread = &borrow_live(tl, pid, tid)->thread;
	HASH_FIND_INT(tl->cpus, &cpu, entry);
	if (!entry) {
		entry = arena_alloc(&tl->arena, sizeof(*entry));
		entry->cpu = cpu;
		HASH_ADD_INT(tl->cpus, cpu, entry);
	}
	if (entry->count && entry->switches[entry->count - 1].thread == thread)
		return;
	entry->switches = alloc_grow(entry->switches, &entry->room, entry->count + 1,
				     sizeof(*entry->switches));
	entry->switches[entry->count++] = (struct cpu_switch){ time, thread };
}

/* ---- Records ------------------------------------------------------------- */

/* Returns the text if a NUL ends it within the record, else NULL. */
static const char *text_of(struct cursor *c)
{
	return memchr(c->at, 0, cursor_left(c)) ? (const char *)c->at : NULL;
}

static void on_mmap(struct timeline *tl, const struct perf_record *record)
{
	struct cursor c = cursor_over(record->payload, record->size);
	struct mapping mapping = { 0 };
	const uint8_t *id = NULL;
	size_t id_size = 0;
	bool executable = !(record->misc & PERF_RECORD_MISC_MMAP_DATA);
	int32_t pid = (int32_t)cursor_u32(&c);
	uint64_t length;
	const char *path;

	cursor_u32(&c); /* tid */
	mapping.begin = cursor_u64(&c);
	length = cursor_u64(&c);
	mapping.end = mapping.begin + length;
	mapping.file_offset = cursor_u64(&c);
	if (record->type == PERF_RECORD_MMAP2) {
		const uint8_t *identity = cursor_take(&c, 24);

		if (identity && record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
			id_size = identity[0] <= BUILD_ID_MAX ? identity[0] : 0;
			id = identity + 4;
		}
		executable = cursor_u32(&c) & 4; /* PROT_EXEC */
		cursor_u32(&c);                  /* flags */
	}
	path = text_of(&c);
	if (c.short_ || !path || mapping.end < mapping.begin) {
		diag_warn(tl->diag, "mmap-damaged", "the mapping record at offset 0x%llx is damaged",
			  (unsigned long long)record->offset);
		return;
	}
	if (!executable || !length)
		return;
	mapping.file = borrow_file(tl, path, id, id_size);
	map(tl, pid, record->id.time, &mapping);
}

static void on_comm(struct timeline *tl, const struct perf_record *record)
{
	struct cursor c = cursor_over(record->payload, record->size);
	int32_t pid = (int32_t)cursor_u32(&c);
	int32_t tid = (int32_t)cursor_u32(&c);
	const char *text = text_of(&c);

	if (c.short_ || !text)
		return;
	name_thread(tl, borrow_live(tl, pid, tid), record->id.time, text);
	if (record->misc & PERF_RECORD_MISC_COMM_EXEC)
		unmap_all(tl, pid, record->id.time);
}

static void on_fork(struct timeline *tl, const struct perf_record *record)
{
	struct cursor c = cursor_over(record->payload, record->size);
	int32_t pid = (int32_t)cursor_u32(&c);
	int32_t parent_pid = (int32_t)cursor_u32(&c);
	int32_t tid = (int32_t)cursor_u32(&c);
	int32_t parent_tid = (int32_t)cursor_u32(&c);
	struct live_thread *parent, *thread;

	if (c.short_)
		return;
	parent = borrow_live(tl, parent_pid, parent_tid);
	thread = latest_thread(tl, tid);
	if (!thread || thread->ended || thread->thread.pid != pid)
		thread = add_thread(tl, pid, tid, record->id.time);
	thread->thread.parent = thread == parent ? NULL : &parent->thread;
	if (parent->thread.name_count)
		name_thread(tl, thread, record->id.time,
			    parent->names[parent->thread.name_count - 1].text);
	if (pid != parent_pid)
		inherit(tl, parent_pid, pid, record->id.time);
}

static void on_thread_exit(struct timeline *tl, const struct perf_record *record)
{
	struct cursor c = cursor_over(record->payload, record->size);
	struct live_thread *thread;
	int32_t pid, tid;

	pid = (int32_t)cursor_u32(&c);
	cursor_u32(&c); /* parent */
	tid = (int32_t)cursor_u32(&c);
	if (c.short_)
		return;
	thread = borrow_live(tl, pid, tid);
	thread->thread.end = record->id.time;
	thread->ended = true;
}

static void on_switch(struct timeline *tl, const struct perf_record *record)
{
	struct cursor c = cursor_over(record->payload, record->size);
	const struct perf_sample_id *id = &record->id;
	bool out = record->misc & PERF_RECORD_MISC_SWITCH_OUT;
	int32_t pid, tid;

	if (!out) {
		run(tl, id->cpu, id->pid, id->tid, id->time);
	} else if (record->type == PERF_RECORD_SWITCH) {
		run(tl, id->cpu, 0, 0, id->time); /* who comes next is not said */
	} else {
		pid = (int32_t)cursor_u32(&c);
		tid = (int32_t)cursor_u32(&c);
		if (!c.short_)
			run(tl, id->cpu, pid, tid, id->time);
	}
}

static void on_itrace_start(struct timeline *tl, const struct perf_record *record)
{
	struct cursor c = cursor_over(record->payload, record->size);
	int32_t pid = (int32_t)cursor_u32(&c);
	int32_t tid = (int32_t)cursor_u32(&c);

	if (!c.short_)
		run(tl, record->id.cpu, pid, tid, record->id.time);
}

static void on_aux(struct timeline *tl, const struct perf_record *record)
{
	struct cursor c = cursor_over(record->payload, record->size);
	struct loss loss = {
		.time = record->id.time,
		.cpu = record->id.cpu,
		.pid = record->id.pid,
		.tid = record->id.tid,
		.file_offset = record->offset,
	};

	loss.aux_offset = cursor_u64(&c);
	loss.aux_size = cursor_u64(&c);
	loss.flags = cursor_u64(&c);
	if (c.short_ || !(loss.flags & (PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL)))
		return;
	tl->losses = alloc_grow(tl->losses, &tl->loss_room, tl->loss_count + 1,
				sizeof(*tl->losses));
	tl->losses[tl->loss_count++] = loss;
	diag_warn(tl->diag, "aux-truncated",
		  "trace data was lost while recording (a larger buffer helps: perf record -m,64M)");
}

static void on_lost(struct timeline *tl, const struct perf_record *record)
{
	struct cursor c = cursor_over(record->payload, record->size);
	uint64_t count;

	if (record->type == PERF_RECORD_LOST)
		cursor_u64(&c); /* id */
	count = cursor_u64(&c);
	if (count)
		diag_warn(tl->diag, "records-lost",
			  "perf lost %llu records: threads or mappings may be wrong from then on",
			  (unsigned long long)count);
}

static bool is_known(uint32_t type)
{
	return type - 1 < PERF_RECORD_MAX - 1 ||
	       (type >= PERF_USER_HEADER_ATTR && type <= PERF_USER_COMPRESSED2);
}

static void tell(struct timeline *tl, const struct perf_record *record)
{
	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		on_mmap(tl, record);
		break;
	case PERF_RECORD_COMM:
		on_comm(tl, record);
		break;
	case PERF_RECORD_FORK:
		on_fork(tl, record);
		break;
	case PERF_RECORD_EXIT:
		on_thread_exit(tl, record);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		on_switch(tl, record);
		break;
	case PERF_RECORD_ITRACE_START:
		on_itrace_start(tl, record);
		break;
	case PERF_RECORD_AUX:
		on_aux(tl, record);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		on_lost(tl, record);
		break;
	default: /* not part of this history */
		break;
	}
}

/* ---- Building ------------------------------------------------------------ */

static int compare_order(const void *left, const void *right)
{
	const struct ordered_record *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->position < b->position ? -1 : a->position > b->position;
}

/* The kernel's records, in the order of time; what else there is is counted. */
static struct ordered_record *order_records(struct timeline *tl, const struct perf_file *file,
					    size_t *count)
{
	struct ordered_record *records = NULL;
	struct perf_record record;
	uint64_t position = 0, at;
	size_t room = 0;

	*count = 0;
	for (at = position; perf_file_next(file, &position, &record, tl->diag); at = position) {
		if (!is_known(record.type))
			tl->unknown_records++;
		if (record.type == PERF_USER_COMPRESSED || record.type == PERF_USER_COMPRESSED2)
			diag_warn(tl->diag, "compressed",
				  "compressed records (perf record -z) are not read yet: threads "
				  "and mappings in them are missing");
		if (record.type >= PERF_USER_HEADER_ATTR || record.type == PERF_RECORD_SAMPLE)
			continue;
		records = alloc_grow(records, &room, *count + 1, sizeof(*records));
		records[(*count)++] = (struct ordered_record){ record.id.time, at };
	}
	if (*count)
		qsort(records, *count, sizeof(*records), compare_order);
	return records;
}

static void finish(struct timeline *tl)
{
	struct live_process *process, *next;
	struct live_thread *thread;
	struct live_tid *tid, *next_tid;

	space_builder_finish(&tl->kernel, NULL);
	for (size_t i = 0; i < tl->space_count; i++)
		space_builder_finish(tl->spaces[i], &tl->kernel.space);
	HASH_ITER(hh, tl->processes, process, next) {
		struct epoch *epochs = arena_alloc(&tl->arena, process->count * sizeof(*epochs));

		for (size_t i = 0; i < process->count; i++)
			epochs[i] = (struct epoch){ process->epochs[i].begin,
						    process->epochs[i].exec,
						    &process->epochs[i].builder->space };
		process->process.epochs = epochs;
		process->process.epoch_count = process->count;
	}
	HASH_ITER(hh, tl->tids, tid, next_tid) {
		for (thread = tid->latest; thread; thread = thread->older)
			thread->thread.names = thread->names;
	}
}

struct timeline *timeline_open(const struct perf_file *file, struct diag *diag, struct error *err)
{
	struct timeline *tl = alloc_zeroed(1, sizeof(*tl));
	struct ordered_record *records;
	struct perf_record record;
	size_t count;

	(void)err;
	tl->diag = diag;
	tl->copies_left = file->size / FILE_BYTES_PER_COPY;
	if (tl->copies_left < COPIES_MIN)
		tl->copies_left = COPIES_MIN;
	space_builder_init(&tl->kernel, &tl->arena);
	load_build_ids(tl, file);
	records = order_records(tl, file, &count);
	for (size_t i = 0; i < count; i++) {
		uint64_t position = records[i].position;

		if (perf_file_next(file, &position, &record, NULL))
			tell(tl, &record);
	}
	free(records);
	finish(tl);
	return tl;
}

void timeline_close(struct timeline *tl)
{
	struct live_process *process, *next_process;
	struct live_thread *thread;
	struct live_tid *tid, *next_tid;
	struct live_cpu *cpu, *next_cpu;

	if (!tl)
		return;
	HASH_ITER(hh, tl->processes, process, next_process)
		free(process->epochs);
	HASH_ITER(hh, tl->tids, tid, next_tid) {
		for (thread = tid->latest; thread; thread = thread->older)
			free(thread->names);
	}
	HASH_ITER(hh, tl->cpus, cpu, next_cpu)
		free(cpu->switches);
	for (size_t i = 0; i < tl->space_count; i++)
		space_builder_release(tl->spaces[i]);
	space_builder_release(&tl->kernel);
	HASH_CLEAR(hh, tl->processes);
	HASH_CLEAR(hh, tl->tids);
	HASH_CLEAR(hh, tl->cpus);
	HASH_CLEAR(hh, tl->files_by_key);
	HASH_CLEAR(hh, tl->build_ids);
	free(tl->threads);
	free(tl->files);
	free(tl->spaces);
	free(tl->losses);
	arena_release(&tl->arena);
	free(tl);
}

/* ---- What it tells ------------------------------------------------------- */

const struct thread *const *timeline_threads(const struct timeline *tl, size_t *count)
{
	*count = tl->thread_count;
	return tl->threads;
}

const struct thread *timeline_borrow_thread(const struct timeline *tl, int32_t tid, uint64_t time)
{
	const struct live_thread *thread = latest_thread(tl, tid);

	while (thread && thread->thread.begin > time && thread->older)
		thread = thread->older;
	return thread ? &thread->thread : NULL;
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

const struct cpu_switch *timeline_switches(const struct timeline *tl, int32_t cpu, size_t *count)
{
	struct live_cpu *entry;

	HASH_FIND_INT(tl->cpus, &cpu, entry);
	*count = entry ? entry->count : 0;
	return entry ? entry->switches : NULL;
}

const struct loss *timeline_losses(const struct timeline *tl, size_t *count)
{
	*count = tl->loss_count;
	return tl->losses;
}

const struct mapped_file *const *timeline_files(const struct timeline *tl, size_t *count)
{
	*count = tl->file_count;
	return tl->files;
}

size_t timeline_space_count(const struct timeline *tl)
{
	return tl->space_count;
}

uint64_t timeline_unknown_records(const struct timeline *tl)
{
	return tl->unknown_records;
}
