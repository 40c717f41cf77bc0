/* SPDX-License-Identifier: MIT */
/*
 * --format=chrome: JSON of the Trace Event Format ("Trace Event Format", Google,
 * duration events B and E), which chrome://tracing and others read.  Written as
 * slices come; times are microseconds of perf's clock with three decimals.
 */

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "src/formats/json_text.h"
#include "src/formats/output_format.h"
#include "src/options/options.h"
#include "src/slices/slice_args.h"
#include "src/slices/track.h"

struct chrome_output {
	struct format_output output; /* first */
	enum option_args level;      /* what slices contain */
	uint64_t slices;
	bool any; /* an event was written */
};

/* Begin an event: all that every kind has. */
static void open_event(struct chrome_output *chrome, const struct track *track, char phase)
{
	fprintf(chrome->output.text, "%s\n{\"ph\":\"%c\",\"pid\":%d,\"tid\":%d",
		chrome->any ? "," : "", phase, track->pid, track->tid);
	chrome->any = true;
}

static void print_time(const struct chrome_output *chrome, uint64_t ns)
{
	fprintf(chrome->output.text, ",\"ts\":%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
}

static void print_chrome_name(const struct chrome_output *chrome, const char *text, size_t length)
{
	fputs(",\"name\":", chrome->output.text);
	json_text_print(text, length, chrome->output.text);
}

/* Metadata: the name of a process or a thread. */
static void print_track_name(struct chrome_output *chrome, const struct track *track,
			     const char *kind, const char *name)
{
	if (!name)
		return;
	open_event(chrome, track, 'M');
	fprintf(chrome->output.text, ",\"name\":\"%s\",\"args\":{\"name\":", kind);
	json_text_print(name, strlen(name), chrome->output.text);
	fputs("}}", chrome->output.text);
}

static void announce(struct chrome_output *chrome, struct track *track)
{
	if (track->announced)
		return;
	track->announced = true;
	print_track_name(chrome, track, "process_name", track->process_name);
	print_track_name(chrome, track, "thread_name", track->thread_name);
}

static void print_text_arg(const struct chrome_output *chrome, const char *key,
			   const struct name *value)
{
	if (!value)
		return;
	fprintf(chrome->output.text, ",\"%s\":", key);
	json_text_print(value->text, value->length, chrome->output.text);
}

static void print_args(const struct chrome_output *chrome, const struct slice_args *args)
{
	fprintf(chrome->output.text, ",\"args\":{\"address\":\"0x%" PRIx64 "\"", args->address);
	if (args->line)
		fprintf(chrome->output.text, ",\"line\":%" PRIu32, args->line);
	if (args->column)
		fprintf(chrome->output.text, ",\"col\":%" PRIu32, args->column);
	print_text_arg(chrome, "symbol", args->symbol);
	print_text_arg(chrome, "file", args->file);
	if (args->inferred_start)
		fputs(",\"inferred_start_time\":true", chrome->output.text);
	putc('}', chrome->output.text);
}

static void print_begin(struct chrome_output *chrome, const struct slice_event *event)
{
	const struct symbol *symbol = event->symbol;
	struct slice_args args;

	print_chrome_name(chrome, symbol->name->text, symbol->name->length);
	if (symbol->inlined)
		fputs(",\"cat\":\"inlined\"", chrome->output.text);
	if (chrome->level != OPTION_ARGS_NONE) {
		args = slice_args_of(symbol, event->ip, event->flags);
		print_args(chrome, &args);
	}
	chrome->slices++;
}

static void print_chrome_event(struct chrome_output *chrome, struct track *track,
			       const struct slice_event *event, const struct slice_detail *detail)
{
	static const char phases[] = {
		[SLICE_BEGIN] = 'B', [SLICE_END] = 'E', [SLICE_INSTANT] = 'i'
	};

	announce(chrome, track);
	open_event(chrome, track, phases[event->kind]);
	print_time(chrome, event->time);
	if (event->kind == SLICE_BEGIN) {
		print_begin(chrome, event);
	} else if (event->kind == SLICE_INSTANT) {
		print_chrome_name(chrome, event->text, strlen(event->text));
		fputs(",\"s\":\"t\"", chrome->output.text); /* of the thread */
	} else if (detail && detail->folded) {
		fprintf(chrome->output.text,
			",\"args\":{\"folded\":%" PRIu64 ",\"folded_time\":%" PRIu64 "}",
			detail->folded, detail->folded_time);
	}
	putc('}', chrome->output.text);
}

static void print_chrome_events(const struct slice_sink *sink, void *track,
				const struct slice_batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		print_chrome_event(sink->context, track, &batch->events[i],
				   slice_batch_detail(batch, &batch->events[i]));
}

static struct format_output *open_chrome(const struct format_request *request, struct error *err)
{
	struct chrome_output *chrome = alloc_zeroed(1, sizeof(*chrome));

	(void)err;
	chrome->output.text = request->text;
	chrome->level = request->options->args;
	chrome->output.slices = &chrome->slices;
	chrome->output.sink = (struct slice_sink){
		.events = print_chrome_events,
		.context = chrome,
		.folded = chrome->level != OPTION_ARGS_NONE,
	};
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", chrome->output.text);
	return &chrome->output;
}

static int finish_chrome(struct format_output *output, struct error *err)
{
	(void)err;
	fputs("\n]}\n", output->text);
	return 0;
}

const struct output_format format_chrome = {
	.name = "chrome",
	.suffix = "chrome.json",
	.slices = SLICES_SORTED,
	.open = open_chrome,
	.finish = finish_chrome,
};
