/* SPDX-License-Identifier: MIT */
/*
 * `ptrace2ftf open` and --open: a recording is converted, or a trace taken as it is, and
 * shown by the viewer's page in the user's browser.
 *
 * The conversion runs in a process and a sandbox of its own.  This process reads nothing of
 * the recording and nothing of the trace; it serves the bytes (viewer_page.h), and has then
 * given up all other rights (sandbox.h).
 */
#ifndef SRC_SERVE_OPEN_TRACE_H
#define SRC_SERVE_OPEN_TRACE_H

#include "src/batch/batch.h"

/*
 * Convert, if the input is no trace, and show the result until the page has fetched it.  `convert`
 * reports "view_begin" and "view_end" if the page shows a part of the trace first.  Returns the
 * exit status: the conversion's; EXIT_FAILED if there is nothing to show; EXIT_USAGE if the options
 * convert what needs no conversion; 128 + N if signal N ended the conversion.
 */
int open_trace(const struct options *options, batch_convert_fn *convert);

#endif
