/* SPDX-License-Identifier: MIT */
/* Counts distinct stretches of code, by a cache in front of an index. */
#include "src/costs/executed_code.h"

#include "decoder/code/insn.h"
#include "decoder/timeline/timeline.h"
#include "symbols/dso/dso_store.h"

#define CACHE_BITS 14

/* The stretch that a thread is in. */
struct executed_thread {
	const struct dso *dso; /* NULL: unknown */
	uint64_t from, begin;  /* as in struct code_stretch */
	uint8_t entry;
	bool held; /* an interrupt came before the instruction at `begin` */
};

/* An address in a file; dso NULL: outside of files. */
struct code_address {
	const struct dso *dso;
	uint64_t vaddr;
};

/*
 * A run of local jumps, which is executed often: only its first stretch depends on the code before.
 */
struct executed_run {
	const struct jump_run *run;   /* borrowed */
	struct code_address at;       /* where it begins; dso NULL: unknown */
	struct executed_thread after; /* the state of the thread after it */
	uint64_t count;
	uint64_t from, begin; /* as in struct executed_thread, the last time; */
	uint32_t first;       /* and the number of the stretch then; 0 if absent */
	uint8_t entry;
	struct executed_run *next;
};

static struct code_address place_of(const struct location *location)
{
	const struct symbol *symbol = location->symbol;

	if (!location->ip || !symbol || symbol->kind == SYMBOL_FILE)
		return (struct code_address){ 0 };
	return (struct code_address){ symbol->dso, symbol->start + location->offset };
}

static bool is_stretch(const struct code_stretch *a, const struct code_stretch *b)
{
	return a->begin == b->begin && a->last == b->last && a->from == b->from &&
	       a->dso == b->dso && a->entry == b->entry && a->exit == b->exit;
}

static uint32_t find_stretch(struct executed_code *code, const struct code_stretch *wanted,
			     uint64_t key)
{
	struct id_probe probe = id_index_probe(hash_u64(key));
	uint32_t id;

	while ((id = id_index_next(&code->index, &probe)) &&
	       !is_stretch(&code->stretches[id - 1], wanted))
		;
	if (id)
		return id;
	*ARRAY_ADD(code->stretches, code->count, code->room) = *wanted;
	id_index_add(&code->index, hash_u64(key), (uint32_t)code->count);
	return (uint32_t)code->count;
}

/* Returns the stretch's number. */
static uint32_t count_stretch(struct executed_code *code, const struct code_stretch *wanted,
			      uint64_t count)
{
	uint64_t key = wanted->begin ^ wanted->last << 20 ^ wanted->from << 40 ^
		       (uint64_t)(uintptr_t)wanted->dso;
	uint32_t *slot = (uint32_t *)code->cache.slots + direct_cache_index(key, CACHE_BITS);

	if (!*slot || !is_stretch(&code->stretches[*slot - 1], wanted))
		*slot = find_stretch(code, wanted, key);
	code->stretches[*slot - 1].count += count;
	return *slot;
}

static enum stretch_exit exit_of(const struct branch_event *event)
{
	if (event->kind == BRANCH_NONE || event->kind == BRANCH_INTERRUPT ||
	    event->kind == BRANCH_TX_ABORT || event->flags & BRANCH_ASYNC)
		return LEFT_BEFORE;
	return event->kind == BRANCH_COND ? LEFT_TAKEN : LEFT_OTHER;
}

/* The thread's stretch ends.  Returns its number; 0: it does not count. */
static uint32_t end_stretch(struct executed_code *code, struct executed_thread *thread,
			    const struct branch_event *event, struct code_address from)
{
	const struct code_stretch stretch = {
		.dso = thread->dso,
		.from = thread->from,
		.begin = thread->begin,
		.last = from.vaddr,
		.entry = thread->entry,
		.exit = (uint8_t)exit_of(event),
	};

	if (!from.dso || from.dso != thread->dso || from.vaddr < thread->begin) {
		thread->dso = NULL;
		return 0;
	}
	thread->held = stretch.exit == LEFT_BEFORE && stretch.last == stretch.begin;
	return thread->held ? 0 : count_stretch(code, &stretch, 1);
}

