/* SPDX-License-Identifier: MIT */
/* Reads where functions begin from the unwind entries of a file. */
#include "symbols/tables/code_starts.h"

#include <dwarf.h>

/*
 * Addresses as .eh_frame and .gcc_except_table encode them (LSB Core, "DWARF Exception Header
 * Encoding": DW_EH_PE_*).  Addresses that are relative to data or indirect are not read: they
 * make the cursor short.
 */
#define ENCODED_FORM     0x0f
#define ENCODED_RELATION 0x70

/* Returns a number in the form of an encoding (DW_EH_PE_*).  `wide`: addresses have 64 bits. */
static uint64_t encoded_number(struct cursor *c, uint8_t encoding, bool wide)
{
	switch (encoding & ENCODED_FORM) {
	case DW_EH_PE_absptr:
		return wide ? cursor_u64(c) : cursor_u32(c);
	case DW_EH_PE_uleb128:
		return cursor_uleb128(c);
	case DW_EH_PE_udata2:
		return cursor_u16(c);
	case DW_EH_PE_udata4:
		return cursor_u32(c);
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return cursor_u64(c);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int64_t)(int16_t)cursor_u16(c);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int64_t)(int32_t)cursor_u32(c);
	default:
		c->short_ = true;
		return 0;
	}
}

/* Returns an address, or 0 if omitted; `vaddr` is the address of the cursor's next byte. */
static uint64_t encoded_address(struct cursor *c, uint8_t encoding, bool wide, uint64_t vaddr)
{
	uint64_t value = encoded_number(c, encoding, wide);

	if ((encoding & ENCODED_RELATION) == DW_EH_PE_pcrel)
		value += value ? vaddr : 0;
	else if (encoding & ENCODED_RELATION)
		c->short_ = true;
	if (encoding & DW_EH_PE_indirect)
		c->short_ = true;
	return wide ? value : (uint32_t)value;
}

#define ENCODED_TABLE (DW_EH_PE_datarel | DW_EH_PE_sdata4) /* every linker's table */

/*
 * Maximum bytes of rules; those of compilers have some 30. Entries alternate between a few
 * rules, which are read again each time. A limit of each lookup, not of their sum: lookups of
 * several threads are in any number and order.
 */
#define RULES_MOST 1024

/* ---- Entries ------------------------------------------------------------- */

/* Read the entry at an offset of a section. */
static bool next_entry(const struct unwind_table *table, enum unwind_kind kind, Dwarf_Off offset,
		       Dwarf_Off *next, Dwarf_CFI_Entry *entry)
{
	const struct elf_part *section = &table->sections[kind];
	Elf_Data data = { .d_buf = (void *)(uintptr_t)section->bytes, /* libdw reads only */
			  .d_type = ELF_T_BYTE,
			  .d_version = EV_CURRENT,
			  .d_size = section->size };

	return offset < section->size &&
	       dwarf_next_cfi(table->file->header.e_ident, &data, kind == UNWIND_EH_FRAME, offset,
			      next, entry) == 0;
}

/* Set table->rules to the rules of a CIE. */
static void read_rules(struct unwind_table *table, const Dwarf_CIE *cie, enum unwind_kind kind,
		       Dwarf_Off offset)
{
	struct cursor data = cursor_over(cie->augmentation_data, cie->augmentation_data_size);
	const char *text = cie->augmentation;

	table->rules = (struct unwind_rules){
		.kind = kind, .offset = offset, .encoding = DW_EH_PE_absptr, .lsda = DW_EH_PE_omit
	};
	table->rules.known = text[0] == 'z' || text[0] == 0;
	table->rules.augmented = text[0] == 'z';
	for (const char *at = text + 1; text[0] && *at && !data.short_; at++) {
		if (*at == 'R')
			table->rules.encoding = cursor_u8(&data);
		else if (*at == 'P')
			encoded_number(&data, cursor_u8(&data), elf_file_is_wide(table->file));
		else if (*at == 'L')
			table->rules.lsda = cursor_u8(&data);
		else if (*at == 'S')
			table->rules.of_signals = true;
		else
			break;
	}
}

