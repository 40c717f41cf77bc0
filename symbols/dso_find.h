/* SPDX-License-Identifier: MIT */
/*
 * Which file on this machine holds the code of a recorded path.
 *
 * A recording from someone else is not trusted: with `symfs` given, nothing
 * outside of it is opened.
 */
#ifndef SYMBOLS_DSO_FIND_H
#define SYMBOLS_DSO_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "symbols/dso_store.h"
#include "symbols/elf_file.h"

struct dso_wanted {
	const char *path;        /* as recorded */
	const uint8_t *build_id; /* NULL: unknown */
	size_t build_id_size;
};

struct dso_found {
	enum dso_state state;
	const char *path;  /* in the arena; NULL: not a file (the running vdso) or not found */
	struct elf_file elf; /* open if state is DSO_FOUND; the caller closes it */
	char text[300];    /* why not, if not found */
};

/* Returns whether a path names memory or the kernel, not a file that could be looked for. */
bool dso_is_no_file(const char *path);

/* Look for the file; the first candidate with the right build id wins. */
void dso_find(struct dso_found *found, const struct dso_wanted *wanted,
	      const struct dso_store_options *options, struct arena *arena);

#endif
