/* SPDX-License-Identifier: MIT */
/*
 * What the recording tells of kernel code that changed or was made while the
 * kernel ran: the patches and islands of a struct kernel_code.
 */
#ifndef SRC_KERNEL_CHANGES_H
#define SRC_KERNEL_CHANGES_H

#include "base/arena.h"
#include "decoder/code_image.h"
#include "decoder/perf_file.h"
#include "decoder/timeline.h"

/*
 * Complete `code`, whose file and segments are known, by changes.  Memory is of
 * the arena, and no more than what the records and features of the file take.
 * Records and features may be borrowed from `timeline` and `file`.
 */
void kernel_changes_add(struct kernel_code *code, struct arena *arena,
			const struct timeline *timeline, const struct perf_file *file);

#endif
