/* SPDX-License-Identifier: MIT */
/* Finds exception handlers of OCaml: by the compiler's notes, else by its code. */
#include "symbols/tables/trap_table.h"

#define NOTE_TYPE 1

COMPARE_BY(compare_traps, struct trap, vaddr)

static void add_trap(struct trap_table *table, uint64_t vaddr, enum trap_kind kind)
{
	*ARRAY_ADD(table->traps, table->count, table->room) = (struct trap){ vaddr, (uint8_t)kind };
}

static void read_note(struct trap_table *table, const uint8_t *words, size_t size, uint64_t base)
{
	enum trap_kind list = TRAP_ENTERED;
	uint64_t word, moved = 0;

	for (size_t at = 0; at + sizeof(word) <= size && list <= TRAP_REMOVED; at += sizeof(word)) {
		memcpy(&word, words + at, sizeof(word));
		if (at == 0)
			moved = base - word;
		else if (word)
			add_trap(table, word + moved, list);
		else
			list++;
	}
}

/* lea HANDLER(%rip), %r11; push %r11; push D(%r14); mov %rsp, D(%r14) */
#define INSTALL_SIZE 17
/* pop D(%r14); add $8, %rsp; a raise has mov D(%r14), %rsp before its pop. */
#define RAISE_SIZE 4

static bool installs(const uint8_t *code)
{
	return memcmp(code, "\x4c\x8d\x1d", 3) == 0 &&
	       memcmp(code + 7, "\x41\x53\x41\xff\x76", 5) == 0 &&
	       memcmp(code + 13, "\x49\x89\x66", 3) == 0 && code[12] == code[16];
}

static bool removes(const uint8_t *code)
{
	return memcmp(code, "\x41\x8f\x46", 3) == 0 &&
	       memcmp(code + 4, "\x48\x83\xc4\x08", 4) == 0 &&
	       (memcmp(code - RAISE_SIZE, "\x49\x8b\x66", 3) != 0 || code[-1] != code[3]);
}

static void scan(struct trap_table *table, const uint8_t *code, size_t size, uint64_t vaddr)
{
	for (size_t at = RAISE_SIZE; at + INSTALL_SIZE <= size; at++) {
		int32_t distance;

		if (code[at] == 0x4c && installs(code + at)) {
			memcpy(&distance, code + at + 3, sizeof(distance));
			add_trap(table, vaddr + at + 7 + (uint64_t)(int64_t)distance, TRAP_ENTERED);
			add_trap(table, vaddr + at + INSTALL_SIZE - 4, TRAP_INSTALLED);
		} else if (code[at] == 0x41 && removes(code + at)) {
			add_trap(table, vaddr + at + 4, TRAP_REMOVED);
		}
	}
}

void trap_table_scan(struct trap_table *table, const struct elf_file *file)
{
	for (size_t i = 0; i < file->code_count && !table->count; i++) {
		struct elf_part code = elf_file_loaded_at(file, file->code[i].vaddr);

		scan(table, code.bytes, MIN(code.size, file->code[i].size), code.vaddr);
	}
	SORT(table->traps, table->count, compare_traps);
}

void trap_table_open(struct trap_table *table, const struct elf_file *file)
{
	struct elf_section notes = { 0 }, base = { 0 };
	size_t at = 0, name, desc;
	Elf_Data *data;
	GElf_Nhdr note;

	*table = (struct trap_table){ 0 };
	if (!elf_section_find(file->elf, ".note.ocaml_eh", &notes) ||
	    !elf_section_find(file->elf, ".stapsdt.base", &base))
		return;
	data = ALLOC_CHECKED(elf_getdata(notes.scn, NULL));
	while (data && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
		const uint8_t *bytes = data->d_buf;

		if (note.n_type == NOTE_TYPE && note.n_namesz == sizeof("OCaml") &&
		    memcmp(bytes + name, "OCaml", sizeof("OCaml")) == 0)
			read_note(table, bytes + desc, note.n_descsz, base.header.sh_addr);
	}
	SORT(table->traps, table->count, compare_traps);
}

void trap_table_release(struct trap_table *table)
{
	free(table->traps);
	*table = (struct trap_table){ 0 };
}

size_t trap_table_find(const struct trap_table *table, uint64_t vaddr)
{
	return LOWER_BOUND(i, table->count, table->traps[i].vaddr < vaddr);
}
