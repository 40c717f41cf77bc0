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
#ifndef SYMBOLS_DEBUG_FILE_H
#define SYMBOLS_DEBUG_FILE_H

#include <stdbool.h>

#include "symbols/dso_store.h"
#include "symbols/elf_file.h"

/* The file that a debug file is looked for. */
struct debug_request {
	const struct dso_store_options *options;
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
bool debug_file_open_shared(const struct debug_request *request, const char *path,
			    const char *name, const uint8_t *id, size_t id_size,
			    struct elf_file *shared);

/*
 * The same for the symbol table in .gnu_debugdata.  Returns -1 (ERROR_FORMAT)
 * if there is one that cannot be unpacked, 0 if there is none, 1 if it is open.
 */
int debug_file_open_mini(const struct elf_file *code, struct elf_file *mini, struct error *err);

#endif
