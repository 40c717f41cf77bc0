/* SPDX-License-Identifier: MIT */
/*
 * The kernel's code as it was at a time: the kernel changes its own code while
 * it runs (static keys, ftrace, kprobes), and makes new code (BPF programs,
 * out-of-line slots).
 *
 * What changed is told as patches in the order of time.  Each stream has a copy
 * of its own of the kernel's bytes (pages that no patch touches are shared with
 * the file), so streams may be at different times.  Going back in time puts
 * the old bytes back.
 */
#ifndef DECODER_CODE_KERNEL_TEXT_H
#define DECODER_CODE_KERNEL_TEXT_H

#include <stdbool.h>

#include "decoder/code/kernel_code.h"

struct kernel_text {
	const struct kernel_code *kernel; /* borrowed; NULL: it never changes */
	uint8_t *copy;                    /* owned (mmap): its file as it is now; may be NULL */
	uint8_t *runtime_segments;        /* owned: the islands as they are now; may be NULL */
	size_t next;                      /* the first patch that is not applied */
};

/*
 * Take the kernel's code (NULL: none) as it was before the first patch, also if
 * the file shows it as it was later.  `kernel` must outlive the text.
 */
void kernel_text_init(struct kernel_text *text, const struct kernel_code *kernel);

/* Idempotent, also on zeroed memory. */
void kernel_text_release(struct kernel_text *text);

/*
 * Now it is `time` (ns, perf's clock): patches up to it are applied, later ones
 * are not.  Returns whether bytes changed.
 */
bool kernel_text_advance(struct kernel_text *text, uint64_t time);

/*
 * Returns the bytes of now for bytes of the kernel's file or islands; others
 * are returned as they are.
 */
const uint8_t *kernel_text_bytes(const struct kernel_text *text, const uint8_t *bytes);

#endif
