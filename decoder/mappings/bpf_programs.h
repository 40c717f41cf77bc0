/* SPDX-License-Identifier: MIT */
/*
 * The machine code of BPF programs, as perf record saves it (root only) in the feature
 * BPF_PROG_INFO: a count, then for each program a struct perf_bpil (tools/perf/util/bpf-utils.h):
 * info_len, data_len, arrays, struct bpf_prog_info (linux/bpf.h, info_len bytes of it), and
 * data_len bytes with the info's arrays. The info has offsets into this data instead of pointers.
 */
#pragma once

#include "decoder/perf_data/perf_file.h"

/* A function of a program, which can have several. */
struct bpf_function {
	uint64_t address;
	const uint8_t *bytes; /* view of the feature section */
	uint32_t size;
	/* The position of bpf_programs_next(): */
	size_t offset;       /* in the section, of the next program */
	uint32_t programs;   /* read so far */
	uint32_t next;       /* function of the program */
	uint32_t code_used;  /* bytes of its code, by its functions so far */
	const uint8_t *data; /* the program's data; NULL before the first program */
	uint32_t data_size;
	struct bpf_arrays {
		uint64_t code, addresses, lengths; /* offsets in `data` */
		uint32_t code_size, count;
	} arrays;
};

/*
 * Read the next function of all programs of the recording; *function is the previous one, or
 * zeroed. Returns 1; 0 at the end. Functions that do not fit into the section are skipped.
 */
int bpf_programs_next(const struct perf_file *file, struct bpf_function *function);
