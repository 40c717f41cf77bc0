/* SPDX-License-Identifier: MIT */
/*
 * The kernel's code at a given time: the kernel changes its own code while it runs (static
 * keys, ftrace, kprobes), and makes new code (BPF programs, out-of-line slots).
 *
 * The changes are patches in the order of time.  Each stream has its own copy of the kernel's
 * bytes (pages that no patch touches are shared with the file), so streams may be at different
 * times.  Going back in time restores the old bytes.
 */
#ifndef DECODER_CODE_KERNEL_TEXT_H
#define DECODER_CODE_KERNEL_TEXT_H

#include <stdbool.h>

#include "decoder/code/kernel_code.h"

struct kernel_text {
	const struct kernel_code *kernel; /* borrowed; NULL: the code never changes */
	uint8_t *copy; /* owned (mmap): the file's bytes at the present time; may be NULL */
	uint8_t *runtime_segments; /* owned: the code made at run time, at the present time; may be
				      NULL */
	size_t next;               /* index of the first patch that is not applied */
};

/*
 * Begin with the kernel's code (NULL: none) before the first patch, even if the file has it as
 * it was later.  `kernel` must outlive the text.
 */
void kernel_text_init(struct kernel_text *text, const struct kernel_code *kernel);

/* Idempotent, also on zeroed memory. */
void kernel_text_release(struct kernel_text *text);

/*
 * Change to `time` (ns, perf's clock): apply patches up to it, undo later ones.  Returns
 * whether bytes changed.
 */
bool kernel_text_advance(struct kernel_text *text, uint64_t time);

/*
 * Returns the present bytes for bytes of the kernel's file or of code made at run time; other
 * bytes are returned unchanged.
 */
const uint8_t *kernel_text_bytes(const struct kernel_text *text, const uint8_t *bytes);

#endif
