/* SPDX-License-Identifier: MIT */
#include "symbols/tables/symbol_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbols/symbol.h"
#include "symbols/tables/plt.h"
#include "symbols/tables/symbol_parts.h"

#define SECTION_LOADED 1 /* SHF_ALLOC */
#define SECTION_LABELS                                                                             \
	2 /* untyped symbols in it count: its name says text or data, as perf asks                 \
	   */

struct section {
	uint64_t begin, end; /* virtual addresses */
	uint8_t flags;
};

struct loader {
	struct symbol_table *table;
	const struct elf_file *file;
	struct section *sections; /* owned; by section index, the debug file's behind the file's */
	size_t section_count, first_section, section_room; /* first: of the file that is read */
	size_t room;                                       /* of table->entries */
	uint32_t order;
	size_t tables_end; /* entries before this one are sorted; the rest are linkage stubs */
	uint32_t *sources; /* owned; the orders at which other source files' symbols begin */
	size_t source_count, source_room;
	Elf_Data *symbols[SYMBOL_STRINGS_COUNT]; /* borrowed from the ELF handle; NULL: none */
	struct error *err;
};

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void read_section(struct section *section, const struct elf_file *file,
			 const GElf_Shdr *shdr)
{
	const char *name = elf_file_section_name(file, shdr);

	section->begin = shdr->sh_addr;
	section->end = add_saturated(shdr->sh_addr, shdr->sh_size);
	if (shdr->sh_flags & SHF_ALLOC)
		section->flags |= SECTION_LOADED;
	if (strstr(name, "text") || strstr(name, "data"))
		section->flags |= SECTION_LABELS;
}

/* Add the sections of a file, whose symbols are read next. */
static void read_sections(struct loader *loader, const struct elf_file *file)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t count;

	if (elf_getshdrnum(file->elf, &count) != 0 || count > file->size / sizeof(Elf32_Shdr))
		count = 0;
	loader->first_section = loader->section_count;
	loader->section_count += count;
	loader->sections = alloc_grow(loader->sections, &loader->section_room,
				      loader->section_count, sizeof(*loader->sections));
	if (count)
		memset(loader->sections + loader->first_section, 0,
		       count * sizeof(*loader->sections));
	while ((scn = elf_nextscn(file->elf, scn)))
		if (elf_ndxscn(scn) < count && gelf_getshdr(scn, &shdr))
			read_section(&loader->sections[loader->first_section + elf_ndxscn(scn)],
				     file, &shdr);
}

/* Returns the section that the symbol is in, NULL if perf would not show a symbol of its kind
 * there. */
static const struct section *section_if_shown(const struct loader *loader, const GElf_Sym *symbol)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);
	const struct section *section;

	if (symbol->st_name == 0 || symbol->st_shndx == SHN_UNDEF ||
	    symbol->st_shndx >= loader->section_count - loader->first_section)
		return NULL;
	section = &loader->sections[loader->first_section + symbol->st_shndx];
	if (!(section->flags & SECTION_LOADED))
		return NULL;
	if (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_OBJECT)
		return section;
	return type == STT_NOTYPE && section->flags & SECTION_LABELS ? section : NULL;
}

static enum symbol_binding binding_of(const GElf_Sym *symbol)
{
	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
	case STB_GNU_UNIQUE:
		return SYMBOL_GLOBAL;
	case STB_WEAK:
		return SYMBOL_WEAK;
	default:
		return SYMBOL_LOCAL;
	}
}

static struct symbol_entry *add_entry(struct loader *loader)
{
	struct symbol_table *table = loader->table;
	struct symbol_entry *entry;

	table->entries = alloc_grow(table->entries, &loader->room, table->count + 1,
				    sizeof(*table->entries));
	entry = &table->entries[table->count++];
	*entry = (struct symbol_entry){ .order = loader->order++ };
	return entry;
}

static bool name_is_sound(const struct string_section *strings, uint32_t name)
{
	return name < strings->size && memchr(strings->text + name, 0, strings->size - name);
}

