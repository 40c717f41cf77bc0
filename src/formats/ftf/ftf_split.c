/* SPDX-License-Identifier: MIT */
#include "src/formats/ftf/ftf_split.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/io/compressor.h"
#include "src/slices/track.h"

/* An open slice, to be begun again. */
struct split_frame {
	const struct symbol *symbol;
	uint64_t ip;
	struct slice_detail detail;
	uint16_t flags;
};

struct split_track {
	struct track *track;        /* borrowed; NULL: nothing came */
	struct split_frame *frames; /* owned; innermost last */
	size_t count, room;
	struct slice_detail now; /* of the last begin or end */
};

char *ftf_split_path(const char *path, size_t part)
{
	size_t length = strlen(path), end = length, size = length + 32;
	const char *slash = strrchr(path, '/');
	size_t base = slash ? (size_t)(slash - path) + 1 : 0;
	char *made = alloc_zeroed(1, size);

	if (packing_of(path) != PACKING_NONE)
		end = (size_t)(strrchr(path, '.') - path);
	for (size_t i = end; i > base + 1; i--) {
		if (path[i - 1] != '.')
			continue;
		end = i - 1;
		break;
	}
	snprintf(made, size, "%.*s.%03zu%s", (int)end, path, part, path + end);
	return made;
}

/* ---- Parts --------------------------------------------------------------- */

static void begin_part(struct ftf_split *split, uint64_t time)
{
	char *path = ftf_split_path(split->path, split->part_count);

	split->parts = alloc_grow(split->parts, &split->part_room, split->part_count + 1,
				  sizeof(*split->parts));
	split->parts[split->part_count] = path;
	if (output_open(&split->output, path, &split->err) < 0) {
		free(path);
		return;
	}
	split->part_count++;
	ftf_sink_init(&split->ftf, &split->output, split->names, split->options->args);
	split->part_sink = ftf_sink_slices(&split->ftf);
	split->open = true;
	split->part_begin = time;
	split->part_slices = 0;
	for (size_t i = 0; i < split->track_count; i++) {
		if (split->tracks[i].track)
			split->tracks[i].track->announced = false;
	}
}

static void end_part(struct ftf_split *split)
{
	split->open = false;
	if (ftf_sink_close(&split->ftf, &split->err) == 0)
		output_close(&split->output, &split->err);
	ftf_sink_release(&split->ftf);
	output_abandon(&split->output);
}

static void pass_detail(const struct ftf_split *split, const struct split_track *track,
			const struct symbol *caller, uint64_t caller_offset)
{
	const struct slice_sink *to = &split->part_sink;
	struct slice_detail detail = track->now;

	detail.caller = caller;
	detail.caller_offset = caller_offset;
	if (to->detail)
		to->detail(to, track->track, &detail);
}

/* Every open slice ends at `time`. */
static void end_open(struct ftf_split *split, uint64_t time)
{
	const struct slice_sink *to = &split->part_sink;

	for (size_t i = 0; i < split->track_count; i++) {
		struct split_track *track = &split->tracks[i];

		for (size_t k = track->count; k-- > 0;) {
			pass_detail(split, track, NULL, 0);
			to->end(to, track->track, time, track->frames[k].symbol);
		}
	}
}

/* And begins again. */
static void begin_open(struct ftf_split *split, uint64_t time)
{
	const struct slice_sink *to = &split->part_sink;

	for (size_t i = 0; i < split->track_count; i++) {
		struct split_track *track = &split->tracks[i];

		for (size_t k = 0; k < track->count; k++) {
			const struct split_frame *frame = &track->frames[k];

			pass_detail(split, track, frame->detail.caller,
				    frame->detail.caller_offset);
			to->begin(to, track->track, time, frame->symbol, frame->ip,
				  frame->flags | (unsigned)SLICE_CONTINUED);
		}
	}
}

/* Returns the time at which the stretch begins that `time` lies in, of those that --split=TIME
 * makes. */
static uint64_t stretch_begin(const struct ftf_split *split, uint64_t time)
{
	return time - (time - split->first_time) % split->options->select.split.amount;
}

/* Returns whether what begins at `time` is of the next part, and in *cut where that begins. */
static bool is_full(const struct ftf_split *split, uint64_t time, uint64_t *cut)
{
	const struct split_size *size = &split->options->select.split;

	*cut = time;
	switch (size->unit) {
	case SPLIT_SLICES:
		return split->part_slices >= size->amount;
	case SPLIT_BYTES:
		return split->part_slices &&
		       split->output.written + split->output.used >= size->amount;
	default:
		*cut = stretch_begin(split, time);
		/* What ended since the last begin may have done so in a stretch without any. */
		if (*cut < split->last_time)
			*cut = split->last_time;
		return stretch_begin(split, time) > split->part_begin;
	}
}

