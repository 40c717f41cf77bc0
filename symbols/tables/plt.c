/* SPDX-License-Identifier: MIT */
#include "symbols/tables/plt.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cursor.h"

/* What the dynamic linker writes into one pointer. */
struct slot {
	uint64_t vaddr;        /* of the pointer */
	uint64_t addend;       /* resolver, if symbol is 0 */
	uint32_t symbol_table; /* section index */
	uint32_t symbol;
};

struct slots {
	struct slot *array; /* owned */
	size_t count, room;
};

struct scan {
	const struct elf_file *file;
	bool wide;           /* x86-64, else x86 */
	struct slots slots;  /* every function pointer; sorted by vaddr */
	struct slots pushed; /* .rela.plt in its own order: lazy stubs push an index into it */
	size_t budget; /* bytes of sections left to read: sections may overlap in a hostile file */
	plt_visitor *visit;
	void *context;
};

static void add_slot(struct slots *slots, struct slot slot)
{
	slots->array = alloc_grow(slots->array, &slots->room, slots->count + 1, sizeof(slot));
	slots->array[slots->count++] = slot;
}

/* The relocation types of function pointers have the same numbers on x86 and x86-64, but one. */
static bool is_function_pointer(const struct scan *scan, uint32_t type)
{
	return type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT ||
	       type == (scan->wide ? R_X86_64_IRELATIVE : R_386_IRELATIVE);
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

static void read_relocations(struct scan *scan, Elf_Scn *section, const GElf_Shdr *shdr)
{
	const char *name = elf_file_section_name(scan->file, shdr);
	bool lazy = strcmp(name, ".rela.plt") == 0 || strcmp(name, ".rel.plt") == 0;
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Rela rela;

	for (int i = 0; data && get_relocation(data, i, shdr->sh_type == SHT_RELA, &rela); i++) {
		struct slot slot = { rela.r_offset, (uint64_t)rela.r_addend, shdr->sh_link,
				     (uint32_t)GELF_R_SYM(rela.r_info) };
		bool fits = is_function_pointer(scan, GELF_R_TYPE(rela.r_info));

		if (lazy)
			add_slot(&scan->pushed, slot);
		if (fits)
			add_slot(&scan->slots, slot);
	}
}

static int compare_slots(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

static const struct slot *find_slot(const struct slots *slots, uint64_t vaddr)
{
	struct slot key = { .vaddr = vaddr };

	if (!slots->count)
		return NULL;
	return bsearch(&key, slots->array, slots->count, sizeof(key), compare_slots);
}

/* A lazy stub pushes the index of its relocation (x86-64) or its byte offset (x86). */
static const struct slot *pushed_slot(const struct scan *scan, uint32_t value)
{
	size_t index = scan->wide ? value : value / sizeof(Elf32_Rel);

	return index < scan->pushed.count ? &scan->pushed.array[index] : NULL;
}

/*
 * Find the pointer of the stub in `code`, `*header` if it is the table's
 * header.  The forms, each perhaps behind ENDBR and with a BND prefix:
 * "jmp *pointer", "push index; jmp header", and "push pointer; jmp *pointer".
 */
static const struct slot *decode_stub(const struct scan *scan, struct cursor code, uint64_t vaddr,
				      bool *header)
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
		return code.short_ ? NULL : pushed_slot(scan, operand);
	}
	if (opcode != 0xff)
		return NULL;
	opcode = cursor_u8(&code);
	operand = cursor_u32(&code);
	if (code.short_)
		return NULL;
	*header = opcode == 0x35;
	if (opcode == 0x25 && scan->wide)
		return find_slot(&scan->slots, vaddr + (uint64_t)(code.at - start) +
						       (uint64_t)(int64_t)(int32_t)operand);
	if (opcode == 0x25)
		return find_slot(&scan->slots, operand);
	if (opcode == 0xa3 && !scan->wide && cursor_u8(&code) == 0x68) {
		operand = cursor_u32(&code);
		return code.short_ ? NULL : pushed_slot(scan, operand);
	}
	return NULL;
}

