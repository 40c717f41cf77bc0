/* SPDX-License-Identifier: MIT */
/*
 * One ELF file in memory: its bytes, its executable ranges, its build id, and
 * iteration over its sections and symbols.
 *
 * The bytes are mapped once and only viewed.  Nothing in the file is trusted: parts of it that lie
 * beyond its end are treated as absent.  Zeroed memory is a closed file.
 */
#pragma once

#include <gelf.h>

#include "base/cursor.h"

/* Build ids are 20 bytes (SHA-1) or 16 (MD5, UUID); linkers allow any length. */
#define ELF_BUILD_ID_MAX 64

struct elf_file {
	/* Equal for all names of a file: links, hard links, "/./". */
	struct file_identity {
		uint64_t device, inode; /* stat(2); 0, 0: bytes of memory */
	} identity;
	uint64_t changed_ns; /* st_ctim of stat(2); 0: bytes of memory */
	uint64_t written_ns; /* st_mtim, likewise */
	uint8_t *bytes;      /* owned; NULL: closed */
	size_t size;         /* bytes */
	bool mapped;         /* bytes are a mapping, else from malloc() */
	Elf *elf;            /* owned */
	/* A part of the file that is mapped executable. */
	struct code_range {
		uint64_t offset; /* bytes from the start of the file */
		uint64_t size;   /* bytes */
		uint64_t vaddr;  /* ELF virtual address of its first byte */
	} * code;                /* owned; in the order of the program headers */
	size_t code_count;
	GElf_Ehdr header; /* zeroed if it is unreadable */
	uint8_t build_id[ELF_BUILD_ID_MAX];
	size_t build_id_size; /* bytes; 0 if absent, or if notes overlap */
};

/*
 * Open a regular file.  Other files are never opened: opening a device can have effects, and the
 * path comes from a recording.  A kernel module may be packed by xz, zstd or gzip; its unpacked
 * size is at most 32 times the file's size and 256 MiB.  Returns 0, or -1: ERROR_SYSTEM if the file
 * does not exist or may not be read, ERROR_FORMAT if it is not an ELF file.  `file` is closed then.
 */
int elf_file_open(struct elf_file *file, const char *path, struct error *err);

/*
 * Map a regular file that is not ELF but has code in it (a jitdump): only `bytes` and `size` are
 * set.  Returns like elf_file_open().
 */
int elf_file_map(struct elf_file *file, const char *path, struct error *err);

/* Open an ELF file in bytes from malloc(); their ownership passes to `file`, also on failure. */
int elf_file_open_bytes(struct elf_file *file, uint8_t *bytes, size_t size, struct error *err);

void elf_file_close(struct elf_file *file);

/* Write a build id as hexadecimal digits and a NUL; `size` is at most ELF_BUILD_ID_MAX. */
void elf_file_print_id(char text[2 * ELF_BUILD_ID_MAX + 1], const uint8_t *id, size_t size);

/* Returns the executable range that holds a byte of the file, or NULL. */
const struct code_range *elf_file_code_at(const struct elf_file *file, uint64_t offset);

/* Returns the executable range that holds a virtual address, or NULL. */
static inline const struct code_range *elf_file_code_at_vaddr(const struct elf_file *file,
							      uint64_t vaddr)
{
	for (size_t i = 0; i < file->code_count; i++)
		if (vaddr - file->code[i].vaddr < file->code[i].size)
			return &file->code[i];
	return NULL;
}

/*
 * Returns the bytes of a section as they are in the file, NULL if it has no
 * bytes (SHT_NOBITS, empty, or reaching beyond the end of the file).
 */
const uint8_t *elf_file_section_bytes(const struct elf_file *file, const GElf_Shdr *section);

/* A part of the file: bytes with their virtual address. */
struct elf_part {
	const uint8_t *bytes; /* borrowed; NULL: absent, and the size is 0 */
	size_t size;
	uint64_t vaddr; /* address of the first byte */
};

/* Returns the first section of a name; absent if it is compressed. */
struct elf_part elf_file_section(const struct elf_file *file, const char *name);

/* Returns the bytes that one segment loads from a virtual address up. */
struct elf_part elf_file_loaded_at(const struct elf_file *file, uint64_t vaddr);

/* Returns whether addresses have 64 bits. */
static inline bool elf_file_is_wide(const struct elf_file *file)
{
	return file->header.e_ident[EI_CLASS] == ELFCLASS64;
}

/* A section with a readable header.  Zeroed memory comes before the first one. */
struct elf_section {
	Elf_Scn *scn; /* borrowed from the ELF handle */
	GElf_Shdr header;
	const char *name; /* borrowed from the ELF handle; "" if unreadable */
	size_t names;     /* index of the section with the names */
};

/* Advance to the next section; returns false after the last one, and restarts then. */
bool elf_section_next(Elf *elf, struct elf_section *section);

/* Fill *section with the first section of this name; returns false if there is no such section. */
bool elf_section_find(Elf *elf, const char *name, struct elf_section *section);

/* A named symbol of a .symtab.  Zeroed memory comes before the first one. */
struct elf_symbol {
	GElf_Sym symbol;
	const char *name; /* borrowed from the ELF handle; not empty */
	struct elf_section table;
	Elf_Data *data; /* borrowed from the ELF handle */
	int next;       /* index in the table */
};

/* Advance to the next symbol with a name; returns false after the last one. */
bool elf_symbol_next(Elf *elf, struct elf_symbol *symbol);
