/* SPDX-License-Identifier: MIT */
/* --input=perf-script --format=calls: perf script text in, a call-stack machine's text out. */
#pragma once

#include <stdio.h>

#include "base/diag.h"
#include "src/callstack/callstack.h"

/*
 * Read `in` to its end, and print to `out` every relevant line, each followed by the output of the
 * machine that `open` creates (format_calls.h).  `diag` may be NULL.  Returns 0, or -1 and *err if
 * `in` cannot be read or `out` not written.
 */
int perf_script_print_calls(FILE *in, FILE *out,
			    struct callstack_machine *(*open)(const struct callstack_options *),
			    enum trace_mode mode, struct diag *diag, struct error *err);
