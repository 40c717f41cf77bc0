/* SPDX-License-Identifier: MIT */
/*
 * Limits of the CPU time and memory that a demangler of libiberty may take for a name.
 *
 * Names of 90 bytes can take hours: substitutions of C++, back references of Rust and D
 * double the work with each, and so does the backtracking of C++'s and D's parsers, without
 * a byte of output.  Which names do so depends on the library's release, so the limits ask
 * nothing of the name: a timer of the thread's CPU time ends the call, from a signal
 * handler.  That is safe as the demanglers own nothing but their stack and memory that they
 * take from here (symbols/local.mk renames malloc() and free() in a copy of the library).
 *
 * SIGVTALRM belongs to the limits.
 */
#ifndef SYMBOLS_NAMES_DEMANGLE_LIMITS_H
#define SYMBOLS_NAMES_DEMANGLE_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed memory has spent nothing. */
struct demangle_limits {
	uint64_t spent; /* ns of CPU time, beyond that of usual names */
	char *memory;   /* owned: DEMANGLE_NAME_MEMORY bytes, used anew for each name; NULL: none */
};

/* Release the memory.  Idempotent, also on zeroed memory. */
void demangle_limits_release(struct demangle_limits *limits);

/*
 * Call work(context) within what the limits (base/budget.h) allow for one name, of `length` bytes,
 * and for all that took longer than usual.  `work` calls libiberty and allocates nothing else.
 * Returns false if a limit ended it, or it was not called because all time is spent, or the
 * system has no timer left.
 */
bool demangle_limits_run(struct demangle_limits *limits, size_t length, void (*work)(void *),
			 void *context);

/* Called by `work`: end it.  Does not return. */
_Noreturn void demangle_limits_end(void);

#endif
