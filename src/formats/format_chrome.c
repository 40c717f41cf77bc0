/* SPDX-License-Identifier: MIT */
#include "src/formats/format_chrome.h"

#include <inttypes.h>
#include <string.h>

#include "src/formats/json_text.h"
#include "src/slices/slice_args.h"
#include "src/slices/track.h"

/* Begin an event: all that every kind has. */
static void open_event(struct format_chrome *chrome, const struct track *track, char phase)
{
	fprintf(chrome->out, "%s\n{\"ph\":\"%c\",\"pid\":%d,\"tid\":%d", chrome->any ? "," : "",
		phase, track->pid, track->tid);
	chrome->any = true;
}

static void print_time(const struct format_chrome *chrome, uint64_t ns)
{
	fprintf(chrome->out, ",\"ts\":%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
}

static void print_name(const struct format_chrome *chrome, const char *text, size_t length)
{
	fputs(",\"name\":", chrome->out);
	json_text_print(text, length, chrome->out);
}

/* Metadata: the name of a process or a thread. */
static void tell_name(struct format_chrome *chrome, const struct track *track, const char *kind,
		      const char *name)
{
	if (!name)
		return;
	open_event(chrome, track, 'M');
	fprintf(chrome->out, ",\"name\":\"%s\",\"args\":{\"name\":", kind);
	json_text_print(name, strlen(name), chrome->out);
	fputs("}}", chrome->out);
}

static void announce(struct format_chrome *chrome, struct track *track)
{
	if (track->announced)
		return;
	track->announced = true;
	tell_name(chrome, track, "process_name", track->process_name);
	tell_name(chrome, track, "thread_name", track->thread_name);
}

static void print_text_arg(const struct format_chrome *chrome, const char *key,
			   const struct name *value)
{
	if (!value)
		return;
	fprintf(chrome->out, ",\"%s\":", key);
	json_text_print(value->text, value->length, chrome->out);
}

static void print_args(const struct format_chrome *chrome, const struct slice_args *args)
{
	fprintf(chrome->out, ",\"args\":{\"address\":\"0x%" PRIx64 "\"", args->address);
	if (args->line)
		fprintf(chrome->out, ",\"line\":%" PRIu32, args->line);
	if (args->column)
		fprintf(chrome->out, ",\"col\":%" PRIu32, args->column);
	print_text_arg(chrome, "symbol", args->symbol);
	print_text_arg(chrome, "file", args->file);
	if (args->inferred_start)
		fputs(",\"inferred_start_time\":true", chrome->out);
	putc('}', chrome->out);
}

static void begin(const struct slice_sink *sink, void *context, uint64_t time,
		  const struct symbol *symbol, uint64_t ip, unsigned flags)
{
	struct format_chrome *chrome = sink->context;
	struct slice_args args;

	announce(chrome, context);
	open_event(chrome, context, 'B');
	print_time(chrome, time);
	print_name(chrome, symbol->name->text, symbol->name->length);
	if (symbol->inlined)
		fputs(",\"cat\":\"inlined\"", chrome->out);
	if (chrome->level != OPTION_ARGS_NONE) {
		args = slice_args_of(symbol, ip, flags);
		print_args(chrome, &args);
	}
	putc('}', chrome->out);
	chrome->slices++;
}

static void end(const struct slice_sink *sink, void *context, uint64_t time,
		const struct symbol *symbol)
{
	struct format_chrome *chrome = sink->context;
	struct track *track = context;

	(void)symbol;
	open_event(chrome, track, 'E');
	print_time(chrome, time);
	if (track->folded && chrome->level != OPTION_ARGS_NONE)
		fprintf(chrome->out,
			",\"args\":{\"folded\":%" PRIu64 ",\"folded_time\":%" PRIu64 "}",
			track->folded, track->folded_time);
	track->folded = 0;
	putc('}', chrome->out);
}

static void complete(const struct slice_sink *sink, void *context, uint64_t begin_time,
		     uint64_t end_time, const struct symbol *symbol, unsigned flags)
{
	begin(sink, context, begin_time, symbol, 0, flags);
	end(sink, context, end_time, symbol);
}

static void folded(const struct slice_sink *sink, void *context, uint64_t count, uint64_t time)
{
	struct track *track = context;

	(void)sink;
	track->folded = count;
	track->folded_time = time;
}

/* "s":"t": of the thread. */
static void instant(const struct slice_sink *sink, void *context, uint64_t time, const char *text)
{
	struct format_chrome *chrome = sink->context;

	announce(chrome, context);
	open_event(chrome, context, 'i');
	print_time(chrome, time);
	print_name(chrome, text, strlen(text));
	fputs(",\"s\":\"t\"}", chrome->out);
}

static void segment_end(const struct slice_sink *sink, void *context)
{
	(void)sink;
	(void)context;
}

void format_chrome_init(struct format_chrome *chrome, FILE *out, enum option_args level)
{
	*chrome = (struct format_chrome){ .out = out, .level = level };
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
}

struct slice_sink format_chrome_sink(struct format_chrome *chrome)
{
	return (struct slice_sink){
		.begin = begin,
		.end = end,
		.complete = complete,
		.folded = folded,
		.instant = instant,
		.segment_end = segment_end,
		.context = chrome,
	};
}

void format_chrome_finish(struct format_chrome *chrome)
{
	fputs("\n]}\n", chrome->out);
}
