/* SPDX-License-Identifier: MIT */
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
#ifndef SRC_RESOLVE_KERNEL_MODULES_H
#define SRC_RESOLVE_KERNEL_MODULES_H

#include "base/arena.h"
#include "base/diag.h"
#include "decoder/timeline/timeline.h"
#include "src/resolve/resolve.h"
#include "symbols/files/elf_file.h"

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

/* Idempotent, also on zeroed memory. */
void kernel_modules_release(struct kernel_modules *modules);

#endif