/* Returns whether table->rules are the rules of an entry. */
static bool find_rules(struct unwind_table *table, enum unwind_kind kind, Dwarf_Off offset)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (table->rules.known && table->rules.kind == kind && table->rules.offset == offset)
		return true;
	table->rules.known = false;
	if (!next_entry(table, kind, offset, &next, &entry) || !dwarf_cfi_cie_p(&entry) ||
	    next - offset > RULES_MOST)
		return false;
	read_rules(table, &entry.cie, kind, offset);
	return table->rules.known;
}

/* Returns an address at the cursor, which is in a section. */
static uint64_t take_address(const struct unwind_table *table, struct cursor *c,
			     enum unwind_kind kind, uint8_t encoding)
{
	const struct elf_part *section = &table->sections[kind];

	return encoded_address(c, encoding, elf_file_is_wide(table->file),
			       section->vaddr + (uint64_t)(c->at - section->bytes));
}

/* Returns a cursor after the range of an FDE, which is filled in; short: it is damaged. */
static struct cursor read_range(struct unwind_table *table, const Dwarf_FDE *fde,
				enum unwind_kind kind, struct unwind_range *range)
{
	struct cursor c = cursor_over(fde->start, (size_t)(fde->end - fde->start));

	if (!find_rules(table, kind, fde->CIE_pointer)) {
		c.short_ = true;
		return c;
	}
	range->begin = take_address(table, &c, kind, table->rules.encoding);
	range->end = range->begin +
		     encoded_number(&c, table->rules.encoding, elf_file_is_wide(table->file));
	return c;
}

/* Read the augmentation data of an FDE: where its LSDA is. */
static void read_augmentation(struct unwind_table *table, struct cursor *c, enum unwind_kind kind,
			      struct unwind_range *range)
{
	uint64_t size;
	struct cursor data;

	if (!table->rules.augmented)
		return;
	size = cursor_uleb128(c);
	data = cursor_over(c->at, cursor_left(c));
	cursor_take(c, size);
	if (c->short_ || table->rules.lsda == DW_EH_PE_omit)
		return;
	range->lsda = take_address(table, &data, kind, table->rules.lsda);
	if (data.short_)
		range->lsda = 0;
}

/* Returns whether the instructions of an FDE begin with an existing frame. */
static bool begins_with_frame(struct cursor *c)
{
	uint8_t opcode = cursor_u8(c);

	if (c->short_)
		return false;
	return (opcode & 0xc0) == DW_CFA_offset || opcode == DW_CFA_offset_extended ||
	       (opcode >= DW_CFA_def_cfa && opcode <= DW_CFA_def_cfa_expression);
}

/* ---- The table ----------------------------------------------------------- */

static void add_start(struct unwind_table *table, uint64_t vaddr, enum unwind_kind kind,
		      Dwarf_Off offset)
{
	uint64_t begin = vaddr - table->base;

	if (begin > UINT32_MAX || offset > INT32_MAX || !elf_file_code_at_vaddr(table->file, vaddr))
		return;
	*ARRAY_ADD(table->starts, table->count, table->room) =
		(struct unwind_start){ (uint32_t)begin, offset & INT32_MAX, kind };
}

COMPARE_BY_THREE(compare_starts, struct unwind_start, begin, kind, entry)

/* Sort the starts unless they are sorted, and keep one for each address. */
static void sort_starts(struct unwind_table *table)
{
	struct unwind_start *starts = table->starts;
	bool sorted = true;
	size_t kept = 0;

	for (size_t i = 1; i < table->count && sorted; i++)
		sorted = starts[i - 1].begin <= starts[i].begin;
	if (!sorted)
		SORT(starts, table->count, compare_starts);
	for (size_t i = 0; i < table->count; i++)
		if (!kept || starts[kept - 1].begin != starts[i].begin)
			starts[kept++] = starts[i];
	table->count = kept;
}

