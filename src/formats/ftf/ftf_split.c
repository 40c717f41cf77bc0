/* SPDX-License-Identifier: MIT */
/*
 * --split: one trace in several self-contained files: out.000.ftf, out.001.ftf, ...
 *
 * Replays the stored slices and events by time.  All threads are cut at the same time. Slices open
 * at a cut end in one part and begin again in the next, with SLICE_CONTINUED. A part lasts until
 * the next one begins; a time without begins of slices has no part. Records that are not slices of
 * calls are in the part of their time (ftf_side.h).
 */
#include "base/io/output_path.h"
#include "src/formats/ftf/ftf_side.h"
#include "src/formats/output_format.h"
#include "src/slices/slice_sorter.h"
#include "src/slices/slice_store.h"

struct ftf_split {
	struct format_output output;   /* first */
	struct format_request request; /* for all parts; its output is not a file, but is marked
					* as cut at the limit */
	struct slice_store store;
	struct ftf_side side;        /* the records that are not slices of calls */
	struct slice_sink sink;      /* receives the stored slices */
	struct slice_sink part_sink; /* the sink of `ftf` */
	struct output part;          /* the open part */
	struct ftf_sink ftf;         /* the trace in `part` */
	bool open;                   /* a part is open */
	char **parts;                /* owned: paths, in order */
	size_t part_count, part_room;
	struct split_track {
		struct track *track; /* borrowed; NULL: no slices */
		/* An open slice, which will begin again in the next part. */
		struct split_frame {
			struct slice_event begin;
			struct slice_detail detail;
		} * frames; /* owned; innermost last */
		size_t count, room;
		struct slice_detail now; /* details of the last begin or end */
	} * tracks;                      /* owned; by index of the track */
	size_t track_room;
	uint64_t first_time;   /* ns: of the first slice, the origin of time units */
	bool has_first;        /* first_time is set */
	uint64_t part_begin;   /* ns: begin of the open part */
	uint64_t last_time;    /* ns: of the last record */
	uint64_t part_slices;  /* slices that began in the open part */
	uint64_t slices;       /* slices of all parts, each counted once */
	uint64_t limit;        /* bytes, of all parts together */
	uint64_t bytes_before; /* bytes of the finished parts */
};

/* ---- Parts --------------------------------------------------------------- */

static void begin_part(struct ftf_split *split, uint64_t time)
{
	char *path = output_path_part(split->request.path, split->part_count);

	ARRAY_GROW(split->parts, split->part_room, split->part_count + 1);
	split->parts[split->part_count] = path;
	if (output_open(&split->part, path, &split->output.err) < 0) {
		free(path);
		return;
	}
	if (!split->part_count++) {
		output_limit(&split->part, split->request.options->max_output, false);
		split->limit = split->part.limit;
	}
	ftf_sink_init(&split->ftf, &split->part, split->request.names, split->request.options,
		      &split->request.facts);
	split->ftf.stored_texts = true;
	split->part_sink = ftf_sink_slices(&split->ftf);
	split->open = true;
	split->part_begin = time;
	split->part_slices = 0;
	for (size_t i = 0; i < split->track_room; i++) {
		if (split->tracks[i].track)
			split->tracks[i].track->announced = false;
	}
	ftf_side_begin_part(&split->side, &split->ftf, time);
}

static void end_part(struct ftf_split *split)
{
	split->open = false;
	split->bytes_before += output_size(&split->part);
	if (ftf_sink_close(&split->ftf, &split->output.err) == 0)
		output_close(&split->part, &split->output.err);
	ftf_sink_release(&split->ftf);
	output_abandon(&split->part);
}

/* Emit an event with the thread's current counters, and the rest of `own`, which may be NULL. */
static void emit_event(const struct ftf_split *split, const struct split_track *track,
		       const struct slice_event *event, const struct slice_detail *own)
{
	struct slice_detail detail = own ? *own : (struct slice_detail){ 0 };

	detail.insns = track->now.insns;
	detail.cycles = track->now.cycles;
	slice_sink_emit(&split->part_sink, track->track, event,
			own || split->part_sink.details ? &detail : NULL);
}

/* End all open slices at `time`. */
static void end_open(struct ftf_split *split, uint64_t time)
{
	const struct slice_event end = { .time = time, .kind = SLICE_END };

	for (size_t i = 0; i < split->track_room; i++) {
		const struct split_track *track = &split->tracks[i];

		for (size_t k = track->count; k-- > 0;)
			emit_event(split, track, &end, NULL);
	}
	ftf_side_end_part(&split->side, &split->ftf, time);
}

/* Returns the begin of the unit of --split=TIME that contains `time`. */
static uint64_t stretch_begin(const struct ftf_split *split, uint64_t time)
{
	return time - (time - split->first_time) % split->request.options->select.split.amount;
}

/* Returns whether a record at `time` belongs to the next part; sets *cut to that part's begin. */
static bool is_full(const struct ftf_split *split, uint64_t time, enum side_kind kind,
		    uint64_t *cut)
{
	const struct split_size *size = &split->request.options->select.split;

	*cut = time;
	if (kind == SIDE_PLAIN || (kind == SIDE_VALUE && size->unit != SPLIT_BYTES))
		return false;
	switch (size->unit) {
	case SPLIT_SLICES:
		return split->part_slices >= size->amount;
	case SPLIT_BYTES:
		return time > split->part_begin &&
		       split->part.written + split->part.used >= size->amount;
	default:
		*cut = stretch_begin(split, time);
		/* Slices can have ended later than this, in a unit without begins. */
		*cut = MAX(*cut, split->last_time);
		return stretch_begin(split, time) > split->part_begin;
	}
}

