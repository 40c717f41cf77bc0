/* SPDX-License-Identifier: MIT */
/* Files that are given by mistake, by their first bytes. */
#ifndef BASE_FILE_KIND_H
#define BASE_FILE_KIND_H

#include "base/common.h"

/*
 * Returns what a file is that begins with these bytes, and what to do with it, to follow "is not
 * a ..." in a message: ", but a zip file; unpack it first".  Returns "" if that is not known.
 */
const char *file_kind_text(const uint8_t *bytes, size_t size);

#endif
