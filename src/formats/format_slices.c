/* SPDX-License-Identifier: MIT */
/*
 * `--format=slices`: one line per finished slice,
 * `pid/tid depth begin_ns end_ns name key=value...`, sorted by pid and tid, each slice
 * before those in it.
 *
 * In names and values, control characters and backslashes become \xNN.  Slices are kept until the
 * end, because only then can they be sorted: many of them in a file without a name
 * (base/io/big_array.h).
 */

#include "base/io/big_array.h"
#include "src/formats/call_sites.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/options/options.h"
#include "src/slices/slice_args.h"
#include "src/slices/track.h"

/* Slices that stay in memory, in bytes: most runs print fewer. */
#define MEMORY_MOST ((size_t)8 << 20)

/* Accesses between two calls that let the slices leave memory. */
#define STEP ((size_t)1 << 12)

#define NONE SIZE_MAX

struct slice {
	uint64_t begin, end, ip;     /* ns, ns, address entered */
	const struct symbol *symbol; /* NULL: an instant */
	const struct name
		*text; /* of a slice the caller, "file:line", NULL: unknown; of an instant */
	struct slice_cost cost;
	uint64_t folded, folded_time; /* see struct slice_detail */
	size_t next;                  /* on this track, or NONE */
	uint32_t depth;
	uint16_t flags; /* enum slice_flags */
	bool finished;
};

struct slice_list {
	struct format_output output; /* first */
	struct big_array slices;     /* owned */
	uint64_t count;
	/* The slices of a track, in the order of their begins. */
	struct slice_track {
		const struct track *track; /* may be NULL */
		size_t first, last;
	} * tracks; /* owned; by index of the track */
	size_t track_count, track_room;
	uint64_t accesses;      /* of slices */
	enum option_args level; /* details of slices */
	struct call_sites sites;
	struct slice_files files;
};

static struct slice *slice_at(const struct slice_list *list, size_t index)
{
	return (struct slice *)list->slices.items + index;
}

/* Count an access: slices may be in a file, and do not need memory for long. */
static void count_access(struct slice_list *list)
{
	if (++list->accesses % STEP == 0)
		big_array_rest(&list->slices, 0, list->count, sizeof(struct slice));
}

static struct slice_track *listed_track_of(struct slice_list *list, const struct track *track)
{
	list->tracks = alloc_grow_zeroed(list->tracks, &list->track_room, (size_t)track->index + 1,
					 sizeof(*list->tracks));
	if (list->track_count <= track->index)
		list->track_count = (size_t)track->index + 1;
	return &list->tracks[track->index];
}

static struct slice *add_slice(struct slice_list *list, struct track *track, uint64_t time)
{
	struct slice_track *to = listed_track_of(list, track);
	size_t index = list->count++;

	big_array_grow(&list->slices, list->count, sizeof(struct slice), MEMORY_MOST);
	count_access(list);
	*slice_at(list, index) = (struct slice){
		.begin = time,
		.end = time,
		.next = NONE,
		.depth = (uint32_t)track->open_count,
	};
	if (to->track)
		slice_at(list, to->last)->next = index;
	else
		to->first = index;
	to->track = track;
	to->last = index;
	return slice_at(list, index);
}

static void begin_listed(struct slice_list *list, struct track *track,
			 const struct slice_event *event, const struct slice_detail *detail)
{
	struct slice *slice = add_slice(list, track, event->time);

	slice->symbol = event->symbol;
	slice->ip = event->ip;
	slice->flags = event->flags;
	if (list->level == OPTION_ARGS_FULL)
		slice_costs_begin(&track->costs, detail);
	if (detail)
		slice->text = call_sites_find(&list->sites, detail->caller, detail->caller_offset);
	*ARRAY_ADD(track->open, track->open_count, track->open_room) = list->count - 1;
}

static void end_listed(struct slice_list *list, struct track *track, uint64_t time,
		       const struct slice_detail *detail)
{
	struct slice *slice;

	if (!track->open_count)
		return;
	slice = slice_at(list, track->open[--track->open_count]);
	count_access(list);
	slice->end = time;
	slice->finished = true;
	if (list->level == OPTION_ARGS_FULL)
		slice->cost = slice_costs_end(&track->costs, detail);
	if (detail) {
		slice->folded = detail->folded;
		slice->folded_time = detail->folded_time;
	}
}

static void add_instant(struct slice_list *list, struct track *track,
			const struct slice_event *event)
{
	struct slice *slice = add_slice(list, track, event->time);

	slice->text = name_intern_text(list->sites.names, event->text);
	slice->finished = true;
}

