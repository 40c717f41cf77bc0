/* SPDX-License-Identifier: MIT */
/* Reads a trace twice: for the durations of its slices, and to pass on those that are left. */
#include "src/formats/ftf/ftf_fold.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/io/big_array.h"
#include "base/pages.h"
#include "base/tables/hash.h"
#include "src/formats/ftf/ftf_scan.h"

/* Durations in classes: each power of two has 1 << STEP_BITS of them. */
#define STEP_BITS  4
#define CLASSES    ((64 - STEP_BITS + 1) << STEP_BITS)
#define CLASS_MASK 0x3ff
#define CLASS_OPEN 0x4000 /* its end is not in the trace */
#define CLASS_ROOT 0x8000 /* no slice is around it */

/* Bytes of the classes that stay in memory. */
#define CLASS_MEMORY ((size_t)4 << 20)

/* Bytes that are passed on at once, and after which the trace need not stay in memory. */
#define RUN_MOST  ((size_t)1 << 18)
#define STEP_SIZE ((uint64_t)4 << 20)

struct fold_frame {
	size_t index; /* of its class */
	uint64_t begin;
	uint64_t offset; /* of its begin in the trace that is left */
	struct scan_folded inside;
	bool kept;
};

struct fold_thread {
	struct scan_ids ids;
	struct fold_frame *frames; /* owned; the open slices, innermost last */
	size_t depth, room;
	struct fold_frame *carried; /* owned: those that were left open by the run before */
	size_t carried_count, carried_at;
	uint64_t *classes; /* owned: how many slices in others are of each; NULL: none */
	uint64_t nested;   /* and all of them */
	unsigned from;     /* the first class that is left */
	UT_hash_handle hh;
};

struct fold_run {
	struct ftf_fold *fold;
	const struct fold_output *output;
	struct ftf_scan scan;
	struct big_array classes; /* uint16_t of each slice, in the order of begins */
	size_t count;             /* of slices; in the second pass, of those up to now */
	uint64_t roots[CLASSES], root_count;
	uint64_t marks, open;
	uint32_t provider;          /* of what is passed on */
	const uint8_t *begin, *end; /* to be passed on at once */
	uint64_t passed;            /* bytes */
};

/* ---- Classes ------------------------------------------------------------- */

static unsigned class_of(uint64_t duration)
{
	unsigned shift = 0;

	if (duration >> STEP_BITS)
		shift = (unsigned)(63 - __builtin_clzll(duration)) - STEP_BITS;
	/* The highest bit of what is shifted counts as the first step of its power of two. */
	return (shift << STEP_BITS) + (unsigned)(duration >> shift);
}

/* Returns the shortest duration of a class; UINT64_MAX: there is no such class. */
static uint64_t class_begin(unsigned class)
{
	unsigned shift = class >> STEP_BITS;
	uint64_t step = class & ((1u << STEP_BITS) - 1);

	if (class >= CLASSES)
		return UINT64_MAX;
	return shift ? (step | UINT64_C(1) << STEP_BITS) << (shift - 1) : step;
}

/* ---- Threads ------------------------------------------------------------- */

static struct fold_thread *thread_of(struct ftf_fold *fold, const struct scan_record *record)
{
	struct fold_thread *thread = record->place ? *record->place : NULL;

	if (thread)
		return thread;
	HASH_FIND(hh, fold->threads, &record->thread, sizeof(record->thread), thread);
	if (!thread) {
		thread = alloc_zeroed(1, sizeof(*thread));
		thread->ids = record->thread;
		HASH_ADD(hh, fold->threads, ids, sizeof(thread->ids), thread);
	}
	if (record->place)
		*record->place = thread;
	return thread;
}

static struct fold_frame *push_open(struct fold_thread *thread, size_t index, uint64_t begin)
{
	thread->frames = alloc_grow(thread->frames, &thread->room, thread->depth + 1,
				    sizeof(*thread->frames));
	thread->frames[thread->depth] = (struct fold_frame){ .index = index, .begin = begin };
	return &thread->frames[thread->depth++];
}

