/* SPDX-License-Identifier: MIT */
/* Reads symbol tables, adds linkage stubs, and decides which symbol is shown where. */
#include "symbols/tables/symbol_table.h"

#include "base/budget.h"
#include "symbols/symbol.h"

/* ---- PLT stubs ----------------------------------------------------------- */

/*
 * The stubs of the procedure linkage table, which have no entries in any symbol table.
 *
 * A stub is known by the pointer it jumps through, or by the relocation number that it pushes, and
 * the relocation of either names the function (System V ABI, AMD64 supplement, "Procedure Linkage
 * Table").  Reading the stubs instead of counting them makes the order of relocations and the
 * linker's choice of sections (.plt, .plt.sec, .plt.got, .iplt) unimportant.
 */

struct plt_slots {
	/* A relocation: the function whose address the dynamic linker writes into a pointer. */
	struct plt_slot {
		uint64_t vaddr;        /* of the pointer */
		uint64_t addend;       /* virtual address of the resolver, if symbol is 0 */
		uint32_t symbol_table; /* section index */
		uint32_t symbol;       /* 0: the choice of an indirect function's resolver */
	} * array;                     /* owned */
	size_t count, room;
};

struct plt_scanner {
	const struct elf_file *file;
	bool wide;               /* x86-64, else x86 */
	struct plt_slots slots;  /* every function pointer; sorted by vaddr */
	struct plt_slots pushed; /* .rela.plt in its own order: lazy stubs push an index into it */
	size_t budget; /* bytes of sections left to read: sections may overlap in a hostile file */
	struct loader *loader; /* borrowed */
};

/* All relocation types of function pointers but one have the same number on x86 and x86-64. */
static bool is_function_pointer(const struct plt_scanner *scanner, uint32_t type)
{
	return type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT ||
	       type == (scanner->wide ? R_X86_64_IRELATIVE : R_386_IRELATIVE);
}

static bool get_relocation(Elf_Data *data, int index, bool rela, GElf_Rela *out)
{
	GElf_Rel rel;

	if (rela)
		return gelf_getrela(data, index, out);
	if (!gelf_getrel(data, index, &rel))
		return false;
	*out = (GElf_Rela){ rel.r_offset, rel.r_info, 0 };
	return true;
}

static void read_relocations(struct plt_scanner *scanner, const struct elf_section *section)
{
	const GElf_Shdr *shdr = &section->header;
	bool lazy =
		strcmp(section->name, ".rela.plt") == 0 || strcmp(section->name, ".rel.plt") == 0;
	Elf_Data *data = ALLOC_CHECKED(elf_getdata(section->scn, NULL));
	GElf_Rela rela;

	for (int i = 0; data && get_relocation(data, i, shdr->sh_type == SHT_RELA, &rela); i++) {
		struct plt_slot slot = { rela.r_offset, (uint64_t)rela.r_addend, shdr->sh_link,
					 (uint32_t)GELF_R_SYM(rela.r_info) };
		bool fits = is_function_pointer(scanner, GELF_R_TYPE(rela.r_info));

		if (lazy)
			*ARRAY_ADD(scanner->pushed.array, scanner->pushed.count,
				   scanner->pushed.room) = slot;
		if (fits)
			*ARRAY_ADD(scanner->slots.array, scanner->slots.count,
				   scanner->slots.room) = slot;
	}
}

static int compare_slots(const void *a, const void *b)
{
	const struct plt_slot *x = a, *y = b;

	return COMPARE(x->vaddr, y->vaddr);
}

static const struct plt_slot *find_slot(const struct plt_slots *slots, uint64_t vaddr)
{
	struct plt_slot key = { .vaddr = vaddr };

	if (!slots->count)
		return NULL;
	return bsearch(&key, slots->array, slots->count, sizeof(key), compare_slots);
}

/* A lazy stub pushes the index of its relocation (x86-64) or its byte offset (x86). */
static const struct plt_slot *pushed_slot(const struct plt_scanner *scanner, uint32_t value)
{
	size_t index = scanner->wide ? value : value / sizeof(Elf32_Rel);

	return index < scanner->pushed.count ? &scanner->pushed.array[index] : NULL;
}

/*
 * Find the relocation of the stub in `code`; *header: it is the table's header.  The forms, each
 * perhaps after ENDBR and with a BND prefix: "jmp *pointer", "push index; jmp header", and "push
 * pointer; jmp *pointer"; in i386's code that may lie anywhere the pointers are relative to ebx.
 */
