/* SPDX-License-Identifier: MIT */
/* Reads symbol tables, and decides which symbol is shown where. */
#include "symbols/tables/symbol_table.h"

#include "base/budget.h"
#include "symbols/symbol.h"

struct loader {
	struct symbol_table *table;
	const struct elf_file *file;
	struct section_bounds {
		uint64_t begin, end; /* virtual addresses */
		bool loaded;         /* SHF_ALLOC */
		bool has_labels;     /* its untyped symbols count, as for perf: text or data */
	} * sections;                /* owned; by index, the debug file's after the file's */
	size_t section_count, first_section, section_room; /* first: of the file that is read */
	size_t room, source_room;                          /* room of the table's arrays */
	struct symbol_entry *added; /* owned; linkage stubs, then Go's functions */
	size_t added_count, added_room;
	Elf_Data *symbols[SYMBOL_STRINGS_COUNT]; /* borrowed from the ELF handle; may be NULL */
	size_t names_left;                       /* bytes that names may still take */
	struct error *err;
};

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Add the sections of a file, whose symbols are read next. */
static void read_sections(struct loader *loader, const struct elf_file *file)
{
	struct elf_section section = { 0 };
	size_t count;

	if (elf_getshdrnum(file->elf, &count) != 0 || count > file->size / sizeof(Elf32_Shdr))
		count = 0;
	loader->first_section = loader->section_count;
	loader->section_count += count;
	loader->sections = alloc_grow_zeroed(loader->sections, &loader->section_room,
					     loader->section_count, sizeof(*loader->sections));
	while (elf_section_next(file->elf, &section))
		if (elf_ndxscn(section.scn) < count)
			loader->sections[loader->first_section + elf_ndxscn(section.scn)] =
				(struct section_bounds){
					.begin = section.header.sh_addr,
					.end = add_saturated(section.header.sh_addr,
							     section.header.sh_size),
					.loaded = section.header.sh_flags & SHF_ALLOC,
					.has_labels = strstr(section.name, "text") ||
						      strstr(section.name, "data"),
				};
}

/* Returns the symbol's section, NULL if perf does not show a symbol of this kind there. */
static const struct section_bounds *section_if_shown(const struct loader *loader,
						     const GElf_Sym *symbol)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);
	const struct section_bounds *section;

	if (symbol->st_name == 0 || symbol->st_shndx == SHN_UNDEF ||
	    symbol->st_shndx >= loader->section_count - loader->first_section)
		return NULL;
	section = &loader->sections[loader->first_section + symbol->st_shndx];
	if (!section->loaded)
		return NULL;
	if (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_OBJECT)
		return section;
	return type == STT_NOTYPE && section->has_labels ? section : NULL;
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

/* Linkers make hidden symbols local (gABI, "Symbol Visibility"), but in static programs. */
static bool is_hidden(const GElf_Sym *symbol)
{
	unsigned visibility = GELF_ST_VISIBILITY(symbol->st_other);

	return GELF_ST_BIND(symbol->st_info) == STB_LOCAL || visibility == STV_HIDDEN ||
	       visibility == STV_INTERNAL;
}

/*
 * Returns whether a name is in the string table, and shorter than the bytes left for the names of
 * all symbols: linkers let few symbols share a string, or its end.
 */
static bool name_is_sound(struct loader *loader, const struct string_section *strings,
			  uint32_t name)
{
	const char *text = strings->text + name, *end;
	size_t most;

	if (name >= strings->size) {
		error_set(loader->err, ERROR_FORMAT, "a symbol's name is outside the string table");
		return false;
	}
	most = strings->size - name;
	most = MIN(most, loader->names_left);
	end = memchr(text, 0, most);
	loader->names_left -= end ? (size_t)(end - text) : most;
	if (!end)
		error_set(loader->err, ERROR_FORMAT, "%s",
			  loader->names_left ? "a symbol's name has no end"
					     : "the names of its symbols are longer than the file");
	return end;
}

