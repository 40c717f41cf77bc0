/* SPDX-License-Identifier: MIT */
/* Sum counts of code by address in files, and find the instructions. */
#include "src/costs/executed_code.h"

#include "src/resolve/resolve.h"
#include "symbols/dso/dso_store.h"

static void add_stretch(struct executed_code *code, const struct code_stretch *added)
{
	uint64_t hash =
		hash_u64(added->begin ^ added->last << 20 ^ (uint64_t)(uintptr_t)added->dso ^
			 (uint64_t)(added->kind << 3 | added->branch) << 56);
	struct id_probe probe = id_index_probe(hash);
	uint32_t id;

	if (!added->count)
		return;
	while ((id = id_index_next(&code->index, &probe))) {
		struct code_stretch *known = &code->stretches[id - 1];

		if (known->begin != added->begin || known->last != added->last ||
		    known->dso != added->dso || known->kind != added->kind ||
		    known->branch != added->branch)
			continue;
		known->count += added->count;
		known->taken += added->taken;
		return;
	}
	*ARRAY_ADD(code->stretches, code->count, code->room) = *added;
	id_index_add(&code->index, hash, (uint32_t)code->count);
}

void executed_code_add(struct executed_code *code, const struct dso *dso, uint64_t vaddr,
		       const struct code_count *counted)
{
	const uint64_t base = vaddr - counted->begin;
	struct code_stretch stretch = {
		.dso = dso,
		.begin = vaddr,
		.last = counted->last + base,
		.count = counted->count,
		.taken = counted->kind == BRANCH_COND && counted->count ? counted->taken : 0,
		.kind = counted->stopped ? STRETCH_STOPPED : STRETCH_RAN,
		.branch = counted->kind,
	};

	add_stretch(code, &stretch);
	if (!counted->to || counted->stopped)
		return;
	stretch.begin = stretch.last;
	stretch.last = counted->to + base;
	stretch.count = counted->taken;
	stretch.taken = 0;
	stretch.kind = counted->kind == BRANCH_CALL ? STRETCH_CALL : STRETCH_JUMP;
	stretch.branch = MIN(counted->kind, BRANCH_JUMP);
	add_stretch(code, &stretch);
}

/* Set code->mapped to the largest contiguous mapping of a file's code around an ip. */
static void map_code(struct executed_code *code, const struct address_space *space, uint64_t ip)
{
	const struct mapping *mapping = address_space_borrow_mapping(space, ip);
	struct mapped_code *mapped = &code->mapped;
	const struct code_range *range;
	struct location location;
	uint64_t offset = 0, before;

	*mapped = (struct mapped_code){ .space = space, .begin = ip, .size = 1 };
	if (mapping) {
		offset = ip - mapping->begin + mapping->file_offset;
		mapped->dso = resolver_borrow_dso(code->resolver, mapping->file);
	}
	range = mapped->dso ? elf_file_code_at(&mapped->dso->elf, offset) : NULL;
	if (range) {
		before = MIN(ip - mapping->begin, offset - range->offset);
		mapped->distance = range->vaddr + (offset - range->offset) - ip;
		mapped->begin = ip - before;
		mapped->size =
			before + MIN(mapping->end - ip, range->offset + range->size - offset);
		return;
	}
	location = resolver_find(code->resolver, space, ip);
	mapped->dso = location.symbol && location.symbol->kind != SYMBOL_FILE ? location.symbol->dso
									      : NULL;
	if (mapped->dso)
		mapped->distance = location.symbol->start + location.offset - ip;
}

/* Returns the code around an ip, valid until the next call. */
static const struct mapped_code *mapped_at(struct executed_code *code,
					   const struct address_space *space, uint64_t ip)
{
	if (code->mapped.space != space || ip - code->mapped.begin >= code->mapped.size)
		map_code(code, space, ip);
	return &code->mapped;
}

