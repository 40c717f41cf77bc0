/* SPDX-License-Identifier: MIT */
/* Reads the fields of side-band records. */
#include "decoder/perf_data/perf_record.h"

#include <sys/mman.h>

/* Newer than some linux/perf_event.h: the last type of the kernel that is known here. */
#define KERNEL_RECORD_LAST 22   /* PERF_RECORD_CALLCHAIN_DEFERRED */
#define FILE_IDENTITY_SIZE 24   /* of MMAP2: device and inode, or build id */
#define KERNEL_PID         (-1) /* HOST_KERNEL_ID of tools/perf/util/machine.h */

static struct cursor payload_of(const struct perf_record *record)
{
	return cursor_over(record->payload, record->size);
}

static int32_t take_id(struct cursor *c)
{
	return (int32_t)cursor_u32(c);
}

/* Returns the text if a NUL ends it within the record, else NULL. */
static const char *take_text(const struct cursor *c)
{
	return memchr(c->at, 0, cursor_left(c)) ? (const char *)c->at : NULL;
}

static void read_mmap2_part(const struct perf_record *record, struct cursor *c,
			    struct perf_mmap *mmap)
{
	const uint8_t *identity = cursor_take(c, FILE_IDENTITY_SIZE);

	if (identity && record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		mmap->build_id_size = identity[0] <= BUILD_ID_MAX ? identity[0] : 0;
		mmap->build_id = identity + 4;
	}
	mmap->executable = cursor_u32(c) & PROT_EXEC;
	cursor_u32(c); /* flags */
}

int perf_record_read_mmap(const struct perf_record *record, struct perf_mmap *mmap)
{
	unsigned mode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct cursor c = payload_of(record);
	uint64_t length;

	*mmap = (struct perf_mmap){ .time = record->id.time };
	mmap->pid = take_id(&c);
	take_id(&c); /* tid */
	mmap->begin = cursor_u64(&c);
	length = cursor_u64(&c);
	/* The kernel's own text may be said to reach to the end of all addresses. */
	mmap->end = length > UINT64_MAX - mmap->begin ? UINT64_MAX : mmap->begin + length;
	mmap->file_offset = cursor_u64(&c);
	mmap->executable = !(record->misc & PERF_RECORD_MISC_MMAP_DATA);
	if (record->type == PERF_RECORD_MMAP2)
		read_mmap2_part(record, &c, mmap);
	mmap->guest = mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER;
	mmap->kernel = mmap->pid == KERNEL_PID || mode == PERF_RECORD_MISC_KERNEL;
	mmap->path = take_text(&c);
	return c.short_ || !mmap->path ? -1 : 0;
}

int perf_record_read_comm(const struct perf_record *record, struct perf_comm *comm)
{
	struct cursor c = payload_of(record);

	comm->pid = take_id(&c);
	comm->tid = take_id(&c);
	comm->exec = record->misc & PERF_RECORD_MISC_COMM_EXEC;
	comm->text = take_text(&c);
	return c.short_ || !comm->text ? -1 : 0;
}

/*
 * perf marks the FORK records that it makes up with a bit that the kernel uses for COMM only, since
 * 4.20 (tools/perf/util/synthetic-events.c); older ones just lack the time of the fork.
 */
int perf_record_read_task(const struct perf_record *record, struct perf_task *task)
{
	struct cursor c = payload_of(record);

	task->pid = take_id(&c);
	task->parent_pid = take_id(&c);
	task->tid = take_id(&c);
	task->parent_tid = take_id(&c);
	task->synthesized = !cursor_u64(&c) || record->misc & PERF_RECORD_MISC_FORK_EXEC;
	return c.short_ ? -1 : 0;
}

int perf_record_read_switch(const struct perf_record *record, struct perf_switch *change)
{
	struct cursor c = payload_of(record);

	change->out = record->misc & PERF_RECORD_MISC_SWITCH_OUT;
	change->pid = -1;
	change->tid = -1;
	if (record->type != PERF_RECORD_SWITCH_CPU_WIDE)
		return 0;
	change->pid = take_id(&c);
	change->tid = take_id(&c);
	return c.short_ ? -1 : 0;
}

int perf_record_read_aux(const struct perf_record *record, struct perf_aux *aux)
{
	struct cursor c = payload_of(record);

	aux->offset = cursor_u64(&c);
	aux->size = cursor_u64(&c);
	aux->flags = cursor_u64(&c);
	return c.short_ ? -1 : 0;
}

int perf_record_read_ksymbol(const struct perf_record *record, struct kernel_symbol *symbol)
{
	const uint32_t gone = 1; /* PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER */
	struct cursor c = payload_of(record);
	uint32_t length, type_and_flags;

	symbol->time = record->id.time;
	symbol->begin = cursor_u64(&c);
	length = cursor_u32(&c);
	symbol->end = length > UINT64_MAX - symbol->begin ? UINT64_MAX : symbol->begin + length;
	type_and_flags = cursor_u32(&c); /* 16 bits each */
	symbol->gone = type_and_flags >> 16 & gone;
	symbol->name = take_text(&c);
	return c.short_ || !symbol->name ? -1 : 0;
}

int perf_record_read_text_poke(const struct perf_record *record, struct code_patch *patch)
{
	struct cursor c = payload_of(record);

	*patch = (struct code_patch){ .time = record->id.time };
	patch->address = cursor_u64(&c);
	patch->old_size = cursor_u16(&c);
	patch->new_size = cursor_u16(&c);
	patch->old_bytes = cursor_take(&c, patch->old_size);
	patch->new_bytes = cursor_take(&c, patch->new_size);
	return c.short_ ? -1 : 0;
}

int perf_record_read_itrace_start(const struct perf_record *record, int32_t *pid, int32_t *tid)
{
	struct cursor c = payload_of(record);

	*pid = take_id(&c);
	*tid = take_id(&c);
	return c.short_ ? -1 : 0;
}

int perf_record_read_thread_name(const struct perf_record *record, uint64_t index,
				 struct perf_comm *comm)
{
	const size_t size = sizeof(uint64_t) + PERF_THREAD_NAME_SIZE;
	struct cursor c = payload_of(record);

	if (index >= cursor_u64(&c) || index >= cursor_left(&c) / size)
		return -1;
	cursor_take(&c, (size_t)index * size);
	comm->tid = (int32_t)cursor_u64(&c);
	comm->text = (const char *)cursor_take(&c, PERF_THREAD_NAME_SIZE);
	return 0;
}

uint64_t perf_record_lost_count(const struct perf_record *record)
{
	struct cursor c = payload_of(record);

	if (record->type == PERF_RECORD_LOST)
		cursor_u64(&c); /* id */
	return cursor_u64(&c);
}

bool perf_record_is_known(uint32_t type)
{
	return (type >= PERF_RECORD_MMAP && type <= KERNEL_RECORD_LAST) ||
	       (type >= PERF_USER_HEADER_ATTR && type < PERF_USER_END);
}
