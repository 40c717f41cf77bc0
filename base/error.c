/* SPDX-License-Identifier: MIT */
/* Fills struct error. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void append_text(struct error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void append_text(struct error *err, const char *format, ...)
{
	size_t used = strlen(err->text);
	va_list args;

	va_start(args, format);
	vsnprintf(err->text + used, sizeof(err->text) - used, format, args);
	va_end(args);
}

/* Returns 0 if err takes a new failure, -1 if it is absent or taken. */
static int begin_error(struct error *err, enum error_kind kind, const char *format, va_list args)
{
	if (!err || err->kind != ERROR_NONE)
		return -1;
	err->kind = kind;
	err->system = 0;
	err->offset = 0;
	vsnprintf(err->text, sizeof(err->text), format, args);
	return 0;
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
	if (begin_error(err, ERROR_SYSTEM, format, args) == 0) {
		err->system = errnum;
		append_text(err, ": %s%s", strerror(errnum),
			    errnum == EMFILE ? "; raise the limit with `ulimit -n`" : "");
	}
	va_end(args);
	return -1;
}

int error_set_at(struct error *err, uint64_t offset, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (begin_error(err, ERROR_FORMAT, format, args) == 0) {
		err->offset = offset;
		append_text(err, " at offset 0x%llx", (unsigned long long)offset);
	}
	va_end(args);
	return -1;
}

int error_prefix(struct error *err, const char *format, ...)
{
	char rest[sizeof(err->text)];
	va_list args;

	if (!err)
		return -1;
	memcpy(rest, err->text, sizeof(rest));
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	append_text(err, ": %s", rest);
	return -1;
}
