/* SPDX-License-Identifier: MIT */
/* Rank the slices of a trace, and pass on the records of slices that stay. */
#include "src/formats/ftf/ftf_fit.h"

#include <sys/mman.h>

#include "base/pages.h"
#include "src/formats/ftf/ftf_scan.h"

/* Bytes of a trace in memory, and per reading step. */
#define BYTES_MEMORY ((size_t)1 << 20)
#define STEP         ((size_t)1 << 20)

/* Bytes of ranks in memory. */
#define RANK_MEMORY ((size_t)4 << 20)

/* Rank of a slice that has not ended, above all others. */
#define RANK_OPEN UINT32_MAX

struct fit_run {
	struct fit_ranks roots; /* ranks of outermost slices, of all threads */
	uint64_t marks;
	struct ftf_scan scan;
	struct big_array ranks; /* uint32_t of each remaining slice */
	size_t count;           /* ranks; when finishing, ranks read */
	size_t next;            /* choose again at this `count` */
	bool finishes;          /* remaining records go to the output */
	struct fit_bytes left;
	uint32_t provider;          /* provider of the last remaining record */
	struct scan_thread *thread; /* borrowed: of the last event, and of all open whole slices */
	size_t whole;               /* whole ones */
};

/* ---- Ranks --------------------------------------------------------------- */

/* Returns the ranks for slices inside the open ones. */
static struct fit_ranks *ranks_of(struct fit_run *run, struct scan_thread *thread)
{
	return thread->depth || thread->in_part ? &thread->ranks : &run->roots;
}

static uint32_t rank_at(const struct fit_run *run, size_t index)
{
	return ((const uint32_t *)run->ranks.items)[index];
}

static void set_rank(struct fit_run *run, size_t index, uint32_t rank)
{
	if (index == run->ranks.room)
		big_array_grow(&run->ranks, index + 1, sizeof(uint32_t), RANK_MEMORY);
	((uint32_t *)run->ranks.items)[index] = rank;
}

static uint64_t lasted(uint64_t begin, uint64_t end)
{
	return end > begin ? end - begin : 0;
}

/* ---- Remaining records --------------------------------------------------- */

static inline void add_bytes(struct fit_bytes *to, const void *bytes, size_t size)
{
	size_t step = to->size / STEP;

	if (to->size + size > to->array.room)
		big_array_grow(&to->array, to->size + size, 1, BYTES_MEMORY);
	memcpy((uint8_t *)to->array.items + to->size, bytes, size);
	to->size += size;
	if (to->size / STEP != step)
		big_array_rest(&to->array, step * STEP, to->size, 1);
}

/* Returns the buffer of remaining records; when finishing, used while a whole slice is open. */
static struct fit_bytes *bytes_of(struct ftf_fit *fit)
{
	return fit->run->finishes ? &fit->early : &fit->run->left;
}

/* Pass on a record of at most SCAN_RECORD_MAX, after a section record if the provider changes. */
static void pass_bytes(struct ftf_fit *fit, const void *bytes, size_t size)
{
	struct fit_run *run = fit->run;
	uint32_t provider = run->scan.provider;
	uint64_t section = UINT64_C(1) << 4 | UINT64_C(2) << 16 | (uint64_t)provider << 20;

	if (run->provider != provider) {
		run->provider = provider;
		pass_bytes(fit, &section, sizeof(section));
	}
	add_bytes(bytes_of(fit), bytes, size);
}

static void pass_record(struct ftf_fit *fit)
{
	/* A provider's first record also starts its section. */
	if (fit->run->scan.kind == SCAN_PROVIDER)
		fit->run->provider = fit->run->scan.provider;
	pass_bytes(fit, fit->run->scan.record, fit->run->scan.record_size);
}

/* ---- The filter ---------------------------------------------------------- */

/* A slice does not stay: the enclosing slice counts it and its `inside` slices. */
static void fold_slice(struct ftf_fit *fit, struct scan_thread *thread, uint64_t duration,
		       uint64_t inside)
{
	uint64_t *around = thread->folded;

	if (!thread->depth && !thread->in_part) {
		fit->counts.left_out++;
		return;
	}
	fit->counts.folded++;
	if (thread->depth)
		around = thread->frames[thread->depth - 1].folded;
	else
		thread->outermost++;
	around[0] += 1 + inside;
	around[1] += duration;
}

static void take_begin(struct ftf_fit *fit, struct scan_thread *thread)
{
	struct fit_run *run = fit->run;
	uint32_t least = ranks_of(run, thread)->least;
	struct fit_frame *frame = ARRAY_ADD(thread->frames, thread->depth, thread->room);

	*frame = (struct fit_frame){ .index = run->count++,
				     .begin = run->scan.time,
				     .at = run->left.size,
				     .provider = run->provider };
	if (!run->finishes)
		set_rank(run, frame->index, RANK_OPEN);
	frame->stays = rank_at(run, frame->index) >= least;
	if (frame->stays)
		pass_record(fit);
	frame->end = run->left.size;
}