static uint64_t lasted(uint64_t begin, uint64_t end)
{
	return end > begin ? end - begin : 0;
}

/* ---- The first pass ------------------------------------------------------ */

static void set_class(struct fold_run *run, struct fold_thread *thread, size_t index,
		      uint64_t duration)
{
	unsigned class = class_of(duration);

	if (thread->depth) {
		if (!thread->classes)
			thread->classes = alloc_zeroed(CLASSES, sizeof(*thread->classes));
		thread->classes[class]++;
		thread->nested++;
	} else {
		run->roots[class]++;
		run->root_count++;
		class |= CLASS_ROOT;
	}
	((uint16_t *)run->classes.items)[index] = (uint16_t) class;
}

static size_t add_class(struct fold_run *run)
{
	big_array_grow(&run->classes, run->count + 1, sizeof(uint16_t), CLASS_MEMORY);
	((uint16_t *)run->classes.items)[run->count] = CLASS_OPEN;
	return run->count++;
}

static void measure_record(struct fold_run *run, const struct scan_record *record)
{
	struct fold_thread *thread;

	if (record->kind < SCAN_BEGIN)
		return;
	thread = thread_of(run->fold, record);
	if (record->kind == SCAN_BEGIN) {
		push_open(thread, add_class(run), record->time);
	} else if (record->kind == SCAN_COMPLETE) {
		set_class(run, thread, add_class(run), lasted(record->time, record->end));
	} else if (record->kind == SCAN_INSTANT) {
		run->marks++;
	} else if (thread->depth) {
		const struct fold_frame *frame = &thread->frames[--thread->depth];

		set_class(run, thread, frame->index, lasted(frame->begin, record->time));
	}
}

/* What was read need not stay in memory. */
static void leave_behind(const struct ftf_scan *scan, const struct scan_record *record)
{
	uint64_t begin = scan->at - record->size, step = begin / STEP_SIZE;

	if (step && step != scan->at / STEP_SIZE)
		pages_give_back(scan->bytes + (step - 1) * STEP_SIZE, STEP_SIZE);
}

static void measure(struct fold_run *run)
{
	struct scan_record record;

	while (ftf_scan_next(&run->scan, &record)) {
		measure_record(run, &record);
		leave_behind(&run->scan, &record);
	}
	for (struct fold_thread *thread = run->fold->threads; thread; thread = thread->hh.next) {
		run->open += thread->depth;
		thread->depth = 0;
	}
}

/* ---- What is left -------------------------------------------------------- */

static int by_nested(const void *a_, const void *b_)
{
	const struct fold_thread *const *a = a_, *const *b = b_;

	if ((*a)->nested != (*b)->nested)
		return (*a)->nested < (*b)->nested ? -1 : 1;
	return memcmp(&(*a)->ids, &(*b)->ids, sizeof((*a)->ids));
}

/* Returns the first class from which on there are no more than `most`. */
static unsigned first_class(const uint64_t *classes, uint64_t most)
{
	unsigned from = CLASSES;

	while (from && classes[from - 1] <= most)
		most -= classes[--from];
	return from;
}

/* The thread's longest slices are left, `most` of them; never shorter ones than before. */
static void choose_for_thread(struct fold_thread *thread, uint64_t most)
{
	unsigned from = thread->nested > most ? first_class(thread->classes, most) : 0;

	if (from > thread->from)
		thread->from = from;
}