static void visit_stub(const struct scan *scan, struct cursor code, uint64_t vaddr)
{
	struct plt_stub stub = { .vaddr = vaddr, .size = cursor_left(&code) };
	bool header = false;
	const struct slot *slot = decode_stub(scan, code, vaddr, &header);

	if (!slot && !header)
		return;
	if (slot) {
		stub.target = slot->symbol ? PLT_SYMBOL : PLT_RESOLVED;
		stub.symbol_table = slot->symbol_table;
		stub.symbol = slot->symbol;
		stub.resolver = slot->addend;
	}
	scan->visit(scan->context, &stub);
}

/*
 * Stubs are 16 bytes, but those that never bind lazily may be just a jump,
 * padded with a two-byte no-op to 8.  The section's entry size does not tell:
 * linkers leave 0 or 16 there also with the short ones.
 */
static size_t stub_size(const uint8_t *stub)
{
	return stub[0] == 0xff && stub[1] == 0x25 && stub[6] == 0x66 && stub[7] == 0x90 ? 8 : 16;
}

static void scan_stubs(const struct scan *scan, const GElf_Shdr *shdr)
{
	const uint8_t *bytes = elf_file_section_bytes(scan->file, shdr);
	struct cursor code = cursor_over(bytes, bytes ? shdr->sh_size : 0);

	while (cursor_left(&code) >= 8) {
		uint64_t vaddr = shdr->sh_addr + (uint64_t)(code.at - bytes);
		size_t size = stub_size(code.at);
		const uint8_t *stub;

		if (size > cursor_left(&code))
			size = cursor_left(&code);
		stub = cursor_take(&code, size);
		visit_stub(scan, cursor_over(stub, size), vaddr);
	}
}

static bool holds_stubs(const char *name)
{
	return strcmp(name, ".plt") == 0 || strcmp(name, ".plt.sec") == 0 ||
	       strcmp(name, ".plt.got") == 0 || strcmp(name, ".plt.bnd") == 0 ||
	       strcmp(name, ".iplt") == 0;
}

static bool spend(struct scan *scan, const GElf_Shdr *shdr)
{
	if (!elf_file_section_bytes(scan->file, shdr) || shdr->sh_size > scan->budget)
		return false;
	scan->budget -= shdr->sh_size;
	return true;
}

static void scan_sections(struct scan *scan)
{
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;

	while ((section = elf_nextscn(scan->file->elf, section))) {
		if (!gelf_getshdr(section, &shdr) || !(shdr.sh_flags & SHF_ALLOC))
			continue;
		if ((shdr.sh_type == SHT_RELA || shdr.sh_type == SHT_REL) && spend(scan, &shdr))
			read_relocations(scan, section, &shdr);
	}
	if (scan->slots.count)
		qsort(scan->slots.array, scan->slots.count, sizeof(struct slot), compare_slots);
	while ((section = elf_nextscn(scan->file->elf, section))) {
		if (!gelf_getshdr(section, &shdr) || !(shdr.sh_flags & SHF_EXECINSTR))
			continue;
		if (holds_stubs(elf_file_section_name(scan->file, &shdr)) && spend(scan, &shdr))
			scan_stubs(scan, &shdr);
	}
}

void plt_scan(const struct elf_file *file, plt_visitor *visit, void *context)
{
	struct scan scan = {
		.file = file, .budget = file->size, .visit = visit, .context = context
	};
	GElf_Ehdr ehdr;

	if (!gelf_getehdr(file->elf, &ehdr))
		return;
	if (ehdr.e_machine != EM_X86_64 && ehdr.e_machine != EM_386)
		return;
	scan.wide = ehdr.e_machine == EM_X86_64;
	scan_sections(&scan);
	free(scan.slots.array);
	free(scan.pushed.array);
}
