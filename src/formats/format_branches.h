/* SPDX-License-Identifier: MIT */
/*
 * `--format=branches`: one line per branch, as
 * `perf script --itrace=be -F pid,tid,time,flags,ip,addr,sym,symoff --ns`
 * prints it, but for names of code without symbols (tools/perf/builtin-script.c,
 * perf_sample__fprintf_flags and perf_event__fprintf_auxtrace_error of perf 6.1).
 */
#ifndef SRC_FORMATS_FORMAT_BRANCHES_H
#define SRC_FORMATS_FORMAT_BRANCHES_H

#include "src/callstack/callstack.h"

/*
 * Print a location: "f+0x12", "libc.so.6+0x29d90+0x12" in a function without a symbol,
 * "[libc.so.6]" in other code of a file, or "[unknown]".
 */
void format_location(FILE *out, const struct location *location);

/* Print one event; `from` and `to` are its resolved addresses.  Errors stay with the stream. */
void format_branch(FILE *out, const struct branch_event *event, const struct location *from,
		   const struct location *to);

#endif
