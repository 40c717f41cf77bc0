/* SPDX-License-Identifier: MIT */
/* Reads the segments with code of ELF cores. */
#include "symbols/files/core_file.h"

#include <elf.h>
#include <sys/procfs.h>

#include "base/cursor.h"

static struct cursor cursor_at(const uint8_t *bytes, size_t size, uint64_t begin, uint64_t length)
{
	begin = MIN(begin, size);
	return cursor_over(bytes + begin, length < size - begin ? length : size - begin);
}

/* Get the process and the recording's size from notes, if present. */
static void read_notes(struct cursor notes, int32_t *pid, uint64_t *recording)
{
	while (cursor_left(&notes)) {
		uint32_t name_size = cursor_u32(&notes), size = cursor_u32(&notes);
		uint32_t type = cursor_u32(&notes);
		const uint8_t *name = cursor_take(&notes, (name_size + UINT64_C(3)) & ~UINT64_C(3));
		const uint8_t *info = cursor_take(&notes, (size + UINT64_C(3)) & ~UINT64_C(3));

		if (!name || !info)
			return;
		if (type == NT_PRPSINFO && name_size == sizeof("CORE") &&
		    memcmp(name, "CORE", name_size) == 0 && size >= sizeof(prpsinfo_t))
			memcpy(pid, info + offsetof(prpsinfo_t, pr_pid), sizeof(*pid));
		if (name_size == sizeof(CORE_FILE_NOTE) && size == sizeof(*recording) &&
		    memcmp(name, CORE_FILE_NOTE, name_size) == 0)
			memcpy(recording, info, sizeof(*recording));
	}
}

COMPARE_BY_TWO(compare_segments, struct core_segment, pid, begin)

struct core_segment *core_file_read(const uint8_t *bytes, size_t size, size_t *count,
				    uint64_t *recording)
{
	struct core_segment *segments = NULL;
	struct cursor headers;
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	size_t room = 0;
	int32_t pid = 0;

	*count = 0;
	*recording = 0;
	if (size < sizeof(header))
		return NULL;
	memcpy(&header, bytes, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_CORE ||
	    header.e_phentsize != sizeof(segment))
		return NULL;
	headers = cursor_at(bytes, size, header.e_phoff, header.e_phnum * sizeof(segment));
	while (cursor_left(&headers) >= sizeof(segment)) {
		struct cursor content;

		memcpy(&segment, cursor_take(&headers, sizeof(segment)), sizeof(segment));
		content = cursor_at(bytes, size, segment.p_offset, segment.p_filesz);
		if (segment.p_type == PT_NOTE)
			read_notes(content, &pid, recording);
		if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X) ||
		    !cursor_left(&content) || segment.p_vaddr > UINT64_MAX - cursor_left(&content))
			continue;
		*ARRAY_ADD(segments, *count, room) =
			(struct core_segment){ .pid = pid,
					       .changed = segment.p_flags & CORE_FILE_CHANGED,
					       .saved = segment.p_paddr,
					       .begin = segment.p_vaddr,
					       .end = segment.p_vaddr + cursor_left(&content),
					       .file_offset = segment.p_offset };
	}
	SORT(segments, *count, compare_segments);
	return segments;
}
