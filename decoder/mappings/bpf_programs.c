/* SPDX-License-Identifier: MIT */
/* Reads the BPF_PROG_INFO feature, program by program and function by function. */
#include "decoder/mappings/bpf_programs.h"

#include <linux/bpf.h>

/* Bytes of struct bpf_prog_info with the fields of the arrays; older kernels had less. */
#define INFO_NEEDED (offsetof(struct bpf_prog_info, jited_func_lens) + sizeof(uint64_t))

/* Returns the bytes of an array in the program's data; NULL if they are not there. */
static const uint8_t *array_at(const struct bpf_place *place, uint64_t offset, uint64_t size)
{
	if (offset > place->data_size || size > place->data_size - offset)
		return NULL;
	return place->data + offset;
}

static void take_arrays(struct bpf_place *place, const struct bpf_prog_info *info)
{
	struct bpf_arrays *arrays = &place->arrays;

	*arrays = (struct bpf_arrays){
		.code = info->jited_prog_insns,
		.addresses = info->jited_ksyms,
		.lengths = info->jited_func_lens,
		.code_size = info->jited_prog_len,
		.count = info->nr_jited_ksyms,
	};
	if (info->nr_jited_func_lens < arrays->count)
		arrays->count = info->nr_jited_func_lens;
	if (!array_at(place, arrays->code, arrays->code_size) ||
	    !array_at(place, arrays->addresses, (uint64_t)arrays->count * sizeof(uint64_t)) ||
	    !array_at(place, arrays->lengths, (uint64_t)arrays->count * sizeof(uint32_t)))
		arrays->count = 0;
}

/* Returns whether there is another program. */
static bool next_program(const struct byte_view *section, struct bpf_place *place)
{
	struct cursor c = cursor_over(section->bytes, section->size);
	struct bpf_prog_info info = { 0 };
	uint32_t count = cursor_u32(&c), info_size;
	const uint8_t *bytes;

	if (place->programs >= count)
		return false;
	if (place->offset)
		cursor_take(&c, place->offset - sizeof(uint32_t));
	info_size = cursor_u32(&c);
	place->data_size = cursor_u32(&c);
	cursor_u64(&c); /* bits of the present arrays; absent arrays have no elements */
	bytes = cursor_take(&c, info_size);
	place->data = cursor_take(&c, place->data_size);
	if (c.short_)
		return false;
	memcpy(&info, bytes, info_size < sizeof(info) ? info_size : sizeof(info));
	place->offset = section->size - cursor_left(&c);
	place->programs++;
	place->function = place->code_used = 0;
	place->arrays = (struct bpf_arrays){ 0 };
	if (info_size >= INFO_NEEDED)
		take_arrays(place, &info);
	return true;
}

/* Returns whether the program has one more function, and its code is there. */
static bool next_function(struct bpf_place *place, struct bpf_function *function)
{
	const struct bpf_arrays *arrays = &place->arrays;
	uint32_t at = place->function;

	if (!place->data || at >= arrays->count)
		return false;
	memcpy(&function->address, place->data + arrays->addresses + at * sizeof(uint64_t),
	       sizeof(uint64_t));
	memcpy(&function->size, place->data + arrays->lengths + at * sizeof(uint32_t),
	       sizeof(uint32_t));
	function->bytes = place->data + arrays->code + place->code_used;
	if (function->size > arrays->code_size - place->code_used)
		return false;
	place->code_used += function->size;
	place->function++;
	return true;
}

int bpf_programs_next(const struct perf_file *file, struct bpf_place *place,
		      struct bpf_function *function)
{
	const struct byte_view *section = &file->features.sections[PERF_FEATURE_BPF_PROG_INFO];

	if (!section->bytes)
		return 0;
	do {
		if (next_function(place, function))
			return 1;
	} while (next_program(section, place));
	return 0;
}
