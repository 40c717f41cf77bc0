/* SPDX-License-Identifier: MIT */
/*
 * Writes small ELF files for tests: one loaded segment of code, and symbols.
 * Layouts: System V ABI, "Object Files"; elf.h.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct tiny_symbol {
	const char *name;
	uint64_t address, size;
	unsigned char info; /* ELF64_ST_INFO(binding, type) */
};

struct tiny_elf {
	uint64_t address;    /* of the code; a multiple of 0x1000 */
	const uint8_t *code; /* at TINY_ELF_CODE_OFFSET of the file */
	size_t code_size;
	const struct tiny_symbol *symbols;
	size_t symbol_count;
	size_t go_table, go_table_size; /* bytes of the code that are .gopclntab; 0, 0: none */
};

#define TINY_ELF_CODE_OFFSET 0x1000

/* Returns the file's `*size` bytes, owned by the caller. */
uint8_t *tiny_elf_bytes(const struct tiny_elf *elf, size_t *size);

/* Write the file; a failure stops the program. */
void tiny_elf_write(const struct tiny_elf *elf, const char *path);
