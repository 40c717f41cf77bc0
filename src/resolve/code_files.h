/* SPDX-License-Identifier: MIT */
/*
 * The decoder's source of code: the files found by symbols. Records which wanted files are missing.
 */
#pragma once

#include "decoder/clock/tsc_clock.h"
#include "decoder/code/code_image.h"
#include "decoder/perf_data/perf_file.h"
#include "src/resolve/resolve.h"

struct code_files {
	const struct resolver *resolver; /* borrowed */
	bool *missing;  /* owned; by index of mapped_file: its code is wanted and missing */
	uint64_t *gaps; /* owned; by index of mapped_file: gaps because its code is missing */
	bool any_gap;   /* some code was missing */
};

/* `file_count`: the timeline's. */
void code_files_init(struct code_files *files, const struct resolver *resolver, size_t file_count);

void code_files_release(struct code_files *files);

/* Returns the decoder's source; valid as long as `files`. */
struct code_source code_files_source(struct code_files *files);

/*
 * Count a gap for its file. If the file has no valid instruction there, warns and shows the bytes.
 */
void code_files_note_gap(struct code_files *files, const struct branch_event *gap,
			 struct diag *diag);

/*
 * Warn if the file found at a path may not be the one that ran. A matching build id proves that it
 * is, except one of fewer than eight bytes, which no linker computes of the contents. Without a
 * proof:
 *
 *   executable parts   at other offsets than those that were mapped: another file, in any case
 *   inode              the recorded one: right, unless it was written after the recording; another
 *                      one: a new file, or a copy. A copy keeps its time, which the wall clock of
 *                      the recording (perf record -k) shows to be older. Below symfs all files are
 *                      copies: inodes count only if the recording has no build ids at all. On
 *                      btrfs, overlayfs, NFS (device major 0), where stat(2) may give another
 *                      inode, only a file that is newer counts.
 */
void code_files_check(const struct mapped_file *file, const struct dso *dso,
		      const struct perf_file *recording, bool symfs, struct diag *diag);

/* Warn in one line of wanted files that are missing, with their build ids. */
void code_files_warn(const struct code_files *files, const struct timeline *timeline,
		     struct diag *diag);

/*
 * The code that JIT compilers wrote during the recording, from their jitdump files. A recording has
 * such a file as a mapping of its first page (tools/perf/Documentation/jitdump-specification.txt).
 * Elsewhere the code in an ELF core from a process's end is used (symbols/files/core_file.h), as if
 * it had been there since it was mapped.
 */

struct jit_dumps {
	struct perf_mmap *code; /* owned; sorted by time; paths borrowed from the store */
	size_t count, room;
	bool monotonic; /* perf's clock is CLOCK_MONOTONIC (perf record -k mono) */
	bool saved;     /* a core has code of the recording */
};

/*
 * Read the dumps and the core of all processes in the recording. `store` opens the files; `clock`
 * converts TSC ticks to perf's time.
 */
void jit_dumps_read(struct jit_dumps *dumps, const struct perf_file *file, struct dso_store *store,
		    const struct tsc_clock *clock, struct diag *diag);

void jit_dumps_release(struct jit_dumps *dumps);

/*
 * Finds the kernel's code.
 *
 * The kernel modifies its own code when it starts (alternatives, retpolines, static keys), so the
 * best source is a copy of its memory: the kcore that perf record --kcore stores with the
 * recording. Otherwise it is vmlinux with the recorded build id, moved to the recorded address (the
 * MMAP record "[kernel.kallsyms]_text" has the address of _text), and the modules' files
 * (src/resolve/kernel_modules.c).
 */

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
		const uint8_t *bytes; /* bytes in the arena */
	} * modules;                  /* owned; sorted by begin, not overlapping */
	size_t count, room;
	/* A function of the kernel and its address. */
	struct kernel_export {
		const char *name; /* borrowed */
		uint64_t address;
	} * exports; /* owned; sorted by name */
	size_t export_count, export_room;
	struct arena *arena; /* borrowed */
	FILE *kallsyms;      /* borrowed; gets a line for each function that is added */
};

/*
 * Add the kernel's own functions: their addresses are those in vmlinux plus `distance` (bytes).
 */
void kernel_modules_add_kernel(struct kernel_modules *modules, const struct elf_file *vmlinux,
			       uint64_t distance);

/*
 * Load all mapped modules whose files are found. Warns of each module that does not fit its
 * recorded range.
 */
void kernel_modules_load(struct kernel_modules *modules, const struct address_space *kernel,
			 const struct resolver *resolver, struct diag *diag);

/* Returns whether a path is a module's: .../kernel/fs/ext4/ext4.ko, or with .xz, .zst or .gz. */
bool kernel_modules_is_module(const char *path);

void kernel_modules_release(struct kernel_modules *modules);

struct kernel_files {
	struct elf_file elf; /* owned */
	struct kernel_code code;
	struct arena arena; /* for segments and the path */
	struct kernel_modules modules;
	char *kallsyms;     /* owned; names of vmlinux and modules as in kallsyms; may be empty */
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

/*
 * Compare the running kernel with the recorded one, by release, build id and address. Set the
 * result in the store. Returns which parts of the running kernel fit.
 */
enum running_kernel kernel_files_identify(const struct perf_file *file,
					  const struct timeline *timeline, struct dso_store *store);

/* Returns the code found, or NULL. */
const struct kernel_code *kernel_files_code(const struct kernel_files *files);

/* Find the kallsyms that perf record --kcore stores with kcore. Returns `path`, or NULL. */
const char *kernel_files_kallsyms(const struct kernel_files_options *options,
				  const struct perf_file *file, char path[PATH_MAX]);

void kernel_files_release(struct kernel_files *files);