static void begin_stretch(struct executed_thread *thread, const struct branch_event *event,
			  struct code_address from, struct code_address to)
{
	bool jumps = event->kind == BRANCH_JUMP || event->kind == BRANCH_COND;

	if (event->flags & BRANCH_TRACE_OFF) {
		thread->dso = thread->held ? thread->dso : NULL;
		return;
	}
	/* An interrupted jump has reached its target. */
	if (thread->held && thread->dso == to.dso && thread->begin == to.vaddr) {
		thread->held = false;
		return;
	}
	*thread = (struct executed_thread){ .dso = to.dso, .begin = to.vaddr, .entry = ENTERED_ON };
	if (jumps && from.dso == to.dso) {
		thread->entry = ENTERED_JUMP;
		thread->from = from.vaddr;
	} else if (jumps || event->kind == BRANCH_CALL || event->kind == BRANCH_INTERRUPT) {
		thread->entry = ENTERED_ANEW;
	}
}

static inline struct executed_thread *executed_thread_of(struct executed_code *code,
							 const struct branch_event *event)
{
	if (event->thread->index >= code->thread_room)
		code->threads =
			alloc_grow_zeroed(code->threads, &code->thread_room,
					  (size_t)event->thread->index + 1, sizeof(*code->threads));
	return &code->threads[event->thread->index];
}

void executed_code_add(struct executed_code *code, const struct branch_event *event,
		       const struct location *from, const struct location *to)
{
	const struct code_address left = place_of(from);
	struct executed_thread *thread;

	if (!event->thread)
		return;
	thread = executed_thread_of(code, event);
	if (event->kind == BRANCH_GAP) {
		thread->dso = NULL;
		return;
	}
	if (thread->dso && !thread->held)
		end_stretch(code, thread, event, left);
	begin_stretch(thread, event, left, place_of(to));
}

/* ---- Runs of local jumps ------------------------------------------------- */

static struct code_address address_at(struct code_address place, int32_t distance)
{
	if (place.dso)
		place.vaddr += (uint64_t)(int64_t)distance;
	return place;
}

/* Add one jump of a run that begins `at` an address. */
static void add_jump(struct executed_code *code, struct executed_thread *thread,
		     struct code_address at, const struct local_jump *jump)
{
	const struct branch_event event = { .kind = jump->conditional ? BRANCH_COND : BRANCH_JUMP };
	struct code_address from = address_at(at, jump->from);

	if (thread->dso && !thread->held)
		end_stretch(code, thread, &event, from);
	begin_stretch(thread, &event, from, address_at(at, jump->to));
}

/* Returns the data of a run, at the address where it was first seen. */
static struct executed_run *executed_run_of(struct executed_code *code, struct jump_run *run,
					    struct code_address at)
{
	const struct local_jump *last = &run->jumps[run->jump_count - 1];
	struct executed_run *executed = run->user;

	if (executed)
		return executed;
	executed = arena_alloc(&code->arena, sizeof(*executed));
	executed->run = run;
	executed->at = at;
	executed->after = (struct executed_thread){
		.dso = at.dso,
		.from = address_at(at, last->from).vaddr,
		.begin = address_at(at, last->to).vaddr,
		.entry = ENTERED_JUMP,
	};
	executed->next = code->runs;
	code->runs = run->user = executed;
	return executed;
}

static void add_jumps(struct executed_code *code, struct executed_thread *thread,
		      struct code_address at, const struct jump_run *run)
{
	for (uint32_t i = 0; i < run->jump_count; i++)
		add_jump(code, thread, at, &run->jumps[i]);
}

