/* SPDX-License-Identifier: MIT */
/*
 * Where the kernel's code comes from.
 *
 * The kernel changes its own code when it starts (alternatives, retpolines,
 * static keys), so the best source is a copy of its memory: the kcore that
 * perf record --kcore puts beside the recording.  Else vmlinux, which must have
 * the recorded build id, moved to where the recording says that the kernel was
 * (its MMAP record "[kernel.kallsyms]_text" has the address of _text), and the
 * modules' files (src/resolve/kernel_modules.h).
 */
#ifndef SRC_RESOLVE_KERNEL_FILES_H
#define SRC_RESOLVE_KERNEL_FILES_H

#include "base/arena.h"
#include "base/diag.h"
#include "decoder/code/code_image.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/timeline/timeline.h"
#include "src/resolve/kernel_modules.h"
#include "symbols/files/elf_file.h"

struct kernel_files {
	struct elf_file elf; /* owned */
	struct kernel_code code;
	struct arena arena; /* of segments and path */
	struct kernel_modules modules;
	FILE *kallsyms; /* owned; names of vmlinux and modules; NULL: others have them */
	char kallsyms_path[64];
	uint64_t switch_ip; /* where __switch_to begins; 0: unknown */
};

struct kernel_files_options {
	const char *kcore;   /* file or directory (kcore_dir); NULL: beside the recording */
	const char *vmlinux; /* NULL: of the usual places */
	const char *symfs;   /* in front of the usual places; NULL: none */
	const struct resolver *resolver; /* finds modules; NULL: none are looked for */
};

/*
 * Look for the kernel's code.  What is there but cannot be used is warned about.
 * The caller calls kernel_files_release().
 */
void kernel_files_init(struct kernel_files *files, const struct kernel_files_options *options,
		       const struct perf_file *file, const struct timeline *timeline,
		       struct diag *diag);

/* Returns the code found; NULL: none. */
const struct kernel_code *kernel_files_code(const struct kernel_files *files);

/*
 * Find the kallsyms that perf record --kcore puts beside kcore.
 * Returns `path`, filled; NULL if there is none.
 */
const char *kernel_files_kallsyms(const struct kernel_files_options *options,
				  const struct perf_file *file, char path[PATH_MAX]);

/*
 * Returns the path of a kallsyms that was made of vmlinux and the modules, valid
 * until kernel_files_release(); NULL: none was, since there is a kcore, or neither.
 */
const char *kernel_files_made_kallsyms(const struct kernel_files *files);

/* Idempotent, also on zeroed memory. */
void kernel_files_release(struct kernel_files *files);

#endif
