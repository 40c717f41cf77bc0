/* SPDX-License-Identifier: MIT */
#include "symbols/symbol_table.h"

#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* A zero-size symbol at the end of all reaches to the end of the next page, as in perf. */
#define LAST_SYMBOL_PAGE 4096

/* Symbols inside a larger one that are stepped over to find it; real code has a few. */
#define NESTING_MAX 256

/* ---- Which symbols count ------------------------------------------------- */

static bool is_function(const GElf_Sym *symbol)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF;
}

/* A label of assembly code: no type, in a section of code. */
static bool is_label(Elf *elf, const GElf_Sym *symbol)
{
	Elf_Scn *section;
	GElf_Shdr header;
	const char *name;
	size_t names;

	if (GELF_ST_TYPE(symbol->st_info) != STT_NOTYPE || symbol->st_shndx == SHN_UNDEF ||
	    symbol->st_shndx >= SHN_LORESERVE || symbol->st_other == STV_HIDDEN ||
	    symbol->st_other == STV_INTERNAL)
		return false;
	section = elf_getscn(elf, symbol->st_shndx);
	if (!section || !gelf_getshdr(section, &header) || elf_getshdrstrndx(elf, &names) < 0)
		return false;
	name = elf_strptr(elf, names, header.sh_name);
	return name && strstr(name, "text");
}

static enum symbol_binding binding_of(const GElf_Sym *symbol)
{
	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
		return SYMBOL_GLOBAL;
	case STB_WEAK:
		return SYMBOL_WEAK;
	default:
		return SYMBOL_LOCAL;
	}
}

void symbol_table_add(struct symbol_table *table, const struct symbol_entry *entry)
{
	table->entries = alloc_grow(table->entries, &table->room, table->count + 1,
				    sizeof(*table->entries));
	table->entries[table->count++] = *entry;
}

static void add_symbols(struct symbol_table *table, Elf *elf, Elf_Scn *section,
			const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;

	for (size_t i = 1; i < count; i++) {
		struct symbol_entry entry = { 0 };
		GElf_Sym symbol;

		if (!gelf_getsym(data, (int)i, &symbol))
			break;
		if (!is_function(&symbol) && !is_label(elf, &symbol))
			continue;
		entry.name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (!entry.name || !*entry.name)
			continue;
		entry.start = symbol.st_value;
		entry.end = symbol.st_value + symbol.st_size;
		if (entry.end < entry.start)
			continue;
		entry.binding = (uint8_t)binding_of(&symbol);
		symbol_table_add(table, &entry);
	}
}

/* .symtab if there is one, else .dynsym. */
static Elf_Scn *find_symbols(Elf *elf, GElf_Shdr *found)
{
	Elf_Scn *section = NULL, *best = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type != SHT_SYMTAB && (header.sh_type != SHT_DYNSYM || best))
			continue;
		best = section;
		*found = header;
		if (header.sh_type == SHT_SYMTAB)
			break;
	}
	return best;
}

/* ---- Which of several wins ----------------------------------------------- */

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

static int prefer(bool a, bool b)
{
	return (int)a - (int)b;
}

/* Returns above 0 if a is the better of two symbols at one address, below 0 if b is. */
static int compare_merit(const struct symbol_entry *a, const struct symbol_entry *b)
{
	size_t a_bars = underscores(a->name), b_bars = underscores(b->name);
	size_t a_length, b_length;
	int merit;

	if ((merit = prefer(a->end > a->start, b->end > b->start)))
		return merit;
	if ((merit = prefer(a->binding != SYMBOL_WEAK, b->binding != SYMBOL_WEAK)))
		return merit;
	if ((merit = prefer(a->binding == SYMBOL_GLOBAL, b->binding == SYMBOL_GLOBAL)))
		return merit;
	if (a_bars != b_bars)
		return a_bars < b_bars ? 1 : -1;
	a_length = strlen(a->name);
	b_length = strlen(b->name);
	return a_length < b_length ? -1 : a_length > b_length;
}

/* By start; among equals the order of the file, which `reach` holds until it is known. */
static int compare_start(const void *left, const void *right)
{
	const struct symbol_entry *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->reach < b->reach ? -1 : a->reach > b->reach;
}

static void extend_empty(struct symbol_table *table)
{
	struct symbol_entry *last;

	for (size_t i = 0; i + 1 < table->count; i++) {
		if (table->entries[i].end == table->entries[i].start)
			table->entries[i].end = table->entries[i + 1].start;
	}
	last = &table->entries[table->count - 1];
	if (last->end == last->start)
		last->end = (last->start | (LAST_SYMBOL_PAGE - 1)) + 1 + LAST_SYMBOL_PAGE;
}

static void drop_duplicates(struct symbol_table *table)
{
	size_t kept = 0;

	for (size_t i = 1; i < table->count; i++) {
		if (table->entries[i].start != table->entries[kept].start)
			table->entries[++kept] = table->entries[i];
		else if (compare_merit(&table->entries[kept], &table->entries[i]) < 0)
			table->entries[kept] = table->entries[i];
	}
	table->count = kept + 1;
}

void symbol_table_settle(struct symbol_table *table)
{
	uint64_t reach = 0;

	if (!table->count)
		return;
	for (size_t i = 0; i < table->count; i++)
		table->entries[i].reach = i;
	qsort(table->entries, table->count, sizeof(*table->entries), compare_start);
	extend_empty(table);
	drop_duplicates(table);
	for (size_t i = 0; i < table->count; i++) {
		if (table->entries[i].end > reach)
			reach = table->entries[i].end;
		table->entries[i].reach = reach;
	}
}

void symbol_table_init(struct symbol_table *table, const struct elf_file *file,
		       struct arena *arena)
{
	GElf_Shdr header;
	Elf_Scn *section;

	*table = (struct symbol_table){ 0 };
	section = find_symbols(file->elf, &header);
	if (section)
		add_symbols(table, file->elf, section, &header);
	/* Stubs may be named after functions, so those are in order first. */
	symbol_table_settle(table);
	symbol_table_add_plt(table, file, arena);
	symbol_table_settle(table);
}

void symbol_table_release(struct symbol_table *table)
{
	free(table->entries);
	*table = (struct symbol_table){ 0 };
}

struct symbol_entry *symbol_table_find(struct symbol_table *table, uint64_t vaddr)
{
	size_t low = 0, high = table->count;

	/* The first entry that starts behind vaddr: the one before is the innermost candidate. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->entries[middle].start <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t tries = 0; low-- > 0 && table->entries[low].reach > vaddr; tries++) {
		if (vaddr < table->entries[low].end)
			return &table->entries[low];
		if (tries == NESTING_MAX)
			break;
	}
	return NULL;
}