/*
 * Rank a slice that ends. If it does not stay, remove its begin, unless records follow; then the
 * slice stays until the end.
 */
static void rank_slice(struct fit_run *run, struct scan_thread *thread, struct fit_frame *frame,
		       uint64_t duration)
{
	struct fit_ranks *ranks = ranks_of(run, thread);
	uint32_t rank = fit_ranks_add(ranks, duration, thread->depth);

	set_rank(run, frame->index, rank);
	if (rank >= ranks->least || frame->end != run->left.size)
		return;
	frame->stays = false;
	run->left.size = frame->at;
	run->provider = frame->provider;
	run->count = frame->index;
}

/* A part with late slices begins or ends. */
static void take_part(struct ftf_fit *fit, struct scan_thread *thread)
{
	if (!fit->run->finishes)
		pass_record(fit);
	/* Slices that no late one encloses. */
	fit->counts.folded -= thread->outermost;
	fit->counts.left_out += thread->outermost;
	thread->in_part = !thread->in_part;
	thread->part_begin = thread->in_part ? UINT64_MAX : 0;
	memset(thread->folded, 0, sizeof(thread->folded));
	thread->outermost = 0;
}

/* Take the end of a late slice, which stays, with the number of slices folded since the last one.
 */
static void take_late_end(struct ftf_fit *fit, struct scan_thread *thread)
{
	const struct ftf_scan *scan = &fit->run->scan;
	uint8_t copy[SCAN_RECORD_MAX];
	size_t size = 0;

	ftf_scan_folded(scan, thread->folded);
	if (thread->folded[0] && fit->args)
		size = ftf_scan_with_folded(scan, thread->folded, copy);
	if (size)
		pass_bytes(fit, copy, size);
	else
		pass_record(fit);
	memset(thread->folded, 0, sizeof(thread->folded));
	thread->outermost = 0;
}

static void take_end(struct ftf_fit *fit, struct scan_thread *thread)
{
	const struct ftf_scan *scan = &fit->run->scan;
	uint8_t copy[SCAN_RECORD_MAX];
	struct fit_frame *frame;
	uint64_t duration, inside;
	size_t size;

	if (!thread->depth) {
		take_late_end(fit, thread);
		return;
	}
	frame = &thread->frames[--thread->depth];
	duration = lasted(frame->begin, scan->time);
	if (!fit->run->finishes)
		rank_slice(fit->run, thread, frame, duration);
	inside = frame->folded[0];
	ftf_scan_folded(scan, frame->folded);
	if (!frame->stays)
		fold_slice(fit, thread, duration, frame->folded[0]);
	else if (inside && fit->args && (size = ftf_scan_with_folded(scan, frame->folded, copy)))
		pass_bytes(fit, copy, size);
	else
		pass_record(fit);
}

/* Take a slice of one record, which can contain the thread's next slices. */
static void take_complete(struct ftf_fit *fit, struct scan_thread *thread)
{
	struct fit_run *run = fit->run;
	struct fit_ranks *ranks = ranks_of(run, thread);
	uint64_t duration = lasted(run->scan.time, run->scan.end), folded[2] = { 0 };
	uint32_t rank = run->finishes ? rank_at(run, run->count)
				      : fit_ranks_add(ranks, duration, thread->depth);
	bool stays = rank >= ranks->least;
	struct fit_frame *frame;

	if (stays && !run->finishes)
		set_rank(run, run->count, rank);
	run->count += stays || run->finishes;
	if (stays) {
		pass_record(fit);
	} else if (ftf_scan_is_leaf(&run->scan)) {
		ftf_scan_folded(&run->scan, folded);
		fold_slice(fit, thread, duration, folded[0]);
		return;
	}
	frame = ARRAY_ADD(thread->frames, thread->depth, thread->room);
	*frame = (struct fit_frame){ .begin = run->scan.time,
				     .until = run->scan.end,
				     .end = bytes_of(fit)->size,
				     .provider = run->scan.provider,
				     .stays = stays,
				     .whole = true };
	ftf_scan_folded(&run->scan, frame->folded);
	frame->at = frame->end - run->scan.record_size;
	run->whole++;
}