static void add_symbol(struct loader *loader, const GElf_Sym *symbol, enum symbol_strings strings)
{
	const struct section_bounds *section = section_if_shown(loader, symbol);
	struct symbol_table *table = loader->table;
	uint32_t order = (uint32_t)table->count;

	/* The local symbols of each source file follow an entry with its name (ELF, STT_FILE). */
	if (GELF_ST_TYPE(symbol->st_info) == STT_FILE)
		*ARRAY_ADD(table->sources, table->source_count, loader->source_room) = order;
	if (!section || !elf_file_code_at_vaddr(loader->file, symbol->st_value))
		return;
	if (!name_is_sound(loader, &table->strings[strings], symbol->st_name))
		return;
	/*
	 * i386's switch tables keep the labels of their cases in the file, which only the assembler
	 * needs (gas, "Local Symbol Names"). perf shows them as functions.
	 */
	if (GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE &&
	    GELF_ST_BIND(symbol->st_info) == STB_LOCAL &&
	    starts_with(table->strings[strings].text + symbol->st_name, ".L"))
		return;
	*ARRAY_ADD(table->entries, table->count, loader->room) = (struct symbol_entry){
		.begin = symbol->st_value,
		.end = add_saturated(symbol->st_value, symbol->st_size),
		.name = symbol->st_name,
		.order = order,
		.section = (uint32_t)loader->first_section + symbol->st_shndx,
		.kind = SYMBOL_FUNCTION,
		.binding = (uint8_t)binding_of(symbol),
		.strings = (uint8_t)strings,
		.sized = symbol->st_size > 0,
		.hidden = is_hidden(symbol),
		.untyped = GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE,
	};
}

/* Returns the table's data and sets its strings; NULL if either does not fit into the file. */
static Elf_Data *open_table(struct string_section *strings, const struct elf_file *file,
			    const struct elf_section *table)
{
	GElf_Shdr text;

	strings->section = (uint32_t)elf_ndxscn(table->scn);
	if (!gelf_getshdr(elf_getscn(file->elf, table->header.sh_link), &text))
		return NULL;
	strings->text = (const char *)elf_file_section_bytes(file, &text);
	strings->size = strings->text ? text.sh_size : 0;
	if (!strings->text || !elf_file_section_bytes(file, &table->header))
		return NULL;
	return ALLOC_CHECKED(elf_getdata(table->scn, NULL));
}

static void read_table(struct loader *loader, const struct elf_file *file,
		       const struct elf_section *table, enum symbol_strings kind)
{
	struct string_section *strings = &loader->table->strings[kind];
	bool wide = elf_file_is_wide(file);
	Elf_Data *data;
	GElf_Sym symbol;
	size_t count;

	/* perf takes the first of each kind; more than one is not allowed (ELF, "Sections"). */
	if (strings->section)
		return;
	data = loader->symbols[kind] = open_table(strings, file, table);
	count = data ? data->d_size / (wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym)) : 0;
	loader->names_left += SYMBOL_NAMES_FACTOR * (strings->size + table->header.sh_size);
	if (!data)
		error_set(loader->err, ERROR_FORMAT, "the symbol table does not fit into the file");
	ARRAY_GROW(loader->table->entries, loader->room, loader->table->count + count);
	for (size_t i = 0; i < count; i++) {
		if (wide) /* GElf_Sym is Elf64_Sym */
			memcpy(&symbol, (char *)data->d_buf + i * sizeof(symbol), sizeof(symbol));
		else if (!gelf_getsym(data, (int)i, &symbol))
			break;
		add_symbol(loader, &symbol, kind);
	}
}

/* Read the symbol tables of a file in their order; of the debug file only .symtab. */
static void read_tables(struct loader *loader, const struct elf_file *file, bool debug)
{
	struct elf_section section = { 0 };

	read_sections(loader, file);
	while (elf_section_next(file->elf, &section)) {
		if (!section.header.sh_size)
			continue;
		if (section.header.sh_type == SHT_SYMTAB)
			read_table(loader, file, &section, SYMBOL_STRINGS_SYMTAB);
		else if (section.header.sh_type == SHT_DYNSYM && !debug)
			read_table(loader, file, &section, SYMBOL_STRINGS_DYNSYM);
	}
}

