/* SPDX-License-Identifier: MIT */
/*
 * One ELF file in memory: its bytes, its executable ranges and its build id.
 *
 * The bytes are mapped once and only viewed (but for libelf, which corrects the
 * section headers of debug information that it unpacks).  Nothing in the file
 * is trusted: whatever of it does not fit is treated as absent.  Zeroed memory
 * is a closed file.
 */
#ifndef SYMBOLS_FILES_ELF_FILE_H
#define SYMBOLS_FILES_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Build ids are 20 bytes (SHA-1) or 16 (MD5, UUID); linkers allow any length. */
#define ELF_BUILD_ID_MAX 64

/* A part of the file that is mapped executable. */
struct code_range {
	uint64_t offset; /* bytes from the start of the file */
	uint64_t size;   /* bytes */
	uint64_t vaddr;  /* ELF virtual address of its first byte */
};

struct elf_file {
	uint8_t *bytes;          /* owned; NULL: closed */
	size_t size;             /* bytes */
	bool mapped;             /* bytes are a mapping, else of the heap */
	Elf *elf;                /* owned */
	struct code_range *code; /* owned; in the order of the program headers */
	size_t code_count;
	uint8_t build_id[ELF_BUILD_ID_MAX];
	size_t build_id_size; /* bytes; 0: none */
};

/*
 * Open a regular file.  Only regular files are opened at all: a device may act
 * on being opened, and the path comes from a recording.
 * A kernel module may be packed by xz, zstd or gzip: its bytes are on the heap
 * then, at most 32 times the file's and 256 MiB.
 * Returns 0, or -1: ERROR_SYSTEM if there is no such file (or it may not be
 * read), ERROR_FORMAT if it is no ELF file.  `file` is closed then.
 */
int elf_file_open(struct elf_file *file, const char *path, struct error *err);

/*
 * Map a file that is not ELF but has code in it (a jitdump): the same, with
 * bytes and size only.
 */
int elf_file_map(struct elf_file *file, const char *path, struct error *err);

/* The same for bytes on the heap, which the callee owns, also if it fails. */
int elf_file_open_bytes(struct elf_file *file, uint8_t *bytes, size_t size, struct error *err);

/* Release everything.  Idempotent, also on zeroed memory. */
void elf_file_close(struct elf_file *file);

/* Returns the executable range that holds a byte of the file, NULL if none does. */
const struct code_range *elf_file_code_at(const struct elf_file *file, uint64_t offset);

/* Returns the executable range that holds a virtual address, NULL if none does. */
const struct code_range *elf_file_code_at_vaddr(const struct elf_file *file, uint64_t vaddr);

/*
 * Returns the bytes of a section as they are in the file, NULL if it has none
 * (SHT_NOBITS, empty, or reaching beyond the end of the file).
 */
const uint8_t *elf_file_section_bytes(const struct elf_file *file, const GElf_Shdr *section);

/* Returns a section's name, "" if it has none that can be read. */
const char *elf_file_section_name(const struct elf_file *file, const GElf_Shdr *section);

#endif