/* Add all entries in the order of the section. */
static void read_entries(struct unwind_table *table, enum unwind_kind kind)
{
	Dwarf_Off offset = 0, next;
	Dwarf_CFI_Entry entry;

	for (; next_entry(table, kind, offset, &next, &entry) && next > offset; offset = next) {
		struct unwind_range range;
		struct cursor c;

		if (dwarf_cfi_cie_p(&entry)) {
			read_rules(table, &entry.cie, kind, offset);
		} else {
			c = read_range(table, &entry.fde, kind, &range);
			if (!c.short_ && range.end > range.begin)
				add_start(table, range.begin, kind, offset);
		}
	}
}

/* Add the entries of the linker's search table; returns false if it is missing. */
static bool read_search_table(struct unwind_table *table, const struct elf_part *header)
{
	struct cursor c = cursor_over(header->bytes, header->size);
	uint8_t version, pointer, counts, entries;
	uint64_t count;

	version = cursor_u8(&c);
	pointer = cursor_u8(&c);
	counts = cursor_u8(&c);
	entries = cursor_u8(&c);
	encoded_number(&c, pointer, elf_file_is_wide(table->file));
	count = encoded_number(&c, counts, elf_file_is_wide(table->file));
	if (c.short_ || version != 1 || entries != ENCODED_TABLE || count > cursor_left(&c) / 8)
		return false;
	ARRAY_GROW(table->starts, table->room, (size_t)count);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t begin = header->vaddr + (uint64_t)(int64_t)(int32_t)cursor_u32(&c);
		uint64_t entry = header->vaddr + (uint64_t)(int64_t)(int32_t)cursor_u32(&c);

		add_start(table, begin, UNWIND_EH_FRAME,
			  entry - table->sections[UNWIND_EH_FRAME].vaddr);
	}
	return count > 0;
}

/* ---- Sections ------------------------------------------------------------ */

/* Find both sections by the program headers, for files whose section headers were cut off. */
static struct elf_part find_by_segments(const struct elf_file *file, struct elf_part *header)
{
	struct cursor c;
	size_t count;
	GElf_Phdr phdr;
	uint64_t vaddr;
	uint8_t pointer;

	*header = (struct elf_part){ 0 };
	if (elf_getphdrnum(file->elf, &count) != 0)
		return *header;
	for (size_t i = 0; i < count && gelf_getphdr(file->elf, (int)i, &phdr); i++)
		if (phdr.p_type == PT_GNU_EH_FRAME)
			*header = elf_file_loaded_at(file, phdr.p_vaddr);
	c = cursor_over(header->bytes, header->size);
	cursor_u8(&c);
	pointer = cursor_u8(&c);
	cursor_u16(&c);
	vaddr = encoded_address(&c, pointer, elf_file_is_wide(file), header->vaddr + 4);
	return c.short_ ? (struct elf_part){ 0 } : elf_file_loaded_at(file, vaddr);
}

void unwind_table_open(struct unwind_table *table, const struct elf_file *file)
{
	struct elf_part header, *entries = &table->sections[UNWIND_EH_FRAME];
	struct elf_part *debug = &table->sections[UNWIND_DEBUG_FRAME];

	*table = (struct unwind_table){ .file = file };
	/* The addresses in a relocatable file's entries are not resolved yet. */
	if (!file->elf || file->header.e_type == ET_REL)
		return;
	table->base = UINT64_MAX;
	for (size_t i = 0; i < file->code_count; i++)
		table->base = MIN(table->base, file->code[i].vaddr);
	header = elf_file_section(file, ".eh_frame_hdr");
	*entries = elf_file_section(file, ".eh_frame");
	if (!entries->bytes)
		*entries = find_by_segments(file, &header);
	*debug = elf_file_section(file, ".debug_frame");
	if (!read_search_table(table, &header))
		read_entries(table, UNWIND_EH_FRAME);
	read_entries(table, UNWIND_DEBUG_FRAME);
	sort_starts(table);
}