static void add_events(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		const struct slice_event *event = &batch->events[i];
		const struct slice_detail *detail = slice_batch_detail(batch, event);

		if (event->kind == SLICE_BEGIN)
			begin_listed(sink->context, track, event, detail);
		else if (event->kind == SLICE_END)
			end_listed(sink->context, track, event->time, detail);
		else
			add_instant(sink->context, track, event);
	}
}

static struct format_output *open_slices(const struct format_request *request, struct error *err)
{
	struct slice_list *list = alloc_zeroed(1, sizeof(*list));

	(void)err;
	list->level = request->options->args;
	list->sites.names = request->names;
	list->output.text = request->text;
	list->output.slices = &list->count;
	list->output.sink = (struct slice_sink){
		.events = add_events,
		.context = list,
		.details = list->level == OPTION_ARGS_FULL,
		.folded = true,
	};
	return &list->output;
}

static void print_slice_args(const struct slice_args *args, FILE *out)
{
	for (const struct slice_arg *arg = args->list; arg < args->list + args->count; arg++) {
		fprintf(out, " %s=", slice_arg_text(arg->key));
		switch (arg->type) {
		case SLICE_ARG_NUMBER:
			fprintf(out, "%" PRIu64, arg->number);
			break;
		case SLICE_ARG_POINTER:
			fprintf(out, "0x%" PRIx64, arg->number);
			break;
		case SLICE_ARG_NAME:
			escaped_text_print(arg->name->text, arg->name->length, out);
			break;
		case SLICE_ARG_REAL:
			fprintf(out, "%.15g", arg->real);
			break;
		case SLICE_ARG_TRUE:
			fputs("true", out);
			break;
		}
	}
}

static void print_args_of(struct slice_list *list, const struct slice *slice, FILE *out)
{
	struct slice_args args;

	args.count = 0;
	slice_args_add_begin(&args, slice->symbol, slice->ip, slice->flags,
			     list->level == OPTION_ARGS_FULL);
	slice_args_add_dso(&args, slice->symbol, &list->files);
	print_slice_args(&args, out);
	args.count = 0;
	slice_args_add_caller(&args, slice->text);
	slice_args_add_cost(&args, slice->cost);
	slice_args_add_folded(&args, slice->folded, slice->folded_time);
	print_slice_args(&args, out);
}

static void print_slice(struct slice_list *list, const struct track *track,
			const struct slice *slice, FILE *out)
{
	const struct name *name = slice->symbol ? slice->symbol->name : slice->text;

	fprintf(out, "%d/%d %" PRIu32 " %" PRIu64 " %" PRIu64 " ", track->pid, track->tid,
		slice->depth, slice->begin, slice->end);
	escaped_text_print(name->text, name->length, out);
	if (slice->symbol && list->level != OPTION_ARGS_NONE)
		print_args_of(list, slice, out);
	putc('\n', out);
}

/* ---- In order ------------------------------------------------------------ */

static int compare_tracks(const void *left, const void *right)
{
	const struct track *a = ((const struct slice_track *)left)->track;
	const struct track *b = ((const struct slice_track *)right)->track;

	if (!a || !b)
		return !a - !b;
	return COMPARE(a->pid, b->pid) ?: COMPARE(a->tid, b->tid) ?: COMPARE(a->index, b->index);
}

/* Print a track's slices in the order of their begins. */
static void print_track(struct slice_list *list, const struct slice_track *track, FILE *out)
{
	for (size_t at = track->first; at != NONE; at = slice_at(list, at)->next) {
		if (slice_at(list, at)->finished)
			print_slice(list, track->track, slice_at(list, at), out);
		count_access(list);
	}
}

static int print_slices(struct format_output *output, struct error *err)
{
	struct slice_list *list = (struct slice_list *)output;

	(void)err;
	if (list->track_count)
		qsort(list->tracks, list->track_count, sizeof(*list->tracks), compare_tracks);
	for (size_t i = 0; i < list->track_count && list->tracks[i].track; i++)
		print_track(list, &list->tracks[i], output->text);
	return 0;
}

static void release_slices(struct format_output *output)
{
	struct slice_list *list = (struct slice_list *)output;

	big_array_release(&list->slices);
	free(list->tracks);
	call_sites_release(&list->sites);
	slice_files_release(&list->files);
}

const struct output_format format_slices = {
	.name = "slices",
	.lines = true,
	.slices = SLICES_SORTED,
	.cpu_events = true,
	.open = open_slices,
	.finish = print_slices,
	.release = release_slices,
};
