/* SPDX-License-Identifier: MIT */
/*
 * `ptrace2ftf open` and --open: convert a recording, or take a trace as it is, and show it by the
 * viewer's page in the user's browser.
 *
 * The conversion runs in its own process and sandbox.  This process reads nothing of the recording
 * or the trace; it serves the bytes (viewer_page.h) after giving up all other rights (sandbox.h).
 */
#pragma once

#include "src/batch/batch.h"

/*
 * Convert, unless the input is a trace, and show the result until the page has fetched it.
 * `convert` reports "view_begin" and "view_end" if the page shows a part of the trace first.
 * Returns the exit status: the conversion's; EXIT_FAILED if there is nothing to show; EXIT_USAGE if
 * options of a conversion are given for a trace; 128 + N if signal N ended the conversion.
 */
int open_trace(const struct options *options, batch_convert_fn *convert);
