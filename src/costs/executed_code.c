/* SPDX-License-Identifier: MIT */
/* Sums counts of code by address in files, and finds the instructions. */
#include "src/costs/executed_code.h"

#include "decoder/code/insn.h"
#include "src/resolve/resolve.h"
#include "symbols/dso/dso_store.h"

static bool is_stretch(const struct code_stretch *a, const struct code_stretch *b)
{
	return a->begin == b->begin && a->last == b->last && a->dso == b->dso && a->kind == b->kind;
}

static void add_stretch(struct executed_code *code, const struct code_stretch *added)
{
	uint64_t hash = hash_u64(added->begin ^ added->last << 20 ^
				 (uint64_t)(uintptr_t)added->dso ^ (uint64_t)added->kind << 60);
	struct id_probe probe = id_index_probe(hash);
	uint32_t id;

	while ((id = id_index_next(&code->index, &probe)) &&
	       !is_stretch(&code->stretches[id - 1], added))
		;
	if (id) {
		code->stretches[id - 1].count += added->count;
		return;
	}
	*ARRAY_ADD(code->stretches, code->count, code->room) = *added;
	id_index_add(&code->index, hash, (uint32_t)code->count);
}

static void add_count(struct executed_code *code, const struct code_stretch *place,
		      enum stretch_kind kind, uint64_t count)
{
	struct code_stretch stretch = *place;

	stretch.kind = kind;
	stretch.count = count;
	if (count)
		add_stretch(code, &stretch);
}

void executed_code_add(struct executed_code *code, const struct dso *dso, uint64_t vaddr,
		       const struct code_count *counted)
{
	const uint64_t base = vaddr - counted->begin;
	const struct code_stretch at = { .dso = dso, .begin = vaddr, .last = counted->last + base };
	const struct code_stretch jump = { .dso = dso,
					   .begin = at.last,
					   .last = counted->to + base };
	uint64_t taken = counted->kind == BRANCH_COND && counted->count ? counted->taken : 0;

	if (counted->stopped) {
		add_count(code, &at, LEFT_BEFORE, counted->count);
		return;
	}
	add_count(code, &at, LEFT_TAKEN, taken);
	add_count(code, &at, LEFT_OTHER, counted->count - taken);
	if (counted->to)
		add_count(code, &jump, counted->kind == BRANCH_CALL ? CALLED : JUMPED,
			  counted->taken);
}

static void add_counts(struct code_counter *counter, const struct code_count *counts, size_t count)
{
	struct executed_code *code = (struct executed_code *)counter;

	for (size_t i = 0; i < count; i++) {
		const struct location_pair *places = resolver_find_branch(
			code->resolver, counts[i].space, counts[i].begin, counts[i].to);
		const struct location *at = &places->from, *to = &places->to;
		struct code_count counted = counts[i];

		if (!at->symbol || !at->symbol->dso || at->symbol->kind == SYMBOL_FILE)
			continue;
		if (!to->symbol || to->symbol->dso != at->symbol->dso)
			counted.to = 0; /* the branch leads to another file */
		executed_code_add(code, at->symbol->dso, at->symbol->start + at->offset, &counted);
	}
}

/* ---- Instructions -------------------------------------------------------- */

/* Stretches in the code of one dso, sorted; the order of both lists is that of addresses. */
struct insn_scan {
	const struct code_stretch **begins, **ends; /* by begin, and by last */
	size_t count, begun, ended;
	/* The next instructions' addresses and counts: instructions may overlap. */
	struct {
		uint64_t vaddr, count;
	} next[INSN_LENGTH_MAX + 1];
	size_t next_count;
};

static int compare_begins(const void *left, const void *right)
{
	const struct code_stretch *const *a = left, *const *b = right;

	return COMPARE((uintptr_t)(*a)->dso, (uintptr_t)(*b)->dso)
		       ?: COMPARE((*a)->begin, (*b)->begin);
}

static int compare_ends(const void *left, const void *right)
{
	const struct code_stretch *const *a = left, *const *b = right;

	return COMPARE((uintptr_t)(*a)->dso, (uintptr_t)(*b)->dso)
		       ?: COMPARE((*a)->last, (*b)->last);
}

