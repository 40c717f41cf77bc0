/* SPDX-License-Identifier: MIT */
/* argp_error() with the colours of all other errors. */
#include "src/cli/usage_error.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/message.h"

void usage_error(const struct argp_state *state, const char *format, ...)
{
	va_list args;

	message_begin_error(stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	putc('\n', stderr);
	argp_state_help(state, stderr, ARGP_HELP_STD_ERR);
}
