/* SPDX-License-Identifier: MIT */
/*
 * Finds the kernel's code.
 *
 * The kernel modifies its own code when it starts (alternatives, retpolines, static keys), so the
 * best source is a copy of its memory: the kcore that perf record --kcore stores with the
 * recording. Otherwise it is vmlinux with the recorded build id, moved to the recorded address (the
 * MMAP record "[kernel.kallsyms]_text" has the address of _text), and the modules' files
 * (src/resolve/kernel_modules.h).
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
	struct arena arena; /* for segments and the path */
	struct kernel_modules modules;
	FILE *kallsyms; /* owned; names of vmlinux and modules; NULL: not needed */
	char kallsyms_path[64];
	uint64_t switch_ip; /* address of __switch_to; 0: unknown */
};

struct kernel_files_options {
	const char *kcore;   /* file or directory (kcore_dir); NULL: with the recording */
	const char *vmlinux; /* NULL: search the usual directories */
	const char *symfs;   /* prefix of the usual directories; may be NULL */
	const struct resolver *resolver; /* finds modules; NULL: do not search for any */
};

/*
 * Find the kernel's code; warns of files that cannot be used. The caller must call
 * kernel_files_release().
 */
void kernel_files_init(struct kernel_files *files, const struct kernel_files_options *options,
		       const struct perf_file *file, const struct timeline *timeline,
		       struct diag *diag);

/* Returns the code found, or NULL. */
const struct kernel_code *kernel_files_code(const struct kernel_files *files);

/* Find the kallsyms that perf record --kcore stores with kcore. Returns `path`, or NULL. */
const char *kernel_files_kallsyms(const struct kernel_files_options *options,
				  const struct perf_file *file, char path[PATH_MAX]);

/*
 * Returns the path of a kallsyms made from vmlinux and modules, valid until kernel_files_release();
 * NULL: there is a kcore, or neither.
 */
const char *kernel_files_made_kallsyms(const struct kernel_files *files);

/* Idempotent, also on zeroed memory. */
void kernel_files_release(struct kernel_files *files);

#endif
