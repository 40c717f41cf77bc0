/* SPDX-License-Identifier: MIT */
/*
 * --format=chrome: JSON of the Trace Event Format ("Trace Event Format", Google,
 * duration events B and E), which chrome://tracing and others read.  Written as
 * slices come; times are microseconds of perf's clock with three decimals.
 */

#include "src/formats/call_sites.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/options/options.h"
#include "src/slices/slice_args.h"
#include "src/slices/track.h"

struct chrome_output {
	struct format_output output; /* first */
	enum option_args level;      /* details of slices */
	struct call_sites sites;
	struct slice_files files;
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

static void print_chrome_category(const struct chrome_output *chrome, const struct name *category)
{
	if (!category)
		return;
	fputs(",\"cat\":", chrome->output.text);
	json_text_print(category->text, category->length, chrome->output.text);
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

static void print_value(const struct slice_arg *arg, FILE *out)
{
	switch (arg->type) {
	case SLICE_ARG_NUMBER:
		fprintf(out, "%" PRIu64, arg->number);
		break;
	case SLICE_ARG_POINTER:
		fprintf(out, "\"0x%" PRIx64 "\"", arg->number);
		break;
	case SLICE_ARG_NAME:
		json_text_print(arg->name->text, arg->name->length, out);
		break;
	case SLICE_ARG_REAL:
		fprintf(out, "%.15g", arg->real);
		break;
	case SLICE_ARG_TRUE:
		fputs("true", out);
		break;
	}
}

static void print_chrome_args(const struct slice_args *args, FILE *out)
{
	for (size_t i = 0; i < args->count; i++) {
		fprintf(out, "%s\"%s\":", i ? "," : ",\"args\":{",
			slice_arg_text(args->list[i].key));
		print_value(&args->list[i], out);
	}
	if (args->count)
		putc('}', out);
}

static void print_begin(struct chrome_output *chrome, struct track *track,
			const struct slice_event *event, const struct slice_detail *detail)
{
	const struct symbol *symbol = event->symbol;
	struct slice_args args;

	print_chrome_name(chrome, symbol->name->text, symbol->name->length);
	print_chrome_category(chrome, slice_category(symbol));
	args.count = 0;
	if (chrome->level != OPTION_ARGS_NONE) {
		slice_args_add_begin(&args, symbol, event->ip, event->flags,
				     chrome->level == OPTION_ARGS_FULL);
		slice_args_add_dso(&args, symbol, &chrome->files);
	}
	if (chrome->level == OPTION_ARGS_FULL) {
		slice_costs_begin(&track->costs, detail);
		if (detail)
			slice_args_add_caller(&args, call_sites_find(&chrome->sites, detail->caller,
								     detail->caller_offset));
	}
	print_chrome_args(&args, chrome->output.text);
	chrome->slices++;
}

static void print_end(struct chrome_output *chrome, struct track *track,
		      const struct slice_detail *detail)
{
	struct slice_args args;

	args.count = 0;
	if (chrome->level == OPTION_ARGS_FULL)
		slice_args_add_cost(&args, slice_costs_end(&track->costs, detail));
	if (detail)
		slice_args_add_folded(&args, detail->folded, detail->folded_time);
	print_chrome_args(&args, chrome->output.text);
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
		print_begin(chrome, track, event, detail);
	} else if (event->kind == SLICE_INSTANT) {
		print_chrome_name(chrome, event->text, strlen(event->text));
		fputs(",\"s\":\"t\"", chrome->output.text); /* of the thread */
	} else {
		print_end(chrome, track, detail);
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
	chrome->sites.names = request->names;
	chrome->output.slices = &chrome->slices;
	chrome->output.sink = (struct slice_sink){
		.events = print_chrome_events,
		.context = chrome,
		.details = chrome->level == OPTION_ARGS_FULL,
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

static void release_chrome(struct format_output *output)
{
	call_sites_release(&((struct chrome_output *)output)->sites);
	slice_files_release(&((struct chrome_output *)output)->files);
}

const struct output_format format_chrome = {
	.name = "chrome",
	.suffix = "chrome.json",
	.slices = SLICES_SORTED,
	.open = open_chrome,
	.finish = finish_chrome,
	.release = release_chrome,
};
