/* SPDX-License-Identifier: MIT */
/* Errors of usage, with the colours of all other errors. */
#include "src/cli/usage_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/message.h"
#include "src/options/options.h"

void usage_error(const char *format, ...)
{
	va_list args;

	message_begin_error(stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	putc('\n', stderr);
	exit(EXIT_USAGE);
}
