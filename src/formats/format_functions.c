/* SPDX-License-Identifier: MIT */
/*
 * --format=functions: a table of the functions: how often they were called, how
 * long their calls took together (total) and without the slices in them (self),
 * its share of all, and the shortest, median, 99th percentile and longest call.
 * Times have units, as people read the table; programs read the answer of --json.
 *
 * Of a function that calls itself, the total counts the outermost call only, so
 * no time counts twice in one thread.  Functions of one name are one row.  The
 * median and the percentile are of a histogram: exact below 256 ns, and to one
 * part in 128 above (struct durations).
 *
 * If times are unknown, instructions are counted in place of ns.
 */

#include "base/tables/name.h"
#include "base/tables/pair_table.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/short_time.h"
#include "src/formats/text/time_note.h"
#include "src/options/options.h"
#include "src/slices/durations.h"
#include "src/slices/track.h"

struct function_row {
	const struct name *name;
	uint64_t total, self; /* ns, or instructions, as all below */
	struct durations calls;
};

/* The row of a slice that does not count: SLICE_CONTEXT. */
#define NO_ROW UINT32_MAX

struct function_frame {
	uint64_t begin, within; /* when, and how long the slices in it took */
	uint32_t row, open;     /* the place in open_counts */
};

struct function_track {
	struct function_frame *frames; /* owned; the open slices, innermost last */
	size_t count, room;
	uint64_t insns; /* of the thread up to the last event that had them */
};

struct functions_output {
	struct format_output output; /* first */
	enum function_order order;
	size_t top;                /* rows that are shown, at most; 0: all */
	struct function_row *rows; /* owned; by `ids` */
	size_t row_room;
	struct pair_table ids;  /* of (0, id of name) */
	struct pair_table open; /* of (index of track, row): place in `open_counts` */
	uint32_t *open_counts;  /* owned: open slices of this function on this track */
	size_t open_room;
	struct function_track *tracks; /* owned; by index of the track */
	size_t track_room;
	uint64_t slices;
};

static struct function_track *functions_track_of(struct functions_output *functions,
						 const struct track *track)
{
	functions->tracks = alloc_grow_zeroed(functions->tracks, &functions->track_room,
					      (size_t)track->index + 1, sizeof(*functions->tracks));
	return &functions->tracks[track->index];
}

static uint32_t row_of(struct functions_output *functions, const struct name *name)
{
	size_t count = functions->ids.count;
	uint32_t row = pair_table_find(&functions->ids, 0, name->id);

	if (row == count) {
		functions->rows = alloc_grow(functions->rows, &functions->row_room, count + 1,
					     sizeof(*functions->rows));
		functions->rows[row] = (struct function_row){ .name = name };
	}
	return row;
}

/* Returns the index of the count of a function's open slices on a track. */
static uint32_t open_of(struct functions_output *functions, uint32_t track, uint32_t row)
{
	uint32_t open = pair_table_find(&functions->open, track, row);

	functions->open_counts =
		alloc_grow_zeroed(functions->open_counts, &functions->open_room, (size_t)open + 1,
				  sizeof(*functions->open_counts));
	return open;
}

static void begin_call(struct functions_output *functions, uint32_t thread,
		       struct function_track *track, const struct slice_event *event, uint64_t now)
{
	struct function_frame frame = { .begin = now, .row = NO_ROW };

	if (!(event->flags & SLICE_CONTEXT)) {
		frame.row = row_of(functions, event->symbol->name);
		frame.open = open_of(functions, thread, frame.row);
		functions->open_counts[frame.open]++;
	}
	*ARRAY_ADD(track->frames, track->count, track->room) = frame;
	functions->slices++;
}

static void end_call(struct functions_output *functions, struct function_track *track, uint64_t now)
{
	const struct function_frame *frame;
	struct function_row *row;
	uint64_t took;

	if (!track->count)
		return;
	frame = &track->frames[--track->count];
	if (frame->row == NO_ROW)
		return;
	row = &functions->rows[frame->row];
	took = now - frame->begin;
	durations_add(&row->calls, took);
	row->self += took - frame->within;
	if (--functions->open_counts[frame->open] == 0)
		row->total += took;
	if (track->count)
		track->frames[track->count - 1].within += took;
}

static void count_events(const struct slice_sink *sink, void *context,
			 const struct slice_batch *batch)
{
	const struct track *thread = context;
	struct function_track *track = functions_track_of(sink->context, thread);

	for (size_t i = 0; i < batch->count; i++) {
		const struct slice_event *event = &batch->events[i];
		const struct slice_detail *detail = slice_batch_detail(batch, event);
		uint64_t now = event->time;

		if (detail && detail->insns > track->insns)
			track->insns = detail->insns;
		if (sink->details)
			now = track->insns;
		if (event->kind == SLICE_BEGIN)
			begin_call(sink->context, thread->index, track, event, now);
		else if (event->kind == SLICE_END)
			end_call(sink->context, track, now);
	}
}

static struct format_output *open_functions(const struct format_request *request, struct error *err)
{
	struct functions_output *functions = alloc_zeroed(1, sizeof(*functions));

	(void)err;
	functions->order = request->options->select.order;
	functions->top = request->options->select.top;
	functions->output.text = request->text;
	functions->output.slices = &functions->slices;
	functions->output.sink = (struct slice_sink){ .events = count_events,
						      .context = functions,
						      .details = request->facts.by_insns };
	return &functions->output;
}

