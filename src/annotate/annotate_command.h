/* SPDX-License-Identifier: MIT */
/* `ptrace2ftf annotate F [INPUT]`: the source and instructions of a function, with their costs. */
#pragma once

#include "src/batch/batch.h"

/*
 * Convert the recording in a separate process, and print the functions chosen by the options.
 * Disassembles with objdump, if present, with rights to read files only. Returns the exit status.
 */
int annotate_command(const struct options *options, batch_convert_fn *convert);
