/* SPDX-License-Identifier: MIT */
/*
 * A hint how to get debug files for code without names: from debuginfod if DEBUGINFOD_URLS is set,
 * otherwise with the tool of the distribution in /etc/os-release.
 */
#ifndef SRC_REPORT_DEBUG_HINT_H
#define SRC_REPORT_DEBUG_HINT_H

#include "base/common.h"

struct debug_hint_file {
	const char *path;        /* as recorded; borrowed */
	const uint8_t *build_id; /* borrowed */
	size_t build_id_size;    /* 0: unknown */
	unsigned percent;        /* of the trace's time */
};

/* Limit of files in a hint. */
#define DEBUG_HINT_FILES 3

/*
 * Returns "libc.so.6: 38 % of the time has no names, libm.so.6: 3 %; get debug files by: ...",
 * owned by the caller. There must be at least one file; the first has the most time. `symfs`: the
 * directory with the recorded system's files; NULL: this system's.
 */
char *debug_hint_make(const struct debug_hint_file *files, size_t count, const char *symfs);

#endif
