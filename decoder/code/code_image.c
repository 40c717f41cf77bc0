/* SPDX-License-Identifier: MIT */
/* Read mapped code, for the fast engine and as libipt images. */
#include "decoder/code/code_image.h"

#include <intel-pt.h>

/* The upper half of all addresses is the kernel's (x86-64 canonical addresses). */
#define KERNEL_BEGIN (UINT64_C(1) << 63)

struct code_image {
	const struct code_source *source;     /* borrowed */
	struct diag *diag;                    /* borrowed */
	struct pt_image_section_cache *cache; /* owned */
	struct pt_image **images;             /* owned, by address space index; [count] is empty */
	size_t space_count;
	const struct kernel_text *text; /* borrowed; of the current stream */
};

struct code_image *code_image_open(const struct code_source *source, size_t space_count,
				   struct diag *diag)
{
	struct code_image *code = alloc_zeroed(1, sizeof(*code));

	code->source = source;
	code->diag = diag;
	code->space_count = space_count;
	code->images = alloc_zeroed(space_count + 1, sizeof(*code->images));
	code->cache = ALLOC_CHECKED(pt_iscache_alloc(NULL));
	return code;
}

void code_image_close(struct code_image *code)
{
	if (!code)
		return;
	for (size_t i = 0; i <= code->space_count; i++)
		pt_image_free(code->images[i]);
	pt_iscache_free(code->cache);
	free(code->images);
	free(code);
}

/* Add a part of a file to an image, up to the end of the file. */
static void add_bytes(struct code_image *code, struct pt_image *image, const struct code_file *file,
		      const struct kernel_segment *part)
{
	uint64_t size = part->end - part->begin;
	int isid;

	if (!file->path || part->file_offset >= file->size)
		return;
	size = MIN(size, file->size - part->file_offset);
	errno = 0;
	isid = pt_iscache_add_file(code->cache, file->path, part->file_offset, size, part->begin);
	if (isid > 0 && pt_image_add_cached(image, code->cache, isid, NULL) >= 0)
		return;
	alloc_check();
	diag_warn(code->diag, "code-unusable", "%s: its code cannot be used: %s", file->path,
		  isid < 0 ? pt_errstr(pt_errcode(isid)) : "libipt refused it");
}

/* Read code that is in no section: modules, and kernel code that changes and must not be cached. */
static int read_kernel(uint8_t *buffer, size_t size, const struct pt_asid *asid, uint64_t ip,
		       void *context)
{
	const struct code_image *code = context;
	const struct kernel_segment *segment = NULL;
	const uint8_t *bytes;

	(void)asid;
	if (code->text && ip >= KERNEL_BEGIN)
		segment = kernel_code_find(code->source->kernel, ip, &bytes);
	if (!segment)
		return -pte_nomap;
	size = MIN(size, segment->end - ip);
	memcpy(buffer, kernel_text_bytes(code->text, bytes + (ip - segment->begin)), size);
	return (int)size;
}

static void add_kernel(struct code_image *code, struct pt_image *image)
{
	const struct kernel_code *kernel = code->source->kernel;

	if (kernel && (kernel->patch_count || kernel->runtime_count))
		pt_image_set_callback(image, read_kernel, code);
	if (kernel && kernel->patch_count)
		return;
	for (size_t i = 0; kernel && i < kernel->count; i++)
		add_bytes(code, image, &kernel->file, &kernel->segments[i]);
}

static void add_mappings(struct code_image *code, struct pt_image *image,
			 const struct address_space *space)
{
	for (size_t i = 0; i < space->count; i++) {
		const struct mapping *mapping = &space->mappings[i];
		struct code_file file = code->source->find(code->source->context, mapping->file);
		struct kernel_segment part = { mapping->begin, mapping->end, mapping->file_offset };

		add_bytes(code, image, &file, &part);
	}
}

struct pt_image *code_image_borrow(struct code_image *code, const struct address_space *space)
{
	struct pt_image **image = &code->images[space ? space->index : code->space_count];

	if (*image)
		return *image;
	*image = ALLOC_CHECKED(pt_image_alloc(NULL));
	/* libipt prefers later sections: add the process's own mappings last. */
	if (space && space->kernel)
		add_mappings(code, *image, space->kernel);
	add_kernel(code, *image);
	if (space)
		add_mappings(code, *image, space);
	return *image;
}

const struct kernel_code *code_image_kernel(const struct code_image *code)
{
	return code->source->kernel;
}

void code_image_use_text(struct code_image *code, const struct kernel_text *text)
{
	code->text = text;
}

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

struct code_view code_image_view(const struct code_image *code, const struct address_space *space,
				 uint64_t ip)
{
	const struct mapping *mapping = address_space_borrow_mapping(space, ip);
	struct code_view view = { .begin = ip, .end = ip };
	struct code_file file;
	uint64_t size;

	if (ip >= KERNEL_BEGIN && code->source->kernel) {
		struct code_view kernel = view_kernel(code->source->kernel, mapping, ip);

		if (kernel.bytes)
			return kernel;
	}
	if (!mapping)
		return view;
	file = code->source->find(code->source->context, mapping->file);
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

bool code_image_is_entry(const struct code_image *code, const struct address_space *space,
			 uint64_t ip)
{
	const struct mapping *mapping = address_space_borrow_mapping(space, ip);
	const struct code_source *source = code->source;

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

void code_image_function(const struct code_image *code, const struct code_view *view, uint64_t ip,
			 uint64_t *begin, uint64_t *end)
{
	find_around(code->source, code->source->find_function, view->mapping, ip, begin, end);
}

void code_image_piece(const struct code_image *code, const struct code_view *view, uint64_t ip,
		      uint64_t *begin, uint64_t *end)
{
	find_around(code->source, code->source->find_piece, view->mapping, ip, begin, end);
}
