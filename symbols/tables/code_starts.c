/* SPDX-License-Identifier: MIT */
/* Finds where functions begin from unwind entries and from the code's own direct branches. */
#include "symbols/tables/code_starts.h"

#include <emmintrin.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "base/tables/lower_bound.h"

/* On average functions have at least this many bytes; of smaller ones no more are noted. */
#define BYTES_PER_HINT 16

/* Entries are looked up by the page of 256 bytes that they begin in: pages hold one or two. */
#define PAGE_BITS 8

#define NO_ENTRY UINT32_MAX

/* Code at addresses that are farther apart than this is not searched. */
#define SPREAD_LEAST  ((uint64_t)64 << 20)
#define SPREAD_FACTOR 4

/* Opcodes (SDM volume 2). */
#define CALL_REL32 0xe8
#define JMP_REL32  0xe9
#define JMP_REL8   0xeb
#define TWO_BYTES  0x0f
#define REP        0xf3

#define NEAR_BRANCH_SIZE 5 /* CALL_REL32, JMP_REL32 */

static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

enum direct_branch { DIRECT_CALL, DIRECT_JUMP, DIRECT_CONDITIONAL };

struct scan {
	struct code_starts *starts;
	const struct elf_file *file;
	uint64_t size;   /* bytes from unwind.base to the end of the code */
	uint32_t *pages; /* owned; by page: the first entry that begins in it or later */
	size_t page_count;
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
	free(starts->branches);
	free(starts->hints);
	*starts = (struct code_starts){ 0 };
}

/* ---- The entry at an address ---------------------------------------------- */

static void index_pages(struct scan *scan)
{
	const struct unwind_table *unwind = &scan->starts->unwind;
	size_t page = 0;

	scan->page_count = (size_t)(scan->size >> PAGE_BITS) + 1;
	scan->pages = alloc_zeroed(scan->page_count, sizeof(*scan->pages));
	for (size_t i = 0; i < unwind->count; i++)
		for (; page < scan->page_count && page <= unwind->starts[i].begin >> PAGE_BITS;
		     page++)
			scan->pages[page] = (uint32_t)i;
	for (; page < scan->page_count; page++)
		scan->pages[page] = (uint32_t)unwind->count;
}

/* Returns the index of the entry that begins at an address of the code; NO_ENTRY: none does. */
static uint32_t entry_at(const struct scan *scan, uint32_t begin)
{
	const struct unwind_table *unwind = &scan->starts->unwind;

	for (size_t i = scan->pages[begin >> PAGE_BITS]; i < unwind->count; i++) {
		if (unwind->starts[i].begin == begin)
			return (uint32_t)i;
		if (unwind->starts[i].begin > begin)
			break;
	}
	return NO_ENTRY;
}

/* Returns the index of the last entry that begins at or before an address; NO_ENTRY: none does. */
static uint32_t entry_before(const struct scan *scan, uint32_t address)
{
	const struct unwind_table *unwind = &scan->starts->unwind;

	return (uint32_t)LOWER_BOUND(i, unwind->count, unwind->starts[i].begin <= address) - 1;
}

/* ---- One pass over the code ------------------------------------------------ */

