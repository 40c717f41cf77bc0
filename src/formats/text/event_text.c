/* SPDX-License-Identifier: MIT */
/* Print arguments of events. */
#include "src/formats/text/event_text.h"

#include <math.h>

#include "src/formats/text/any_text.h"

static void print_text(struct text_view text, bool json, FILE *out)
{
	(json ? json_text_print : escaped_text_print)(text.at, text.length, out);
}

void event_args_print(const struct track_event *event, bool json, FILE *out)
{
	for (size_t i = 0; i < event->arg_count; i++) {
		const struct event_arg *arg = &event->args[i];

		putc(!json ? ' ' : i ? ',' : '{', out);
		print_text(arg->name, json, out);
		putc(json ? ':' : '=', out);
		if (arg->type == EVENT_ARG_TEXT)
			print_text(arg->text, json, out);
		else if (arg->type == EVENT_ARG_POINTER)
			fprintf(out, json ? "\"0x%" PRIx64 "\"" : "0x%" PRIx64, arg->pointer);
		else if (arg->type != EVENT_ARG_REAL)
			fprintf(out, "%" PRId64, arg->number);
		else if (json && !isfinite(arg->real))
			fputs("null", out);
		else
			real_print(arg->real, out);
	}
	fputs(json ? "}" : "", out);
}
