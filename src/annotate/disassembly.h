/* SPDX-License-Identifier: MIT */
/* The text of instructions, by objdump(1). */
#ifndef SRC_ANNOTATE_DISASSEMBLY_H
#define SRC_ANNOTATE_DISASSEMBLY_H

#include "base/common.h"

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
