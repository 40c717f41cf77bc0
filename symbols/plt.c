/* SPDX-License-Identifier: MIT */
/*
 * Names for procedure linkage stubs.
 *
 * A stub jumps through a slot of the global offset table, and a relocation
 * says whose address the slot gets.  So the code of each stub is read: that
 * works for lazy and immediate binding, for .plt.got, and for .plt.sec of
 * binaries with indirect branch tracking (System V x86-64 psABI, "Procedure
 * Linkage Table").
 */
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbols/symbol_table.h"

#define NAME_MAX_SHOWN 4000

struct slot {
	uint64_t address; /* of the slot */
	const char *name; /* of the symbol it is for; view of the file */
};

/* Where stubs go. */
struct stub_target {
	struct symbol_table *table;
	Elf *elf;
	struct arena *arena;
};

struct slot_list {
	struct slot *slots; /* sorted by address */
	size_t count, room;
};

static const char *section_name(Elf *elf, const GElf_Shdr *header)
{
	size_t names;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return NULL;
	return elf_strptr(elf, names, header->sh_name);
}

/*
 * The slot of a function that is chosen at run time (STT_GNU_IFUNC) is
 * relocated by the address of its resolver, and that has the function's name.
 */
static const char *resolver_name(const struct stub_target *target, uint64_t resolver)
{
	struct symbol_entry *entry = symbol_table_find(target->table, resolver);
	char text[40];

	if (entry && entry->start == resolver)
		return entry->name;
	snprintf(text, sizeof(text), "*ABS*+0x%" PRIx64, resolver);
	return arena_text(target->arena, text, strlen(text));
}

static void add_slots(struct slot_list *list, const struct stub_target *target, Elf_Scn *section,
		      const GElf_Shdr *header)
{
	Elf *elf = target->elf;
	Elf_Scn *symbols = elf_getscn(elf, header->sh_link);
	Elf_Data *data = elf_getdata(section, NULL);
	Elf_Data *symbol_data = symbols ? elf_getdata(symbols, NULL) : NULL;
	size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
	GElf_Shdr symbols_header;

	if (!symbol_data || !gelf_getshdr(symbols, &symbols_header))
		return;
	for (size_t i = 0; i < count; i++) {
		GElf_Rela relocation;
		GElf_Sym symbol;
		const char *name;

		if (!gelf_getrela(data, (int)i, &relocation) ||
		    !gelf_getsym(symbol_data, (int)GELF_R_SYM(relocation.r_info), &symbol))
			continue;
		name = elf_strptr(elf, symbols_header.sh_link, symbol.st_name);
		if (GELF_R_TYPE(relocation.r_info) == R_X86_64_IRELATIVE)
			name = resolver_name(target, (uint64_t)relocation.r_addend);
		if (!name || !*name)
			continue;
		list->slots = alloc_grow(list->slots, &list->room, list->count + 1,
					 sizeof(*list->slots));
		list->slots[list->count++] = (struct slot){ relocation.r_offset, name };
	}
}

static int compare_slots(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static const char *slot_name(const struct slot_list *list, uint64_t address)
{
	struct slot key = { .address = address };
	struct slot *found = list->count ? bsearch(&key, list->slots, list->count, sizeof(key),
						   compare_slots)
					 : NULL;

	return found ? found->name : NULL;
}

/*
 * The slot that a stub jumps through: [endbr64] [bnd] jmp *disp32(%rip).
 * Returns its address, 0 if the bytes are no such stub.
 */
static uint64_t stub_slot(const uint8_t *bytes, size_t size, uint64_t address)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = 0;
	int32_t distance;

	if (size >= sizeof(endbr64) && memcmp(bytes, endbr64, sizeof(endbr64)) == 0)
		at += sizeof(endbr64);
	if (at < size && bytes[at] == 0xf2)
		at++;
	if (size < at + 6 || bytes[at] != 0xff || bytes[at + 1] != 0x25)
		return 0;
	memcpy(&distance, bytes + at + 2, sizeof(distance));
	return address + at + 6 + (uint64_t)(int64_t)distance;
}

static void add_stubs(const struct stub_target *target, const struct slot_list *slots,
		      Elf_Scn *section, const GElf_Shdr *header)
{
	/* Stubs are 16 bytes; without lazy binding and branch tracking 8 are enough. */
	Elf_Data *data = elf_getdata(section, NULL);
	size_t step = header->sh_entsize == 8 ? 8 : 16;

	if (!data || !data->d_buf)
		return;
	for (size_t at = 0; at + step <= data->d_size; at += step) {
		const uint8_t *bytes = (const uint8_t *)data->d_buf + at;
		const char *name = slot_name(slots, stub_slot(bytes, step, header->sh_addr + at));
		struct symbol_entry entry = { .kind = SYMBOL_PLT, .binding = SYMBOL_GLOBAL };
		char text[NAME_MAX_SHOWN];

		if (!name)
			continue;
		snprintf(text, sizeof(text), "%s@plt", name);
		entry.start = header->sh_addr + at;
		entry.end = entry.start + step;
		entry.name = arena_text(target->arena, text, strlen(text));
		symbol_table_add(target->table, &entry);
	}
}

void symbol_table_add_plt(struct symbol_table *table, const struct elf_file *file,
			  struct arena *arena)
{
	struct stub_target target = { table, file->elf, arena };
	struct slot_list slots = { 0 };
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *name;

	while ((section = elf_nextscn(file->elf, section))) {
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
		    header.sh_flags & SHF_ALLOC)
			add_slots(&slots, &target, section, &header);
	}
	if (slots.count)
		qsort(slots.slots, slots.count, sizeof(*slots.slots), compare_slots);
	while (slots.count && (section = elf_nextscn(file->elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS)
			continue;
		name = section_name(file->elf, &header);
		if (name && strncmp(name, ".plt", 4) == 0)
			add_stubs(&target, &slots, section, &header);
	}
	free(slots.slots);
}
