/* SPDX-License-Identifier: MIT */
/* Sum counts of code by address in files, and find the instructions. */
#include "src/costs/executed_code.h"

#include "base/io/big_array.h"
#include "base/tables/pair_table.h"
#include "decoder/code/code_image.h"
#include "src/resolve/resolve.h"
#include "src/slices/track.h"
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
		mapped->dso = code->resolver->dsos[mapping->file->index];
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
		const struct mapped_code at = *mapped_at(code, counted.space, counted.begin), *to;

		if (!at.dso)
			continue;
		to = mapped_at(code, counted.space, counted.to ?: counted.begin);
		if (to->dso != at.dso || to->distance != at.distance)
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

static void count_log(struct executed_code *code);

void executed_code_finish(struct executed_code *code)
{
	if (code->log)
		count_log(code);
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

/* ---- The log of branches ------------------------------------------------- */

struct code_log {
	struct code_count *pieces; /* owned; code from a branch to the next, and that branch */
	size_t piece_count, piece_room;
	struct id_index index;    /* the pieces' numbers + 1, by hash */
	struct big_array entries; /* owned: of struct log_entry, by number - 1 */
	size_t count;
	struct pair_table threads; /* threads by (pid, tid) */
	struct log_thread {
		struct branch_event last; /* zeroed: none */
		uint64_t time;            /* ns: of the last entry that was read; 0: none */
		size_t depth;             /* open calls */
		size_t before;            /* calls that began before the log */
	} * states;                       /* owned; by thread */
	size_t state_room;
	struct slice_sink next; /* gets the same slices; zeroed: none */
};

struct log_entry {
	uint64_t time; /* ns */
	uint32_t piece, thread;
	int32_t more; /* calls that begin at the branch, less those that end */
	uint32_t cut; /* calls that end after it without a return */
};

/* Bytes of entries in memory, and entries between two releases of the file's pages. */
#define LOG_MEMORY ((size_t)8 << 20)
#define LOG_STEP   ((size_t)1 << 16)

static struct log_entry *entry_at(const struct code_log *log, size_t index)
{
	if (index % LOG_STEP == 0)
		big_array_rest(&log->entries, 0, index, sizeof(struct log_entry));
	return (struct log_entry *)log->entries.items + index;
}

static uint32_t log_thread(struct code_log *log, int32_t pid, int32_t tid)
{
	uint32_t thread = pair_table_find(&log->threads, (uint32_t)pid, (uint32_t)tid);

	ARRAY_GROW_ZEROED(log->states, log->state_room, (size_t)thread + 1);
	return thread;
}

static uint32_t find_piece(struct code_log *log, const struct code_count *piece)
{
	uint64_t hash =
		hash_u64(piece->begin ^ piece->last << 20 ^ piece->to << 40 ^ piece->to >> 24);
	struct id_probe probe = id_index_probe(hash);
	uint32_t id;

	while ((id = id_index_next(&log->index, &probe))) {
		const struct code_count *known = &log->pieces[id - 1];

		if (known->begin == piece->begin && known->last == piece->last &&
		    known->to == piece->to && known->space == piece->space &&
		    known->kind == piece->kind && known->stopped == piece->stopped)
			return id - 1;
	}
	*ARRAY_ADD(log->pieces, log->piece_count, log->piece_room) = *piece;
	id_index_add(&log->index, hash, (uint32_t)log->piece_count);
	return (uint32_t)log->piece_count - 1;
}

uint64_t executed_code_log(struct executed_code *code, const struct branch_event *event)
{
	struct code_log *log = code->log;
	const struct thread *thread = event->thread;
	int32_t pid = thread ? thread->pid : -1, tid = thread ? thread->tid : -1;
	uint32_t number = log_thread(log, tid ? pid : 0, tid); /* as of tracks */
	struct log_thread *state = &log->states[number];
	struct code_count piece = {
		.space = event->space,
		.last = event->from,
		.to = event->kind == BRANCH_GAP ? event->gap : event->to,
		.kind = event->kind,
		.stopped = event->flags & BRANCH_ASYNC || event->kind >= BRANCH_INTERRUPT,
	};

	if (state->last.thread == thread && state->last.space == event->space && event->from)
		piece.begin = state->last.to;
	state->last = *event;
	big_array_grow(&log->entries, log->count + 1, sizeof(struct log_entry), LOG_MEMORY);
	*entry_at(log, log->count++) =
		(struct log_entry){ event->time, find_piece(log, &piece), number, 0, 0 };
	return log->count;
}

static void log_calls(const struct slice_sink *sink, void *track_, const struct slice_batch *batch)
{
	struct executed_code *code = sink->context;
	struct code_log *log = code->log;
	const struct track *track = track_;
	uint32_t thread = log_thread(log, track->pid, track->tid);
	struct log_thread *state = &log->states[thread];

	for (size_t i = 0; i < batch->count; i++) {
		const struct slice_event *event = &batch->events[i];
		const struct slice_detail *detail = slice_batch_detail(batch, event);
		uint64_t branch = detail ? detail->branch : log->count;

		if ((event->kind == SLICE_BEGIN && !(event->flags & SLICE_CONTEXT) &&
		     (!state->depth++ || code->replayed)) ||
		    (event->kind == SLICE_END && state->depth &&
		     (!--state->depth || code->replayed))) {
			bool begins = event->kind == SLICE_BEGIN,
			     cut = !begins && event->flags & SLICE_CUT;
			struct log_entry *entry = branch ? entry_at(log, branch - 1) : NULL;

			/*
			 * A call of a thread begins or ends at a branch. At the end of the trace,
			 * it can be another thread's.
			 */
			if (entry && entry->thread == thread) {
				entry->cut += cut;
				entry->more += begins - (!begins && !cut);
			} else {
				log->states[thread].before += begins;
			}
		}
	}
	if (log->next.events)
		log->next.events(&log->next, track_, batch);
}

void executed_code_replay(struct executed_code *code, logged_code_fn *pass, void *context)
{
	struct code_log *log = code->log;
	bool goes_on = true;

	for (size_t i = 0; i < log->threads.count; i++)
		log->states[i].depth = log->states[i].before;
	for (size_t i = 0; i < log->count && goes_on; i++) {
		const struct log_entry entry = *entry_at(log, i);
		struct log_thread *state = &log->states[entry.thread];
		const struct pair ids = pair_table_pair(&log->threads, entry.thread);
		struct logged_code logged = { .piece = &log->pieces[entry.piece],
					      .thread = entry.thread,
					      .pid = (int32_t)ids.first,
					      .tid = (int32_t)ids.second,
					      .time = state->time ? state->time : entry.time,
					      .end = entry.time,
					      .depth = state->depth };

		logged.depth_after = state->depth += (uint64_t)entry.more;
		state->depth -= entry.cut;
		state->time = entry.time;
		goes_on = pass(context, &logged);
	}
}

/* Count the code and the branch of an entry if they are inside calls of its thread. */
static bool count_logged(void *context, const struct logged_code *logged)
{
	(void)context;
	logged->piece->count += logged->depth > 0;
	logged->piece->taken += logged->depth_after > 0;
	return true;
}

/* Returns a logged instruction. Of the kernel, the files of dsos often have no code. */
static struct insn logged_insn_at(const struct executed_code *code,
				  const struct address_space *space, uint64_t ip,
				  const struct mapped_code *at)
{
	struct insn insn = executed_insn_at(at->dso, ip + at->distance);
	struct code_view view = code_image_view(code->source, space, ip);

	return insn.length || !view.bytes
		       ? insn
		       : insn_decode(view.bytes + (ip - view.begin), view.end - ip, INSN_MODE_64);
}

/* Add blocks of straight-line code up to an instruction that ended it, or was not executed. */
static void add_blocks(struct executed_code *code, const struct code_count *piece,
		       const struct mapped_code *at)
{
	struct code_count block = { .space = piece->space,
				    .begin = piece->begin,
				    .count = piece->count };
	struct insn insn;

	for (uint64_t ip = piece->begin; ip && ip <= piece->last; ip += insn.length) {
		bool ends = ip == piece->last;

		insn = logged_insn_at(code, piece->space, ip, at);
		if (!insn.length || (insn.kind != BRANCH_NONE && insn.kind != BRANCH_COND && !ends))
			return;
		block.last = ip;
		block.kind = insn.kind;
		block.stopped = ends && piece->stopped;
		if (block.stopped && ip == block.begin)
			return; /* interrupted before it */
		block.taken = ends && piece->kind == BRANCH_COND ? block.count : 0;
		if (!ends && insn.kind == BRANCH_NONE)
			continue;
		add_counts(&code->counter, &block, 1);
		block.begin = ip + insn.length;
	}
}

static void count_log(struct executed_code *code)
{
	struct code_log *log = code->log;

	executed_code_replay(code, count_logged, NULL);
	for (size_t i = 0; i < log->piece_count; i++) {
		const struct code_count *piece = &log->pieces[i];
		const struct mapped_code at = *mapped_at(code, piece->space, piece->last);

		if (!at.dso)
			continue;
		if (piece->count)
			add_blocks(code, piece, &at);
		if (piece->taken && !piece->stopped) {
			struct insn insn = logged_insn_at(code, piece->space, piece->last, &at);
			struct code_count branch = *piece;

			/* The jumps and direct calls of files, as the decoder counts them; and any
			 * branch. */
			branch.begin = branch.last;
			branch.count = 0;
			branch.kind = insn.kind;
			if (insn.kind == BRANCH_COND || insn.kind == BRANCH_JUMP ||
			    (insn.kind == BRANCH_CALL && !insn.indirect))
				add_counts(&code->counter, &branch, 1);
			if (code->branches && is_counted(piece->kind))
				add_branch(code, piece->space, piece->last, piece->to,
					   &(struct code_stretch){
						   .count = piece->taken,
						   .kind = STRETCH_BRANCH,
						   .branch = MIN(piece->kind, BRANCH_JUMP) });
		}
	}
}

void executed_code_log_calls(struct executed_code *code, struct slice_sink *sink)
{
	code->log = alloc_zeroed(1, sizeof(*code->log));
	code->log->next = *sink;
	*sink = (struct slice_sink){ .events = log_calls, .context = code, .details = true };
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
		uint64_t vaddr; /* address of the next instruction */
	} * running;            /* owned */
	size_t running_count, running_room;
};