static void add_counts(struct code_counter *counter, const struct code_count *counts, size_t count)
{
	struct executed_code *code = (struct executed_code *)counter;

	for (size_t i = 0; i < count; i++) {
		struct code_count counted = counts[i];
		const struct mapped_code at = *mapped_at(code, counted.space, counted.begin);

		if (!at.dso)
			continue;
		if (counted.to && (counted.to - at.begin >= at.size) &&
		    mapped_at(code, counted.space, counted.to)->distance != at.distance)
			counted.to = 0; /* the branch leads to another file */
		executed_code_add(code, at.dso, counted.begin + at.distance, &counted);
	}
}

/* ---- Branches between functions ------------------------------------------ */

/* Counters of a known branch, one for each kind of event: only those of is_counted() are used. */
#define KINDS 16
_Static_assert(BRANCH_COUNTS < KINDS, "each kind of event has a counter");

static bool is_counted(unsigned kind)
{
	return kind >= BRANCH_CALL && kind <= BRANCH_COND;
}

static void add_branch(struct executed_code *code, const struct address_space *space, uint64_t from,
		       uint64_t to, const struct code_stretch *counted)
{
	const struct mapped_code source = *mapped_at(code, space, from ? from : to);
	const struct mapped_code *target = mapped_at(code, space, to);
	struct code_stretch branch = *counted;

	branch.dso = target->dso;
	branch.last = to + target->distance;
	if (from && source.dso == target->dso)
		branch.begin = from + source.distance;
	if (branch.dso)
		add_stretch(code, &branch);
}

/* Returns the counter of an event. Without a known branch it is out of room, or never used. */
static inline size_t counter_of(const struct known_branch *known, const struct branch_event *event)
{
	return ((uintptr_t)event->known - (uintptr_t)known) / sizeof(*known) * KINDS + event->kind;
}

/* Count a branch that has no counter yet, or is not known. Inlined, it slows down its loop. */
static __attribute__((noinline)) void count_new(struct executed_code *code,
						const struct branch_event *event)
{
	size_t at = counter_of(code->known, event);

	if (!is_counted(event->kind))
		return;
	if (!event->known) {
		add_branch(code, event->space, event->from, event->to,
			   &(struct code_stretch){ .count = 1,
						   .kind = STRETCH_BRANCH,
						   .branch = MIN(event->kind, BRANCH_JUMP) });
		return;
	}
	ARRAY_GROW_ZEROED(code->known_counts, code->known_room, at + 1);
	code->known_counts[at]++;
}

void executed_code_count(struct executed_code *code, const struct branch_event *events,
			 size_t count)
{
	const struct known_branch *known = code->known;
	uint64_t *counts = code->known_counts;
	size_t room = code->known_room;

	for (const struct branch_event *event = events; event < events + count; event++) {
		size_t at = counter_of(known, event);

		if (at < room) {
			counts[at]++;
			continue;
		}
		count_new(code, event);
		counts = code->known_counts;
		room = code->known_room;
	}
}

void executed_code_finish(struct executed_code *code)
{
	for (size_t i = 0; i < code->known_room; i++) {
		const struct known_branch *known = &code->known[i / KINDS];

		if (code->known_counts[i] && is_counted(i % KINDS))
			add_branch(code, known->space, known->locations.from.ip,
				   known->locations.to.ip,
				   &(struct code_stretch){
					   .count = code->known_counts[i],
					   .kind = STRETCH_BRANCH,
					   .branch = MIN(i % KINDS, (size_t)BRANCH_JUMP) });
	}
}

/* ---- Instructions -------------------------------------------------------- */

struct insn executed_insn_at(const struct dso *dso, uint64_t vaddr)
{
	size_t size;
	const uint8_t *code = dso_borrow_code(dso, vaddr, &size);

	if (code)
		return insn_decode(code, size, INSN_MODE_64);
	code = dso_borrow_code_32(dso, vaddr, &size);
	return code ? insn_decode(code, size, INSN_MODE_32) : (struct insn){ 0 };
}

