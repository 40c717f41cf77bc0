/* SPDX-License-Identifier: MIT */
/* The list of all slices. */
#include "src/formats/slice_list.h"

/* Bytes of slices in memory; most runs need less. */
#define MEMORY_MOST ((size_t)8 << 20)

/* Accesses between two releases of memory. */
#define STEP ((size_t)1 << 12)

#define NONE SIZE_MAX

static struct listed_slice *slice_at(const struct slice_list *list, size_t index)
{
	return (struct listed_slice *)list->slices.items + index;
}

/* Release the memory of slices in a file periodically. */
static void count_access(struct slice_list *list)
{
	if (++list->accesses % STEP == 0)
		big_array_rest(&list->slices, 0, list->count, sizeof(struct listed_slice));
}

/* Returns the rank of the track's next event, at least `least`. */
static uint16_t next_rank(struct listed_track *to, uint64_t time, unsigned least, bool ends)
{
	unsigned rank = 0;

	if (to->track && to->time == time)
		rank = to->rank + (unsigned)(ends || to->ended);
	rank = MAX(rank, least);
	to->time = time;
	to->ended = ends;
	to->rank = (uint16_t)MIN(rank, SLICE_RANK_MOST);
	return to->rank;
}

static struct listed_slice *add_slice(struct slice_list *list, struct track *track, uint64_t time)
{
	size_t index = list->count++;
	struct listed_track *to;

	ARRAY_GROW_ZEROED(list->tracks, list->track_room, (size_t)track->index + 1);
	list->track_count = MAX(list->track_count, (size_t)track->index + 1);
	to = &list->tracks[track->index];
	if (!index || time < list->first)
		list->first = time;
	big_array_grow(&list->slices, list->count, sizeof(struct listed_slice), MEMORY_MOST);
	count_access(list);
	*slice_at(list, index) = (struct listed_slice){
		.begin = time,
		.end = time,
		.next = NONE,
		.depth = (uint32_t)track->open_count,
		.begin_rank = next_rank(to, time, 0, false),
	};
	if (to->track)
		slice_at(list, to->last)->next = index;
	else
		to->first = index;
	to->track = track;
	to->last = index;
	return slice_at(list, index);
}

static void end_listed(struct slice_list *list, struct track *track,
		       const struct slice_event *event, const struct slice_detail *detail)
{
	struct listed_slice *slice;

	if (!track->open_count)
		return;
	slice = slice_at(list, track->open[--track->open_count]);
	count_access(list);
	slice->end = event->time;
	slice->end_rank = next_rank(&list->tracks[track->index], event->time,
				    slice->begin_rank + (slice->begin_rank > 0), true);
	slice->finished = true;
	slice->cut = (event->flags & SLICE_CUT) != 0;
	if (list->level == OPTION_ARGS_FULL)
		slice->cost = track_cost_end(track, detail);
	if (detail) {
		slice->branches[1] = detail->branch;
		slice->folded = detail->folded;
		slice->folded_time = detail->folded_time;
	}
}

static void add_events(const struct slice_sink *sink, void *context,
		       const struct slice_batch *batch)
{
	struct slice_list *list = sink->context;
	struct track *track = context;

	for (size_t i = 0; i < batch->count; i++) {
		const struct slice_event *event = &batch->events[i];
		const struct slice_detail *detail = slice_batch_detail(batch, event);
		struct listed_slice *slice;

		if (event->kind == SLICE_END) {
			end_listed(list, track, event, detail);
			continue;
		}
		slice = add_slice(list, track, event->time);
		if (event->kind != SLICE_BEGIN) {
			slice->text = name_intern_text(list->sites.names, event->text);
			slice->finished = true;
			continue;
		}
		slice->symbol = event->symbol;
		slice->ip = event->ip;
		slice->flags = event->flags;
		if (list->level == OPTION_ARGS_FULL)
			track_cost_begin(track, detail);
		if (detail) {
			slice->text = call_sites_find(&list->sites, detail->caller,
						      detail->caller_offset);
			slice->branches[0] = detail->branch;
		}
		*ARRAY_ADD(track->open, track->open_count, track->open_room) = list->count - 1;
	}
}

void slice_list_open(struct format_output *output, const struct format_request *request)
{
	struct slice_list *list = (struct slice_list *)output;

	list->level = request->options->args;
	list->sites.names = request->names;
	list->file = request->output;
	output->slices = &list->count;
	output->sink = (struct slice_sink){
		.events = add_events,
		.context = list,
		.details = list->level == OPTION_ARGS_FULL,
		.folded = list->level != OPTION_ARGS_NONE,
	};
}

