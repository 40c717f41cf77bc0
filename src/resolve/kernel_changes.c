/* SPDX-License-Identifier: MIT */
#include "src/resolve/kernel_changes.h"

#include <stdlib.h>
#include <string.h>

#include "decoder/code/kernel_text.h"
#include "decoder/mappings/bpf_programs.h"

/* The upper half of all addresses is the kernel's (x86-64 canonical addresses). */
#define KERNEL_BEGIN (UINT64_C(1) << 63)

/* Programs that are looked at for one address that was used again and again. */
#define SAME_PLACE_MAX 64

/* ---- Islands ------------------------------------------------------------- */

static int compare_ranges(const void *left, const void *right)
{
	const struct kernel_segment *a = left, *b = right;

	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* Returns the range that a patch touches, empty if it lies in the file's segments. */
static struct kernel_segment outside(const struct kernel_code *code, const struct code_patch *patch)
{
	uint64_t size = patch->old_size > patch->new_size ? patch->old_size : patch->new_size;
	struct kernel_segment range = { patch->address, patch->address + size, 0 };
	const uint8_t *bytes;

	if (range.end < range.begin || kernel_code_find(code, patch->address, &bytes))
		range.end = range.begin;
	return range;
}

/* Sort the ranges and join those that touch; returns how many are left. */
static size_t join(struct kernel_segment *ranges, size_t count)
{
	size_t kept = 0;

	qsort(ranges, count, sizeof(*ranges), compare_ranges);
	for (size_t i = 0; i < count; i++) {
		if (ranges[i].begin == ranges[i].end)
			continue;
		if (kept && ranges[i].begin <= ranges[kept - 1].end) {
			if (ranges[kept - 1].end < ranges[i].end)
				ranges[kept - 1].end = ranges[i].end;
		} else {
			ranges[kept++] = ranges[i];
		}
	}
	return kept;
}

/* Returns the island that holds an address, which is in one. */
static const struct kernel_segment *island_of(const struct kernel_segment *runtime_segments,
					      size_t count, uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (runtime_segments[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return &runtime_segments[low];
}

static void add_runtime_segments(struct kernel_code *code, const struct kernel_modules *modules)
{
	size_t count = code->patch_count + modules->count;
	struct kernel_segment *ranges = arena_alloc(modules->arena, count * sizeof(*ranges));
	uint64_t size = 0;
	uint8_t *bytes;

	for (size_t i = 0; i < code->patch_count; i++)
		ranges[i] = outside(code, &code->patches[i]);
	for (size_t i = 0; i < modules->count; i++)
		ranges[code->patch_count + i] =
			(struct kernel_segment){ modules->modules[i].begin, modules->modules[i].end,
						 0 };
	count = join(ranges, count);
	for (size_t i = 0; i < count; i++) {
		ranges[i].file_offset = size;
		size += ranges[i].end - ranges[i].begin;
	}
	bytes = arena_alloc(modules->arena, size);
	for (size_t i = 0; i < modules->count; i++) {
		const struct kernel_module *module = &modules->modules[i];
		const struct kernel_segment *island = island_of(ranges, count, module->begin);

		memcpy(bytes + island->file_offset + (module->begin - island->begin), module->bytes,
		       module->end - module->begin);
	}
	code->runtime_segments = ranges;
	code->island_count = count;
	code->island_bytes = bytes;
	code->island_size = size;
}

/* ---- BPF programs -------------------------------------------------------- */

static int compare_symbols(const void *left, const void *right)
{
	const struct kernel_symbol *const *a = left, *const *b = right;

	if ((*a)->begin != (*b)->begin)
		return (*a)->begin < (*b)->begin ? -1 : 1;
	return (*a)->time < (*b)->time ? -1 : (*a)->time > (*b)->time;
}

/* What the kernel registered, by address. */
struct registered {
	const struct kernel_symbol **symbols;
	size_t count;
};

static struct registered sort_symbols(const struct timeline *timeline, struct arena *arena)
{
	size_t count;
	const struct kernel_symbol *told = timeline_kernel_symbols(timeline, &count);
	struct registered list = { arena_alloc(arena, count * sizeof(*list.symbols)), 0 };

	for (size_t i = 0; i < count; i++) {
		if (!told[i].gone)
			list.symbols[list.count++] = &told[i];
	}
	qsort(list.symbols, list.count, sizeof(*list.symbols), compare_symbols);
	return list;
}

/* Returns when code of this place and size was registered; 0: before, or it is not known. */
static uint64_t registration(const struct registered *list, const struct bpf_function *function)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->symbols[middle]->begin < function->address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i < list->count && i < low + SAME_PLACE_MAX &&
			     list->symbols[i]->begin == function->address;
	     i++) {
		const struct kernel_symbol *symbol = list->symbols[i];

		if (symbol->end - symbol->begin == function->size)
			return symbol->time;
	}
	return 0;
}

static int compare_places(const void *left, const void *right)
{
	const struct code_patch *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->time < b->time ? -1 : a->time > b->time;
}

/* What takes the place of nothing was there from the beginning: times are only roughly known. */
static void begin_early(struct code_patch *patches, size_t count)
{
	uint64_t end = 0;

	qsort(patches, count, sizeof(*patches), compare_places);
	for (size_t i = 0; i < count; i++) {
		if (patches[i].address >= end)
			patches[i].time = 0;
		if (end < patches[i].address + patches[i].new_size)
			end = patches[i].address + patches[i].new_size;
	}
}

static size_t read_programs(const struct perf_file *file, const struct registered *list,
			    struct code_patch *patches)
{
	struct bpf_function function;
	struct bpf_place place = { 0 };
	size_t count = 0;

	while (bpf_programs_next(file, &place, &function)) {
		if (function.address < KERNEL_BEGIN || !function.size)
			continue;
		if (patches)
			patches[count] = (struct code_patch){
				.time = registration(list, &function),
				.address = function.address,
				.new_bytes = function.bytes,
				.new_size = function.size,
			};
		count++;
	}
	return count;
}

/* ---- All ----------------------------------------------------------------- */

static int compare_times(const void *left, const void *right)
{
	const struct code_patch *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void add_patches(struct kernel_code *code, struct arena *arena,
			const struct timeline *timeline, const struct perf_file *file)
{
	struct registered list = { 0 };
	size_t programs = read_programs(file, &list, NULL), pokes;
	const struct code_patch *poked = timeline_code_patches(timeline, &pokes);
	struct code_patch *patches;

	code->patch_count = programs + pokes;
	if (!code->patch_count)
		return;
	patches = arena_alloc(arena, code->patch_count * sizeof(*patches));
	list = sort_symbols(timeline, arena);
	read_programs(file, &list, patches);
	begin_early(patches, programs);
	if (pokes)
		memcpy(patches + programs, poked, pokes * sizeof(*patches));
	for (size_t i = 0; i < code->patch_count; i++)
		patches[i].order = i;
	qsort(patches, code->patch_count, sizeof(*patches), compare_times);
	code->patches = patches;
}

void kernel_changes_add(struct kernel_code *code, struct kernel_modules *modules,
			const struct timeline *timeline, const struct perf_file *file)
{
	add_patches(code, modules->arena, timeline, file);
	if (code->patch_count || modules->count)
		add_runtime_segments(code, modules);
}