COMPARE_WITH(compare_begins, const struct code_stretch *const,
	     dso_compare((*a)->dso, (*b)->dso) ?: COMPARE((*a)->begin, (*b)->begin))

/* Returns the address of the next instruction, or UINT64_MAX if absent. */
static uint64_t next_address(const struct insn_scan *scan)
{
	uint64_t vaddr =
		scan->begun < scan->count ? scan->stretches[scan->begun]->begin : UINT64_MAX;

	for (size_t i = 0; i < scan->running_count; i++)
		vaddr = MIN(vaddr, scan->running[i].vaddr);
	return vaddr;
}

static void scan_insns(struct insn_scan *scan,
		       void (*add)(void *context, const struct executed_insn *insn), void *context)
{
	struct executed_insn executed = { .dso = scan->stretches[0]->dso };

	while ((executed.vaddr = next_address(scan)) != UINT64_MAX) {
		struct insn insn = executed_insn_at(executed.dso, executed.vaddr);
		size_t kept = 0;

		for (; scan->begun < scan->count &&
		       scan->stretches[scan->begun]->begin == executed.vaddr;
		     scan->begun++)
			*ARRAY_ADD(scan->running, scan->running_count, scan->running_room) =
				(struct running){ scan->stretches[scan->begun], executed.vaddr };
		executed.count = executed.taken = 0;
		/* Count an instruction in the stretches that reach it, and advance these. */
		for (size_t i = 0; i < scan->running_count; i++) {
			struct running running = scan->running[i];
			const struct code_stretch *stretch = running.stretch;

			if (running.vaddr == executed.vaddr) {
				bool ends = stretch->last == executed.vaddr;

				if (!ends || stretch->kind == STRETCH_RAN)
					executed.count += stretch->count;
				executed.taken += ends ? stretch->taken : 0;
				running.vaddr += insn.length;
				if (ends || !insn.length || running.vaddr > stretch->last ||
				    (insn.kind != BRANCH_NONE && insn.kind != BRANCH_COND))
					continue;
			}
			scan->running[kept++] = running;
		}
		scan->running_count = kept;
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
	SORT(stretches, all, compare_begins);
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
	if (code->log) {
		free(code->log->pieces);
		id_index_release(&code->log->index);
		big_array_release(&code->log->entries);
		pair_table_release(&code->log->threads);
		free(code->log->states);
		free(code->log);
	}
	id_index_release(&code->index);
	*code = (struct executed_code){ 0 };
}
