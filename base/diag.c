/* SPDX-License-Identifier: MIT */
/* Collects warnings, one line per kind. */
#include "base/diag.h"

#include <stdarg.h>

#include "base/message.h"

#define TEXT_MAX 2000

void diag_init(struct diag *diag)
{
	*diag = (struct diag){ .lock = PTHREAD_MUTEX_INITIALIZER };
	diag->last = &diag->first;
}

void diag_release(struct diag *diag)
{
	arena_release(&diag->arena);
	diag_init(diag);
}

void diag_warn(struct diag *diag, const char *kind, const char *format, ...)
{
	struct diag_line *line;
	char text[TEXT_MAX], *whole;
	va_list args;

	if (!diag)
		return;
	HOLD_LOCK(&diag->lock);
	/* The kinds are few (one per cause), so a list is the right map. */
	for (line = diag->first; line && strcmp(line->kind, kind) != 0;)
		line = line->next;
	if (!line) {
		va_start(args, format);
		if (vasprintf(&whole, format, args) < 0)
			alloc_fail(0);
		va_end(args);
		error_text_fit(text, sizeof(text), whole);
		free(whole);
		line = arena_alloc(&diag->arena, sizeof(*line));
		line->kind = kind;
		line->text = arena_text(&diag->arena, text, strlen(text));
		*diag->last = line;
		diag->last = &line->next;
	}
	line->count++;
}

unsigned diag_kinds(const struct diag *diag)
{
	unsigned kinds = 0;

	for (const struct diag_line *line = diag->first; line; line = line->next)
		kinds++;
	return kinds;
}

void diag_print(const struct diag *diag, FILE *out)
{
	for (const struct diag_line *line = diag->first; line; line = line->next) {
		message_begin_warning(out);
		printable_printf(out, line->count > 1 ? "%s (%" PRIu64 " times)\n" : "%s\n",
				 line->text, line->count);
	}
}