/* Returns the address of the next instruction, or UINT64_MAX if absent. */
static uint64_t next_address(const struct insn_scan *scan)
{
	uint64_t vaddr = scan->begun < scan->count ? scan->begins[scan->begun]->begin : UINT64_MAX;

	for (size_t i = 0; i < scan->next_count; i++)
		vaddr = scan->next[i].vaddr < vaddr ? scan->next[i].vaddr : vaddr;
	return vaddr;
}

/* Returns the number of executions of an instruction; all its stretches must have been added. */
static uint64_t take_count(struct insn_scan *scan, uint64_t vaddr)
{
	uint64_t count = 0;

	for (size_t i = 0; i < scan->next_count; i++) {
		if (scan->next[i].vaddr == vaddr) {
			count += scan->next[i].count;
			scan->next[i--] = scan->next[--scan->next_count];
		}
	}
	for (; scan->begun < scan->count && scan->begins[scan->begun]->begin == vaddr;
	     scan->begun++)
		count += scan->begins[scan->begun]->count;
	return count;
}

static struct insn insn_at(const struct dso *dso, uint64_t vaddr)
{
	size_t size;
	const uint8_t *code = dso_borrow_code(dso, vaddr, &size);

	if (code)
		return insn_decode(code, size, INSN_MODE_64);
	code = dso_borrow_code_32(dso, vaddr, &size);
	return code ? insn_decode(code, size, INSN_MODE_32) : (struct insn){ 0 };
}

/* Subtract the stretches that end at an instruction from *left, which reach the next one. */
static void end_at(struct insn_scan *scan, struct executed_insn *executed, uint64_t *left)
{
	for (; scan->ended < scan->count && scan->ends[scan->ended]->last <= executed->vaddr;
	     scan->ended++) {
		const struct code_stretch *stretch = scan->ends[scan->ended];

		*left -= stretch->count < *left ? stretch->count : *left;
		if (stretch->last != executed->vaddr)
			continue;
		if (stretch->kind == LEFT_TAKEN)
			executed->taken += stretch->count;
		if (stretch->kind == LEFT_BEFORE)
			executed->count -= stretch->count;
	}
}

/* Decode each instruction once. */
static void scan_insns(struct insn_scan *scan,
		       void (*add)(void *context, const struct executed_insn *insn), void *context)
{
	struct executed_insn executed = { .dso = scan->begins[0]->dso };

	while ((executed.vaddr = next_address(scan)) != UINT64_MAX) {
		uint64_t left = take_count(scan, executed.vaddr);
		struct insn insn = insn_at(executed.dso, executed.vaddr);

		executed.count = left;
		executed.taken = 0;
		end_at(scan, &executed, &left);
		executed.length = insn.length;
		executed.kind = insn.kind;
		executed.back = insn.distance < 0;
		if (insn.length && executed.count)
			add(context, &executed);
		if (left && insn.length && (insn.kind == BRANCH_NONE || insn.kind == BRANCH_COND)) {
			scan->next[scan->next_count].vaddr = executed.vaddr + insn.length;
			scan->next[scan->next_count++].count = left;
		}
	}
}

void executed_code_list(const struct executed_code *code,
			void (*add)(void *context, const struct executed_insn *insn), void *context)
{
	const struct code_stretch **begins = alloc_zeroed(code->count + 1, sizeof(*begins));
	const struct code_stretch **ends = alloc_zeroed(code->count + 1, sizeof(*ends));
	size_t all = 0, count;

	for (size_t i = 0; i < code->count; i++)
		if (stretch_is_code(&code->stretches[i]))
			begins[all++] = &code->stretches[i];
	memcpy(ends, begins, all * sizeof(*ends));
	qsort(begins, all, sizeof(*begins), compare_begins);
	qsort(ends, all, sizeof(*ends), compare_ends);
	for (size_t i = 0; i < all; i += count) {
		struct insn_scan scan = { .begins = begins + i, .ends = ends + i };

		for (count = 1; i + count < all && begins[i + count]->dso == begins[i]->dso;)
			count++;
		scan.count = count;
		scan_insns(&scan, add, context);
	}
	free(begins);
	free(ends);
}

void executed_code_init(struct executed_code *code)
{
	*code = (struct executed_code){ .counter.add = add_counts };
}

void executed_code_release(struct executed_code *code)
{
	free(code->stretches);
	id_index_release(&code->index);
	*code = (struct executed_code){ 0 };
}