/* Share `most` slices among the threads, those with the fewest first. */
static void choose_nested(struct ftf_fold *fold, uint64_t most)
{
	size_t count = HASH_COUNT(fold->threads), i = 0;
	struct fold_thread **sorted = alloc_zeroed(count + 1, sizeof(struct fold_thread *));

	for (struct fold_thread *thread = fold->threads; thread; thread = thread->hh.next)
		sorted[i++] = thread;
	qsort(sorted, count, sizeof(struct fold_thread *), by_nested);
	for (i = 0; i < count; i++) {
		uint64_t share = most / (count - i);

		choose_for_thread(sorted[i], share);
		most -= sorted[i]->nested < share ? sorted[i]->nested : share;
		if (class_begin(sorted[i]->from) > fold->counts.shortest)
			fold->counts.shortest = class_begin(sorted[i]->from);
	}
	free(sorted);
}

static void choose(struct fold_run *run)
{
	uint64_t limit = run->fold->limit, stay = run->marks + run->open;
	uint64_t most = limit > stay ? limit - stay : 0;
	unsigned from;

	if (run->root_count <= most) {
		choose_nested(run->fold, most - run->root_count);
		return;
	}
	choose_nested(run->fold, 0);
	from = first_class(run->roots, most);
	if (from > run->fold->roots_from)
		run->fold->roots_from = from;
}

static bool is_left(const struct fold_run *run, const struct fold_thread *thread, size_t index)
{
	unsigned class = ((const uint16_t *)run->classes.items)[index];

	return class & CLASS_OPEN ||
	       (class & CLASS_MASK) >= (class & CLASS_ROOT ? run->fold->roots_from : thread->from);
}

/* ---- The second pass ----------------------------------------------------- */

static void flush_run(struct fold_run *run)
{
	if (run->end > run->begin)
		run->output->write(run->output->context, run->begin,
				   (size_t)(run->end - run->begin));
	run->begin = run->end = NULL;
}

static void pass_bytes(struct fold_run *run, const void *bytes, size_t size)
{
	flush_run(run);
	run->output->write(run->output->context, bytes, size);
	run->passed += size;
}

/* A record of another provider than the one before needs the section of its own. */
static void pass_section(struct fold_run *run)
{
	uint64_t section =
		UINT64_C(1) << 4 | UINT64_C(2) << 16 | (uint64_t)run->scan.provider << 20;

	if (run->provider == run->scan.provider)
		return;
	run->provider = run->scan.provider;
	pass_bytes(run, &section, sizeof(section));
}

static void pass_record(struct fold_run *run, const struct scan_record *record)
{
	pass_section(run);
	if (run->end != record->bytes || (size_t)(run->end - run->begin) >= RUN_MOST) {
		flush_run(run);
		run->begin = record->bytes;
	}
	run->end = record->bytes + record->size;
	run->passed += record->size;
}

/* A provider's first record is its section, too. */
static void pass_provider(struct fold_run *run, const struct scan_record *record)
{
	run->provider = run->scan.provider;
	pass_record(run, record);
}

/* A slice is not left: the one around it counts it, and those in it. */
static void fold_slice(struct fold_run *run, struct fold_thread *thread, uint64_t duration,
		       uint64_t inside)
{
	struct fold_frame *around = thread->depth ? &thread->frames[thread->depth - 1] : NULL;

	if (!around) {
		run->fold->counts.left_out++;
		return;
	}
	run->fold->counts.folded++;
	around->inside.folded += 1 + inside;
	around->inside.folded_time += duration;
}

/* Returns what the run before found in a slice that begins at `offset`, if it was open then. */
static struct scan_folded take_carried(struct fold_thread *thread, uint64_t offset)
{
	if (thread->carried_at < thread->carried_count &&
	    thread->carried[thread->carried_at].offset == offset)
		return thread->carried[thread->carried_at++].inside;
	return (struct scan_folded){ 0 };
}

static void pass_begin(struct fold_run *run, struct fold_thread *thread,
		       const struct scan_record *record)
{
	struct fold_frame *frame = push_open(thread, run->count, record->time);

	frame->inside = take_carried(thread, (uint64_t)(record->bytes - run->scan.bytes));
	frame->kept = is_left(run, thread, run->count++);
	if (!frame->kept)
		return;
	pass_section(run);
	frame->offset = run->passed;
	pass_record(run, record);
}

