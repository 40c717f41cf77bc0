/* SPDX-License-Identifier: MIT */
/*
 * The reason why a call failed.
 *
 * The caller owns a struct error and passes it as the last parameter; a function that fails fills
 * it and returns -1.  The first cause wins: once a kind is set, error_set() changes nothing, and
 * callers only put context in front with error_prefix().  A zeroed struct error is "no error".
 * Passing a null pointer is allowed everywhere and drops the text.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum error_kind {
	ERROR_NONE = 0,
	ERROR_SYSTEM,      /* a system call failed: `system` is its errno */
	ERROR_FORMAT,      /* the input violates its format */
	ERROR_UNSUPPORTED, /* a valid input that this program cannot read */
	ERROR_LIMIT,       /* a limit of a format or of this machine */
	ERROR_LIBRARY,     /* a library failed */
	ERROR_NO_READER,   /* the pipe or socket being written has no reader: EPIPE */
	ERROR_MORE_SLICES, /* convert again: ftf_fit.h, slow_calls.c */
};

struct error {
	enum error_kind kind;
	int system;     /* errno, if kind is ERROR_SYSTEM; else 0 */
	char text[400]; /* one line, no newline at its end; a longer text has "..." in its middle */
};

/*
 * Record a failure unless one is recorded already.
 * Returns -1 always, so that `return error_set(...)` reads well.
 */
int error_set(struct error *err, enum error_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same for a failed system call: appends ": " and the text of errnum.  Returns -1 always. */
int error_set_system(struct error *err, int errnum, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The same for damage at an offset of the input: appends " at offset 0x...".  `offset` is in bytes
 * from the start of the input file.  Returns -1 always.
 */
int error_set_at(struct error *err, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Put "context: " in front of the recorded text.  Returns -1 always. */
int error_prefix(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Put advice after the recorded text. */
void error_suffix(struct error *err, const char *text);

/* Copy a text, with "..." instead of its middle if it has `size` bytes or more. */
void error_text_fit(char *to, size_t size, const char *text);
