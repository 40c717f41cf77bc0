/* SPDX-License-Identifier: MIT */
/*
 * --format=speedscope: JSON for speedscope (https://www.speedscope.app,
 * file-format-schema.json): an evented profile per thread.
 *
 * Values are ns since the first slice of all threads, so that they are exact in JavaScript.
 */

#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/digits.h"
#include "src/options/options.h"
#include "src/select/function_labels.h"
#include "src/slices/slice_args.h"
#include "src/slices/slice_store.h"

struct speedscope_output {
	struct format_output output; /* first */
	struct slice_store store;
	const char *input;               /* borrowed: the recording's path */
	struct output *file;             /* borrowed: receives the text */
	struct function_table functions; /* by frame */
	uint64_t origin;                 /* ns: origin of values */
	bool any;                        /* an event of the profile was printed */
	uint32_t *open;                  /* owned: frames of the open slices, innermost last */
	size_t open_count, open_room;
};

static void print_speedscope_event(struct speedscope_output *scope, char type, uint64_t time,
				   uint32_t frame)
{
	struct line line;
	char *at = stpcpy(line.text, scope->any ? ",\n{\"type\":\"" : "\n{\"type\":\"");

	line.out = scope->output.text;
	*at++ = type;
	at = digits_decimal(stpcpy(at, "\",\"frame\":"), frame);
	at = digits_decimal(stpcpy(at, ",\"at\":"), time - scope->origin);
	*at++ = '}';
	line_end(&line, at);
	scope->any = true;
}

/* The format has no instants. */
static void print_speedscope_events(const struct slice_sink *sink, void *track,
				    const struct slice_batch *batch)
{
	struct speedscope_output *scope = sink->context;

	(void)track;
	for (size_t i = 0; i < batch->count; i++) {
		const struct slice_event *event = &batch->events[i];

		if (event->kind == SLICE_BEGIN) {
			uint32_t frame = function_table_find(&scope->functions, event->symbol);

			*ARRAY_ADD(scope->open, scope->open_count, scope->open_room) = frame;
			print_speedscope_event(scope, 'O', event->time, frame);
		} else if (event->kind == SLICE_END) {
			print_speedscope_event(scope, 'C', event->time,
					       scope->open[--scope->open_count]);
		}
	}
}

static void print_profile(struct speedscope_output *scope, size_t index)
{
	const struct store_track *stored = &scope->store.tracks[index];
	const struct slice_sink sink = { .events = print_speedscope_events, .context = scope };
	struct slice_limit limit;
	const struct track *track = stored->track;
	const char *name = track->thread_name ? track->thread_name : "thread";
	char *title = alloc_text("%s %d/%d", name, track->pid, track->tid);

	text_printf(scope->output.text, json_text_print,
		    "{\"type\":\"evented\",\"name\":%s,\"unit\":%s,\"startValue\":%" PRIu64
		    ",\"endValue\":%" PRIu64 ",\"events\":[",
		    title, digits_work_unit() ? "none" : "nanoseconds",
		    stored->begin - scope->origin, stored->end - scope->origin);
	scope->any = false;
	slice_limit_init(&limit, &sink, scope->file);
	slice_store_replay_track(&scope->store, index, &limit.sink);
	fputs("]}", scope->output.text);
	free(title);
}

static void open_speedscope(struct format_output *output, const struct format_request *request)
{
	struct speedscope_output *scope = (struct speedscope_output *)output;

	scope->store.names = request->names;
	scope->input = request->options->input;
	scope->file = request->output;
	output->sink = slice_store_sink(&scope->store, false, false);
	output->slices = &scope->store.slices;
}

static void print_speedscope(struct format_output *output)
{
	struct speedscope_output *scope = (struct speedscope_output *)output;
	const struct slice_store *store = &scope->store;
	struct function_labels labels = { 0 };
	FILE *out = output->text;
	bool any = false;

	scope->origin = UINT64_MAX;
	for (size_t i = 0; i < store->track_count; i++)
		if (store->tracks[i].slices)
			scope->origin = MIN(scope->origin, store->tracks[i].begin);
	text_printf(out, json_text_print,
		    "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		    "\"exporter\":\"ptrace2ftf\",\"name\":%s,\"profiles\":[",
		    scope->input);
	for (size_t i = 0; i < store->track_count; i++) {
		if (!store->tracks[i].slices)
			continue;
		fputs(any ? ",\n" : "\n", out);
		print_profile(scope, i);
		any = true;
	}
	fputs("],\n\"shared\":{\"frames\":[", out);
	function_labels_make(&labels, &scope->functions, store->names);
	for (size_t i = 0; i < scope->functions.count; i++) {
		const struct symbol *symbol = scope->functions.functions[i].symbol;
		struct source_line line = slice_source_line(symbol);
		json_t *frame =
			json_pack("{so}", "name", json_name(function_label(&labels, symbol)));

		if (line.file)
			json_object_set_new(frame, "file", json_name(line.file));
		if (line.line)
			json_object_set_new(frame, "line", json_integer(line.line));
		putc('\n', out);
		json_dumpf(frame, out, JSON_COMPACT | JSON_ENSURE_ASCII);
		json_decref(frame);
		if (i + 1 < scope->functions.count)
			putc(',', out);
	}
	function_labels_release(&labels);
	fputs("]}}\n", out);
}

static void release_speedscope(struct format_output *output)
{
	struct speedscope_output *scope = (struct speedscope_output *)output;

	slice_store_release(&scope->store);
	function_table_release(&scope->functions);
	free(scope->open);
}

const struct output_format format_speedscope = {
	.name = "speedscope",
	.suffix = "speedscope.json",
	.for_programs = true,
	.slices = SLICES_SORTED,
	.size = sizeof(struct speedscope_output),
	.open = open_speedscope,
	.finish = print_speedscope,
	.release = release_speedscope,
};
