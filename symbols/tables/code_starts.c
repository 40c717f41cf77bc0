/* SPDX-License-Identifier: MIT */
/* Finds where functions begin from unwind entries and from the code's own direct branches. */
#include "symbols/tables/code_starts.h"

/* Minimum mean size of functions, in bytes; hints in excess of it are ignored. */
#define BYTES_PER_HINT 16

/* Code at addresses that are farther apart than this is not searched. */
#define SPREAD_LEAST  ((uint64_t)64 << 20)
#define SPREAD_FACTOR 4

/* Opcodes (SDM volume 2). */
#define CALL_REL32 0xe8
#define JMP_REL32  0xe9
#define JMP_REL8   0xeb
#define TWO_BYTES  0x0f

#define NEAR_BRANCH_SIZE 5 /* CALL_REL32, JMP_REL32 */

static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

/* Bytes of .eh_frame in which at most one FDE begins, in compilers' output. */
#define FDE_SIZE 16

/* Values of struct entry_jump: not searched for yet; no such jump. */
#define JUMP_UNKNOWN UINT32_MAX
#define JUMP_NONE    (UINT32_MAX - 1)

struct scan {
	struct code_starts *starts;
	const struct elf_file *file;
	uint64_t size;    /* bytes from unwind.base to the end of the code */
	uint64_t *hinted; /* owned; a bit for each address, from unwind.base */
};

void code_starts_open(struct code_starts *starts, const struct elf_file *file)
{
	*starts = (struct code_starts){ 0 };
	unwind_table_open(&starts->unwind, file);
}

void code_starts_close(struct code_starts *starts)
{
	unwind_table_close(&starts->unwind);
	free(starts->entries);
	free(starts->hints);
	*starts = (struct code_starts){ 0 };
}

/* ---- Entries in the order of their section ------------------------------- */

/* Note each entry's predecessor in its section. */
static void order_entries(struct code_starts *starts)
{
	const struct unwind_table *unwind = &starts->unwind;
	size_t first[UNWIND_KINDS] = { 0, unwind->sections[UNWIND_EH_FRAME].size / FDE_SIZE + 1 };
	size_t slots = first[UNWIND_DEBUG_FRAME] +
		       unwind->sections[UNWIND_DEBUG_FRAME].size / FDE_SIZE + 1;
	uint32_t *numbers = alloc_zeroed(slots, sizeof(*numbers));
	uint32_t before = 0;

	starts->entries = alloc_zeroed(unwind->count, sizeof(*starts->entries));
	for (size_t i = 0; i < unwind->count; i++) {
		const struct unwind_start *start = &unwind->starts[i];

		starts->entries[i].jump = JUMP_UNKNOWN;
		if (start->entry < unwind->sections[start->kind].size)
			numbers[first[start->kind] + start->entry / FDE_SIZE] = (uint32_t)i + 1;
	}
	for (size_t slot = 0; slot < slots; slot++) {
		if (!numbers[slot])
			continue;
		starts->entries[numbers[slot] - 1].before = before;
		before = numbers[slot];
	}
	free(numbers);
}

/* ---- One pass over the code ---------------------------------------------- */

/*
 * Returns whether a function may begin at an address, as the hint may only look like a
 * call of it: compilers align functions, or padding or the end of another function is
 * before it (ret, no-ops, int3, hlt, ud2; a jump, or a call that does not return).
 */
static bool may_begin(const struct scan *scan, uint32_t address)
{
	static const uint8_t ends[] = { 0xc3, 0x90, 0x00, 0xcc, 0xf4, 0x0b };
	uint64_t vaddr = scan->starts->unwind.base + address;
	const struct code_range *code = elf_file_code_at_vaddr(scan->file, vaddr);
	const uint8_t *at;

	if (address % 16 == 0 || !code || vaddr - code->vaddr < NEAR_BRANCH_SIZE)
		return code;
	at = scan->file->bytes + code->offset + (vaddr - code->vaddr);
	return memchr(ends, at[-1], sizeof(ends)) || at[-2] == JMP_REL8 ||
	       at[-NEAR_BRANCH_SIZE] == JMP_REL32 || at[-NEAR_BRANCH_SIZE] == CALL_REL32;
}

