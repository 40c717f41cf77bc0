/* SPDX-License-Identifier: MIT */
/* Read the fields of sideband records. */
#include "decoder/perf_data/perf_record.h"

#include <sys/mman.h>

#include "decoder/address_space.h"

/* The last known record type of the kernel; some linux/perf_event.h lack it. */
#define KERNEL_RECORD_LAST 22   /* PERF_RECORD_CALLCHAIN_DEFERRED */
#define FILE_IDENTITY_SIZE 24   /* bytes of MMAP2's device and inode, or build id */
#define KERNEL_PID         (-1) /* HOST_KERNEL_ID of tools/perf/util/machine.h */

static int32_t take_id(struct cursor *c)
{
	return (int32_t)cursor_u32(c);
}

int perf_record_read_mmap(const struct perf_record *record, struct perf_mmap *mmap)
{
	unsigned mode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct cursor c = perf_record_fields(record);
	uint64_t length;

	*mmap = (struct perf_mmap){ .time = record->id.time };
	mmap->pid = take_id(&c);
	take_id(&c); /* tid */
	mmap->begin = cursor_u64(&c);
	length = cursor_u64(&c);
	/* A record of the kernel's text can claim all addresses up to the last. */
	mmap->end = length > UINT64_MAX - mmap->begin ? UINT64_MAX : mmap->begin + length;
	mmap->file_offset = cursor_u64(&c);
	mmap->executable = !(record->misc & PERF_RECORD_MISC_MMAP_DATA);
	if (record->type == PERF_RECORD_MMAP2) {
		const uint8_t *identity = cursor_take(&c, FILE_IDENTITY_SIZE);
		uint32_t prot = cursor_u32(&c), flags = cursor_u32(&c);

		if (identity && record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
			mmap->build_id_size = identity[0] <= BUILD_ID_MAX ? identity[0] : 0;
			mmap->build_id = identity + 4;
		} else if (identity) {
			struct cursor fields = cursor_over(identity, FILE_IDENTITY_SIZE);

			mmap->major = cursor_u32(&fields);
			mmap->minor = cursor_u32(&fields);
			mmap->inode = cursor_u64(&fields);
		}
		mmap->executable = prot & PROT_EXEC;
		mmap->writable = prot & PROT_WRITE;
		mmap->private = (flags & MAP_TYPE) == MAP_PRIVATE;
	}
	mmap->guest = mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER;
	mmap->kernel = mmap->pid == KERNEL_PID || mode == PERF_RECORD_MISC_KERNEL;
	mmap->path = cursor_text(&c);
	if (!c.short_ && starts_with(mmap->path, PERF_MMAP_PRIVATE))
		mmap->path = "//anon";
	return c.short_ ? -1 : 0;
}

int perf_record_read_aux(const struct perf_record *record, struct perf_aux *aux)
{
	struct cursor c = perf_record_fields(record);

	aux->offset = cursor_u64(&c);
	aux->size = cursor_u64(&c);
	aux->flags = cursor_u64(&c);
	return c.short_ ? -1 : 0;
}

uint64_t perf_record_lost_count(const struct perf_record *record)
{
	struct cursor c = perf_record_fields(record);

	if (record->type == PERF_RECORD_LOST)
		cursor_u64(&c); /* id */
	return cursor_u64(&c);
}

bool perf_record_is_known(uint32_t type)
{
	return (type >= PERF_RECORD_MMAP && type <= KERNEL_RECORD_LAST) ||
	       (type >= PERF_USER_HEADER_ATTR && type < PERF_USER_END) || type == PERF_USER_PACKED;
}
