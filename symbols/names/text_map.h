/* SPDX-License-Identifier: MIT */
/*
 * Names of code in text files: the perf-PID.map of JIT compilers and the
 * kernel's kallsyms.
 */
#ifndef SYMBOLS_NAMES_TEXT_MAP_H
#define SYMBOLS_NAMES_TEXT_MAP_H

#include <stdbool.h>

#include "symbols/names/name_ranges.h"

/* A file's text and the ranges in it.  Zeroed memory is an empty one. */
struct text_map {
	char *text; /* owned */
	struct name_ranges names;
};

/*
 * Read a perf-PID.map: a line per piece of code, "START SIZE NAME" with numbers
 * in hexadecimal, with or without "0x", and names that may have blanks (perf's
 * tools/perf/Documentation/jit-interface.txt).  Later lines win.  Lines of
 * another form are left out.  As anybody may write to /tmp, the file must be
 * root's or the user's own, as perf wants it.
 * Returns false if there is no such file or it is someone else's.
 */
bool text_map_read_perf(struct text_map *map, const char *path);

/*
 * Read a list of kernel symbols, "ADDRESS TYPE NAME" and perhaps a module's name
 * in brackets (kernel/kallsyms.c); only code counts.  Each reaches to the next.
 * Returns false if there is none, or it has no addresses: the kernel shows
 * zeros to users without the right to read them.
 */
bool text_map_read_kallsyms(struct text_map *map, const char *path);

/* Release everything.  Idempotent. */
void text_map_release(struct text_map *map);

#endif
