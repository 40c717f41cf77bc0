/* SPDX-License-Identifier: MIT */
/*
 * Finds the symbol table and the debug information of a stripped file.
 *
 * First comes a file of the same build id, as distributions and perf's build-id cache lay them out,
 * then the file that .gnu_debuglink names, then the compressed symbol table in .gnu_debugdata (GDB
 * manual, "Separate Debug Files", "MiniDebugInfo"; elfutils' dwfl_standard_find_debuginfo).  With a
 * symfs directory nothing outside of it and of the debug directory is opened.
 */
#pragma once

#include "symbols/files/dso_find.h"
#include "symbols/files/elf_file.h"

/* The file whose debug files are looked for; all pointers are borrowed. */
struct debug_request {
	const struct dso_find_options *options;
	const struct elf_file *code;
	const char *recorded; /* its path as recorded */
	const char *found;    /* its path on this machine; may be NULL */
};

/*
 * Open the debug file of a file of code.
 * Returns true if one fits; then `debug` is open and owned by the caller, and `path` is filled.
 */
bool debug_file_open(const struct debug_request *request, struct elf_file *debug,
		     char path[BENEATH_PATH]);

/*
 * Open the file with the parts that several debug files share (.gnu_debugaltlink, made by dwz(1)):
 * the debug file at `path` refers to it by `name` and its build id.  Returns true if it is open.
 */
bool debug_file_open_shared(const struct debug_request *request, const char *path, const char *name,
			    const uint8_t *id, size_t id_size, struct elf_file *shared);

/*
 * Open the package of a file's split units (DWARF 5, 7.3.5): FILE.dwp beside the file of code or
 * its debug file (at `debug_path`, or NULL), then below the directories of debug files by build id
 * and by path, as gdb looks for it.  Only the ids of its units show whether it belongs to this
 * program.  Returns true if it is open.
 */
bool debug_file_open_package(const struct debug_request *request, const char *debug_path,
			     struct elf_file *package);

/* The reference of a unit to the file with its other part. */
struct split_name {
	const char *file;
	const char *directory; /* base of a relative name; NULL: unknown */
};

/* Returns true if the file that was just opened has the wanted unit. */
typedef bool debug_file_accept(void *context);

/*
 * Open the file of a split unit: at its path (below symfs), beside the program, or at its path
 * below the directory of debug files.  Returns true if a file was opened and `accept` accepts it;
 * else `split` is closed.
 */
bool debug_file_open_split(const struct debug_request *request, const struct split_name *name,
			   struct elf_file *split, debug_file_accept *accept, void *context);

/*
 * Open the symbol table in .gnu_debugdata.  Returns -1 (ERROR_FORMAT) if it cannot be
 * unpacked, 0 if it is missing, 1 if it is open.
 */
int debug_file_open_mini(const struct elf_file *code, struct elf_file *mini, struct error *err);

/*
 * Files from debuginfod servers, by build id (debuginfod(8)).
 *
 * Only used if the user asks for it: the servers in DEBUGINFOD_URLS learn
 * which programs were recorded.  elfutils' client library is loaded at the first
 * request, so that the program does not depend on it.
 */

enum debuginfod_kind { DEBUGINFOD_EXECUTABLE, DEBUGINFOD_DEBUGINFO };

/* Returns NULL if servers can be asked; else the reason and the remedy. */
const char *debuginfod_missing(void);

/*
 * Returns the path of the file in the client's cache, owned by the caller
 * (free()); NULL if no server has it, or there is no client.
 */
char *debuginfod_fetch(enum debuginfod_kind kind, const uint8_t *build_id, size_t size);
