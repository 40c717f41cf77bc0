/* SPDX-License-Identifier: MIT */
/* Wrong usage: the program ends. */
#ifndef SRC_CLI_USAGE_ERROR_H
#define SRC_CLI_USAGE_ERROR_H

/* Print an error and exit with EXIT_USAGE. */
void usage_error(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
