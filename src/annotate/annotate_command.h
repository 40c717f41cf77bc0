/* SPDX-License-Identifier: MIT */
/* `ptrace2ftf annotate F [INPUT]`: the source and instructions of a function, with their costs. */
#ifndef SRC_ANNOTATE_ANNOTATE_COMMAND_H
#define SRC_ANNOTATE_ANNOTATE_COMMAND_H

#include "src/batch/batch_job.h"

/*
 * Convert the recording in a process of its own, and print the functions that the options choose.
 * objdump, if there is one, disassembles, with rights to read files only.  Returns the exit status.
 */
int annotate_command(const struct options *options, batch_convert_fn *convert);

/* ---- The text of instructions, by objdump(1) ------------------------------ */

/* Zeroed memory is empty. */
struct disassembly {
	struct disassembly_line {
		uint64_t address;
		char *text;
	} * lines; /* owned, with the texts; by address */
	size_t count, room;
	bool failed; /* objdump is missing, or cannot read a file */
};

/*
 * Add the instructions of a file at virtual addresses [begin, end). Add ranges in ascending order.
 */
void disassembly_read(struct disassembly *disassembly, const char *path, uint64_t begin,
		      uint64_t end);

/* Returns the text of an instruction, borrowed; NULL: unknown. */
const char *disassembly_text(const struct disassembly *disassembly, uint64_t address);

/* Release the memory.  Idempotent, also on zeroed memory. */
void disassembly_release(struct disassembly *disassembly);

#endif