static const struct plt_slot *decode_stub(const struct plt_scanner *scanner, struct cursor code,
					  uint64_t vaddr, bool *header)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e };
	const uint8_t *start = code.at;
	uint32_t operand;
	uint8_t opcode;

	if (cursor_left(&code) >= 4 && memcmp(code.at, endbr, sizeof(endbr)) == 0)
		cursor_take(&code, 4);
	opcode = cursor_u8(&code);
	if (opcode == 0xf2)
		opcode = cursor_u8(&code);
	if (opcode == 0x68) {
		operand = cursor_u32(&code);
		return code.short_ ? NULL : pushed_slot(scanner, operand);
	}
	if (opcode != 0xff)
		return NULL;
	opcode = cursor_u8(&code);
	operand = cursor_u32(&code);
	if (code.short_)
		return NULL;
	*header = opcode == 0x35 || (opcode == 0xb3 && !scanner->wide);
	if (opcode == 0x25 && scanner->wide)
		return find_slot(&scanner->slots, vaddr + (uint64_t)(code.at - start) +
							  (uint64_t)(int64_t)(int32_t)operand);
	if (opcode == 0x25)
		return find_slot(&scanner->slots, operand);
	if (opcode == 0xa3 && !scanner->wide && cursor_u8(&code) == 0x68) {
		operand = cursor_u32(&code);
		return code.short_ ? NULL : pushed_slot(scanner, operand);
	}
	return NULL;
}

/* Add the stub of a pointer; NULL: not a stub but the code that all lazy stubs jump to. */
static void add_stub(struct loader *loader, const struct plt_slot *slot, uint64_t vaddr,
		     uint64_t size);

/*
 * Stubs are 16 bytes, but those that never bind lazily may be just a jump,
 * padded with a two-byte no-op to 8.  The section's entry size is no help:
 * linkers leave 0 or 16 there also with the short ones.
 */
static size_t stub_size(const uint8_t *stub)
{
	return stub[0] == 0xff && stub[1] == 0x25 && stub[6] == 0x66 && stub[7] == 0x90 ? 8 : 16;
}

static void scan_stubs(const struct plt_scanner *scanner, const GElf_Shdr *shdr)
{
	const uint8_t *bytes = elf_file_section_bytes(scanner->file, shdr);
	struct cursor code = cursor_over(bytes, bytes ? shdr->sh_size : 0);

	while (cursor_left(&code) >= 8) {
		uint64_t vaddr = shdr->sh_addr + (uint64_t)(code.at - bytes);
		size_t size = stub_size(code.at);
		const struct plt_slot *slot;
		const uint8_t *stub;
		bool header;

		size = MIN(size, cursor_left(&code));
		stub = cursor_take(&code, size);
		header = false;
		slot = decode_stub(scanner, cursor_over(stub, size), vaddr, &header);
		if (slot || header)
			add_stub(scanner->loader, slot, vaddr, size);
	}
}