/* Add the number of folded slices to the record of a whole slice. */
static __attribute__((noinline)) void add_folded(struct ftf_fit *fit, const struct fit_frame *frame)
{
	struct fit_bytes *to = bytes_of(fit);
	uint8_t copy[SCAN_RECORD_MAX], *record = (uint8_t *)to->array.items + frame->at;
	size_t size, after = to->size - frame->end;
	struct ftf_scan scan;

	scan = ftf_scan_at(&fit->run->scan, record, frame->provider);
	size = ftf_scan_with_folded(&scan, frame->folded, copy);
	if (!size)
		return;
	add_bytes(to, copy, size - scan.record_size);
	record = (uint8_t *)to->array.items + frame->at;
	memmove(record + size, record + scan.record_size, after);
	memcpy(record, copy, size);
}

static void end_complete(struct ftf_fit *fit, struct scan_thread *thread)
{
	const struct fit_frame *frame = &thread->frames[--thread->depth];

	fit->run->whole--;
	if (!frame->stays)
		fold_slice(fit, thread, lasted(frame->begin, frame->until), frame->folded[0]);
	else if (frame->folded[0] && fit->args)
		add_folded(fit, frame);
}

/* End the whole slices before the next event, of this thread and time; NULL: no event. */
static inline __attribute__((always_inline)) void end_completes(struct ftf_fit *fit,
								struct scan_thread *thread,
								uint64_t time)
{
	struct fit_run *run = fit->run;
	struct scan_thread *last = run->thread;

	if (last != thread)
		time = UINT64_MAX;
	while (last && last->depth && last->frames[last->depth - 1].whole &&
	       last->frames[last->depth - 1].until <= time)
		end_complete(fit, last);
	run->thread = thread;
	if (run->finishes && !run->whole && (fit->early.size > STEP / 2 || !thread)) {
		output_write(fit->output, fit->early.array.items, fit->early.size);
		fit->early.size = 0;
	}
}

/* An arrow binds to the innermost slice, and stays only with it. */
static void take_flow(struct ftf_fit *fit, const struct scan_thread *thread)
{
	if (!thread->depth || thread->frames[thread->depth - 1].stays)
		pass_record(fit);
}

static void choose_again(struct ftf_fit *fit);

/* Returns whether a begin or end is of the late slices of a part, which stay. */
static bool is_late(struct ftf_fit *fit)
{
	const struct ftf_scan *scan = &fit->run->scan;
	struct scan_thread *thread = scan->thread;

	if (scan->kind < SCAN_FLOW || scan->time >= thread->part_begin)
		return false;
	if (thread->part_begin == UINT64_MAX)
		thread->part_begin = scan->time;
	return scan->time < thread->part_begin;
}

/* Take the scan's whole records. */
static void take_records(struct ftf_fit *fit)
{
	struct fit_run *run = fit->run;

	while (ftf_scan_next(&run->scan)) {
		enum scan_kind kind = run->scan.kind;

		bool late = is_late(fit);

		if (kind >= SCAN_PART)
			end_completes(fit, run->scan.thread,
				      late || kind == SCAN_PART ? UINT64_MAX : run->scan.time);
		if (late)
			pass_record(fit);
		else if (kind == SCAN_PART)
			take_part(fit, run->scan.thread);
		else if (kind == SCAN_BEGIN)
			take_begin(fit, run->scan.thread);
		else if (kind == SCAN_END)
			take_end(fit, run->scan.thread);
		else if (kind == SCAN_COMPLETE)
			take_complete(fit, run->scan.thread);
		else if (kind == SCAN_FLOW)
			take_flow(fit, run->scan.thread);
		else if (kind != SCAN_SECTION && !(kind == SCAN_TRACK && run->finishes))
			pass_record(fit);
		run->marks += kind == SCAN_INSTANT || (late && kind == SCAN_BEGIN);
		if (run->count >= run->next && !run->finishes)
			choose_again(fit);
	}
}

/* Take a trace from its begin.  `mapped`: it is in a file. */
static void take_trace(struct ftf_fit *fit, const uint8_t *bytes, uint64_t size, bool mapped)
{
	struct ftf_scan *scan = &fit->run->scan;

	scan->bytes = bytes;
	scan->size = scan->at = 0;
	while (scan->size < size) {
		uint64_t begin = scan->size;

		scan->size = size - begin < STEP ? size : begin + STEP;
		take_records(fit);
		if (begin && mapped)
			pages_give_back(bytes + begin - STEP, STEP);
	}
}

/* ---- The choice ---------------------------------------------------------- */

/* Choose the ranks that stay among the slices so far; `others` stay anyway. */
static void choose(struct ftf_fit *fit, uint64_t others)
{
	struct ftf_scan *scan = &fit->run->scan;
	size_t count = 0;
	struct fit_ranks **threads =
		alloc_zeroed(HASH_COUNT(scan->threads) + 1, sizeof(struct fit_ranks *));

	for (struct scan_thread *thread = scan->threads; thread; thread = thread->hh.next)
		threads[count++] = &thread->ranks;
	/* The chosen ranks never decrease, so neither does the duration. */
	fit->counts.shortest =
		fit_ranks_choose_all(&fit->run->roots, threads, count, fit->limit, others);
	free(threads);
}

