/* SPDX-License-Identifier: MIT */
/* Processes by pid, each with a list of its epochs while the timeline is built. */
#include "decoder/timeline/thread_table.h"

#include "base/tables/hash.h"

/*
 * A copied mapping costs about 80 bytes, and copies can grow with the square of a small hostile
 * file's size. So copies are limited to 10 MiB plus five times the file; real recordings need much
 * less.
 */
#define COPIES_MIN          ((uint64_t)1 << 17)
#define FILE_BYTES_PER_COPY 16

/*
 * Each piece of code in shared memory visits the mappings of all processes, of which forks make
 * many in a small hostile file. PHP's 50 workers have one each.
 */
#define VISITS_MOST ((uint64_t)1 << 26)

struct live_process {
	struct process process; /* the public part */
	struct live_epoch {
		uint64_t begin;
		struct space_builder *builder; /* borrowed from table->spaces */
		bool shared;                   /* other epochs have the same builder */
		bool exec;                     /* starts with an exec */
		bool leader_ended;             /* before that */
		struct live_epoch *before;
	} * last;                           /* never NULL */
	const struct shared_memory *memory; /* list in the arena, newest mapping first */
	UT_hash_handle hh;
};

/* Code that was written into shared memory, at the addresses of one of its mappings. */
struct shared_code {
	const struct shared_memory *memory; /* in the arena */
	struct mapping mapping;
};

static struct space_builder *new_space(struct process_table *table)
{
	struct space_builder *builder = arena_alloc(table->arena, sizeof(*builder));

	*builder = (struct space_builder){ .space.index = (uint32_t)table->space_count,
					   .arena = table->arena };
	*ARRAY_ADD(table->spaces, table->space_count, table->space_room) = builder;
	return builder;
}

void process_table_init(struct process_table *table, struct arena *arena, struct diag *diag,
			uint64_t file_size)
{
	*table = (struct process_table){ .arena = arena, .diag = diag, .kernel.arena = arena };
	table->visits_left = VISITS_MOST;
	table->copies_left = COPIES_MIN + file_size / FILE_BYTES_PER_COPY;
	new_space(table);
}

void process_table_release(struct process_table *table)
{
	for (size_t i = 0; i < table->space_count; i++)
		space_builder_release(table->spaces[i]);
	space_builder_release(&table->kernel);
	HASH_CLEAR(hh, table->by_pid);
	free(table->spaces);
	free(table->shared);
	*table = (struct process_table){ 0 };
}

/* ---- Epochs -------------------------------------------------------------- */

static void add_epoch(struct process_table *table, struct live_process *process, uint64_t begin,
		      struct space_builder *builder)
{
	struct live_epoch *epoch = arena_alloc(table->arena, sizeof(*epoch));

	*epoch = (struct live_epoch){
		.begin = begin, .builder = builder, .shared = true, .before = process->last
	};
	process->last = epoch;
	process->process.epoch_count++;
}

/* Change the process's address space at `time`; replace an epoch without duration. */
static void change_space(struct process_table *table, struct live_process *process, uint64_t time,
			 struct space_builder *builder)
{
	struct live_epoch *last = process->last;

	if (last->begin == time || !last->builder->count) {
		last->builder = builder;
		last->shared = true;
	} else {
		add_epoch(table, process, time, builder);
	}
}

static struct live_process *borrow_process(struct process_table *table, int32_t pid)
{
	struct live_process *process;

	HASH_FIND_OR_ADD_IN(table->by_pid, process.pid, &pid, process,
			    arena_alloc(table->arena, sizeof(*process)));
	if (!process->last)
		add_epoch(table, process, 0, table->spaces[0]);
	return process;
}

/* Returns whether the limit allows a copy of this address space; else warns. */
static bool can_copy(struct process_table *table, const struct space_builder *builder)
{
	if (builder->count <= table->copies_left)
		return true;
	diag_warn(table->diag, "too-many-epochs",
		  "processes fork, or map code over code, so often that not every state can be "
		  "kept: some addresses may show code that was mapped there at another time, or "
		  "in the parent");
	return false;
}

/* ---- Changes ------------------------------------------------------------- */

const struct process *process_table_borrow(struct process_table *table, int32_t pid)
{
	return &borrow_process(table, pid)->process;
}

bool process_table_has(struct process_table *table, int32_t pid, const struct mapping *mapping)
{
	return space_builder_has(borrow_process(table, pid)->last->builder, mapping);
}

void process_table_map(struct process_table *table, int32_t pid, uint64_t time,
		       const struct mapping *mapping)
{
	struct live_process *process = borrow_process(table, pid);
	struct space_builder *builder = process->last->builder;
	struct space_builder *shared;

	if (space_builder_is_copy(builder, mapping))
		return;
	/* Mappings of the same time, or beyond the limit, share an epoch. */
	if (process->last->begin != time && can_copy(table, builder) &&
	    space_builder_conflicts(builder, mapping)) {
		add_epoch(table, process, time, builder);
		table->replaced++;
	}
	/* Copy the shared address space of an epoch before it changes. */
	shared = process->last->builder;
	if (process->last->shared && can_copy(table, shared)) {
		table->copies_left -= shared->count;
		process->last->builder = new_space(table);
		process->last->shared = false;
		space_builder_copy(process->last->builder, shared);
	}
	space_builder_add(process->last->builder, mapping);
}