/*
 * Returns whether a function may begin at an address, as what was found may only look
 * like a call of it: compilers align functions, or padding or the end of another function
 * is before it (ret, no-ops, int3, hlt, ud2; a jump, or a call that does not return).
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

static void note_branch(struct scan *scan, enum direct_branch kind, uint32_t source,
			uint32_t target)
{
	uint32_t entry = entry_at(scan, target);
	struct start_branches *branches;

	if (entry == NO_ENTRY) {
		if (kind == DIRECT_CALL && may_begin(scan, target))
			add_hint(scan, target);
		return;
	}
	branches = &scan->starts->branches[entry];
	if (kind == DIRECT_CALL) {
		branches->call = true;
		return;
	}
	if (entry_before(scan, source) == entry)
		return;
	if (branches->jump && entry_before(scan, source) != entry_before(scan, branches->source))
		branches->several = true;
	branches->jump = true;
	branches->source = source;
	branches->conditional |= kind == DIRECT_CONDITIONAL;
}

/* Note the code at bytes[0] if it may be a direct branch or ENDBR64. */
static void note_code(struct scan *scan, const uint8_t *bytes, uint32_t address)
{
	enum direct_branch kind = DIRECT_CALL;
	unsigned opcode_size = 1;
	uint64_t target;
	int32_t distance;

	if (bytes[0] == REP) {
		if (memcmp(bytes, endbr64, sizeof(endbr64)) == 0 && may_begin(scan, address) &&
		    entry_at(scan, address) == NO_ENTRY)
			add_hint(scan, address);
		return;
	}
	if (bytes[0] == TWO_BYTES) {
		if ((bytes[1] & 0xf0) != 0x80)
			return;
		kind = DIRECT_CONDITIONAL;
		opcode_size = 2;
	} else if (bytes[0] == JMP_REL32) {
		kind = DIRECT_JUMP;
	}
	memcpy(&distance, bytes + opcode_size, sizeof(distance));
	target = address + opcode_size + sizeof(distance) + (uint64_t)(int64_t)distance;
	if (target < scan->size)
		note_branch(scan, kind, address, (uint32_t)target);
}

/* Bytes that are compared at once, and the longest code that is looked for: a conditional jump. */
#define BLOCK     16
#define NOTED_MAX 6

/*
 * Returns a bit for each of the bytes where noted code may begin.  This looks at all
 * bytes of a file, one in twenty of which is the beginning of such code: the first byte
 * and the next one decide.
 */
static unsigned find_in_block(const uint8_t *bytes)
{
	__m128i here = _mm_loadu_si128((const __m128i *)(const void *)bytes);
	__m128i next = _mm_loadu_si128((const __m128i *)(const void *)(bytes + 1));
	__m128i is_near = _mm_cmpeq_epi8(_mm_or_si128(here, _mm_set1_epi8(1)),
					 _mm_set1_epi8((char)JMP_REL32));
	__m128i is_jcc =
		_mm_and_si128(_mm_cmpeq_epi8(here, _mm_set1_epi8(TWO_BYTES)),
			      _mm_cmpeq_epi8(_mm_and_si128(next, _mm_set1_epi8((char)0xf0)),
					     _mm_set1_epi8((char)0x80)));
	__m128i is_endbr = _mm_and_si128(_mm_cmpeq_epi8(here, _mm_set1_epi8((char)REP)),
					 _mm_cmpeq_epi8(next, _mm_set1_epi8(TWO_BYTES)));

	return (unsigned)_mm_movemask_epi8(_mm_or_si128(is_near, _mm_or_si128(is_jcc, is_endbr)));
}

static void scan_code(struct scan *scan, const struct code_range *code)
{
	const uint8_t *bytes = scan->file->bytes + code->offset;
	uint64_t address = code->vaddr - scan->starts->unwind.base;
	uint8_t tail[BLOCK + NOTED_MAX] = { 0 };
	uint64_t at = 0;

	if (address + code->size > scan->size)
		return;
	for (; at + BLOCK + NOTED_MAX <= code->size; at += BLOCK)
		for (unsigned found = find_in_block(bytes + at); found; found &= found - 1)
			note_code(scan, bytes + at + __builtin_ctz(found),
				  (uint32_t)(address + at) + (unsigned)__builtin_ctz(found));
	for (; at + NOTED_MAX <= code->size; at++) {
		memcpy(tail, bytes + at,
		       code->size - at < sizeof(tail) ? code->size - at : sizeof(tail));
		if (find_in_block(tail) & 1)
			note_code(scan, bytes + at, (uint32_t)(address + at));
	}
}

