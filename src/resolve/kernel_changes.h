/* SPDX-License-Identifier: MIT */
/*
 * The recorded changes of kernel code, the code that was made while the kernel ran,
 * and its modules: the patches and the runtime segments of a struct kernel_code.
 */
#ifndef SRC_RESOLVE_KERNEL_CHANGES_H
#define SRC_RESOLVE_KERNEL_CHANGES_H

#include "decoder/code/code_image.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/timeline/timeline.h"
#include "src/resolve/kernel_modules.h"

/*
 * Add modules and changes to `code`, whose file and segments are set.  Memory is of
 * the modules' arena, and no more than the modules, records and features take.
 * The result may borrow from `timeline` and `file`.
 */
void kernel_changes_add(struct kernel_code *code, struct kernel_modules *modules,
			const struct timeline *timeline, const struct perf_file *file);

#endif
