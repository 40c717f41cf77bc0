/* SPDX-License-Identifier: MIT */
/* Fills struct error. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 1/HEAD_PARTS of a long text's room is for the beginning, with paths; reasons are at the end. */
#define HEAD_PARTS 3

void error_text_fit(char *to, size_t size, const char *text)
{
	size_t length = strlen(text), head = size / HEAD_PARTS;
	const char *tail;

	if (length < size) {
		memcpy(to, text, length + 1);
		return;
	}
	tail = text + (length + head + sizeof("...") - size);
	/* Keep UTF-8 characters whole: they have up to three more bytes. */
	for (int i = 0; i < 3; i++) {
		head -= (text[head] & 0xc0) == 0x80;
		tail += (*tail & 0xc0) == 0x80;
	}
	snprintf(to, size, "%.*s...%s", (int)head, text, tail);
}

static void set_text_list(struct error *err, const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0) {
		snprintf(err->text, sizeof(err->text), "out of memory");
		return;
	}
	error_text_fit(err->text, sizeof(err->text), text);
	free(text);
}

/* The arguments may contain err->text itself. */
static void __attribute__((format(printf, 2, 3)))
set_text(struct error *err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_text_list(err, format, args);
	va_end(args);
}

/* Record a failure unless err is NULL or has one.  Returns whether it was recorded. */
static bool begin_error(struct error *err, enum error_kind kind, const char *format, va_list args)
{
	if (!err || err->kind != ERROR_NONE)
		return false;
	err->kind = kind;
	set_text_list(err, format, args);
	return true;
}

int error_set(struct error *err, enum error_kind kind, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	begin_error(err, kind, format, args);
	va_end(args);
	return -1;
}

int error_set_system(struct error *err, int errnum, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (begin_error(err, ERROR_SYSTEM, format, args)) {
		err->system = errnum;
		set_text(err, "%s: %s%s", err->text, strerror(errnum),
			 errnum == EMFILE ? "; raise the limit with `ulimit -n`" : "");
	}
	va_end(args);
	return -1;
}

int error_set_at(struct error *err, uint64_t offset, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (begin_error(err, ERROR_FORMAT, format, args))
		set_text(err, "%s at offset 0x%llx", err->text, (unsigned long long)offset);
	va_end(args);
	return -1;
}

int error_prefix(struct error *err, const char *format, ...)
{
	struct error context = { 0 };
	va_list args;

	if (!err)
		return -1;
	va_start(args, format);
	set_text_list(&context, format, args);
	va_end(args);
	set_text(err, "%s: %s", context.text, err->text);
	return -1;
}

void error_suffix(struct error *err, const char *text)
{
	set_text(err, "%s%s", err->text, text);
}