/*
 * A function of the loader may only jump to another function, as frame_dummy() of GCC's
 * start-up code does: its target is one, too.
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

/* The functions that the loader calls: in a table of addresses. */
static void add_table(struct scan *scan, const GElf_Shdr *section)
{
	const uint8_t *bytes = elf_file_section_bytes(scan->file, section);
	size_t width = gelf_getclass(scan->file->elf) == ELFCLASS64 ? 8 : 4;

	for (uint64_t at = 0; bytes && at + width <= section->sh_size; at += width) {
		uint64_t vaddr = 0;

		memcpy(&vaddr, bytes + at, width);
		add_hint(scan, vaddr - scan->starts->unwind.base);
		add_forwarded(scan, vaddr);
	}
}

static void add_known(struct scan *scan)
{
	struct elf_section section = { 0 };
	GElf_Ehdr header;

	if (gelf_getehdr(scan->file->elf, &header))
		add_hint(scan, header.e_entry - scan->starts->unwind.base);
	while (elf_section_next(scan->file->elf, &section)) {
		const GElf_Shdr *shdr = &section.header;

		if (shdr->sh_type == SHT_PROGBITS && shdr->sh_flags & SHF_EXECINSTR)
			add_hint(scan, shdr->sh_addr - scan->starts->unwind.base);
		if (shdr->sh_type == SHT_INIT_ARRAY || shdr->sh_type == SHT_FINI_ARRAY ||
		    shdr->sh_type == SHT_PREINIT_ARRAY)
			add_table(scan, shdr);
	}
}

/* List the hints outside of the entries, as many as a file of its size may have. */
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

static void scan_file(struct code_starts *starts)
{
	const struct elf_file *file = starts->unwind.file;
	struct scan scan = { .starts = starts, .file = file };
	/* In a hostile file segments may overlap, and addresses may lie far apart. */
	uint64_t budget = file->size, most = SPREAD_LEAST + SPREAD_FACTOR * file->size;

	starts->scanned = true;
	for (size_t i = 0; i < file->code_count; i++) {
		uint64_t end = file->code[i].vaddr + file->code[i].size - starts->unwind.base;

		if (end > scan.size && end <= most && end <= UINT32_MAX)
			scan.size = end;
	}
	scan.hinted = alloc_zeroed(scan.size / 64 + 1, sizeof(*scan.hinted));
	starts->branches = alloc_zeroed(starts->unwind.count, sizeof(*starts->branches));
	index_pages(&scan);
	for (size_t i = 0; i < file->code_count && file->code[i].size <= budget; i++) {
		budget -= file->code[i].size;
		scan_code(&scan, &file->code[i]);
	}
	add_known(&scan);
	list_hints(&scan);
	free(scan.pages);
	free(scan.hinted);
}

/* ---- Lookups --------------------------------------------------------------- */

/* Returns whether an entry's code is a part of the function that jumps to it. */
static bool is_part(const struct start_branches *branches, bool has_frame)
{
	if (branches->call || !branches->jump)
		return false;
	return has_frame || (branches->conditional && !branches->several);
}

static struct code_start start_of_entry(const struct code_starts *starts,
					const struct unwind_range *range)
{
	const struct start_branches *branches = &starts->branches[range->index];
	struct code_start start = { range->begin, range->end, 0, CODE_BY_ENTRY };

	if (is_part(branches, range->has_frame)) {
		start.kind = CODE_PART;
		start.source = branches->several ? 0 : starts->unwind.base + branches->source;
	}
	return start;
}

struct code_start code_starts_find(struct code_starts *starts, uint64_t vaddr)
{
	const uint64_t base = starts->unwind.base;
	struct unwind_range range;
	struct code_start start;
	size_t next;

	if (!starts->scanned)
		scan_file(starts);
	if (unwind_table_find(&starts->unwind, vaddr, &range))
		return start_of_entry(starts, &range);
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
