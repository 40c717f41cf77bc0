/* SPDX-License-Identifier: MIT */
/*
 * The stubs of the procedure linkage table, which have no entries in any symbol table.
 *
 * A stub jumps through a pointer, or pushes the number of a relocation; the relocation of either
 * names the function (System V ABI, AMD64 supplement, "Procedure Linkage Table").  Reading the
 * stubs instead of counting them makes the order of relocations and the linker's choice of sections
 * (.plt, .plt.sec, .plt.got, .iplt) unimportant.
 */
#include "symbols/tables/symbol_table.h"

struct plt_scanner {
	const struct elf_file *file;
	bool wide;    /* x86-64, else x86 */
	uint64_t got; /* vaddr of _GLOBAL_OFFSET_TABLE_: ebx in i386's stubs */
	/* Every function pointer, sorted by vaddr; and .rela.plt in its own order: lazy stubs push
	 * an index into it. */
	struct plt_slots {
		struct plt_slot *array; /* owned */
		size_t count, room;
	} slots, pushed;
	size_t budget; /* bytes of sections left to read: sections may overlap in a hostile file */
	plt_stub_taker *take;
	void *context; /* borrowed */
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

COMPARE_BY(compare_slots, struct plt_slot, vaddr)

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
 * pointer; jmp *pointer"; in i386's position-independent code, the pointers are relative to ebx.
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
	if (opcode == 0xa3 && !scanner->wide)
		return find_slot(&scanner->slots, (uint32_t)(scanner->got + operand));
	return NULL;
}

/*
 * Stubs are 16 bytes, but a stub that never binds lazily may be a jump, padded to 8 bytes.  The
 * section's entry size does not help: linkers leave 0 or 16 there even for short stubs.
 */
static size_t stub_size(const uint8_t *stub)
{
	bool jumps = stub[0] == 0xff && (stub[1] == 0x25 || stub[1] == 0xa3);

	return jumps && stub[6] == 0x66 && stub[7] == 0x90 ? 8 : 16;
}

static void scan_stubs(const struct plt_scanner *scanner, const GElf_Shdr *shdr)
{
	const uint8_t *bytes = elf_file_section_bytes(scanner->file, shdr);
	struct cursor code = cursor_over(bytes, bytes ? shdr->sh_size : 0);

	while (cursor_left(&code) >= 8) {
		uint64_t vaddr = shdr->sh_addr + (uint64_t)(code.at - bytes);
		size_t size = MIN(stub_size(code.at), cursor_left(&code));
		bool header = false;
		const struct plt_slot *slot = decode_stub(
			scanner, cursor_over(cursor_take(&code, size), size), vaddr, &header);

		if (slot || header)
			scanner->take(scanner->context, slot, vaddr, size);
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

	while (elf_section_next(scanner->file->elf, &section)) {
		if (!strcmp(section.name, ".got.plt") ||
		    (!scanner->got && !strcmp(section.name, ".got")))
			scanner->got = shdr->sh_addr;
		if (shdr->sh_flags & SHF_ALLOC &&
		    (shdr->sh_type == SHT_RELA || shdr->sh_type == SHT_REL) &&
		    spend_budget(scanner, shdr)) {
			bool lazy = !strcmp(section.name, ".rela.plt") ||
				    !strcmp(section.name, ".rel.plt");
			Elf_Data *data = ALLOC_CHECKED(elf_getdata(section.scn, NULL));
			GElf_Rela rela;

			for (int i = 0;
			     data && get_relocation(data, i, shdr->sh_type == SHT_RELA, &rela);
			     i++) {
				struct plt_slot slot = { rela.r_offset, (uint64_t)rela.r_addend,
							 shdr->sh_link,
							 (uint32_t)GELF_R_SYM(rela.r_info) };

				if (lazy)
					*ARRAY_ADD(scanner->pushed.array, scanner->pushed.count,
						   scanner->pushed.room) = slot;
				if (is_function_pointer(scanner, GELF_R_TYPE(rela.r_info)))
					*ARRAY_ADD(scanner->slots.array, scanner->slots.count,
						   scanner->slots.room) = slot;
			}
		}
	}
	SORT(scanner->slots.array, scanner->slots.count, compare_slots);
	while (elf_section_next(scanner->file->elf, &section))
		if (shdr->sh_flags & SHF_EXECINSTR && has_stubs(section.name) &&
		    spend_budget(scanner, shdr))
			scan_stubs(scanner, shdr);
}

void plt_stubs_find(const struct elf_file *file, plt_stub_taker *take, void *context)
{
	struct plt_scanner scanner = {
		.file = file, .budget = file->size, .take = take, .context = context
	};
	GElf_Half machine = file->header.e_machine;

	if (machine != EM_X86_64 && machine != EM_386)
		return;
	scanner.wide = machine == EM_X86_64;
	scan_sections(&scanner);
	free(scanner.slots.array);
	free(scanner.pushed.array);
}
