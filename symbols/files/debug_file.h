/* SPDX-License-Identifier: MIT */
/*
 * Where the symbol table and the debug information of a stripped file are.
 *
 * Looked for are a file of the same build id, as distributions and perf's
 * build-id cache lay them out, then the file that .gnu_debuglink names, then
 * the compressed symbol table in .gnu_debugdata (GDB manual, "Separate Debug
 * Files", "MiniDebugInfo"; elfutils' dwfl_standard_find_debuginfo).  With a
 * symfs directory nothing outside of it and of the debug directory is opened.
 */
#ifndef SYMBOLS_FILES_DEBUG_FILE_H
#define SYMBOLS_FILES_DEBUG_FILE_H

#include <stdbool.h>

#include "symbols/files/dso_find.h"
#include "symbols/files/elf_file.h"

/* The file that a debug file is looked for. */
struct debug_request {
	const struct dso_find_options *options;
	const struct elf_file *code;
	const char *recorded; /* its path as recorded */
	const char *found;    /* its path here; NULL: it has none */
};

/*
 * Open the debug file of a file of code.
 * Returns true if there is one, then `debug` is open and owned by the caller,
 * and `path` (of `size` bytes) is filled; false if there is none that fits.
 */
bool debug_file_open(const struct debug_request *request, struct elf_file *debug, char *path,
		     size_t size);

/*
 * The same for the file that several debug files share their common parts with
 * (.gnu_debugaltlink, made by dwz(1)): `name` is how the debug file at `path`
 * names it, `id` its build id.
 */
bool debug_file_open_shared(const struct debug_request *request, const char *path, const char *name,
			    const uint8_t *id, size_t id_size, struct elf_file *shared);

/*
 * Open the package of a file's split units (DWARF 5, 7.3.5): FILE.dwp beside the
 * file of code or its debug file (at `debug_path`, NULL: none), then below the
 * directories of debug files by build id and by path, as gdb looks for it.
 * Whether it is of this program is for each unit's id to tell.
 */
bool debug_file_open_package(const struct debug_request *request, const char *debug_path,
			     struct elf_file *package);

/* How a unit calls the file with its other part. */
struct split_name {
	const char *file;
	const char *directory; /* that the name is relative to; NULL: unknown */
};

/*
 * Open the file of a split unit: at its path (below symfs), beside the program,
 * or at its path below the directory of debug files; `index` is 0, 1, ...
 * Returns 1 if it is open; 0 if there is none for this index but may be for a later one; -1
 * after the last.
 */
int debug_file_open_split(const struct debug_request *request, const struct split_name *name,
			  unsigned index, struct elf_file *split);

/*
 * The same for the symbol table in .gnu_debugdata.  Returns -1 (ERROR_FORMAT)
 * if there is one that cannot be unpacked, 0 if there is none, 1 if it is open.
 */
int debug_file_open_mini(const struct elf_file *code, struct elf_file *mini, struct error *err);

#endif