/* The local symbols of each source file follow an entry with its name (ELF, STT_FILE). */
static void begin_source(struct loader *loader)
{
	loader->sources = alloc_grow(loader->sources, &loader->source_room,
				     loader->source_count + 1, sizeof(*loader->sources));
	loader->sources[loader->source_count++] = loader->order;
}

static void add_symbol(struct loader *loader, const GElf_Sym *symbol, enum symbol_strings strings)
{
	const struct section *section = section_if_shown(loader, symbol);
	struct symbol_entry *entry;

	if (GELF_ST_TYPE(symbol->st_info) == STT_FILE)
		begin_source(loader);
	if (!section || !elf_file_code_at_vaddr(loader->file, symbol->st_value))
		return;
	if (!name_is_sound(&loader->table->strings[strings], symbol->st_name)) {
		error_set(loader->err, ERROR_FORMAT, "a symbol's name is outside the string table");
		return;
	}
	entry = add_entry(loader);
	entry->begin = symbol->st_value;
	entry->end = add_saturated(symbol->st_value, symbol->st_size);
	entry->name = symbol->st_name;
	entry->kind = SYMBOL_FUNCTION;
	entry->binding = (uint8_t)binding_of(symbol);
	entry->section = (uint32_t)loader->first_section + symbol->st_shndx;
	entry->strings = (uint8_t)strings;
}

/* Returns the table's data and sets its strings; NULL if either does not fit into the file. */
static Elf_Data *open_table(struct string_section *strings, const struct elf_file *file,
			    Elf_Scn *scn, const GElf_Shdr *shdr)
{
	GElf_Shdr text;

	strings->section = (uint32_t)elf_ndxscn(scn);
	if (!gelf_getshdr(elf_getscn(file->elf, shdr->sh_link), &text))
		return NULL;
	strings->text = (const char *)elf_file_section_bytes(file, &text);
	strings->size = strings->text ? text.sh_size : 0;
	if (!strings->text || !elf_file_section_bytes(file, shdr))
		return NULL;
	return elf_getdata(scn, NULL);
}

static bool is_table(Elf_Scn *scn, GElf_Shdr *shdr)
{
	return gelf_getshdr(scn, shdr) && shdr->sh_size > 0 &&
	       (shdr->sh_type == SHT_SYMTAB || shdr->sh_type == SHT_DYNSYM);
}

static void read_table(struct loader *loader, const struct elf_file *file, Elf_Scn *scn,
		       const GElf_Shdr *shdr)
{
	enum symbol_strings kind =
		shdr->sh_type == SHT_SYMTAB ? SYMBOL_STRINGS_SYMTAB : SYMBOL_STRINGS_DYNSYM;
	struct string_section *strings = &loader->table->strings[kind];
	GElf_Sym symbol;

	/* perf takes the first of each kind; more than one is not allowed (ELF, "Sections"). */
	if (strings->section)
		return;
	loader->symbols[kind] = open_table(strings, file, scn, shdr);
	if (!loader->symbols[kind])
		error_set(loader->err, ERROR_FORMAT, "the symbol table does not fit into the file");
	for (int i = 0; gelf_getsym(loader->symbols[kind], i, &symbol); i++)
		add_symbol(loader, &symbol, kind);
}

static void read_tables(struct loader *loader, const struct elf_file *file)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	read_sections(loader, file);
	while ((scn = elf_nextscn(file->elf, scn)))
		if (is_table(scn, &shdr))
			read_table(loader, file, scn, &shdr);
}

static void read_debug_table(struct loader *loader, const struct elf_file *debug)
{
	struct string_section *strings = &loader->table->strings[SYMBOL_STRINGS_SYMTAB];
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	if (!debug || strings->section)
		return;
	read_sections(loader, debug);
	while ((scn = elf_nextscn(debug->elf, scn)))
		if (is_table(scn, &shdr) && shdr.sh_type == SHT_SYMTAB)
			read_table(loader, debug, scn, &shdr);
	if (strings->section)
		strings->section = UINT32_MAX;
}

bool symbol_table_is_whole(const struct elf_file *file)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(file->elf, scn)))
		if (is_table(scn, &shdr) && shdr.sh_type == SHT_SYMTAB)
			return true;
	return false;
}