static void add_hint(struct scan *scan, uint64_t address)
{
	if (address < scan->size)
		scan->hinted[address / 64] |= 1ull << address % 64;
}

/* Note the targets of the direct calls in a range of code, real or apparent. */
static void scan_calls(struct scan *scan, const struct code_range *code)
{
	const uint8_t *bytes = scan->file->bytes + code->offset, *at = bytes;
	const uint8_t *end = bytes + code->size;
	uint64_t address = code->vaddr - scan->starts->unwind.base;

	while (end - at >= NEAR_BRANCH_SIZE &&
	       (at = memchr(at, CALL_REL32, (size_t)(end - at) - NEAR_BRANCH_SIZE + 1))) {
		int32_t distance;

		memcpy(&distance, ++at, sizeof(distance));
		add_hint(scan, address + (uint64_t)(at - bytes) + sizeof(distance) +
				       (uint64_t)(int64_t)distance);
	}
}

/* Note each ENDBR64, by its last byte: code seldom has that. */
static void scan_endbr64(struct scan *scan, const struct code_range *code)
{
	const size_t last = sizeof(endbr64) - 1;
	const uint8_t *bytes = scan->file->bytes + code->offset, *at = bytes + last;
	const uint8_t *end = bytes + code->size;
	uint64_t address = code->vaddr - scan->starts->unwind.base;

	for (; at < end && (at = memchr(at, endbr64[last], (size_t)(end - at))); at++)
		if (memcmp(at - last, endbr64, last) == 0)
			add_hint(scan, address + (uint64_t)(at - bytes) - last);
}

/*
 * A function that the loader calls may consist of a jump to another function, as frame_dummy() of
 * GCC's start-up code does: the target is a function, too.
 */
static void add_forwarded(struct scan *scan, uint64_t vaddr)
{
	const struct code_range *code = elf_file_code_at_vaddr(scan->file, vaddr);
	struct cursor c;
	uint64_t next;
	uint8_t opcode;

	if (!code)
		return;
	next = vaddr - code->vaddr;
	c = cursor_over(scan->file->bytes + code->offset + next, code->size - next);
	if (cursor_left(&c) > sizeof(endbr64) && memcmp(c.at, endbr64, sizeof(endbr64)) == 0)
		cursor_take(&c, sizeof(endbr64));
	opcode = cursor_u8(&c);
	next = opcode == JMP_REL8 ? (uint64_t)(int64_t)(int8_t)cursor_u8(&c)
				  : (uint64_t)(int64_t)(int32_t)cursor_u32(&c);
	next += code->vaddr + (uint64_t)(c.at - scan->file->bytes) - code->offset;
	if (!c.short_ && (opcode == JMP_REL8 || opcode == JMP_REL32))
		add_hint(scan, next - scan->starts->unwind.base);
}

static void add_known(struct scan *scan)
{
	struct elf_section section = { 0 };

	add_hint(scan, scan->file->header.e_entry - scan->starts->unwind.base);
	while (elf_section_next(scan->file->elf, &section)) {
		const GElf_Shdr *shdr = &section.header;

		if (shdr->sh_type == SHT_PROGBITS && shdr->sh_flags & SHF_EXECINSTR)
			add_hint(scan, shdr->sh_addr - scan->starts->unwind.base);
		if (shdr->sh_type == SHT_INIT_ARRAY || shdr->sh_type == SHT_FINI_ARRAY ||
		    shdr->sh_type == SHT_PREINIT_ARRAY) {
			const uint8_t *bytes = elf_file_section_bytes(scan->file, shdr);
			size_t width = elf_file_is_wide(scan->file) ? 8 : 4;

			/* Add the functions that the loader calls, from a table of addresses. */
			for (uint64_t at = 0; bytes && at + width <= shdr->sh_size; at += width) {
				uint64_t vaddr = 0;

				memcpy(&vaddr, bytes + at, width);
				add_hint(scan, vaddr - scan->starts->unwind.base);
				add_forwarded(scan, vaddr);
			}
		}
	}
}

