/* SPDX-License-Identifier: MIT */
/*
 * How to get the debug files of code without names: the program that asks debuginfod's servers
 * if DEBUGINFOD_URLS is set, else the tool of the distribution that /etc/os-release names.
 */
#ifndef SRC_REPORT_DEBUG_HINT_H
#define SRC_REPORT_DEBUG_HINT_H

#include "base/common.h"

/* A file with code that has no names. */
struct debug_hint_file {
	const char *path;        /* as recorded; borrowed */
	const uint8_t *build_id; /* borrowed */
	size_t build_id_size;    /* 0: unknown */
	unsigned percent;        /* of the trace's time */
};

/* Most files that the hint names. */
#define DEBUG_HINT_FILES 3

/*
 * Returns "libc.so.6: 38 % of the time has no names, libm.so.6: 3 %; get debug files by: ..." of
 * at least one file, the first with the most time, owned by the caller.  `symfs`: the directory
 * with the recorded system's files; NULL: this system's.
 */
char *debug_hint_make(const struct debug_hint_file *files, size_t count, const char *symfs);

#endif