bool symbol_table_is_complete(const struct elf_file *file)
{
	struct elf_section section = { 0 };

	while (elf_section_next(file->elf, &section))
		if (section.header.sh_type == SHT_SYMTAB && section.header.sh_size)
			return true;
	return false;
}

/* Two digits cover the code of most libraries. */
#define DIGIT_BITS 11
#define DIGITS     (1U << DIGIT_BITS)

/* Sort by `begin`, a digit at a time (radix sort); ties keep their order. */
static void sort_by_begin(struct symbol_entry *entries, size_t count)
{
	/* Indexes are sorted first: they touch fewer pages than a second array of entries. */
	uint32_t *memory = alloc_bytes(2 * count * sizeof(*memory)), *sorted;
	uint32_t *from = memory, *to = memory + count;
	uint64_t different = 0;

	for (size_t i = 0; i < count; i++) {
		from[i] = (uint32_t)i;
		different |= entries[i].begin ^ entries[0].begin;
	}
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
		uint32_t next[DIGITS], begin = 0;

		if (!(different >> shift & (DIGITS - 1)))
			continue;
		memset(next, 0, sizeof(next));
		for (size_t i = 0; i < count; i++)
			next[entries[i].begin >> shift & (DIGITS - 1)]++;
		for (size_t digit = 0; digit < DIGITS; digit++) {
			begin += next[digit];
			next[digit] = begin - next[digit];
		}
		for (size_t i = 0; i < count; i++)
			to[next[entries[from[i]].begin >> shift & (DIGITS - 1)]++] = from[i];
		sorted = to;
		to = from;
		from = sorted;
	}
	/* Follow each cycle of moves; an entry in its position has its own index. */
	for (uint32_t i = 0; i < count; i++) {
		struct symbol_entry entry = entries[i];
		uint32_t at = i, next;

		for (; (next = from[at]) != i; at = next) {
			entries[at] = entries[next];
			from[at] = at;
		}
		entries[at] = entry;
		from[at] = at;
	}
	free(memory);
}

static bool is_empty(const struct symbol_entry *entry)
{
	return entry->begin == entry->end;
}

static size_t count_underlines(const char *name, size_t most)
{
	size_t count = 0;

	while (count < most && name[count] == '_')
		count++;
	return count;
}

/* Two entries begin together: returns true if the second is the better name for the code. */
static bool second_is_better(const struct symbol_table *table, const struct symbol_entry *a,
			     const struct symbol_entry *b)
{
	const char *name_a = symbol_table_name(table, a), *name_b = symbol_table_name(table, b);
	size_t under_a, under_b, length;

	if (!name_a || !name_b)
		return name_b;
	if (is_empty(a) != is_empty(b))
		return is_empty(a);
	if ((a->binding == SYMBOL_WEAK) != (b->binding == SYMBOL_WEAK))
		return a->binding == SYMBOL_WEAK;
	if ((a->binding == SYMBOL_GLOBAL) != (b->binding == SYMBOL_GLOBAL))
		return b->binding == SYMBOL_GLOBAL;
	/* `a` may be compared with many entries, so read it only up to the length of `b`. */
	under_b = count_underlines(name_b, SIZE_MAX);
	under_a = count_underlines(name_a, under_b + 1);
	if (under_a != under_b)
		return under_b < under_a;
	length = strlen(name_b);
	return strnlen(name_a, length) < length;
}

/* Sort entries. The last entry of an address is the best one; the others become empty. */
static void sort_entries(struct symbol_table *table, struct symbol_entry *entries, size_t count)
{
	sort_by_begin(entries, count);
	table->shown += count;
	for (size_t i = 1; i < count; i++) {
		struct symbol_entry *last = &entries[i - 1], *entry = &entries[i], other;

		if (last->begin != entry->begin)
			continue;
		table->shown--;
		other = *entry;
		if (!second_is_better(table, last, entry)) {
			*entry = *last;
			*last = other;
		}
		entry->untyped = last->untyped && entry->untyped;
		last->end = last->begin;
	}
}