void unwind_table_close(struct unwind_table *table)
{
	free(table->starts);
	*table = (struct unwind_table){ 0 };
}

/* Fill the range of the entry at an index; returns false if it is damaged. */
static bool read_start(struct unwind_table *table, size_t index, struct unwind_range *range)
{
	enum unwind_kind kind = table->starts[index].kind;
	Dwarf_CFI_Entry entry;
	struct cursor c;
	Dwarf_Off after;

	if (!next_entry(table, kind, table->starts[index].entry, &after, &entry) ||
	    dwarf_cfi_cie_p(&entry))
		return false;
	c = read_range(table, &entry.fde, kind, range);
	if (c.short_ || range->begin != table->base + table->starts[index].begin)
		return false;
	read_augmentation(table, &c, kind, range);
	range->has_frame = !table->rules.of_signals && begins_with_frame(&c);
	/* The entry of code that signal handlers return to also covers the byte before it (DWARF 5,
	 * 6.4.4). */
	range->begin += table->rules.of_signals;
	return true;
}

bool unwind_table_find(struct unwind_table *table, uint64_t vaddr, struct unwind_range *range)
{
	const struct unwind_start *starts = table->starts;
	size_t next = vaddr < table->base ? 0
					  : LOWER_BOUND(i, table->count,
							starts[i].begin <= vaddr - table->base);
	uint64_t end = next < table->count ? table->base + starts[next].begin : UINT64_MAX;

	*range = (struct unwind_range){ .end = end, .index = next - 1 };
	if (!next)
		return false;
	if (!read_start(table, next - 1, range))
		*range = (struct unwind_range){ .begin = table->base + starts[next - 1].begin };
	range->end = MIN(range->end, end);
	if (vaddr >= range->begin && vaddr < range->end)
		return true;
	if (vaddr >= range->end)
		*range = (struct unwind_range){ .begin = range->end, .end = end };
	else
		*range = (struct unwind_range){ .begin = vaddr, .end = range->begin };
	range->begin = MAX(range->begin, table->base + starts[next - 1].begin);
	return false;
}

/* Move to the table of call sites.  Returns the base address of its landing pads. */
static uint64_t open_sites(const struct elf_part *lsda, bool wide, struct cursor *c,
			   uint64_t landing_base, uint8_t *encoding)
{
	uint64_t size;

	*encoding = cursor_u8(c);
	if (*encoding != DW_EH_PE_omit)
		landing_base = encoded_address(c, *encoding, wide,
					       lsda->vaddr + (uint64_t)(c->at - lsda->bytes));
	if (cursor_u8(c) != DW_EH_PE_omit)
		cursor_uleb128(c); /* offset of the type table */
	*encoding = cursor_u8(c);
	size = cursor_uleb128(c);
	if (size > cursor_left(c))
		c->short_ = true;
	else
		c->end = c->at + size;
	return landing_base;
}

uint64_t landing_pad_find(const struct elf_part *lsda, bool wide, uint64_t function, uint64_t call,
			  size_t *work)
{
	struct cursor c = cursor_over(lsda->bytes, lsda->size);
	uint8_t encoding;
	uint64_t landing_base = open_sites(lsda, wide, &c, function, &encoding);

	for (; *work && !c.short_ && cursor_left(&c); --*work) {
		uint64_t begin = function + encoded_number(&c, encoding, wide);
		uint64_t size = encoded_number(&c, encoding, wide);
		uint64_t pad = encoded_number(&c, encoding, wide);

		cursor_uleb128(&c);           /* the action */
		if (c.short_ || call < begin) /* they are in order */
			break;
		if (call - begin < size)
			return pad ? landing_base + pad : 0;
	}
	return 0;
}
