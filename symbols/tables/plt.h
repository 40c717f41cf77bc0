/* SPDX-License-Identifier: MIT */
/*
 * The stubs of the procedure linkage table, which have no entries in any
 * symbol table.
 *
 * A stub is known by the pointer it jumps through, or by the relocation number
 * that it pushes, and the relocation of either names the function (System V
 * ABI, AMD64 supplement, "Procedure Linkage Table").  Reading the stubs
 * instead of counting them makes the order of relocations and the linker's
 * choice of sections (.plt, .plt.sec, .plt.got, .iplt) unimportant.
 */
#ifndef SYMBOLS_TABLES_PLT_H
#define SYMBOLS_TABLES_PLT_H

#include <stdint.h>

#include "symbols/files/elf_file.h"

enum plt_target {
	PLT_HEADER = 0, /* not a stub but the code that all lazy stubs jump to */
	PLT_SYMBOL,     /* jumps to the function of a dynamic symbol */
	PLT_RESOLVED,   /* jumps to what an indirect function's resolver chose */
};

struct plt_stub {
	uint64_t vaddr;
	uint64_t size; /* bytes */
	enum plt_target target;
	uint32_t symbol_table; /* PLT_SYMBOL: index of the symbol table's section */
	uint32_t symbol;       /* PLT_SYMBOL: index in that table */
	uint64_t resolver;     /* PLT_RESOLVED: virtual address of the resolver */
};

typedef void plt_visitor(void *context, const struct plt_stub *stub);

/*
 * Call `visit` for each stub of the file whose target is known.  x86 and
 * x86-64 only; a damaged file has fewer stubs.
 */
void plt_scan(const struct elf_file *file, plt_visitor *visit, void *context);

#endif
