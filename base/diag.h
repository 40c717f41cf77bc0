/* SPDX-License-Identifier: MIT */
/*
 * Warnings: damage and limits that do not end the run.
 *
 * Warnings are counted by kind: at its end, the run prints one line per kind, with the count and
 * the first location.  A kind is a short constant text in the program ("aux-truncated"); it is also
 * the warning's name in machine-readable output.  Threads may warn at the same time.
 */
#pragma once

#include "base/arena.h"

struct diag {
	struct arena arena;
	struct diag_line {
		const char *kind; /* borrowed: a string constant of the program */
		char *text;       /* owned by the arena: the first message of this kind */
		uint64_t count;
		struct diag_line *next; /* in the order of first appearance */
	} * first, **last;
	pthread_mutex_t lock;
};

void diag_init(struct diag *diag);
void diag_release(struct diag *diag);

/*
 * Count one warning of `kind`; the first one's formatted text is kept.  Text from a file may hold
 * any bytes: diag_print() makes it safe for a terminal.  A null diag drops the warning.
 */
void diag_warn(struct diag *diag, const char *kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Returns the number of kinds of warnings. */
unsigned diag_kinds(const struct diag *diag);

/*
 * Print "ptrace2ftf: warning: TEXT (N times)" per kind.  Control characters,
 * and bytes that are not UTF-8, are shown as '?'.
 */
void diag_print(const struct diag *diag, FILE *out);
