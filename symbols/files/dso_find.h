/* SPDX-License-Identifier: MIT */
/*
 * Where the file of a recorded path may be found.
 *
 * A recording is not trusted: with a symfs directory nothing outside of it is opened; without one,
 * only regular files are opened (elf_file_open()).
 */
#pragma once

#include "base/cursor.h"
#include "base/io/file_use.h"

/* Where files are looked for.  Its strings are borrowed. */
struct dso_find_options {
	const char *symfs;          /* directory in front of every recorded path; may be NULL */
	const char *build_id_cache; /* NULL: $HOME/.debug */
	const char *debug_dir;      /* debug files, laid out as in /usr/lib/debug; may be NULL */
	bool debuginfod; /* ask the servers in DEBUGINFOD_URLS for files that are missing */
};

/* How to treat a recorded path. */
enum dso_shape {
	DSO_SHAPE_FILE = 0,
	DSO_SHAPE_VDSO,     /* "[vdso]", of a 64-bit process */
	DSO_SHAPE_VDSO32,   /* "[vdso32]" or "[vdsox32]": its ELF class is 32 */
	DSO_SHAPE_VSYSCALL, /* "[vsyscall]" */
	DSO_SHAPE_NO_FILE,  /* anonymous memory, kernel, ... */
};

enum dso_shape dso_find_shape(const char *path);

/*
 * Returns the name that represents all code of the path, "[libfoo.so]"; owned
 * by the caller (free()).  Never NULL.
 */
char *dso_find_bracketed(const char *path);

/* Returns the length without " (deleted)", which the kernel appends for unlinked files. */
size_t dso_find_length(const char *path);

/* Returns whether a recorded path has "..", which would lead out of a directory put before it. */
bool dso_find_climbs(const char *path);

/*
 * Print a path and follow its links inside symfs, which may be NULL.
 * Returns false if it is too long, leads out of symfs, or nothing is there in symfs.
 */
bool dso_find_path(const char *symfs, char path[BENEATH_PATH], const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Print the path of a file in a build-id cache (perf help buildid-cache;
 * tools/perf/util/build-id.c): ROOT/.build-id/xx/rest followed by `name`. Caches, the best first:
 * symfs and debug_dir, into which perf archive's file was unpacked, and, without symfs, the user's
 * own. Returns false if there is no such cache, or the build id is too short or too long.
 */
enum { DSO_FIND_CACHES = 3 };
bool dso_find_cached(const struct dso_find_options *options, const struct byte_view *build_id,
		     int cache, const char *name, char path[BENEATH_PATH]);

/*
 * Returns a copy of this process's own vdso, owned by the caller; *size is its
 * length in bytes.  NULL if it has no vdso.
 */
uint8_t *dso_find_own_vdso(size_t *size);