/* List the hints outside of the entries, up to the limit for the file's size. */
static void list_hints(struct scan *scan)
{
	struct code_starts *starts = scan->starts;
	size_t limit = scan->file->size / BYTES_PER_HINT;
	struct unwind_range range = { 0 };

	for (uint64_t word = 0; word <= scan->size / 64; word++) {
		for (uint64_t bits = scan->hinted[word]; bits; bits &= bits - 1) {
			uint64_t hint = word * 64 + (unsigned)__builtin_ctzll(bits);
			uint64_t vaddr = starts->unwind.base + hint;

			if (vaddr < range.end || starts->hint_count == limit)
				continue;
			if (unwind_table_find(&starts->unwind, vaddr, &range))
				continue;
			range.end = 0;
			*ARRAY_ADD(starts->hints, starts->hint_count, starts->hint_room) =
				(uint32_t)hint;
		}
	}
}

typedef void scan_range(struct scan *scan, const struct code_range *code);

/* In a hostile file segments may overlap: scan at most the file's size. */
static void scan_all(struct scan *scan, scan_range *range)
{
	uint64_t budget = scan->file->size;

	for (size_t i = 0; i < scan->file->code_count; i++) {
		const struct code_range *code = &scan->file->code[i];

		if (code->size > budget)
			break;
		budget -= code->size;
		if (code->vaddr - scan->starts->unwind.base + code->size <= scan->size)
			range(scan, code);
	}
}

/* Scan all code, once: when an address outside of all entries, or a likely part, is looked up. */
static void scan_file(struct code_starts *starts)
{
	const struct elf_file *file = starts->unwind.file;
	struct scan scan = { .starts = starts, .file = file };
	/* In a hostile file addresses may lie far apart. */
	uint64_t most = SPREAD_LEAST + SPREAD_FACTOR * file->size;
	const struct unwind_table *unwind;

	if (starts->scanned)
		return;
	starts->scanned = true;
	for (size_t i = 0; i < file->code_count; i++) {
		uint64_t end = file->code[i].vaddr + file->code[i].size - starts->unwind.base;

		if (end > scan.size && end <= most && end <= UINT32_MAX)
			scan.size = end;
	}
	scan.hinted = alloc_zeroed(scan.size / 64 + 1, sizeof(*scan.hinted));
	scan_all(&scan, scan_calls);
	/* A call's target is not a part of a function. */
	unwind = &scan.starts->unwind;
	for (size_t i = 0; i < unwind->count; i++) {
		uint32_t begin = unwind->starts[i].begin;
		uint64_t bit = 1ull << begin % 64;

		if (begin >= scan.size || !(scan.hinted[begin / 64] & bit))
			continue;
		scan.hinted[begin / 64] &= ~bit;
		scan.starts->entries[i].jump = JUMP_NONE;
	}
	scan_all(&scan, scan_endbr64);
	for (uint64_t word = 0; word <= scan.size / 64; word++)
		for (uint64_t bits = scan.hinted[word]; bits; bits &= bits - 1)
			if (!may_begin(&scan,
				       (uint32_t)word * 64 + (unsigned)__builtin_ctzll(bits)))
				scan.hinted[word] &= ~(bits & -bits);
	add_known(&scan);
	list_hints(&scan);
	free(scan.hinted);
}

/* ---- Lookups ------------------------------------------------------------- */