/* Returns the limit of an entry without size: its section's or segment's end, the first one. */
static uint64_t farthest_end(const struct loader *loader, const struct symbol_entry *entry)
{
	const struct code_range *code = elf_file_code_at_vaddr(loader->file, entry->begin);
	const struct section_bounds *section = &loader->sections[entry->section];
	uint64_t end = code->vaddr + code->size;

	if (section->begin <= entry->begin && entry->begin < section->end && section->end < end)
		end = section->end;
	return end;
}

/*
 * Drop labels inside functions with a size: symbols without type and size (gABI, "Symbol Table":
 * STT_NOTYPE), such as glibc's __syscall_cancel_arch_end, where system calls return to.
 */
static void drop_labels(struct loader *loader)
{
	struct symbol_table *table = loader->table;
	struct symbol_entry *all = table->entries;
	size_t kept = 0, first = 0; /* first: of the entries at one address */
	size_t around = 0;          /* the kept one that ends last */

	for (size_t i = 0; i < table->count; i++) {
		if (!symbol_table_shows(table, i))
			continue;
		if (symbol_entry_is_label(&all[i]) && all[i].begin < all[around].end &&
		    all[i].begin < farthest_end(loader, &all[around])) {
			table->shown--;
		} else {
			memmove(&all[kept], &all[first], (i + 1 - first) * sizeof(*all));
			kept += i + 1 - first;
			around = all[kept - 1].end > all[around].end ? kept - 1 : around;
		}
		first = i + 1;
	}
	table->count = kept;
}

/* Let entries without a size reach to the next one. */
static void fill_sizes(struct loader *loader)
{
	struct symbol_table *table = loader->table;

	for (size_t i = 0; i < table->count; i++) {
		struct symbol_entry *entry = &table->entries[i];

		if (!is_empty(entry) || !symbol_table_shows(table, i))
			continue;
		entry->end = farthest_end(loader, entry);
		if (i + 1 < table->count && entry[1].begin < entry->end)
			entry->end = entry[1].begin;
	}
}

/* Returns the index of the entry shown at its begin, or NONE. */
static uint32_t find_entry(const struct symbol_table *table, uint64_t vaddr)
{
	size_t next = LOWER_BOUND(i, table->count, table->entries[i].begin <= vaddr);

	if (!next || table->entries[next - 1].begin != vaddr)
		return SYMBOL_ENTRY_NONE;
	return (uint32_t)next - 1;
}

static const struct symbol_entry *entry_at(const struct loader *loader, uint64_t vaddr)
{
	uint32_t index = find_entry(loader->table, vaddr);

	return index == SYMBOL_ENTRY_NONE ? NULL : &loader->table->entries[index];
}

uint32_t symbol_table_function(struct symbol_table *table, uint32_t entry)
{
	uint64_t function;

	if (!symbol_parts_function(table, &table->entries[entry], &function))
		return SYMBOL_ENTRY_NONE;
	return find_entry(table, function);
}

/* Set the name of a stub in `entry`; returns false if it has no name. */
static bool name_stub(struct loader *loader, const struct plt_slot *slot,
		      struct symbol_entry *entry)
{
	const struct symbol_entry *resolver;
	GElf_Sym symbol;

	if (!slot) {
		entry->name = SYMBOL_ENTRY_NONE;
		return true;
	}
	if (!slot->symbol) {
		resolver = entry_at(loader, slot->addend);
		/* In a stripped program the stub is one without a name. */
		entry->name = resolver ? resolver->name : SYMBOL_ENTRY_NONE;
		entry->strings = resolver ? resolver->strings : 0;
		return true;
	}
	for (unsigned i = 0; i < SYMBOL_STRINGS_COUNT; i++) {
		const struct string_section *strings = &loader->table->strings[i];

		if (!strings->text || strings->section != slot->symbol_table)
			continue;
		if (!gelf_getsym(loader->symbols[i], (int)slot->symbol, &symbol))
			return false;
		entry->name = symbol.st_name;
		entry->strings = (uint8_t)i;
		return symbol.st_name && name_is_sound(loader, strings, symbol.st_name);
	}
	return false;
}

