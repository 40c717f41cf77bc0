/* SPDX-License-Identifier: MIT */
/* Reads the functions of BPF programs from the BPF_PROG_INFO feature. */
#include "decoder/perf_data/perf_file.h"

#include <linux/bpf.h>

/* Bytes of struct bpf_prog_info up to the arrays' fields; older kernels wrote fewer. */
#define INFO_NEEDED (offsetof(struct bpf_prog_info, jited_func_lens) + sizeof(uint64_t))

/* Returns the bytes of an array in the program's data; NULL if they are missing. */
static const uint8_t *array_at(const struct bpf_function *function, uint64_t offset, uint64_t size)
{
	if (offset > function->data_size || size > function->data_size - offset)
		return NULL;
	return function->data + offset;
}

static void take_arrays(struct bpf_function *function, const struct bpf_prog_info *info)
{
	struct bpf_arrays *arrays = &function->arrays;

	*arrays = (struct bpf_arrays){
		.code = info->jited_prog_insns,
		.addresses = info->jited_ksyms,
		.lengths = info->jited_func_lens,
		.code_size = info->jited_prog_len,
		.count = info->nr_jited_ksyms,
	};
	arrays->count = MIN(arrays->count, info->nr_jited_func_lens);
	if (!array_at(function, arrays->code, arrays->code_size) ||
	    !array_at(function, arrays->addresses, (uint64_t)arrays->count * sizeof(uint64_t)) ||
	    !array_at(function, arrays->lengths, (uint64_t)arrays->count * sizeof(uint32_t)))
		arrays->count = 0;
}

/* Returns whether there is another program. */
static bool next_program(const struct byte_view *section, struct bpf_function *function)
{
	struct cursor c = cursor_over(section->bytes, section->size);
	struct bpf_prog_info info = { 0 };
	uint32_t count = cursor_u32(&c), info_size;
	const uint8_t *bytes;

	if (function->programs >= count)
		return false;
	if (function->offset)
		cursor_take(&c, function->offset - sizeof(uint32_t));
	info_size = cursor_u32(&c);
	function->data_size = cursor_u32(&c);
	cursor_u64(&c); /* bits of the present arrays; absent arrays have no elements */
	bytes = cursor_take(&c, info_size);
	function->data = cursor_take(&c, function->data_size);
	if (c.short_)
		return false;
	memcpy(&info, bytes, info_size < sizeof(info) ? info_size : sizeof(info));
	function->offset = section->size - cursor_left(&c);
	function->programs++;
	function->next = function->code_used = 0;
	function->arrays = (struct bpf_arrays){ 0 };
	if (info_size >= INFO_NEEDED)
		take_arrays(function, &info);
	return true;
}

/* Returns whether the program has one more function with code. */
static bool next_function(struct bpf_function *function)
{
	const struct bpf_arrays *arrays = &function->arrays;
	uint32_t at = function->next;

	if (!function->data || at >= arrays->count)
		return false;
	memcpy(&function->address, function->data + arrays->addresses + at * sizeof(uint64_t),
	       sizeof(uint64_t));
	memcpy(&function->size, function->data + arrays->lengths + at * sizeof(uint32_t),
	       sizeof(uint32_t));
	function->bytes = function->data + arrays->code + function->code_used;
	if (function->size > arrays->code_size - function->code_used)
		return false;
	function->code_used += function->size;
	function->next++;
	return true;
}

int bpf_programs_next(const struct perf_file *file, struct bpf_function *function)
{
	const struct byte_view *section = &file->features.sections[PERF_FEATURE_BPF_PROG_INFO];

	if (!section->bytes)
		return 0;
	do {
		if (next_function(function))
			return 1;
	} while (next_program(section, function));
	return 0;
}
