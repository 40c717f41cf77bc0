/* SPDX-License-Identifier: MIT */
/* Lists changes of kernel code by time, and the code outside of the kernel's file. */
#include "src/resolve/kernel_changes.h"

#include <stdlib.h>
#include <string.h>

#include "base/tables/compare.h"
#include "base/tables/lower_bound.h"
#include "decoder/code/kernel_text.h"
#include "decoder/mappings/bpf_programs.h"

/* The upper half of all addresses is the kernel's (x86-64 canonical addresses). */
#define KERNEL_BEGIN (UINT64_C(1) << 63)

/* Limits the registrations that are compared for one address. */
#define SAME_PLACE_MAX 64

/* ---- Code outside of the file --------------------------------------------- */

static int compare_ranges(const void *left, const void *right)
{
	const struct kernel_segment *a = left, *b = right;

	return COMPARE(a->begin, b->begin);
}

/* Returns the range that a patch changes, empty if it is in the file's segments. */
static struct kernel_segment range_of_patch(const struct kernel_code *code,
					    const struct code_patch *patch)
{
	uint64_t size = patch->old_size > patch->new_size ? patch->old_size : patch->new_size;
	struct kernel_segment range = { patch->address, patch->address + size, 0 };
	const uint8_t *bytes;

	if (range.end < range.begin || kernel_code_find(code, patch->address, &bytes))
		range.end = range.begin;
	return range;
}

/* Sort the ranges and join those that touch; returns the number of ranges left. */
static size_t join_ranges(struct kernel_segment *ranges, size_t count)
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

static void add_runtime_segments(struct kernel_code *code, const struct kernel_modules *modules)
{
	size_t count = code->patch_count + modules->count;
	struct kernel_segment *ranges = arena_alloc(modules->arena, count * sizeof(*ranges));
	uint64_t size = 0;
	uint8_t *bytes;

	for (size_t i = 0; i < code->patch_count; i++)
		ranges[i] = range_of_patch(code, &code->patches[i]);
	for (size_t i = 0; i < modules->count; i++)
		ranges[code->patch_count + i] =
			(struct kernel_segment){ modules->modules[i].begin, modules->modules[i].end,
						 0 };
	count = join_ranges(ranges, count);
	for (size_t i = 0; i < count; i++) {
		ranges[i].file_offset = size;
		size += ranges[i].end - ranges[i].begin;
	}
	bytes = arena_alloc(modules->arena, size);
	for (size_t i = 0; i < modules->count; i++) {
		const struct kernel_module *module = &modules->modules[i];
		const struct kernel_segment *range =
			&ranges[LOWER_BOUND(j, count, ranges[j].end <= module->begin)];

		memcpy(bytes + range->file_offset + (module->begin - range->begin), module->bytes,
		       module->end - module->begin);
	}
	code->runtime_segments = ranges;
	code->runtime_count = count;
	code->runtime_bytes = bytes;
	code->runtime_size = size;
}

/* ---- BPF programs -------------------------------------------------------- */

static int compare_symbols(const void *left, const void *right)
{
	const struct kernel_symbol *const *a = left, *const *b = right;

	return COMPARE((*a)->begin, (*b)->begin) ?: COMPARE((*a)->time, (*b)->time);
}

/* The symbols that the kernel registered, sorted by address. */
struct registrations {
	const struct kernel_symbol **symbols;
	size_t count;
};

static struct registrations sort_symbols(const struct timeline *timeline, struct arena *arena)
{
	size_t count;
	const struct kernel_symbol *symbols = timeline_kernel_symbols(timeline, &count);
	struct registrations list = { arena_alloc(arena, count * sizeof(*list.symbols)), 0 };

	for (size_t i = 0; i < count; i++) {
		if (!symbols[i].gone)
			list.symbols[list.count++] = &symbols[i];
	}
	qsort(list.symbols, list.count, sizeof(*list.symbols), compare_symbols);
	return list;
}

/* Returns the time when code of this place and size was registered; 0: earlier, or unknown. */
static uint64_t registration_time(const struct registrations *list,
				  const struct bpf_function *function)
{
	size_t first = LOWER_BOUND(j, list->count, list->symbols[j]->begin < function->address);

	for (size_t i = first; i < list->count && i < first + SAME_PLACE_MAX &&
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

	return COMPARE(a->address, b->address) ?: COMPARE(a->time, b->time);
}

/* Code that replaces no other is there from the beginning: times are only roughly known. */
static void advance_first_programs(struct code_patch *patches, size_t count)
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

static size_t read_programs(const struct perf_file *file, const struct registrations *list,
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
				.time = registration_time(list, &function),
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

	return COMPARE(a->time, b->time) ?: COMPARE(a->order, b->order);
}

static void add_patches(struct kernel_code *code, struct arena *arena,
			const struct timeline *timeline, const struct perf_file *file)
{
	struct registrations list = { 0 };
	size_t programs = read_programs(file, &list, NULL), pokes;
	const struct code_patch *poked = timeline_code_patches(timeline, &pokes);
	struct code_patch *patches;

	code->patch_count = programs + pokes;
	if (!code->patch_count)
		return;
	patches = arena_alloc(arena, code->patch_count * sizeof(*patches));
	list = sort_symbols(timeline, arena);
	read_programs(file, &list, patches);
	advance_first_programs(patches, programs);
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