/*
 * Returns whether two mappings are of the same memory.  Without an inode, a fork left it at the
 * same addresses, or it has a name.
 */
static bool is_same(const struct shared_memory *a, const struct shared_memory *b)
{
	return a->mapping.file == b->mapping.file && a->device == b->device &&
	       a->inode == b->inode &&
	       (a->inode || !starts_with(a->mapping.file->path, "/dev/zero") ||
		a->mapping.begin - a->mapping.file_offset ==
			b->mapping.begin - b->mapping.file_offset);
}

/* Use up one of the shared code that a limit allows; returns false and warns if none is left. */
static bool take_one(struct process_table *table, uint64_t *left)
{
	if (*left)
		return (*left)--;
	diag_warn(table->diag, "too-much-shared-code",
		  "processes share memory of compilers so often that not all of them can have its "
		  "code: calls in it may be missing");
	return false;
}

/* Map code of shared memory in a process that has the memory as `memory`. */
static void map_shared(struct process_table *table, struct live_process *process, uint64_t time,
		       const struct shared_code *code, const struct shared_memory *memory)
{
	uint64_t move = memory->mapping.begin - memory->mapping.file_offset -
			(code->memory->mapping.begin - code->memory->mapping.file_offset);
	struct mapping moved = code->mapping;

	moved.begin += move;
	moved.end += move;
	if (is_same(code->memory, memory) && moved.begin >= memory->mapping.begin &&
	    moved.begin < moved.end && moved.end <= memory->mapping.end &&
	    !space_builder_has_others(process->last->builder, &moved) &&
	    take_one(table, &table->copies_left))
		process_table_map(table, process->process.pid, time, &moved);
}

void process_table_share(struct process_table *table, int32_t pid, uint64_t time,
			 const struct shared_memory *memory)
{
	struct live_process *process = borrow_process(table, pid);
	struct shared_memory *added;

	/* A change of the protection is a record, too. */
	for (const struct shared_memory *old = process->memory;
	     old && take_one(table, &table->visits_left); old = old->next)
		if (is_same(old, memory) && old->mapping.begin == memory->mapping.begin &&
		    old->mapping.end == memory->mapping.end)
			return;
	added = arena_copy(table->arena, memory, sizeof(*memory));
	added->next = process->memory;
	process->memory = added;
	for (size_t i = 0; i < table->shared_count && take_one(table, &table->visits_left); i++)
		map_shared(table, process, time, &table->shared[i], added);
}

void process_table_map_code(struct process_table *table, int32_t pid, uint64_t time,
			    const struct mapping *code)
{
	struct live_process *process = borrow_process(table, pid);
	struct shared_code shared = { process->memory, *code };

	while (shared.memory && (shared.memory->mapping.begin > code->begin ||
				 shared.memory->mapping.end < code->end))
		shared.memory = shared.memory->next;
	process_table_map(table, pid, time, code);
	if (!shared.memory)
		return;
	*ARRAY_ADD(table->shared, table->shared_count, table->shared_room) = shared;
	for (struct live_process *other = table->by_pid; other; other = other->hh.next)
		for (const struct shared_memory *at = other->memory;
		     at && take_one(table, &table->visits_left); at = at->next)
			map_shared(table, other, time, &shared, at);
}

void process_table_exec(struct process_table *table, int32_t pid, uint64_t time, bool leader_ended)
{
	struct live_process *process = borrow_process(table, pid);
	bool had_code = process->last->builder->count > 0;

	process->memory = NULL;
	change_space(table, process, time, table->spaces[0]);
	process->last->exec |= had_code;
	process->last->leader_ended |= leader_ended;
}

void process_table_fork(struct process_table *table, int32_t parent, int32_t child, uint64_t time)
{
	const struct shared_memory *memory = borrow_process(table, parent)->memory;
	struct live_epoch *source = borrow_process(table, parent)->last;

	borrow_process(table, child)->memory = memory;
	source->shared = true;
	change_space(table, borrow_process(table, child), time, source->builder);
}

/* ---- The end ------------------------------------------------------------- */

static void finish_process(struct process_table *table, struct live_process *process)
{
	size_t count = process->process.epoch_count, next_exec = 0;
	struct epoch *epochs = arena_alloc(table->arena, count * sizeof(*epochs));

	process->process.epochs = epochs;
	for (struct live_epoch *epoch = process->last; epoch; epoch = epoch->before) {
		epochs[--count] = (struct epoch){ epoch->begin, epoch->exec, epoch->leader_ended,
						  &epoch->builder->space, next_exec };
		if (epoch->exec)
			next_exec = count;
	}
}

void process_table_finish(struct process_table *table)
{
	struct live_process *process, *next;

	space_builder_finish(&table->kernel, NULL);
	for (size_t i = 0; i < table->space_count; i++)
		space_builder_finish(table->spaces[i], &table->kernel.space);
	HASH_ITER(hh, table->by_pid, process, next)
	finish_process(table, process);
}
