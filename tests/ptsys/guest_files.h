/* SPDX-License-Identifier: MIT */
/* The guest's ELF files, and the files that perf record --kcore makes of a kernel. */
#ifndef TESTS_PTSYS_GUEST_FILES_H
#define TESTS_PTSYS_GUEST_FILES_H

#include "symbols/files/elf_file.h"
#include "tests/ptsim/mappings.h"

/* Open a file of one range of code, and store where that is.  Returns 0, or -1 after a message. */
int guest_map(struct elf_file *file, const char *path, struct mapping *map);

/* Returns a symbol's address, UINT64_MAX after a message if there is none. */
uint64_t guest_address(const struct elf_file *file, const char *name);

/* Returns "folder/name"; valid until the next call. */
const char *guest_path(const char *folder, const char *name);

/*
 * Make the folder with kcore_dir: kcore (the code of `maps`, of enum guest_map, as it is in the
 * file), kallsyms and modules.  Returns 0, or -1 after a message.
 */
int guest_write_kernel(const struct elf_file *kernel, const struct mapping *maps,
		       const char *folder);

#endif