/* A slice or a mark begins at `time`: see to it that its part is open. */
static void advance(struct ftf_split *split, uint64_t time)
{
	uint64_t cut;

	if (!split->part_count) {
		split->first_time = time;
		begin_part(split, time);
	}
	if (split->open && is_full(split, time, &cut)) {
		end_open(split, cut);
		end_part(split);
		if (split->err.kind == ERROR_NONE)
			begin_part(split, cut);
		if (split->open)
			begin_open(split, cut);
	}
	split->part_slices++;
	split->slices++;
	split->last_time = time;
}

/* ---- The sink that the spool is replayed into ------------------------------- */

static struct split_track *track_of(struct ftf_split *split, struct track *track)
{
	while (split->track_count <= track->index) {
		split->tracks = alloc_grow(split->tracks, &split->track_room,
					   split->track_count + 1, sizeof(*split->tracks));
		split->tracks[split->track_count++] = (struct split_track){ 0 };
	}
	split->tracks[track->index].track = track;
	return &split->tracks[track->index];
}

static void split_detail(const struct slice_sink *sink, void *track,
			 const struct slice_detail *detail)
{
	track_of(sink->context, track)->now = *detail;
}

static void split_begin(const struct slice_sink *sink, void *context, uint64_t time,
			const struct symbol *symbol, uint64_t ip, unsigned flags)
{
	struct ftf_split *split = sink->context;
	struct split_track *track = track_of(split, context);
	const struct slice_sink *to = &split->part_sink;

	advance(split, time);
	if (!split->open)
		return;
	pass_detail(split, track, track->now.caller, track->now.caller_offset);
	to->begin(to, context, time, symbol, ip, flags);
	track->frames =
		alloc_grow(track->frames, &track->room, track->count + 1, sizeof(*track->frames));
	track->frames[track->count++] =
		(struct split_frame){ symbol, ip, track->now, (uint16_t)flags };
	track->now.caller = NULL;
}

static void split_end(const struct slice_sink *sink, void *context, uint64_t time,
		      const struct symbol *symbol)
{
	struct ftf_split *split = sink->context;
	struct split_track *track = track_of(split, context);
	const struct slice_sink *to = &split->part_sink;

	if (!split->open || !track->count)
		return;
	pass_detail(split, track, NULL, 0);
	to->end(to, context, time, symbol);
	track->count--;
	split->last_time = time;
}

static void split_folded(const struct slice_sink *sink, void *context, uint64_t count,
			 uint64_t time)
{
	struct ftf_split *split = sink->context;
	const struct slice_sink *to = &split->part_sink;

	if (split->open)
		to->folded(to, context, count, time);
}

static void split_instant(const struct slice_sink *sink, void *context, uint64_t time,
			  const char *text)
{
	struct ftf_split *split = sink->context;
	const struct slice_sink *to = &split->part_sink;

	track_of(split, context);
	advance(split, time);
	if (split->open)
		to->instant(to, context, time, text);
}

/* ---- All of it ----------------------------------------------------------- */

int ftf_split_init(struct ftf_split *split, const struct options *options, const char *path,
		   struct name_table *names, struct error *err)
{
	*split = (struct ftf_split){ .options = options, .names = names, .path = path };
	split->sink = (struct slice_sink){
		.detail = options->args == OPTION_ARGS_FULL ? split_detail : NULL,
		.begin = split_begin,
		.end = split_end,
		.folded = split_folded,
		.instant = split_instant,
		.context = split,
	};
	return slice_store_init(&split->spool, names, err);
}

struct slice_sink ftf_split_sink(struct ftf_split *split)
{
	return slice_store_sink(&split->spool, split->options->args == OPTION_ARGS_FULL);
}

int ftf_split_close(struct ftf_split *split, struct error *err)
{
	if (slice_store_end(&split->spool, err) < 0)
		return -1;
	slice_store_replay(&split->spool, &split->sink);
	if (!split->part_count && split->err.kind == ERROR_NONE)
		begin_part(split, 0); /* a trace without slices is one, too */
	if (split->open)
		end_part(split);
	if (split->err.kind == ERROR_NONE)
		return 0;
	*err = split->err;
	return -1;
}

void ftf_split_release(struct ftf_split *split)
{
	for (size_t i = 0; i < split->part_count; i++)
		free(split->parts[i]);
	free(split->parts);
	for (size_t i = 0; i < split->track_count; i++)
		free(split->tracks[i].frames);
	free(split->tracks);
	ftf_sink_release(&split->ftf);
	output_abandon(&split->output);
	slice_store_release(&split->spool);
	*split = (struct ftf_split){ 0 };
}
