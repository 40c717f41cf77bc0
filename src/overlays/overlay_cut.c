/* SPDX-License-Identifier: MIT */
/* Cuts a memtrace file: reads it twice for the blocks of the range, then writes them. */
#include "src/overlays/overlays.h"

#define NS_PER_US UINT64_C(1000)

/* Numbers of blocks: sorted, without duplicates. */
struct numbers {
	uint64_t *numbers; /* owned */
	size_t count, room;
};

struct cut {
	uint64_t from, to;     /* us since the file's start; inclusive */
	struct numbers dead;   /* collected before the range */
	struct numbers blocks; /* written */
	struct memtrace whole; /* read to its end: has all locations */
};

/* ---- Numbers ------------------------------------------------------------- */

COMPARE_WITH(compare_numbers, uint64_t, COMPARE(*a, *b))

/* Returns the index of a number; SIZE_MAX: it is not in the list. */
static size_t find(const struct numbers *list, uint64_t number)
{
	size_t at = LOWER_BOUND(i, list->count, list->numbers[i] < number);

	return at < list->count && list->numbers[at] == number ? at : SIZE_MAX;
}

/* ---- The range ----------------------------------------------------------- */

static int choose_range(struct cut *cut, const struct overlay_input *input,
			const struct selection *selection, struct error *err)
{
	uint64_t start = input->first_time, end = input->last_time;
	uint64_t from, to;

	selection_resolve(&selection->from, &selection->to, start, end, &from, &to);
	if (from > to)
		return error_set(err, ERROR_UNSUPPORTED, "--time: the range ends before it begins");
	if (from > end || to < start)
		return error_set(err, ERROR_UNSUPPORTED,
				 "--time: nothing was recorded in the range; %s is from %" PRIu64
				 ".%06" PRIu64 " to %" PRIu64 ".%06" PRIu64 " s",
				 input->path, start / 1000000000, start / 1000 % 1000000,
				 end / 1000000000, end / 1000 % 1000000);
	cut->from = from > start ? (from - start + NS_PER_US - 1) / NS_PER_US : 0;
	cut->to = (to - start) / NS_PER_US;
	return 0;
}

/* ---- The blocks ---------------------------------------------------------- */

/* List the blocks that are collected before the range (`dead`), or the blocks that are written. */
static void list_blocks(struct numbers *list, struct cut *cut, const struct overlay_input *input,
			bool dead)
{
	struct memtrace *trace = &cut->whole;
	struct memtrace_event event;
	size_t kept = 1;

	memtrace_close(trace);
	if (memtrace_open(trace, input->bytes, input->size, NULL, NULL) < 0)
		return;
	while (memtrace_next(trace, &event)) {
		bool early = event.time < cut->from;

		if (dead ? event.kind == MEMTRACE_COLLECT && early
			 : event.kind == MEMTRACE_ALLOC && event.time <= cut->to &&
				    (!early || find(&cut->dead, event.object) == SIZE_MAX))
			*ARRAY_ADD(list->numbers, list->count, list->room) = event.object;
	}
	/* Sort the numbers and drop duplicates, unless the list is in order. */
	while (kept < list->count && list->numbers[kept - 1] < list->numbers[kept])
		kept++;
	if (kept >= list->count)
		return;
	SORT(list->numbers, list->count, compare_numbers);
	kept = 1;
	for (size_t i = 1; i < list->count; i++)
		if (list->numbers[i] != list->numbers[kept - 1])
			list->numbers[kept++] = list->numbers[i];
	list->count = kept;
}

/* ---- The output ---------------------------------------------------------- */

static void put_bytes(void *context, const void *bytes, size_t size)
{
	output_write(context, bytes, size);
}

static void write_range(const struct cut *cut, struct memtrace *trace, struct output *output,
			struct overlay_cut_counts *counts)
{
	const struct memtrace_sink sink = { put_bytes, output };
	struct memtrace_writer *writer =
		memtrace_writer_open(&trace->info, &cut->whole.locations, sink);
	struct memtrace_event event;

	for (; memtrace_next(trace, &event); counts->events++) {
		size_t number = event.time <= cut->to ? find(&cut->blocks, event.object) : SIZE_MAX;
		bool early = event.time < cut->from;

		if (number == SIZE_MAX)
			continue;
		output->cut |= output_full(output);
		if (output->cut)
			break;
		counts->alive += early && event.kind == MEMTRACE_ALLOC;
		counts->written++;
		event.object = number;
		event.time = MAX(event.time, cut->from);
		memtrace_writer_put(writer, &event);
	}
	memtrace_writer_close(writer);
}

int overlay_cut(struct overlay_input *input, const struct selection *selection,
		struct output *output, struct overlay_cut_counts *counts, struct error *err)
{
	struct cut cut = { 0 };

	*counts = (struct overlay_cut_counts){ 0 };
	if (choose_range(&cut, input, selection, err) < 0)
		return -1;
	list_blocks(&cut.dead, &cut, input, true);
	list_blocks(&cut.blocks, &cut, input, false);
	free(cut.dead.numbers);
	write_range(&cut, &input->memtrace, output, counts);
	free(cut.blocks.numbers);
	memtrace_close(&cut.whole);
	return 0;
}
