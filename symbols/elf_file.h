/* SPDX-License-Identifier: MIT */
/*
 * One ELF file, mapped: its segments, build id and libelf handle.
 *
 * The bytes come from elsewhere (a file, the vdso in memory) and may be
 * hostile: libelf checks them, and what it refuses is simply absent.
 */
#ifndef SYMBOLS_ELF_FILE_H
#define SYMBOLS_ELF_FILE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct elf_segment {
	uint64_t offset, size, vaddr; /* [offset, offset + size) in the file stands at vaddr */
};

struct elf_file {
	uint8_t *bytes;               /* owned mapping if `mapped`, else borrowed */
	size_t size;
	bool mapped;
	Elf *elf;                     /* owned; NULL: not an ELF file */
	struct elf_segment *segments; /* owned: the PT_LOAD ones */
	size_t segment_count;
	const uint8_t *build_id;      /* view of the file; NULL: none */
	size_t build_id_size;
};

/*
 * Map a file and read its headers.
 * Returns 0; -1 with err filled if it cannot be opened or is no ELF file.
 * The caller calls elf_file_close() in both cases.
 */
int elf_file_open(struct elf_file *file, const char *path, struct error *err);

/* The same for bytes in memory, which are borrowed. */
int elf_file_view(struct elf_file *file, uint8_t *bytes, size_t size, struct error *err);

/* Idempotent, also on zeroed memory. */
void elf_file_close(struct elf_file *file);

/* Returns 0 with the virtual address of a byte of the file; -1 if no segment loads it. */
int elf_file_vaddr(const struct elf_file *file, uint64_t offset, uint64_t *vaddr);

#endif
