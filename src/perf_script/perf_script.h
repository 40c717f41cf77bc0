/* SPDX-License-Identifier: MIT */
/*
 * The front end for `perf script` text (--input=perf-script): lines in,
 * branches with symbols into a call-stack machine.
 *
 * The forms of a line are in perf_script_line.h; missing fields are inferred (inferred_calls.c) and
 * reported in the counts.  Branches without ip or addr are an error, and so are times since the
 * previous line (--deltatime).  Threads are the pairs of pid and tid, in the order in which they
 * appear.  A line of unknown form or of more than 64 KiB is skipped, and counted as a warning; a
 * read error is an error.  Memory grows with the number of distinct names and threads.
 */
#pragma once

#include "src/callstack/callstack.h"
#include "src/perf_script/perf_script_line.h"

struct perf_script_options {
	struct callstack_machine *machine; /* borrowed; gets the branches */
	struct name_table *names;          /* borrowed; the machine's own */
	struct arena *arena;          /* borrowed; gets the symbols: it must outlive the slices */
	struct diag *diag;            /* borrowed; NULL: warnings are dropped */
	enum trace_mode mode;         /* user or kernel: show this code only */
	enum demangle_style demangle; /* how to demangle names that perf printed mangled */
	bool name_addresses; /* code without names is one function per address, not per file */
	/* Borrowed: the first argument of these functions, each of which may be NULL. */
	void *context;
	/* Returns the track of a new thread; -1: unknown id. */
	void *(*track)(void *context, int32_t pid, int32_t tid);
	/* Gets a line, without newline, that changes more than the location inside one function. */
	void (*echo)(void *context, const char *line, size_t length);
	/* Gets a line of kind PERF_LINE_HIT and its location. */
	void (*hit)(void *context, const struct perf_line *line, const struct location *location);
	/* Called after the last line.  `newer`: the text has a (dso) column, which magic-trace
	 * reads since 1.1. */
	void (*input_end)(void *context, bool newer);
};

/* The command that prints all fields in use. */
#define PERF_SCRIPT_COMMAND                                                                        \
	"perf script --ns --itrace=be -F comm,pid,tid,time,flags,ip,addr,sym,symoff,dso"

/* Fields that the text lacks, as bits. */
enum perf_script_lacks {
	TEXT_LACKS_FLAGS = 1,
	TEXT_LACKS_SYMOFF = 2,
	TEXT_LACKS_TIME = 4,
	TEXT_LACKS_NS = 8,
	TEXT_LACKS_TID = 16,
	TEXT_LACKS_ADDR = 32, /* a tree of calls */
	TEXT_LACKS_RETURNS = 64,
	TEXT_LACKS_SYM = 128,
	TEXT_LACKS_BRANCHES = 256, /* jumps or returns, as without --itrace=b */
	TEXT_LACKS_LEVELS = TEXT_LACKS_FLAGS | TEXT_LACKS_RETURNS | TEXT_LACKS_BRANCHES,
};

#define PERF_SCRIPT_LACKS 9

/* By the number of each bit: the field, and its replacement. */
extern const struct perf_script_lack {
	const char *field, *effect;
} perf_script_lacks[PERF_SCRIPT_LACKS];

struct perf_script_counts {
	uint64_t lines, branches, unknown;
	unsigned lacks;                 /* enum perf_script_lacks; while lines are read, so far */
	uint64_t first_time, last_time; /* ns: of the lines fed; 0 if nothing was fed */
	uint64_t gaps[GAP_REASONS];     /* errors, by enum gap_reason */
	uint64_t hits;                  /* breakpoints and probes */
	uint64_t samples;               /* samples of other or unnamed events: not shown */
};

/*
 * Read all of `in` and feed the machine; then finish and close every thread's stack.  `counts` may
 * be NULL.  Returns 0, or -1 and *err if `in` could not be read; the lines read before are still
 * finished.
 */
int perf_script_convert(FILE *in, const struct perf_script_options *options,
			struct perf_script_counts *counts, struct error *err);