/* ---- The table ----------------------------------------------------------- */

static int compare_names(const void *left, const void *right)
{
	const struct function_row *a = left, *b = right;

	return strcmp(a->name->text, b->name->text);
}

/* The larger first; where equal, by name. */
static int compare_numbers(uint64_t a, uint64_t b, const void *left, const void *right)
{
	if (a != b)
		return a > b ? -1 : 1;
	return compare_names(left, right);
}

static int compare_self(const void *left, const void *right)
{
	const struct function_row *a = left, *b = right;

	return compare_numbers(a->self, b->self, left, right);
}

static int compare_total(const void *left, const void *right)
{
	const struct function_row *a = left, *b = right;

	return compare_numbers(a->total, b->total, left, right);
}

static int compare_calls(const void *left, const void *right)
{
	const struct function_row *a = left, *b = right;

	return compare_numbers(a->calls.count, b->calls.count, left, right);
}

/* Returns the number of rows that are shown. */
static size_t shown_rows(const struct functions_output *functions)
{
	size_t count = functions->ids.count;

	return functions->top && functions->top < count ? functions->top : count;
}

static uint64_t sum_of_self(const struct functions_output *functions)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < functions->ids.count; i++)
		sum += functions->rows[i].self;
	return sum;
}

static void print_cell(const struct functions_output *functions, uint64_t value)
{
	char text[SHORT_TIME_SIZE];

	amount_text(text, functions->output.sink.details, value);
	fprintf(functions->output.text, " %10s", text);
}

static void print_row(const struct functions_output *functions, const struct function_row *row,
		      double all)
{
	FILE *out = functions->output.text;

	fprintf(out, "%10" PRIu64, row->calls.count);
	print_cell(functions, row->total);
	print_cell(functions, row->self);
	fprintf(out, " %5.1f%%", all > 0 ? 100 * (double)row->self / all : 0);
	print_cell(functions, row->calls.min);
	print_cell(functions, durations_percentile(&row->calls, 50));
	print_cell(functions, durations_percentile(&row->calls, 99));
	print_cell(functions, row->calls.max);
	fputs("  ", out);
	escaped_text_print(row->name->text, row->name->length, out);
	putc('\n', out);
}

static int print_functions(struct format_output *output, struct error *err)
{
	static int (*const compare[])(const void *, const void *) = {
		[ORDER_SELF] = compare_self,
		[ORDER_TOTAL] = compare_total,
		[ORDER_CALLS] = compare_calls,
		[ORDER_NAME] = compare_names,
	};
	struct functions_output *functions = (struct functions_output *)output;
	double all = (double)sum_of_self(functions);
	size_t count = functions->ids.count;
	FILE *out = output->text;

	(void)err;
	if (count)
		qsort(functions->rows, count, sizeof(*functions->rows), compare[functions->order]);
	fprintf(out, "%10s %10s %10s %6s %10s %10s %10s %10s  %s%s\n", "calls", "total", "self",
		"share", "min", "median", "p99", "max", "function",
		output->sink.details ? "  (all in instructions)" : "");
	for (size_t i = 0; i < shown_rows(functions); i++)
		print_row(functions, &functions->rows[i], all);
	if (count)
		time_note_print(output->machine, out);
	return 0;
}

/* ---- The answer for --json ------------------------------------------------ */

static json_t *row_json(const struct functions_output *functions, const struct function_row *row)
{
	const struct durations *calls = &row->calls;
	bool by_insns = functions->output.sink.details;
	json_t *object =
		json_pack("{so sI}", "function", json_any_text(row->name->text, row->name->length),
			  "calls", (json_int_t)calls->count);

	amount_set(object, "total", by_insns, row->total);
	amount_set(object, "self", by_insns, row->self);
	amount_set(object, "min", by_insns, calls->min);
	amount_set(object, "median", by_insns, durations_percentile(calls, 50));
	amount_set(object, "p99", by_insns, durations_percentile(calls, 99));
	amount_set(object, "max", by_insns, calls->max);
	return object;
}

static json_t *answer_functions(const struct format_output *output)
{
	const struct functions_output *functions = (const struct functions_output *)output;
	json_t *list = json_array(), *answer;

	for (size_t i = 0; i < shown_rows(functions); i++)
		json_array_append_new(list, row_json(functions, &functions->rows[i]));
	answer = json_pack("{ss so sI}", "format", "functions", "functions", list, "function_count",
			   (json_int_t)functions->ids.count);
	amount_set(answer, "self", output->sink.details, sum_of_self(functions));
	time_note_add(answer, output->machine);
	return answer;
}

static void release_functions(struct format_output *output)
{
	struct functions_output *functions = (struct functions_output *)output;

	for (size_t i = 0; i < functions->ids.count; i++)
		durations_release(&functions->rows[i].calls);
	for (size_t i = 0; i < functions->track_room; i++)
		free(functions->tracks[i].frames);
	pair_table_release(&functions->ids);
	pair_table_release(&functions->open);
	free(functions->rows);
	free(functions->open_counts);
	free(functions->tracks);
}

const struct output_format format_functions = {
	.name = "functions",
	.lines = true,
	.slices = SLICES_SORTED,
	.open = open_functions,
	.finish = print_functions,
	.answer = answer_functions,
	.release = release_functions,
};
