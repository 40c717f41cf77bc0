/* SPDX-License-Identifier: MIT */
/*
 * Linkage names turned into the names programmers wrote: C++ and Rust by
 * libiberty, OCaml by its rule.  The shape is that of perf script: no parameter
 * lists, template arguments kept, no Rust hash.
 *
 * A name of a few hundred bytes can stand for gigabytes of text (substitutions
 * nest), so the output is bounded and the work stops at the bound.
 */
#ifndef SYMBOLS_DEMANGLE_H
#define SYMBOLS_DEMANGLE_H

#include <setjmp.h>
#include <stddef.h>

/* Longest text made, in bytes; what would be longer is not demangled. */
#define DEMANGLE_MAX 65536

/* Scratch memory; a zeroed one is ready for use. */
struct demangler {
	char *text;    /* owned: the last result */
	size_t length; /* bytes used of text, without its NUL */
	size_t room;
	jmp_buf too_long;
};

/* Release the memory.  Idempotent, also on zeroed memory. */
void demangler_release(struct demangler *demangler);

/*
 * Returns the demangled form of `linkage`, NUL-terminated, borrowed until the
 * next call; NULL if it is not mangled, is damaged, or would be longer than
 * DEMANGLE_MAX.
 */
const char *demangler_demangle(struct demangler *demangler, const char *linkage);

#endif
