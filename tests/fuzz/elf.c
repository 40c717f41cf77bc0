/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as an ELF file: symbols, lines, inlined calls and exception handlers; also as the index
 * of a DWARF package.
 */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/dwarf/inline_table.h"
#include "symbols/dwarf/split_unit.h"
#include "symbols/files/elf_file.h"
#include "symbols/names/demangle.h"
#include "symbols/tables/code_starts.h"
#include "symbols/tables/symbol_table.h"
#include "symbols/tables/trap_table.h"

#define SYMBOLS_ASKED 64u

static void ask(struct symbol_table *symbols, struct line_table *lines, struct demangler *demangler,
		const struct symbol_entry *entry)
{
	const char *name = symbol_table_name(symbols, entry);
	struct line_row row;

	symbol_table_function(symbols, (uint32_t)(entry - symbols->entries));
	if (name)
		demangler_demangle(demangler, name, DEMANGLE_SHORT);
	line_table_find(lines, entry->begin, &row, NULL);
	line_table_find(lines, entry->begin + 1, &row, NULL);
}

/* The landing pad of the function at an address. */
static void ask_landing(struct unwind_table *unwind, const struct elf_file *file, uint64_t vaddr)
{
	struct unwind_range range;
	struct elf_part lsda;
	size_t work = 1000;

	if (!unwind_table_find(unwind, vaddr, &range) || !range.lsda)
		return;
	lsda = elf_file_loaded_at(file, range.lsda);
	landing_pad_find(&lsda, true, range.begin, vaddr, &work);
}

static void read_all(const struct elf_file *file)
{
	struct symbol_table symbols = { 0 };
	struct line_table lines = { 0 };
	struct inline_table inlined = { 0 };
	struct demangler demangler = { 0 };
	struct code_starts starts;
	struct trap_table traps;
	struct inline_hit hit;

	symbol_table_load(&symbols, file, NULL, NULL);
	/* An entry is 16 bytes at least. */
	if (symbols.count > file->size / 8)
		abort();
	line_table_open(&lines, file, NULL, NULL);
	for (size_t i = 0; i < symbols.count && i < SYMBOLS_ASKED; i++) {
		ask(&symbols, &lines, &demangler, &symbols.entries[i]);
		inline_table_find(&inlined, &lines, symbols.entries[i].begin, &hit, NULL);
	}
	code_starts_open(&starts, file);
	for (size_t i = 0; i < file->code_count; i++) {
		if (code_starts_find(&starts, file->code[i].vaddr).end <= file->code[i].vaddr)
			abort();
		ask_landing(&starts.unwind, file, file->code[i].vaddr);
	}
	code_starts_close(&starts);
	trap_table_open(&traps, file);
	trap_table_release(&traps);
	demangler_release(&demangler);
	inline_table_release(&inlined);
	line_table_close(&lines);
	symbol_table_release(&symbols);
}

/* The bytes as the index of a DWARF package. */
static void read_index(const uint8_t *bytes, size_t size)
{
	struct byte_view sections[DEBUG_SECTIONS] = { [DEBUG_CU_INDEX] = { bytes, size } };
	uint64_t id = 0;

	memcpy(&id, bytes, size < sizeof(id) ? size : sizeof(id));
	dwp_index_cut(sections, id);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct elf_file file;

	if (!copy)
		abort();
	memcpy(copy, bytes, size);
	read_index(copy, size);
	if (elf_file_open_bytes(&file, copy, size, NULL) == 0)
		read_all(&file);
	elf_file_close(&file);
	return 0;
}
