/* SPDX-License-Identifier: MIT */
/*
 * --format=speedscope: JSON for speedscope (https://www.speedscope.app,
 * file-format-schema.json): an evented profile per thread.
 *
 * Values are ns since the first slice of all threads, so that JavaScript's numbers
 * hold them.
 */

#include "base/tables/pair_table.h"
#include "src/formats/output_format.h"
#include "src/formats/slice_limit.h"
#include "src/formats/text/any_text.h"
#include "src/options/options.h"
#include "src/slices/slice_args.h"
#include "src/slices/slice_store.h"
#include "src/slices/track.h"

struct stored_output {
	struct format_output output; /* first */
	struct slice_store store;
	const char *input;   /* borrowed: the recording's path */
	struct output *file; /* borrowed */
};

struct printer {
	FILE *out;
	struct pair_table ids;         /* of (0, id of name): the frame */
	const struct symbol **symbols; /* owned; by frame */
	size_t room;
	uint64_t origin; /* ns: origin of values */
	bool any;        /* an event of the profile was printed */
	uint32_t *open;  /* owned: frames of the open slices, innermost last */
	size_t open_count, open_room;
	struct output *file; /* borrowed: `out` writes to it */
};

static uint32_t frame_of(struct printer *printer, const struct symbol *symbol)
{
	size_t count = printer->ids.count;
	uint32_t frame = pair_table_find(&printer->ids, 0, symbol->name->id);

	if (frame == count) {
		printer->symbols = alloc_grow(printer->symbols, &printer->room, count + 1,
					      sizeof(*printer->symbols));
		printer->symbols[frame] = symbol;
	}
	return frame;
}

static void print_speedscope_event(struct printer *printer, char type, uint64_t time,
				   uint32_t frame)
{
	fprintf(printer->out, "%s\n{\"type\":\"%c\",\"frame\":%" PRIu32 ",\"at\":%" PRIu64 "}",
		printer->any ? "," : "", type, frame, time - printer->origin);
	printer->any = true;
}

static void begin_frame(struct printer *printer, const struct slice_event *event)
{
	uint32_t frame = frame_of(printer, event->symbol);

	*ARRAY_ADD(printer->open, printer->open_count, printer->open_room) = frame;
	print_speedscope_event(printer, 'O', event->time, frame);
}

/* The format has no instants. */
static void print_speedscope_events(const struct slice_sink *sink, void *track,
				    const struct slice_batch *batch)
{
	struct printer *printer = sink->context;

	(void)track;
	for (size_t i = 0; i < batch->count; i++) {
		const struct slice_event *event = &batch->events[i];

		if (event->kind == SLICE_BEGIN)
			begin_frame(printer, event);
		else if (event->kind == SLICE_END)
			print_speedscope_event(printer, 'C', event->time,
					       printer->open[--printer->open_count]);
	}
}

static void print_profile(struct printer *printer, const struct slice_store *store, size_t index)
{
	const struct store_track *stored = &store->tracks[index];
	const struct slice_sink sink = { .events = print_speedscope_events, .context = printer };
	struct slice_limit limit;
	const struct track *track = stored->track;
	const char *name = track->thread_name ? track->thread_name : "thread";
	size_t size = strlen(name) + 64;
	char *title = alloc_zeroed(1, size);

	snprintf(title, size, "%s %d/%d", name, track->pid, track->tid);
	fputs("{\"type\":\"evented\",\"name\":", printer->out);
	json_text_print(title, strlen(title), printer->out);
	fprintf(printer->out,
		",\"unit\":\"nanoseconds\",\"startValue\":%" PRIu64 ",\"endValue\":%" PRIu64
		",\"events\":[",
		stored->begin - printer->origin, stored->end - printer->origin);
	printer->any = false;
	slice_limit_init(&limit, &sink, printer->file);
	slice_store_replay_track(store, index, &limit.sink);
	fputs("]}", printer->out);
	free(title);
}

static void print_frame(const struct symbol *symbol, FILE *out)
{
	struct source_line line = slice_source_line(symbol);

	fputs("\n{\"name\":", out);
	json_text_print(symbol->name->text, symbol->name->length, out);
	if (line.file) {
		fputs(",\"file\":", out);
		json_text_print(line.file->text, line.file->length, out);
	}
	if (line.line)
		fprintf(out, ",\"line\":%" PRIu32, line.line);
	putc('}', out);
}

static uint64_t first_time(const struct slice_store *store)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < store->track_count; i++) {
		const struct store_track *track = &store->tracks[i];

		if (track->slices && track->begin < first)
			first = track->begin;
	}
	return first;
}

static struct format_output *open_speedscope(const struct format_request *request,
					     struct error *err)
{
	struct stored_output *stored = alloc_zeroed(1, sizeof(*stored));

	if (slice_store_init(&stored->store, request->names, err) < 0) {
		free(stored);
		return NULL;
	}
	stored->input = request->options->input;
	stored->file = request->output;
	stored->output.text = request->text;
	stored->output.sink = slice_store_sink(&stored->store, false, false);
	stored->output.slices = &stored->store.slices;
	return &stored->output;
}

static int print_speedscope(struct format_output *output, struct error *err)
{
	struct stored_output *stored = (struct stored_output *)output;
	const struct slice_store *store = &stored->store;
	FILE *out = output->text;
	struct printer printer = { .out = out, .file = stored->file };
	bool any = false;

	if (slice_store_end(&stored->store, err) < 0)
		return -1;
	printer.origin = first_time(store);
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
	      "\"exporter\":\"ptrace2ftf\",\"name\":",
	      out);
	json_text_print(stored->input, strlen(stored->input), out);
	fputs(",\"profiles\":[", out);
	for (size_t i = 0; i < store->track_count; i++) {
		if (!store->tracks[i].slices)
			continue;
		fputs(any ? ",\n" : "\n", out);
		print_profile(&printer, store, i);
		any = true;
	}
	fputs("],\n\"shared\":{\"frames\":[", out);
	for (size_t i = 0; i < printer.ids.count; i++) {
		print_frame(printer.symbols[i], out);
		if (i + 1 < printer.ids.count)
			putc(',', out);
	}
	fputs("]}}\n", out);
	pair_table_release(&printer.ids);
	free(printer.symbols);
	free(printer.open);
	return 0;
}

static void release_speedscope(struct format_output *output)
{
	slice_store_release(&((struct stored_output *)output)->store);
}

const struct output_format format_speedscope = {
	.name = "speedscope",
	.suffix = "speedscope.json",
	.slices = SLICES_SORTED,
	.open = open_speedscope,
	.finish = print_speedscope,
	.release = release_speedscope,
};