static int compare_entries(const void *a, const void *b)
{
	const struct symbol_entry *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static void sort_entries(struct symbol_table *table)
{
	if (table->count)
		qsort(table->entries, table->count, sizeof(*table->entries), compare_entries);
}

static bool is_empty(const struct symbol_entry *entry)
{
	return entry->begin == entry->end;
}

/* Two entries begin together: returns true if the second is the better name for the code. */
static bool second_is_better(const struct symbol_table *table, const struct symbol_entry *a,
			     const struct symbol_entry *b)
{
	const char *name_a = symbol_table_name(table, a), *name_b = symbol_table_name(table, b);
	size_t under_a, under_b;

	if (!name_a || !name_b)
		return name_b;
	if (is_empty(a) != is_empty(b))
		return is_empty(a);
	if ((a->binding == SYMBOL_WEAK) != (b->binding == SYMBOL_WEAK))
		return a->binding == SYMBOL_WEAK;
	if ((a->binding == SYMBOL_GLOBAL) != (b->binding == SYMBOL_GLOBAL))
		return b->binding == SYMBOL_GLOBAL;
	under_a = strspn(name_a, "_");
	under_b = strspn(name_b, "_");
	if (under_a != under_b)
		return under_b < under_a;
	return strlen(name_b) > strlen(name_a);
}

/* Keep one entry for each address where entries begin. */
static void drop_duplicates(struct symbol_table *table)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->count; i++) {
		struct symbol_entry *entry = &table->entries[i];
		struct symbol_entry *last = kept ? &table->entries[kept - 1] : NULL;

		if (!last || last->begin != entry->begin)
			table->entries[kept++] = *entry;
		else if (second_is_better(table, last, entry))
			*last = *entry;
	}
	table->count = kept;
}

/* Where an entry without size must end: with its section, which may be smaller than its segment. */
static uint64_t farthest_end(const struct loader *loader, const struct symbol_entry *entry)
{
	const struct code_range *code = elf_file_code_at_vaddr(loader->file, entry->begin);
	const struct section *section = &loader->sections[entry->section];
	uint64_t end = code->vaddr + code->size;

	if (section->begin <= entry->begin && entry->begin < section->end && section->end < end)
		end = section->end;
	return end;
}

/* Let entries without a size reach to the next one. */
static void fill_sizes(struct loader *loader)
{
	struct symbol_table *table = loader->table;

	for (size_t i = 0; i < table->count; i++) {
		struct symbol_entry *entry = &table->entries[i];

		if (!is_empty(entry))
			continue;
		entry->end = farthest_end(loader, entry);
		if (i + 1 < table->count && entry[1].begin < entry->end)
			entry->end = entry[1].begin;
	}
}

/* Returns the index of the entry that begins at an address, among the first `count`; else NONE. */
static uint32_t find_entry(const struct symbol_table *table, size_t count, uint64_t vaddr)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->entries[middle].begin < vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == count || table->entries[low].begin != vaddr)
		return SYMBOL_ENTRY_NONE;
	return (uint32_t)low;
}

static const struct symbol_entry *entry_at(const struct loader *loader, uint64_t vaddr)
{
	uint32_t index = find_entry(loader->table, loader->tables_end, vaddr);

	return index == SYMBOL_ENTRY_NONE ? NULL : &loader->table->entries[index];
}

uint32_t symbol_table_whole(const struct symbol_table *table, uint32_t entry)
{
	uint64_t whole;

	if (!symbol_parts_whole(table, table->entries[entry].begin, &whole))
		return SYMBOL_ENTRY_NONE;
	return find_entry(table, table->count, whole);
}

/* Returns the name that a stub gets, in `entry`; false if there is none. */
static bool name_stub(const struct loader *loader, const struct plt_stub *stub,
		      struct symbol_entry *entry)
{
	const struct symbol_entry *resolver;
	GElf_Sym symbol;

