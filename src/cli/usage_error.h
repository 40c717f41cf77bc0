/* SPDX-License-Identifier: MIT */
/* Wrong usage: the program ends. */
#ifndef SRC_CLI_USAGE_ERROR_H
#define SRC_CLI_USAGE_ERROR_H

#include <argp.h>

/* Print an error, and where to find help, as argp_error() does, and exit with EXIT_USAGE. */
void usage_error(const struct argp_state *state, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
