/* SPDX-License-Identifier: MIT */
/* Follow the kernel's changes of its own code over time. */
#include "decoder/code/code_image.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io/file_use.h"

/* ---- Code of the kernel -------------------------------------------------- */

static const struct kernel_segment *segment_at(const struct kernel_segment *segments, size_t count,
					       uint64_t ip)
{
	size_t at = LOWER_BOUND(i, count, segments[i].end <= ip);

	return at < count && segments[at].begin <= ip ? &segments[at] : NULL;
}

const struct kernel_segment *kernel_code_find(const struct kernel_code *kernel, uint64_t ip,
					      const uint8_t **bytes)
{
	const struct kernel_segment *segment = segment_at(kernel->segments, kernel->count, ip);

	*bytes = NULL;
	if (segment) {
		*bytes = kernel->file.bytes + segment->file_offset;
		return segment;
	}
	segment = segment_at(kernel->runtime_segments, kernel->runtime_count, ip);
	if (segment)
		*bytes = kernel->runtime_bytes + segment->file_offset;
	return segment;
}

const uint8_t *kernel_text_bytes(const struct kernel_text *text, const uint8_t *bytes)
{
	const struct kernel_code *kernel = text->kernel;
	uintptr_t at = (uintptr_t)bytes;

	if (!kernel || !bytes)
		return bytes;
	if (text->copy && at - (uintptr_t)kernel->file.bytes < kernel->file.size)
		return text->copy + (at - (uintptr_t)kernel->file.bytes);
	if (text->runtime_segments && at - (uintptr_t)kernel->runtime_bytes < kernel->runtime_size)
		return text->runtime_segments + (at - (uintptr_t)kernel->runtime_bytes);
	return bytes;
}

/* ---- Patches ------------------------------------------------------------- */

/* Write the part of the range that is in known code to the copies. */
static void write_code(struct kernel_text *text, uint64_t address, const uint8_t *bytes,
		       size_t size)
{
	const struct kernel_segment *segment;
	const uint8_t *shared;
	size_t part;

	for (size_t done = 0; done < size; done += part) {
		uint64_t ip = address + done;
		const uint8_t *own;

		part = 1;
		segment = kernel_code_find(text->kernel, ip, &shared);
		if (!segment)
			continue;
		own = kernel_text_bytes(text, shared + (ip - segment->begin));
		part = segment->end - ip < size - done ? segment->end - ip : size - done;
		if (own != shared + (ip - segment->begin))
			memcpy((uint8_t *)own, bytes + done, part);
	}
}

/* Undo all patches. Some lack the old bytes, which earlier patches have. */
static void undo_patches(struct kernel_text *text)
{
	for (size_t i = text->kernel->patch_count; i > 0; i--) {
		const struct code_patch *patch = &text->kernel->patches[i - 1];

		write_code(text, patch->address, patch->old_bytes, patch->old_size);
	}
	text->next = 0;
}

bool kernel_text_advance(struct kernel_text *text, uint64_t time)
{
	const struct kernel_code *kernel = text->kernel;
	size_t before = text->next;

	if (!kernel)
		return false;
	if (text->next > 0 && kernel->patches[text->next - 1].time > time)
		undo_patches(text);
	while (text->next < kernel->patch_count && kernel->patches[text->next].time <= time) {
		const struct code_patch *patch = &kernel->patches[text->next++];

		write_code(text, patch->address, patch->new_bytes, patch->new_size);
	}
	return text->next != before;
}

uint64_t kernel_text_due(const struct kernel_text *text)
{
	const struct kernel_code *kernel = text->kernel;

	return kernel && text->next < kernel->patch_count ? kernel->patches[text->next].time
							  : UINT64_MAX;
}

/* ---- Start and end ------------------------------------------------------- */

/* Map the file privately, so that only written pages use memory. Returns NULL on failure. */
static uint8_t *copy_file(const struct code_file *file)
{
	uint8_t *copy = MAP_FAILED;
	int fd = file->path ? file_use_open(file->path) : -1;

	if (fd < 0)
		return NULL;
	if (lseek(fd, 0, SEEK_END) == (off_t)file->size)
		copy = mmap(NULL, file->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	return copy == MAP_FAILED ? NULL : copy;
}

void kernel_text_init(struct kernel_text *text, const struct kernel_code *kernel)
{
	*text = (struct kernel_text){ 0 };
	if (!kernel || !kernel->patch_count)
		return;
	text->kernel = kernel;
	if (kernel->file.bytes)
		text->copy = copy_file(&kernel->file);
	if (kernel->runtime_size) {
		text->runtime_segments = alloc_zeroed(1, kernel->runtime_size);
		memcpy(text->runtime_segments, kernel->runtime_bytes, kernel->runtime_size);
	}
	undo_patches(text);
	kernel_text_advance(text, 0);
}

void kernel_text_release(struct kernel_text *text)
{
	if (text->copy)
		munmap(text->copy, text->kernel->file.size);
	free(text->runtime_segments);
	*text = (struct kernel_text){ 0 };
}