/*
 * Returns where a range of code has a near jump to an address, in bytes from unwind.base;
 * JUMP_NONE: nowhere.  The four bytes of the distance are searched for, then the opcode.
 */
static uint32_t find_jump(const struct code_starts *starts, const struct unwind_range *range,
			  uint64_t target, bool conditional)
{
	const struct code_range *code = elf_file_code_at_vaddr(starts->unwind.file, range->begin);
	const uint8_t *bytes;
	uint64_t size;

	if (!code)
		return JUMP_NONE;
	bytes = starts->unwind.file->bytes + code->offset + (range->begin - code->vaddr);
	size = range->end - range->begin;
	size = MIN(size, code->vaddr + code->size - range->begin);
	for (uint64_t at = 1; at + sizeof(int32_t) <= size; at++) {
		uint32_t distance;
		bool is_jcc;

		memcpy(&distance, bytes + at, sizeof(distance));
		if (distance != (uint32_t)(target - range->begin - at - sizeof(distance)))
			continue;
		is_jcc = at > 1 && bytes[at - 2] == TWO_BYTES && (bytes[at - 1] & 0xf0) == 0x80;
		if (is_jcc || (!conditional && bytes[at - 1] == JMP_REL32))
			return (uint32_t)(range->begin + at - 1 - is_jcc - starts->unwind.base);
	}
	return JUMP_NONE;
}

/* Returns the jump to an entry that makes it a part of the function before it in the section. */
static uint32_t jump_to_part(struct code_starts *starts, const struct unwind_range *part)
{
	const struct unwind_table *unwind = &starts->unwind;
	uint32_t before = starts->entries[part->index].before;
	struct unwind_range function;

	if (!before ||
	    !unwind_table_find(&starts->unwind, unwind->base + unwind->starts[before - 1].begin,
			       &function))
		return JUMP_NONE;
	return find_jump(starts, &function, part->begin, !part->has_frame);
}

static struct code_start start_of_entry(struct code_starts *starts,
					const struct unwind_range *range)
{
	struct code_start start = { range->begin, range->end, 0, CODE_BY_ENTRY };
	struct entry_jump *entry = &starts->entries[range->index];

	if (entry->jump == JUMP_UNKNOWN) {
		uint32_t jump = jump_to_part(starts, range);

		if (jump != JUMP_NONE)
			scan_file(starts);
		if (entry->jump == JUMP_UNKNOWN)
			entry->jump = jump;
	}
	if (entry->jump != JUMP_NONE) {
		start.kind = CODE_PART;
		start.source = starts->unwind.base + entry->jump;
	}
	return start;
}

struct code_start code_starts_find(struct code_starts *starts, uint64_t vaddr)
{
	const uint64_t base = starts->unwind.base;
	struct unwind_range range;
	struct code_start start;
	size_t next;

	if (!starts->entries)
		order_entries(starts);
	if (unwind_table_find(&starts->unwind, vaddr, &range))
		return start_of_entry(starts, &range);
	scan_file(starts);
	start = (struct code_start){ range.begin, range.end, 0, CODE_NO_START };
	next = vaddr < base ? 0
			    : LOWER_BOUND(i, starts->hint_count, starts->hints[i] <= vaddr - base);
	if (next < starts->hint_count && base + starts->hints[next] < start.end)
		start.end = base + starts->hints[next];
	if (next && base + starts->hints[next - 1] >= start.begin) {
		start.begin = base + starts->hints[next - 1];
		start.kind = CODE_BY_HINT;
	}
	return start;
}

uint64_t code_starts_next(const struct code_starts *starts, uint64_t vaddr)
{
	const struct unwind_table *unwind = &starts->unwind;
	size_t next = vaddr < unwind->base
			      ? 0
			      : LOWER_BOUND(i, unwind->count,
					    unwind->starts[i].begin <= vaddr - unwind->base);

	return next < unwind->count ? unwind->base + unwind->starts[next].begin : UINT64_MAX;
}