/* Choose again, after a quarter of the limit more slices have remained. */
static void choose_again(struct ftf_fit *fit)
{
	choose(fit, fit->run->marks);
	fit->run->next = fit->run->count + fit->limit / 4 + 1;
}

/* ---- Destinations of bytes ------------------------------------------------------ */

/* The output keeps its own error, which names the file. */
static int write_trace(void *context, const void *bytes, size_t size)
{
	output_write(context, bytes, size);
	return 0;
}

static int write_early(void *context, const void *bytes, size_t size)
{
	struct ftf_fit *fit = context;

	add_bytes(&fit->early, bytes, size);
	fit->output->elsewhere = fit->early.size;
	return 0;
}

static int write_run(void *context, const void *bytes, size_t size)
{
	struct ftf_fit *fit = context;
	struct ftf_scan *scan = &fit->run->scan;

	scan->bytes = bytes;
	scan->size = size;
	scan->at = 0;
	take_records(fit);
	fit->output->elsewhere = fit->run->left.size;
	return 0;
}

/* ---- Life cycle ------------------------------------------------------ */

/* Start to filter, with the records written so far. */
static void begin_run(struct ftf_fit *fit)
{
	struct fit_bytes *early = &fit->early;
	struct output *output = fit->output;
	const uint8_t *bytes = output_is_readable(output) ? output_map(output) : NULL;

	fit->next = UINT64_MAX;
	fit->run = alloc_zeroed(1, sizeof(*fit->run));
	fit->run->next = fit->limit + fit->limit / 4 + 1;
	take_trace(fit, early->array.items, early->size, early->array.mapped);
	big_array_release(&early->array);
	early->size = 0;
	if (bytes) {
		take_trace(fit, bytes, output->written, true);
		munmap((void *)(uintptr_t)bytes, output->written);
	}
	if (output_is_readable(output))
		output_clear(output);
}

void ftf_fit_now(struct ftf_fit *fit, struct ftf_writer *writer)
{
	const struct ftf_destination to = { write_run, fit };

	ftf_flush(writer);
	begin_run(fit);
	ftf_set_destination(writer, &to);
}

/* All ranks are known: filter the remaining records into the output. */
static void finish_run(struct ftf_fit *fit)
{
	struct fit_run *run = fit->run;
	uint64_t open = 0;

	end_completes(fit, NULL, 0);
	for (struct scan_thread *thread = run->scan.threads; thread; thread = thread->hh.next) {
		open += thread->depth;
		thread->depth = thread->part_begin = 0;
		thread->in_part = false;
		thread->current = thread;
	}
	choose(fit, run->marks + open);
	ftf_scan_restart(&run->scan);
	run->finishes = true;
	run->count = run->provider = 0;
	take_trace(fit, run->left.array.items, run->left.size, run->left.array.mapped);
	end_completes(fit, NULL, 0);
}

static void write_bytes(struct output *output, const struct fit_bytes *bytes)
{
	for (size_t at = 0; at < bytes->size; at += STEP) {
		size_t part = bytes->size - at < STEP ? bytes->size - at : STEP;

		output_write(output, (const uint8_t *)bytes->array.items + at, part);
		big_array_rest(&bytes->array, at, at + part, 1);
	}
}

void ftf_fit_finish(struct ftf_fit *fit, uint64_t slices)
{
	if (!fit->run && fit->limit && slices > fit->limit)
		begin_run(fit);
	if (fit->run)
		finish_run(fit);
	else
		write_bytes(fit->output, &fit->early);
}

void ftf_fit_init(struct ftf_fit *fit, struct output *output, uint64_t limit, bool args)
{
	*fit = (struct ftf_fit){
		.output = output,
		.limit = limit,
		.next = limit ? limit + 1 : UINT64_MAX,
		.args = args,
	};
}

struct ftf_destination ftf_fit_destination(struct ftf_fit *fit)
{
	if (!fit->limit || output_is_readable(fit->output))
		return (struct ftf_destination){ write_trace, fit->output };
	return (struct ftf_destination){ write_early, fit };
}

void ftf_fit_release(struct ftf_fit *fit)
{
	struct fit_run *run = fit->run;

	big_array_release(&fit->early.array);
	if (!run)
		return;
	fit_ranks_release(&run->roots);
	ftf_scan_release(&run->scan);
	big_array_release(&run->ranks);
	big_array_release(&run->left.array);
	free(run);
	fit->run = NULL;
}