static bool has_stubs(const char *name)
{
	static const char *const names[] = { ".plt", ".plt.sec", ".plt.got", ".plt.bnd", ".iplt" };

	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* Returns whether the section may be read, and subtracts its size from the budget. */
static bool spend_budget(struct plt_scanner *scanner, const GElf_Shdr *shdr)
{
	if (!elf_file_section_bytes(scanner->file, shdr) || shdr->sh_size > scanner->budget)
		return false;
	scanner->budget -= shdr->sh_size;
	return true;
}

static void scan_sections(struct plt_scanner *scanner)
{
	struct elf_section section = { 0 };
	const GElf_Shdr *shdr = &section.header;

	while (elf_section_next(scanner->file->elf, &section))
		if (shdr->sh_flags & SHF_ALLOC &&
		    (shdr->sh_type == SHT_RELA || shdr->sh_type == SHT_REL) &&
		    spend_budget(scanner, shdr))
			read_relocations(scanner, &section);
	if (scanner->slots.count)
		qsort(scanner->slots.array, scanner->slots.count, sizeof(struct plt_slot),
		      compare_slots);
	while (elf_section_next(scanner->file->elf, &section))
		if (shdr->sh_flags & SHF_EXECINSTR && has_stubs(section.name) &&
		    spend_budget(scanner, shdr))
			scan_stubs(scanner, shdr);
}

/*
 * Add each stub of the file whose target is known.  x86 and x86-64 only; a
 * damaged file has fewer stubs.
 */
static void add_stubs(struct loader *loader, const struct elf_file *file)
{
	struct plt_scanner scanner = { .file = file, .budget = file->size, .loader = loader };
	GElf_Ehdr ehdr;

	if (!gelf_getehdr(file->elf, &ehdr))
		return;
	if (ehdr.e_machine != EM_X86_64 && ehdr.e_machine != EM_386)
		return;
	scanner.wide = ehdr.e_machine == EM_X86_64;
	scan_sections(&scanner);
	free(scanner.slots.array);
	free(scanner.pushed.array);
}

struct loader {
	struct symbol_table *table;
	const struct elf_file *file;
	struct section_bounds {
		uint64_t begin, end; /* virtual addresses */
		bool loaded;         /* SHF_ALLOC */
		bool has_labels;     /* its untyped symbols count, as for perf: text or data */
	} * sections;                /* owned; by index, the debug file's after the file's */
	size_t section_count, first_section, section_room; /* first: of the file that is read */
	size_t room;                                       /* of table->entries */
	uint32_t order;
	size_t tables_end; /* entries before this one are sorted; then linkage stubs, Go's functions
			    */
	uint32_t *sources; /* owned; the orders at which other source files' symbols begin */
	size_t source_count, source_room;
	Elf_Data *symbols[SYMBOL_STRINGS_COUNT]; /* borrowed from the ELF handle; may be NULL */
	size_t names_left;                       /* bytes that the names may still have */
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
	loader->sections = alloc_grow(loader->sections, &loader->section_room,
				      loader->section_count, sizeof(*loader->sections));
	if (count)
		memset(loader->sections + loader->first_section, 0,
		       count * sizeof(*loader->sections));
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

static void add_entry(struct loader *loader, struct symbol_entry entry)
{
	struct symbol_table *table = loader->table;

	entry.order = loader->order++;
	*ARRAY_ADD(table->entries, table->count, loader->room) = entry;
}

/*
 * Returns whether a name is in the string table, and shorter than what is left for the names
 * of all symbols: linkers let few symbols share a text, or the end of one.
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

/*
 * Returns whether a symbol is a label that only the assembler needs (gas, "Local Symbol Names"):
 * i386's switch tables keep the labels of their cases in the file.  perf shows them as functions.
 */
static bool is_assemblers_label(const struct string_section *strings, const GElf_Sym *symbol)
{
	return GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE &&
	       GELF_ST_BIND(symbol->st_info) == STB_LOCAL &&
	       strncmp(strings->text + symbol->st_name, ".L", 2) == 0;
}

static void add_symbol(struct loader *loader, const GElf_Sym *symbol, enum symbol_strings strings)
{
	const struct section_bounds *section = section_if_shown(loader, symbol);

	/* The local symbols of each source file follow an entry with its name (ELF, STT_FILE). */
	if (GELF_ST_TYPE(symbol->st_info) == STT_FILE)
		*ARRAY_ADD(loader->sources, loader->source_count, loader->source_room) =
			loader->order;
	if (!section || !elf_file_code_at_vaddr(loader->file, symbol->st_value))
		return;
	if (!name_is_sound(loader, &loader->table->strings[strings], symbol->st_name))
		return;
	if (is_assemblers_label(&loader->table->strings[strings], symbol))
		return;
	add_entry(loader, (struct symbol_entry){
				  .begin = symbol->st_value,
				  .end = add_saturated(symbol->st_value, symbol->st_size),
				  .name = symbol->st_name,
				  .section = (uint32_t)loader->first_section + symbol->st_shndx,
				  .kind = SYMBOL_FUNCTION,
				  .binding = (uint8_t)binding_of(symbol),
				  .strings = (uint8_t)strings,
				  .sized = symbol->st_size > 0,
				  .hidden = is_hidden(symbol),
				  .untyped = GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE,
			  });
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
	GElf_Sym symbol;

	/* perf takes the first of each kind; more than one is not allowed (ELF, "Sections"). */
	if (strings->section)
		return;
	loader->symbols[kind] = open_table(strings, file, table);
	loader->names_left += SYMBOL_NAMES_FACTOR * (strings->size + table->header.sh_size);
	if (!loader->symbols[kind])
		error_set(loader->err, ERROR_FORMAT, "the symbol table does not fit into the file");
	for (int i = 0; gelf_getsym(loader->symbols[kind], i, &symbol); i++)
		add_symbol(loader, &symbol, kind);
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

static void read_debug_table(struct loader *loader, const struct elf_file *debug)
{
	struct string_section *strings = &loader->table->strings[SYMBOL_STRINGS_SYMTAB];

	if (!debug || strings->section)
		return;
	read_tables(loader, debug, true);
	if (strings->section)
		strings->section = UINT32_MAX;
}

bool symbol_table_is_complete(const struct elf_file *file)
{
	struct elf_section section = { 0 };

	while (elf_section_next(file->elf, &section))
		if (section.header.sh_type == SHT_SYMTAB && section.header.sh_size)
			return true;
	return false;
}

static int compare_entries(const void *a, const void *b)
{
	const struct symbol_entry *x = a, *y = b;

	return COMPARE(x->begin, y->begin) ?: COMPARE(x->order, y->order);
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
	/* `a` may be compared with many, so it is read only up to the length of `b`. */
	under_b = count_underlines(name_b, SIZE_MAX);
	under_a = count_underlines(name_a, under_b + 1);
	if (under_a != under_b)
		return under_b < under_a;
	length = strlen(name_b);
	return strnlen(name_a, length) < length;
}

/* Sort the entries, and keep one for each address where entries begin. */
static void sort_entries(struct symbol_table *table)
{
	size_t kept = 0;

	if (table->count)
		qsort(table->entries, table->count, sizeof(*table->entries), compare_entries);
	for (size_t i = 0; i < table->count; i++) {
		struct symbol_entry *entry = &table->entries[i];
		struct symbol_entry *last = kept ? &table->entries[kept - 1] : NULL;

		if (!last || last->begin != entry->begin) {
			table->entries[kept++] = *entry;
			continue;
		}
		entry->untyped = last->untyped = entry->untyped && last->untyped;
		if (second_is_better(table, last, entry))
			*last = *entry;
	}
	table->count = kept;
}

/* Where an entry without size must end: with its section, which may be smaller than its segment. */
static uint64_t farthest_end(const struct loader *loader, const struct symbol_entry *entry)
{
	const struct code_range *code = elf_file_code_at_vaddr(loader->file, entry->begin);
	const struct section_bounds *section = &loader->sections[entry->section];
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

/* Returns the index of the entry that begins at an address, among the first `count`, or NONE. */
static uint32_t find_entry(const struct symbol_table *table, size_t count, uint64_t vaddr)
{
	size_t low = LOWER_BOUND(i, count, table->entries[i].begin < vaddr);

	if (low == count || table->entries[low].begin != vaddr)
		return SYMBOL_ENTRY_NONE;
	return (uint32_t)low;
}

static const struct symbol_entry *entry_at(const struct loader *loader, uint64_t vaddr)
{
	uint32_t index = find_entry(loader->table, loader->tables_end, vaddr);

	return index == SYMBOL_ENTRY_NONE ? NULL : &loader->table->entries[index];
}

uint32_t symbol_table_function(const struct symbol_table *table, uint32_t entry)
{
	uint64_t function;

	if (!symbol_parts_function(table, table->entries[entry].begin, &function))
		return SYMBOL_ENTRY_NONE;
	return find_entry(table, table->count, function);
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

static void add_stub(struct loader *loader, const struct plt_slot *slot, uint64_t vaddr,
		     uint64_t size)
{
	struct symbol_entry named = {
		.begin = vaddr, .kind = SYMBOL_PLT, .binding = SYMBOL_GLOBAL, .sized = true
	};

	if (!elf_file_code_at_vaddr(loader->file, vaddr) || !name_stub(loader, slot, &named) ||
	    entry_at(loader, vaddr))
		return;
	named.end = add_saturated(vaddr, size);
	add_entry(loader, named);
}

/* Add the functions of Go that have no symbol: all of a stripped program's. */
static void add_go_functions(struct loader *loader)
{
	struct string_section *strings = &loader->table->strings[SYMBOL_STRINGS_GO];
	struct go_table *go = &loader->table->go;
	uint64_t range[2];
	uint32_t name;

	go_table_open(go, loader->file);
	*strings = (struct string_section){ 0, (const char *)go->names.bytes, go->names.size };
	loader->names_left += SYMBOL_NAMES_FACTOR * (strings->size + go->starts.size);
	for (size_t i = 0; go_table_function(go, i, range, &name); i++)
		if (elf_file_code_at_vaddr(loader->file, range[0]) && !entry_at(loader, range[0]) &&
		    name_is_sound(loader, strings, name))
			add_entry(loader, (struct symbol_entry){ .begin = range[0],
								 .end = range[1],
								 .name = name,
								 .kind = SYMBOL_FUNCTION,
								 .binding = SYMBOL_GLOBAL,
								 .strings = SYMBOL_STRINGS_GO,
								 .sized = true });
}

int symbol_table_load(struct symbol_table *table, const struct elf_file *file,
		      const struct elf_file *debug, struct error *err)
{
	struct error dropped = { 0 };
	struct loader loader = { .table = table, .file = file, .err = err ? err : &dropped };

	*table = (struct symbol_table){ 0 };
	read_tables(&loader, file, false);
	read_debug_table(&loader, debug);
	symbol_parts_find(table, loader.sources, loader.source_count);
	sort_entries(table);
	fill_sizes(&loader);
	symbol_parts_add_labels(table);
	loader.tables_end = table->count;
	add_stubs(&loader, file);
	add_go_functions(&loader);
	sort_entries(table);
	range_map_build(&table->ranges, table->entries, sizeof(*table->entries), table->count);
	free(loader.sections);
	free(loader.sources);
	return loader.err->kind == ERROR_NONE ? 0 : -1;
}

void symbol_table_release(struct symbol_table *table)
{
	free(table->entries);
	range_map_release(&table->ranges);
	free(table->parts);
	*table = (struct symbol_table){ 0 };
}
