/* SPDX-License-Identifier: MIT */
/*
 * What the recording tells of kernel code that changed or was made while the
 * kernel ran, and what modules it had loaded: the patches and islands of a struct
 * kernel_code.
 */
#ifndef SRC_RESOLVE_KERNEL_CHANGES_H
#define SRC_RESOLVE_KERNEL_CHANGES_H

#include "decoder/code/code_image.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/timeline/timeline.h"
#include "src/resolve/kernel_modules.h"

/*
 * Complete `code`, whose file and segments are known, by modules and changes.
 * Memory is of the arena, and no more than what the modules, records and features
 * take.  Records and features may be borrowed from `timeline` and `file`.
 */
void kernel_changes_add(struct kernel_code *code, struct kernel_modules *modules,
			const struct timeline *timeline, const struct perf_file *file);

#endif
