/* SPDX-License-Identifier: MIT */
/*
 * Files from debuginfod servers, by build id (debuginfod(8)).
 *
 * Only used if the user asks for it: the servers in DEBUGINFOD_URLS learn
 * which programs were recorded.  elfutils' client library is loaded at the first
 * request, so that the program does not depend on it.
 */
#ifndef SYMBOLS_FILES_DEBUGINFOD_H
#define SYMBOLS_FILES_DEBUGINFOD_H

#include "base/common.h"

enum debuginfod_kind { DEBUGINFOD_EXECUTABLE, DEBUGINFOD_DEBUGINFO };

/* Returns NULL if servers can be asked; else the reason and the remedy. */
const char *debuginfod_missing(void);

/*
 * Returns the path of the file in the client's cache, owned by the caller
 * (free()); NULL if no server has it, or there is no client.
 */
char *debuginfod_fetch(enum debuginfod_kind kind, const uint8_t *build_id, size_t size);

#endif
