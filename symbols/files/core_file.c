/* SPDX-License-Identifier: MIT */
/* Reads the segments with code of ELF cores. */
#include "symbols/files/core_file.h"

#include <elf.h>
#include <sys/procfs.h>

static struct cursor cursor_at(const uint8_t *bytes, size_t size, uint64_t begin, uint64_t length)
{
	begin = MIN(begin, size);
	return cursor_over(bytes + begin, length < size - begin ? length : size - begin);
}

/* Get the process, the recording's size and the path of a copy from notes, if present. */
static void read_notes(struct cursor notes, struct core_file *core, struct core_copy *next)
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
			memcpy(&next->pid, info + offsetof(prpsinfo_t, pr_pid), sizeof(next->pid));
		if (name_size != sizeof(CORE_FILE_NOTE) ||
		    memcmp(name, CORE_FILE_NOTE, name_size) != 0)
			continue;
		if (type == CORE_FILE_PATH && memchr(info, 0, size))
			next->path = (const char *)info;
		else if (size == sizeof(core->recording))
			memcpy(&core->recording, info, sizeof(core->recording));
	}
}

COMPARE_BY_TWO(compare_segments, struct core_segment, pid, begin)

static void add_segment(struct core_file *core, const Elf64_Phdr *segment, int32_t pid, size_t size)
{
	if (!(segment->p_flags & PF_X) || !size || segment->p_vaddr > UINT64_MAX - size)
		return;
	*ARRAY_ADD(core->segments, core->count, core->room) =
		(struct core_segment){ .pid = pid,
				       .changed = segment->p_flags & CORE_FILE_CHANGED,
				       .saved = segment->p_paddr,
				       .begin = segment->p_vaddr,
				       .end = segment->p_vaddr + size,
				       .file_offset = segment->p_offset };
}

void core_file_read(const uint8_t *bytes, size_t size, struct core_file *core)
{
	struct core_copy next = { 0 };
	struct cursor headers;
	Elf64_Phdr segment;
	Elf64_Ehdr header;
	size_t left = size, notes_left = size; /* those of a hostile file overlap */

	*core = (struct core_file){ 0 };
	if (size < sizeof(header))
		return;
	memcpy(&header, bytes, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_CORE ||
	    header.e_phentsize != sizeof(segment))
		return;
	headers = cursor_at(bytes, size, header.e_phoff, header.e_phnum * sizeof(segment));
	while (cursor_left(&headers) >= sizeof(segment)) {
		struct cursor content;

		memcpy(&segment, cursor_take(&headers, sizeof(segment)), sizeof(segment));
		content = cursor_at(bytes, size, segment.p_offset, segment.p_filesz);
		next.bytes = (struct byte_view){ content.at, cursor_left(&content) };
		if (segment.p_type == PT_NOTE) {
			if (next.bytes.size > notes_left) {
				core->cut = true; /* the process of the next segments is unknown */
				break;
			}
			notes_left -= next.bytes.size;
			read_notes(content, core, &next);
		} else if (segment.p_type == PT_LOAD) {
			add_segment(core, &segment, next.pid, next.bytes.size);
		} else if (segment.p_type != CORE_FILE_COPY || !next.path) {
			continue;
		} else if (next.bytes.size > left) {
			core->cut = true;
		} else {
			left -= next.bytes.size;
			*ARRAY_ADD(core->copies, core->copy_count, core->copy_room) = next;
		}
	}
	SORT(core->segments, core->count, compare_segments);
}

void core_file_release(struct core_file *core)
{
	free(core->segments);
	free(core->copies);
	*core = (struct core_file){ 0 };
}