/* A record at `time` follows: open its part. */
static void advance(struct ftf_split *split, uint64_t time, enum side_kind kind)
{
	uint64_t cut;

	if (split->request.output->cut || split->output.err.kind != ERROR_NONE)
		return;
	if (!split->part_count)
		begin_part(split, time);
	if (kind == SIDE_SLICE && !split->has_first) {
		split->first_time = split->part_begin = time;
		split->has_first = true;
	}
	/* All parts together have reached the limit of the output. */
	if (split->open && split->bytes_before + output_size(&split->part) >= split->limit) {
		end_open(split, split->last_time);
		end_part(split);
		split->request.output->cut = true;
		return;
	}
	if (split->open && is_full(split, time, kind, &cut)) {
		/* Begin the next part. */
		end_open(split, cut);
		end_part(split);
		if (split->output.err.kind == ERROR_NONE)
			begin_part(split, cut);
		if (split->open) {
			/* Begin all open slices again. */
			for (size_t i = 0; i < split->track_room; i++) {
				const struct split_track *track = &split->tracks[i];

				for (size_t k = 0; k < track->count; k++) {
					struct slice_event begin = track->frames[k].begin;

					begin.time = cut;
					begin.flags |= SLICE_CONTINUED;
					emit_event(split, track, &begin,
						   split->part_sink.details
							   ? &track->frames[k].detail
							   : NULL);
				}
			}
		}
	}
	split->part_slices += kind == SIDE_SLICE;
	split->last_time = time;
}

/* Write the records before `time` that are not slices of calls. */
static void advance_side(struct ftf_split *split, uint64_t time)
{
	uint64_t next;

	while ((next = ftf_side_time(&split->side)) < time) {
		advance(split, next, ftf_side_kind(&split->side));
		if (!split->open)
			break;
		ftf_side_write(&split->side, &split->ftf);
	}
}

/* A slice of a call or a mark begins at `time`. */
static void advance_slice(struct ftf_split *split, uint64_t time)
{
	advance(split, time, SIDE_SLICE);
	split->slices += !split->request.output->cut;
}

/* ---- The sink of the stored slices --------------------------------------- */

static struct split_track *split_track_of(struct ftf_split *split, struct track *track)
{
	ARRAY_GROW_ZEROED(split->tracks, split->track_room, (size_t)track->index + 1);
	split->tracks[track->index].track = track;
	return &split->tracks[track->index];
}

static void begin_part_slice(struct ftf_split *split, struct split_track *track,
			     const struct slice_event *event, const struct slice_detail *detail)
{
	advance_slice(split, event->time);
	if (!split->open)
		return;
	emit_event(split, track, event, detail);
	*ARRAY_ADD(track->frames, track->count, track->room) =
		(struct split_frame){ *event, detail ? *detail : (struct slice_detail){ 0 } };
}

static void split_events(const struct slice_sink *sink, void *context,
			 const struct slice_batch *batch)
{
	struct ftf_split *split = sink->context;
	struct split_track *track = split_track_of(split, context);

	for (size_t i = 0; i < batch->count; i++) {
		const struct slice_event *event = &batch->events[i];
		const struct slice_detail *detail = slice_batch_detail(batch, event);

		advance_side(split, event->time);
		if (detail)
			track->now = *detail;
		if (event->kind == SLICE_BEGIN) {
			begin_part_slice(split, track, event, detail);
		} else if (event->kind == SLICE_END) {
			if (split->open && track->count) {
				emit_event(split, track, event, detail);
				track->count--;
				split->last_time = event->time;
			}
		} else {
			advance_slice(split, event->time);
			if (split->open)
				slice_sink_emit(&split->part_sink, context, event, NULL);
		}
	}
}

/* ---- The format ---------------------------------------------------------- */

static void open_split(struct format_output *output, const struct format_request *request)
{
	struct ftf_split *split = (struct ftf_split *)output;
	enum option_args level = request->options->args;

	split->request = *request;
	split->sink = (struct slice_sink){ .events = split_events, .context = split };
	event_store_init(&split->side.store, request->names, request->facts.free_id);
	split->store.names = request->names;
	output->sink = slice_store_sink(&split->store, level == OPTION_ARGS_FULL,
					level != OPTION_ARGS_NONE);
	output->slices = &split->slices;
	output->events = &split->side.store.sink;
}

static void write_parts(struct format_output *output)
{
	struct ftf_split *split = (struct ftf_split *)output;

	event_store_sort(&split->side.store);
	slice_store_replay(&split->store, &split->sink);
	advance_side(split, UINT64_MAX);
	if (!split->part_count && split->output.err.kind == ERROR_NONE)
		begin_part(split, 0); /* an empty trace has a part as well */
	if (split->open)
		end_part(split);
	output->parts = split->parts;
	output->part_count = split->part_count;
}

static void release_split(struct format_output *output)
{
	struct ftf_split *split = (struct ftf_split *)output;

	for (size_t i = 0; i < split->part_count; i++)
		free(split->parts[i]);
	free(split->parts);
	for (size_t i = 0; i < split->track_room; i++)
		free(split->tracks[i].frames);
	free(split->tracks);
	ftf_sink_release(&split->ftf);
	output_abandon(&split->part);
	slice_store_release(&split->store);
	ftf_side_release(&split->side);
}

const struct output_format format_ftf_split = {
	.name = "ftf",
	.default_output = DEFAULT_NONE,
	.slices = SLICES_SORTED,
	.overlays = OVERLAYS_AS_SLICES,
	.queued = true,
	.depth = SLICE_SORTER_DEPTH,
	.cpu_events = true,
	.is_trace = true,
	.size = sizeof(struct ftf_split),
	.open = open_split,
	.finish = write_parts,
	.release = release_split,
};
