/* SPDX-License-Identifier: MIT */
/*
 * The functions and lines of a Go program by its runtime's own table, which strip(1) and the
 * linker's -s and -w leave: .gopclntab, since Go 1.2.
 *
 * Sources: the layouts of Go 1.2, 1.16 and 1.18 are those of Go's debug/gosym/pclntab.go; 1.20
 * differs from 1.18 in its magic number only.  Since 1.26 the address of the code is only in the
 * module's data (runtime/symtab.go: moduledata.text; section .go.module).
 *
 * Files may be hostile: nothing is read beyond the table, and functions outside of the file's code
 * are ignored.
 */
#pragma once

#include "base/cursor.h"
#include "symbols/files/elf_file.h"

/* Zeroed memory is an empty table. */
struct go_table {
	struct byte_view names;     /* texts of functions */
	struct byte_view files;     /* texts of source files */
	struct byte_view units;     /* offsets in `files`, 32 bits each */
	struct byte_view values;    /* runs of code with equal line or file */
	struct byte_view functions; /* data of each */
	struct byte_view starts;    /* pairs: address of a function, its offset in `functions` */
	size_t count;               /* functions */
	uint64_t text;              /* virtual address to which the others are relative */
	uint8_t width;              /* bytes of an address in `starts` and in a function's data */
	bool has_units;             /* file numbers are relative to a unit (1.16 and later) */
	size_t work;                /* bytes of `values` that may still be read */
};

/* Read the header of a file's table; the file must outlive it.  Without a valid one it is empty. */
void go_table_open(struct go_table *table, const struct elf_file *file);

/*
 * Get the virtual addresses [range[0], range[1]) of a function, and the offset of its name in
 * `names`, perhaps beyond its end.  Returns false if the table has no such function.
 */
bool go_table_function(const struct go_table *table, size_t index, uint64_t range[2],
		       uint32_t *name);

/*
 * Returns the line of the code at a virtual address (for inlined code, the line in the inlined
 * function) and sets *path, borrowed from the file; 0 if either is unknown.
 */
uint32_t go_table_line(struct go_table *table, uint64_t vaddr, const char **path);

/* Returns whether lines are unknown because the reading limit is spent (GO_LINES_MOST). */
static inline bool go_table_is_spent(const struct go_table *table)
{
	return table->count && !table->work;
}
