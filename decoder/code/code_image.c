/* SPDX-License-Identifier: MIT */
/* Find the bytes and functions of mapped code. */
#include "decoder/code/code_image.h"

#include "decoder/branch_event.h"

/* Clip the view to the mapping, because functions are looked up per mapping. */
static struct code_view view_kernel(const struct kernel_code *kernel, const struct mapping *mapping,
				    uint64_t ip)
{
	const uint8_t *bytes;
	const struct kernel_segment *segment = kernel_code_find(kernel, ip, &bytes);
	struct code_view view = { .begin = ip, .end = ip, .mapping = mapping };

	if (!segment)
		return view;
	view.begin = segment->begin;
	view.end = segment->end;
	if (mapping && mapping->begin > view.begin)
		view.begin = mapping->begin;
	if (mapping && mapping->end < view.end)
		view.end = mapping->end;
	view.bytes = bytes + (view.begin - segment->begin);
	return view;
}

struct code_view code_image_view(const struct code_source *source,
				 const struct address_space *space, uint64_t ip)
{
	const struct mapping *mapping = address_space_borrow_mapping(space, ip);
	struct code_view view = { .begin = ip, .end = ip };
	struct byte_view file;
	uint64_t size;

	if (source->view)
		return source->view(source->context, ip);
	if (ip_is_kernel(ip) && source->kernel) {
		struct code_view kernel = view_kernel(source->kernel, mapping, ip);

		if (kernel.bytes)
			return kernel;
	}
	if (!mapping)
		return view;
	file = source->find(source->context, mapping->file);
	if (!file.bytes || mapping->file_offset >= file.size)
		return view;
	size = mapping->end - mapping->begin;
	size = MIN(size, file.size - mapping->file_offset);
	if (ip - mapping->begin >= size)
		return view;
	view.bytes = file.bytes + mapping->file_offset;
	view.begin = mapping->begin;
	view.end = mapping->begin + size;
	view.mapping = mapping;
	return view;
}

size_t code_image_read(const struct code_source *source, const struct address_space *space,
		       const struct kernel_text *text, uint64_t ip, uint8_t to[INSN_LENGTH_MAX])
{
	size_t done = 0, part;

	do {
		struct code_view view = code_image_view(source, space, ip + done);
		const uint8_t *bytes = kernel_text_bytes(text, view.bytes);

		part = bytes ? MIN(view.end - ip - done, INSN_LENGTH_MAX - done) : 0;
		if (part)
			memcpy(to + done, bytes + (ip + done - view.begin), part);
		done += part;
	} while (part && done < INSN_LENGTH_MAX);
	return done;
}

bool code_image_is_entry(const struct code_source *source, const struct address_space *space,
			 uint64_t ip)
{
	const struct mapping *mapping = address_space_borrow_mapping(space, ip);

	return mapping && source->is_entry &&
	       source->is_entry(source->context, mapping->file,
				ip - mapping->begin + mapping->file_offset);
}

static void find_around(const struct code_source *source, find_code_around *find,
			const struct mapping *mapping, uint64_t ip, uint64_t *begin, uint64_t *end)
{
	uint64_t base = mapping ? mapping->begin - mapping->file_offset : 0;

	if (!mapping || !find || !find(source->context, mapping->file, ip - base, begin, end)) {
		*begin = *end = 0;
		return;
	}
	*begin += base;
	*end += base;
}

void code_image_function(const struct code_source *source, const struct code_view *view,
			 uint64_t ip, uint64_t *begin, uint64_t *end)
{
	find_around(source, source->find_function, view->mapping, ip, begin, end);
}

void code_image_piece(const struct code_source *source, const struct code_view *view, uint64_t ip,
		      uint64_t *begin, uint64_t *end)
{
	find_around(source, source->find_piece, view->mapping, ip, begin, end);
}