void slice_list_take_events(struct format_output *output, const struct format_request *request)
{
	struct slice_list *list = (struct slice_list *)output;

	event_store_init(&list->events, request->names, request->facts.free_id);
	list->events.shows_switches = list->events.shows_wakeups = true;
	output->events = &list->events.sink;
}

void slice_list_sort_events(struct slice_list *list)
{
	uint64_t first;

	event_store_sort(&list->events);
	first = event_store_time(&list->events, 0);
	if (list->events.count && (!list->count || first < list->first))
		list->first = first;
}

static char *put_value(struct line *line, char *at, const struct slice_arg *arg, bool json)
{
	switch (arg->type) {
	case SLICE_ARG_NUMBER:
		return digits_decimal(at, arg->number);
	case SLICE_ARG_POINTER:
		at = digits_hex(stpcpy(at, json ? "\"0x" : "0x"), arg->number);
		return stpcpy(at, json ? "\"" : "");
	case SLICE_ARG_NAME:
		return (json ? line_json_name : line_name)(line, at, arg->name);
	case SLICE_ARG_REAL:
		return at + sprintf(at, "%.15g", arg->real);
	case SLICE_ARG_TRUE:
		break;
	}
	return stpcpy(at, "true");
}

char *slice_list_args(struct slice_list *list, const struct listed_slice *slice, struct line *line,
		      char *at, bool json)
{
	struct slice_args args;

	_Static_assert(SLICE_ARG_KEYS * 64 < LINE_FIELDS, "a slice has more arguments than room");
	args.count = 0;
	if (list->level != OPTION_ARGS_NONE) {
		if (list->level == OPTION_ARGS_LOC)
			slice_args_add_name(
				&args, SLICE_ARG_LOC,
				call_sites_find(&list->sites, slice->symbol, CALL_SITES_FUNCTION));
		slice_args_add_begin(&args, slice->symbol, slice->ip, slice->flags, list->level);
		slice_args_add_dso(&args, slice->symbol, &list->files);
		slice_args_add_name(&args, SLICE_ARG_CALLER, slice->text);
		slice_args_add_cost(&args, slice->cost);
		slice_args_add_folded(&args, slice->folded, slice->folded_time);
	}
	for (size_t i = 0; i < args.count; i++) {
		at = stpcpy(at, !json ? " " : i ? ",\"" : ",\"args\":{\"");
		at = stpcpy(at, slice_arg_text(args.list[i].key));
		at = stpcpy(at, json ? "\":" : "=");
		at = put_value(line, at, &args.list[i], json);
	}
	return stpcpy(at, json && args.count ? "}" : "");
}

/* ---- In order ------------------------------------------------------------ */

static int compare_tracks(const void *left, const void *right)
{
	const struct track *a = ((const struct listed_track *)left)->track;
	const struct track *b = ((const struct listed_track *)right)->track;

	if (!a || !b)
		return !a - !b;
	return COMPARE(a->pid, b->pid) ?: COMPARE(a->tid, b->tid) ?: COMPARE(a->index, b->index);
}

void slice_list_print(struct slice_list *list, slice_list_print_fn *print)
{
	uint64_t number = 0;

	SORT(list->tracks, list->track_count, compare_tracks);
	for (size_t i = 0; i < list->track_count && list->tracks[i].track; i++) {
		for (size_t at = list->tracks[i].first; at != NONE; at = slice_at(list, at)->next) {
			if (!list->file->lines && !output_room(list->file))
				list->file->cut = true;
			if (!list->file->cut && slice_at(list, at)->finished)
				print(list, list->tracks[i].track, slice_at(list, at), number++);
			count_access(list);
		}
	}
}

void slice_list_print_events(struct slice_list *list, slice_list_event_fn *print)
{
	for (size_t i = 0; i < list->events.count; i++) {
		const struct track_event event = event_store_at(&list->events, i);

		if (!list->file->lines && !output_room(list->file))
			list->file->cut = true;
		if (!list->file->cut)
			print(list, &event);
	}
}

void slice_list_release(struct format_output *output)
{
	struct slice_list *list = (struct slice_list *)output;

	big_array_release(&list->slices);
	event_store_release(&list->events);
	free(list->tracks);
	call_sites_release(&list->sites);
	slice_files_release(&list->files);
}
