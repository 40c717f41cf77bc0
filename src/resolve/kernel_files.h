/* SPDX-License-Identifier: MIT */
/*
 * Finds the kernel's code.
 *
 * The kernel modifies its own code when it starts (alternatives, retpolines, static keys), so the
 * best source is a copy of its memory: the kcore that perf record --kcore stores with the
 * recording. Otherwise it is vmlinux with the recorded build id, moved to the recorded address (the
 * MMAP record "[kernel.kallsyms]_text" has the address of _text), and the modules' files
 * (src/resolve/kernel_modules.c).
 */
#ifndef SRC_RESOLVE_KERNEL_FILES_H
#define SRC_RESOLVE_KERNEL_FILES_H

#include "decoder/code/code_image.h"
#include "decoder/perf_data/perf_file.h"
#include "src/resolve/resolve.h"

/*
 * Kernel modules from their .ko files (compressed or not), for recordings without kcore.
 *
 * A .ko file is relocatable: the kernel concatenates its code sections (kernel/module/main.c,
 * layout_sections()) and writes addresses into them. The same is done here for references that
 * affect control flow: to the module's own code, and to functions of the kernel and other modules
 * whose addresses are known. Calls of unknown functions go to KERNEL_MODULE_HOLE, where there is no
 * code. Instructions that the kernel patches for its CPU (alternatives, retpolines) stay as in the
 * file, except for calls of __fentry__, which become nops.
 */

/* Nothing is ever mapped at the end of the address space. */
#define KERNEL_MODULE_HOLE UINT64_C(0xffffffffffff0000)

struct kernel_modules {
	struct kernel_module {
		uint64_t begin, end;  /* ip range [begin, end) */
		const uint8_t *bytes; /* of the arena */
	} * modules;                  /* owned; sorted by begin, not overlapping */
	size_t count, room;
	/* A function of the kernel and its address. */
	struct kernel_export {
		const char *name; /* borrowed */
		uint64_t address;
	} * exports; /* owned; sorted by name */
	size_t export_count, export_room;
	struct arena *arena; /* borrowed */
};

/*
 * Add the kernel's own functions: their addresses are those in vmlinux plus `distance` (bytes).
 * Prints a line for each to `kallsyms` (may be NULL).
 */
void kernel_modules_add_kernel(struct kernel_modules *modules, const struct elf_file *vmlinux,
			       uint64_t distance, FILE *kallsyms);

/*
 * Load all mapped modules whose files are found; prints their symbols to `kallsyms` (may be NULL).
 * Warns of each module that does not fit its recorded range.
 */
void kernel_modules_load(struct kernel_modules *modules, const struct address_space *kernel,
			 const struct resolver *resolver, FILE *kallsyms, struct diag *diag);

/* Returns whether a path is a module's: .../kernel/fs/ext4/ext4.ko, or with .xz, .zst or .gz. */
bool kernel_modules_is_module(const char *path);

void kernel_modules_release(struct kernel_modules *modules);

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

void kernel_files_release(struct kernel_files *files);

#endif
