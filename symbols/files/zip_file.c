/* SPDX-License-Identifier: MIT */
/* Reads the directory of ZIP archives. */
#include "symbols/files/unpack.h"

#define END_SIGNATURE   UINT32_C(0x06054b50)
#define ENTRY_SIGNATURE UINT32_C(0x02014b50)
#define LOCAL_SIGNATURE UINT32_C(0x04034b50)
#define END_SIZE        22
#define COMMENT_MOST    65535

static struct cursor cursor_from(const uint8_t *bytes, size_t size, uint64_t at)
{
	at = MIN(at, size);
	return cursor_over(bytes + at, size - at);
}

/* Returns the directory; empty if there is none. */
static struct cursor find_directory(const uint8_t *bytes, size_t size)
{
	for (size_t left = 0; left <= COMMENT_MOST && left + END_SIZE <= size; left++) {
		struct cursor c = cursor_from(bytes, size, size - END_SIZE - left);

		if (cursor_u32(&c) != END_SIGNATURE)
			continue;
		cursor_take(&c, 12); /* disks, numbers of entries, size of the directory */
		return cursor_from(bytes, size, cursor_u32(&c));
	}
	return cursor_from(bytes, size, size);
}

bool zip_file_find(const uint8_t *bytes, size_t size, uint64_t offset, struct zip_entry *entry)
{
	struct cursor directory = find_directory(bytes, size);

	while (cursor_u32(&directory) == ENTRY_SIGNATURE && !directory.short_) {
		uint32_t packed_size, name_size, extra, comment, at;
		struct cursor local;
		uint16_t method;

		cursor_take(&directory, 6); /* versions, flags */
		method = cursor_u16(&directory);
		cursor_take(&directory, 8); /* time, checksum */
		packed_size = cursor_u32(&directory);
		cursor_u32(&directory);
		name_size = cursor_u16(&directory);
		extra = cursor_u16(&directory);
		comment = cursor_u16(&directory);
		cursor_take(&directory, 8); /* disk, attributes */
		at = cursor_u32(&directory);
		entry->name = cursor_take(&directory, name_size);
		entry->name_size = name_size;
		cursor_take(&directory, extra + comment);
		local = cursor_from(bytes, size, at);
		if (!entry->name || method != 0 || cursor_u32(&local) != LOCAL_SIGNATURE)
			continue;
		cursor_take(&local, 22);
		name_size = cursor_u16(&local);
		cursor_take(&local, cursor_u16(&local) + name_size);
		entry->begin = (uint64_t)(local.at - bytes);
		entry->end = entry->begin + packed_size;
		if (!local.short_ && entry->end <= size && offset >= entry->begin &&
		    offset < entry->end)
			return true;
	}
	return false;
}