struct insn_scan {
	const struct code_stretch *const *stretches; /* sorted by begin */
	size_t count, begun;
	/* Stretches that reach the next instructions, which can overlap. */
	struct running {
		const struct code_stretch *stretch;
		uint64_t vaddr; /* of the next instruction */
	} * running;            /* owned */
	size_t running_count, running_room;
};

static int compare_begins(const void *left, const void *right)
{
	const struct code_stretch *const *a = left, *const *b = right;

	return COMPARE((uintptr_t)(*a)->dso, (uintptr_t)(*b)->dso)
		       ?: COMPARE((*a)->begin, (*b)->begin);
}

/* Returns the address of the next instruction, or UINT64_MAX if absent. */
static uint64_t next_address(const struct insn_scan *scan)
{
	uint64_t vaddr =
		scan->begun < scan->count ? scan->stretches[scan->begun]->begin : UINT64_MAX;

	for (size_t i = 0; i < scan->running_count; i++)
		vaddr = MIN(vaddr, scan->running[i].vaddr);
	return vaddr;
}

/* Count an instruction in the stretches that reach it, and advance these. */
static void run_insn(struct insn_scan *scan, const struct insn *insn,
		     struct executed_insn *executed)
{
	size_t kept = 0;

	for (size_t i = 0; i < scan->running_count; i++) {
		struct running running = scan->running[i];
		const struct code_stretch *stretch = running.stretch;

		if (running.vaddr == executed->vaddr) {
			bool ends = stretch->last == executed->vaddr;

			if (!ends || stretch->kind == STRETCH_RAN)
				executed->count += stretch->count;
			executed->taken += ends ? stretch->taken : 0;
			running.vaddr += insn->length;
			if (ends || !insn->length || running.vaddr > stretch->last ||
			    (insn->kind != BRANCH_NONE && insn->kind != BRANCH_COND))
				continue;
		}
		scan->running[kept++] = running;
	}
	scan->running_count = kept;
}

static void scan_insns(struct insn_scan *scan,
		       void (*add)(void *context, const struct executed_insn *insn), void *context)
{
	struct executed_insn executed = { .dso = scan->stretches[0]->dso };

	while ((executed.vaddr = next_address(scan)) != UINT64_MAX) {
		struct insn insn = executed_insn_at(executed.dso, executed.vaddr);

		for (; scan->begun < scan->count &&
		       scan->stretches[scan->begun]->begin == executed.vaddr;
		     scan->begun++)
			*ARRAY_ADD(scan->running, scan->running_count, scan->running_room) =
				(struct running){ scan->stretches[scan->begun], executed.vaddr };
		executed.count = executed.taken = 0;
		run_insn(scan, &insn, &executed);
		executed.length = insn.length;
		executed.kind = insn.kind;
		if (insn.length && executed.count)
			add(context, &executed);
	}
	free(scan->running);
}

void executed_code_list(const struct executed_code *code,
			void (*add)(void *context, const struct executed_insn *insn), void *context)
{
	const struct code_stretch **stretches = alloc_zeroed(code->count + 1, sizeof(*stretches));
	size_t all = 0, count;

	for (size_t i = 0; i < code->count; i++)
		if (stretch_is_code(&code->stretches[i]))
			stretches[all++] = &code->stretches[i];
	qsort(stretches, all, sizeof(*stretches), compare_begins);
	for (size_t i = 0; i < all; i += count) {
		struct insn_scan scan = { .stretches = stretches + i };

		for (count = 1; i + count < all && stretches[i + count]->dso == stretches[i]->dso;)
			count++;
		scan.count = count;
		scan_insns(&scan, add, context);
	}
	free(stretches);
}

void executed_code_init(struct executed_code *code)
{
	*code = (struct executed_code){ .counter.add = add_counts };
}

void executed_code_release(struct executed_code *code)
{
	free(code->stretches);
	free(code->known_counts);
	id_index_release(&code->index);
	*code = (struct executed_code){ 0 };
}