static void add_stub(void *context, const struct plt_slot *slot, uint64_t vaddr, uint64_t size)
{
	struct loader *loader = context;
	struct symbol_entry named = {
		.begin = vaddr, .kind = SYMBOL_PLT, .binding = SYMBOL_GLOBAL, .sized = true
	};

	if (!elf_file_code_at_vaddr(loader->file, vaddr) || !name_stub(loader, slot, &named) ||
	    entry_at(loader, vaddr))
		return;
	named.end = add_saturated(vaddr, size);
	*ARRAY_ADD(loader->added, loader->added_count, loader->added_room) = named;
}

/* Add Go functions without a symbol: all functions, in a stripped program. */
static void add_go_functions(struct loader *loader)
{
	struct symbol_table *table = loader->table;
	struct string_section *strings = &table->strings[SYMBOL_STRINGS_GO];
	struct go_table *go = &table->go;
	uint64_t range[2];
	uint32_t name;

	go_table_open(go, loader->file);
	*strings = (struct string_section){ 0, (const char *)go->names.bytes, go->names.size };
	loader->names_left += SYMBOL_NAMES_FACTOR * (strings->size + go->starts.size);
	for (size_t i = 0; go_table_function(go, i, range, &name); i++)
		if (elf_file_code_at_vaddr(loader->file, range[0]) && !entry_at(loader, range[0]) &&
		    name_is_sound(loader, strings, name))
			*ARRAY_ADD(loader->added, loader->added_count, loader->added_room) =
				(struct symbol_entry){ .begin = range[0],
						       .end = range[1],
						       .name = name,
						       .kind = SYMBOL_FUNCTION,
						       .binding = SYMBOL_GLOBAL,
						       .strings = SYMBOL_STRINGS_GO,
						       .sized = true };
}

/* Merge the sorted entries with the added ones, which begin elsewhere. */
static void merge_added(struct loader *loader)
{
	struct symbol_table *table = loader->table;
	size_t added = loader->added_count, known = table->count, at = known + added;

	sort_entries(table, loader->added, added);
	ARRAY_GROW(table->entries, loader->room, at);
	table->count = at;
	while (added)
		table->entries[--at] =
			known && table->entries[known - 1].begin > loader->added[added - 1].begin
				? table->entries[--known]
				: loader->added[--added];
	free(loader->added);
}

int symbol_table_load(struct symbol_table *table, const struct elf_file *file,
		      const struct elf_file *debug, struct error *err)
{
	struct error dropped = { 0 };
	struct loader loader = { .table = table, .file = file, .err = err ? err : &dropped };
	struct string_section *strings;

	*table = (struct symbol_table){ 0 };
	read_tables(&loader, file, false);
	strings = &loader.table->strings[SYMBOL_STRINGS_SYMTAB];
	if (debug && !strings->section) {
		read_tables(&loader, debug, true);
		if (strings->section)
			strings->section = UINT32_MAX;
	}
	sort_entries(table, table->entries, table->count);
	drop_labels(&loader);
	fill_sizes(&loader);
	plt_stubs_find(file, add_stub, &loader);
	add_go_functions(&loader);
	merge_added(&loader);
	free(loader.sections);
	return loader.err->kind == ERROR_NONE ? 0 : -1;
}

uint32_t symbol_table_find(struct symbol_table *table, uint64_t vaddr, uint64_t *begin,
			   uint64_t *end)
{
	const struct symbol_entry *all = table->entries;
	size_t next = LOWER_BOUND(i, table->count, all[i].begin <= vaddr);

	if (next && vaddr < all[next - 1].end) {
		*begin = all[next - 1].begin;
		*end = all[next - 1].end;
		if (next < table->count)
			*end = MIN(*end, all[next].begin);
		return (uint32_t)next - 1;
	}
	/* Earlier entries may reach as far, which few recordings need to know. */
	if (!table->ranges.pieces)
		range_map_build(&table->ranges, all, sizeof(*all), table->count);
	return range_map_find(&table->ranges, vaddr, begin, end);
}

void symbol_table_release(struct symbol_table *table)
{
	free(table->entries);
	free(table->sources);
	range_map_release(&table->ranges);
	free(table->parts);
	*table = (struct symbol_table){ 0 };
}
