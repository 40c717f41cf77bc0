/* SPDX-License-Identifier: MIT */
/* Prints errors and warnings, in colour on terminals. */
#include "base/message.h"

#include <unistd.h>

/* ECMA-48, SGR: bold, and red or magenta, as compilers and git have them. */
#define RED     "\033[1;31m"
#define MAGENTA "\033[1;35m"
#define RESET   "\033[0m"

static enum message_color color_when;

void message_color(enum message_color when)
{
	color_when = when;
}

static bool has_color(FILE *out)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
	int errnum = errno;
	bool terminal;

	if (color_when != MESSAGE_COLOR_AUTO)
		return color_when == MESSAGE_COLOR_ALWAYS;
	terminal = isatty(fileno(out));
	errno = errnum; /* the rest of the line may say it */
	return terminal && (!none || !*none) && (!term || strcmp(term, "dumb") != 0);
}

void message_begin_error(FILE *out)
{
	fputs(has_color(out) ? RED "ptrace2ftf:" RESET " " : "ptrace2ftf: ", out);
}

void message_begin_warning(FILE *out)
{
	fputs(has_color(out) ? "ptrace2ftf: " MAGENTA "warning:" RESET " "
			     : "ptrace2ftf: warning: ",
	      out);
}

void message_error(const struct error *err)
{
	if (err->kind == ERROR_NONE)
		return;
	message_print_error("%s\n", err->text);
}