/* Pass on an end with the slices that its own slice counts. */
static void pass_counting_end(struct fold_run *run, const struct scan_record *record,
			      const struct scan_folded *inside)
{
	uint8_t copy[SCAN_RECORD_MAX];
	size_t size = ftf_scan_with_folded(&run->scan, record, inside, copy);

	if (!size) {
		pass_record(run, record);
		return;
	}
	pass_section(run);
	pass_bytes(run, copy, size);
}

static void pass_end(struct fold_run *run, struct fold_thread *thread,
		     const struct scan_record *record)
{
	struct scan_folded own = ftf_scan_folded(&run->scan, record);
	struct fold_frame *frame;

	if (!thread->depth) {
		pass_record(run, record);
		return;
	}
	frame = &thread->frames[--thread->depth];
	if (!frame->kept) {
		fold_slice(run, thread, lasted(frame->begin, record->time),
			   frame->inside.folded + own.folded);
	} else if (!frame->inside.folded || !run->fold->args) {
		pass_record(run, record);
	} else {
		frame->inside.folded += own.folded;
		frame->inside.folded_time += own.folded_time;
		pass_counting_end(run, record, &frame->inside);
	}
}

static void pass_complete(struct fold_run *run, struct fold_thread *thread,
			  const struct scan_record *record)
{
	if (is_left(run, thread, run->count++))
		pass_record(run, record);
	else
		fold_slice(run, thread, lasted(record->time, record->end),
			   ftf_scan_folded(&run->scan, record).folded);
}

static void pass(struct fold_run *run)
{
	struct scan_record record;

	while (ftf_scan_next(&run->scan, &record)) {
		if (record.kind == SCAN_BEGIN)
			pass_begin(run, thread_of(run->fold, &record), &record);
		else if (record.kind == SCAN_END)
			pass_end(run, thread_of(run->fold, &record), &record);
		else if (record.kind == SCAN_COMPLETE)
			pass_complete(run, thread_of(run->fold, &record), &record);
		else if (record.kind == SCAN_PROVIDER)
			pass_provider(run, &record);
		else if (record.kind != SCAN_SECTION)
			pass_record(run, &record);
		leave_behind(&run->scan, &record);
	}
	pass_section(run);
	flush_run(run);
}

/* The slices that are open are carried into the next run. */
static void end_run(struct ftf_fold *fold)
{
	for (struct fold_thread *thread = fold->threads; thread; thread = thread->hh.next) {
		struct fold_frame *frames = thread->frames;

		free(thread->carried);
		thread->carried = NULL;
		thread->carried_count = thread->carried_at = 0;
		if (thread->depth) {
			thread->carried = frames;
			thread->carried_count = thread->depth;
			thread->frames = NULL;
			thread->room = thread->depth = 0;
		}
		free(thread->classes);
		thread->classes = NULL;
		thread->nested = 0;
	}
}

void ftf_fold_run(struct ftf_fold *fold, const uint8_t *bytes, uint64_t size,
		  const struct fold_output *output)
{
	struct fold_run run = { .fold = fold,
				.output = output,
				.scan = { .bytes = bytes, .size = size } };

	measure(&run);
	choose(&run);
	ftf_scan_release(&run.scan);
	run.scan = (struct ftf_scan){ .bytes = bytes, .size = size };
	run.count = 0;
	pass(&run);
	end_run(fold);
	ftf_scan_release(&run.scan);
	big_array_release(&run.classes);
}

void ftf_fold_release(struct ftf_fold *fold)
{
	struct fold_thread *thread, *next;

	HASH_ITER(hh, fold->threads, thread, next)
	{
		HASH_DEL(fold->threads, thread);
		free(thread->frames);
		free(thread->carried);
		free(thread->classes);
		free(thread);
	}
	*fold = (struct ftf_fold){ 0 };
}
