/* SPDX-License-Identifier: MIT */
/* Print arguments of events. */
#include "src/formats/text/event_text.h"

#include <math.h>

#include "src/formats/text/any_text.h"

static void print_value(const struct event_arg *arg, FILE *out)
{
	if (arg->type == EVENT_ARG_REAL)
		real_print(arg->real, out);
	else if (arg->type == EVENT_ARG_TEXT)
		escaped_text_print(arg->text.at, arg->text.length, out);
	else if (arg->type == EVENT_ARG_POINTER)
		fprintf(out, "0x%" PRIx64, arg->pointer);
	else
		fprintf(out, "%" PRId64, arg->number);
}

void event_args_print(const struct track_event *event, FILE *out)
{
	for (size_t i = 0; i < event->arg_count; i++) {
		const struct event_arg *arg = &event->args[i];

		putc(' ', out);
		escaped_text_print(arg->name.at, arg->name.length, out);
		putc('=', out);
		print_value(arg, out);
	}
}

void event_args_print_json(const struct track_event *event, FILE *out)
{
	putc('{', out);
	for (size_t i = 0; i < event->arg_count; i++) {
		const struct event_arg *arg = &event->args[i];

		if (i)
			putc(',', out);
		json_text_print(arg->name.at, arg->name.length, out);
		putc(':', out);
		if (arg->type == EVENT_ARG_POINTER)
			fprintf(out, "\"0x%" PRIx64 "\"", arg->pointer);
		else if (arg->type == EVENT_ARG_TEXT)
			json_text_print(arg->text.at, arg->text.length, out);
		else if (arg->type == EVENT_ARG_REAL && !isfinite(arg->real))
			fputs("null", out);
		else
			print_value(arg, out);
	}
	putc('}', out);
}
