/* SPDX-License-Identifier: MIT */
/* The guest's ELF files, and the kernel files of perf record --kcore. */
#pragma once

#include "symbols/files/elf_file.h"
#include "tests/ptsim/mappings.h"

/* Open a file of one code range, and store the range.  Returns 0, or -1 after a message. */
int guest_map(struct elf_file *file, const char *path, struct mapping *map);

/* Returns a symbol's address; UINT64_MAX, after a message, if it does not exist. */
uint64_t guest_address(const struct elf_file *file, const char *name);

/* Returns "folder/name"; valid until the next call. */
const char *guest_path(const char *folder, const char *name);

/*
 * Make the folder kcore_dir: kcore (the code of `maps`, by enum guest_map, as in the file),
 * kallsyms and modules.  Returns 0, or -1 after a message.
 */
int guest_write_kernel(const struct elf_file *kernel, const struct mapping *maps,
		       const char *folder);
