/* SPDX-License-Identifier: MIT */
/*
 * Where the file of a recorded path may be found.
 *
 * A recording is not trusted: with a symfs directory nothing outside of it is
 * looked at, and without one a path is only opened if it is that of a regular
 * file (elf_file_open()).
 */
#ifndef SYMBOLS_FILES_DSO_FIND_H
#define SYMBOLS_FILES_DSO_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where files are looked for.  Its texts are borrowed. */
struct dso_find_options {
	const char *symfs;          /* directory in front of every recorded path; NULL: none */
	const char *build_id_cache; /* NULL: $HOME/.debug */
	const char *debug_dir;      /* debug files, laid out as in /usr/lib/debug; NULL: none */
	bool debuginfod; /* ask the servers in DEBUGINFOD_URLS for files that are missing */
};

/* How to treat a recorded path. */
enum dso_shape {
	DSO_SHAPE_FILE = 0,
	DSO_SHAPE_VDSO,     /* "[vdso]" */
	DSO_SHAPE_VSYSCALL, /* "[vsyscall]" */
	DSO_SHAPE_NO_FILE,  /* anonymous memory, kernel, ... */
};

enum dso_shape dso_find_shape(const char *path);

/*
 * Returns the name that stands for all code of the path, "[libfoo.so]"; owned
 * by the caller (free()).  Never NULL.
 */
char *dso_find_bracketed(const char *path);

/* A place to look, and how sure one must be that the file there is the one recorded. */
struct dso_candidate {
	char path[4096];     /* PATH_MAX */
	bool needs_build_id; /* only use it if it has the recorded build id */
};

/*
 * Give the candidates for a recorded path, the best first; `index` is 0, 1, ...
 * Returns 1 and fills *candidate; 0 if this index has none but a later one may
 * (the path would be too long, or points out of symfs); -1 after the last.
 */
int dso_find_candidate(const struct dso_find_options *options, const char *path, unsigned index,
		       struct dso_candidate *candidate);

/*
 * The same for the build-id cache (perf help buildid-cache; tools/perf/util/
 * build-id.c): .build-id/xx/rest is a directory that holds "elf" or "vdso", or
 * (before Linux 4.11) the file itself.
 */
int dso_find_cached(const struct dso_find_options *options, const uint8_t *build_id,
		    size_t build_id_size, unsigned index, struct dso_candidate *candidate);

/* Returns whether a recorded path has "..": it would lead out of a directory put before it. */
bool dso_find_climbs(const char *path);

/* Write the directory of the build-id cache into `path`; returns false if there is none. */
bool dso_find_cache(const struct dso_find_options *options, char *path, size_t size);

/*
 * Returns a copy of this process's own vdso, owned by the caller; *size is its
 * length in bytes.  NULL if it has none.
 */
uint8_t *dso_find_own_vdso(size_t *size);

#endif