/* Count the stretch up to a run's first jump, which is that of the last time most times. */
static void enter_run(struct executed_code *code, struct executed_thread *thread,
		      struct executed_run *executed)
{
	const struct local_jump *jump = executed->run->jumps;
	const struct branch_event event = { .kind = jump->conditional ? BRANCH_COND : BRANCH_JUMP };

	if (executed->first && thread->begin == executed->begin && thread->from == executed->from &&
	    thread->dso == executed->at.dso && thread->entry == executed->entry) {
		code->stretches[executed->first - 1].count++;
		return;
	}
	executed->begin = thread->begin;
	executed->from = thread->from;
	executed->entry = thread->entry;
	executed->first = end_stretch(code, thread, &event, address_at(executed->at, jump->from));
}

static void add_run(struct executed_code *code, struct executed_thread *thread,
		    struct code_address at, struct jump_run *run)
{
	struct executed_run *executed = executed_run_of(code, run, at);

	if (!at.dso || executed->at.dso != at.dso || executed->at.vaddr != at.vaddr ||
	    !thread->dso || thread->held) {
		add_jumps(code, thread, at, run);
		return;
	}
	enter_run(code, thread, executed);
	executed->count++;
	*thread = executed->after;
}

void executed_code_add_runs(struct executed_code *code, const struct branch_event *event,
			    const struct location *at)
{
	struct code_address place = place_of(at);
	struct executed_thread *thread;

	if (!event->thread)
		return;
	thread = executed_thread_of(code, event);
	for (unsigned i = 0; i < event_run_count(event); i++) {
		struct jump_run *run = event_run(event, i);

		add_run(code, thread, place, run);
		place = address_at(place, run->end);
	}
}

/* Count the stretches between the jumps of a run. */
static void count_inside(struct executed_code *code, const struct executed_run *executed)
{
	const struct local_jump *jumps = executed->run->jumps;

	for (uint32_t i = 1; executed->count && i < executed->run->jump_count; i++) {
		const struct code_stretch stretch = {
			.dso = executed->at.dso,
			.from = address_at(executed->at, jumps[i - 1].from).vaddr,
			.begin = address_at(executed->at, jumps[i - 1].to).vaddr,
			.last = address_at(executed->at, jumps[i].from).vaddr,
			.entry = ENTERED_JUMP,
			.exit = jumps[i].conditional ? LEFT_TAKEN : LEFT_OTHER,
		};

		count_stretch(code, &stretch, executed->count);
	}
}

void executed_code_finish(struct executed_code *code)
{
	for (const struct executed_run *run = code->runs; run; run = run->next)
		count_inside(code, run);
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
		if (stretch->exit == LEFT_TAKEN)
			executed->taken += stretch->count;
		if (stretch->exit == LEFT_BEFORE)
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
		executed.conditional = insn.kind == BRANCH_COND;
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
	size_t count;

	for (size_t i = 0; i < code->count; i++)
		begins[i] = ends[i] = &code->stretches[i];
	qsort(begins, code->count, sizeof(*begins), compare_begins);
	qsort(ends, code->count, sizeof(*ends), compare_ends);
	for (size_t i = 0; i < code->count; i += count) {
		struct insn_scan scan = { .begins = begins + i, .ends = ends + i };

		for (count = 1;
		     i + count < code->count && begins[i + count]->dso == begins[i]->dso;)
			count++;
		scan.count = count;
		scan_insns(&scan, add, context);
	}
	free(begins);
	free(ends);
}

/* ---- Memory -------------------------------------------------------------- */

void executed_code_init(struct executed_code *code)
{
	*code = (struct executed_code){ 0 };
	arena_init(&code->arena);
	direct_cache_init(&code->cache, CACHE_BITS, sizeof(uint32_t));
}

void executed_code_release(struct executed_code *code)
{
	free(code->stretches);
	free(code->threads);
	id_index_release(&code->index);
	direct_cache_release(&code->cache);
	arena_release(&code->arena);
	*code = (struct executed_code){ 0 };
}