	if (stub->target == PLT_HEADER) {
		entry->name = SYMBOL_ENTRY_NONE;
		return true;
	}
	if (stub->target == PLT_RESOLVED) {
		resolver = entry_at(loader, stub->resolver);
		if (!resolver)
			return false;
		entry->name = resolver->name;
		entry->strings = resolver->strings;
		return true;
	}
	for (unsigned i = 0; i < SYMBOL_STRINGS_COUNT; i++) {
		const struct string_section *strings = &loader->table->strings[i];

		if (!strings->text || strings->section != stub->symbol_table)
			continue;
		if (!gelf_getsym(loader->symbols[i], (int)stub->symbol, &symbol))
			return false;
		entry->name = symbol.st_name;
		entry->strings = (uint8_t)i;
		return symbol.st_name && name_is_sound(strings, symbol.st_name);
	}
	return false;
}

static void add_stub(void *context, const struct plt_stub *stub)
{
	struct loader *loader = context;
	struct symbol_entry named = { .begin = stub->vaddr,
				      .kind = SYMBOL_PLT,
				      .binding = SYMBOL_GLOBAL };

	if (!elf_file_code_at_vaddr(loader->file, stub->vaddr) ||
	    !name_stub(loader, stub, &named) || entry_at(loader, stub->vaddr))
		return;
	named.end = add_saturated(stub->vaddr, stub->size);
	named.order = loader->order;
	*add_entry(loader) = named;
}

static void add_range(struct symbol_table *table, uint64_t begin, uint32_t entry)
{
	struct symbol_range *last =
		table->range_count ? &table->ranges[table->range_count - 1] : NULL;

	if (last && last->begin == begin)
		last->entry = entry;
	else if (!last || last->entry != entry)
		table->ranges[table->range_count++] = (struct symbol_range){ begin, entry };
}

/*
 * The entries that are open at one address form a stack: the one that started
 * last is on top and is shown until it ends or another starts.  An entry that
 * ends no later than the one on top of it can never be shown again.
 */
static void make_ranges(struct symbol_table *table)
{
	uint32_t *open = alloc_zeroed(table->count, sizeof(*open));
	size_t depth = 0;

	/* Each entry makes a range where it begins and at most one where it ends. */
	table->ranges = alloc_zeroed(2 * table->count, sizeof(*table->ranges));
	for (size_t i = 0; i <= table->count; i++) {
		uint64_t next = i < table->count ? table->entries[i].begin : UINT64_MAX;

		while (depth && table->entries[open[depth - 1]].end <= next) {
			uint64_t end = table->entries[open[--depth]].end;

			while (depth && table->entries[open[depth - 1]].end <= end)
				depth--;
			add_range(table, end, depth ? open[depth - 1] : SYMBOL_ENTRY_NONE);
		}
		if (i == table->count)
			break;
		add_range(table, next, (uint32_t)i);
		open[depth++] = (uint32_t)i;
	}
	free(open);
}

int symbol_table_load(struct symbol_table *table, const struct elf_file *file,
		      const struct elf_file *debug, struct error *err)
{
	struct error dropped = { 0 };
	struct loader loader = { .table = table, .file = file, .err = err ? err : &dropped };

	*table = (struct symbol_table){ 0 };
	read_tables(&loader, file);
	read_debug_table(&loader, debug);
	symbol_parts_find(table, loader.sources, loader.source_count);
	sort_entries(table);
	drop_duplicates(table);
	fill_sizes(&loader);
	loader.tables_end = table->count;
	plt_scan(file, add_stub, &loader);
	sort_entries(table);
	drop_duplicates(table);
	make_ranges(table);
	free(loader.sections);
	free(loader.sources);
	return loader.err->kind == ERROR_NONE ? 0 : -1;
}

void symbol_table_release(struct symbol_table *table)
{
	free(table->entries);
	free(table->ranges);
	free(table->parts);
	*table = (struct symbol_table){ 0 };
}

uint32_t symbol_table_find(const struct symbol_table *table, uint64_t vaddr)
{
	size_t low = 0, high = table->range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->ranges[middle].begin <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? (uint32_t)(low - 1) : SYMBOL_ENTRY_NONE;
}
