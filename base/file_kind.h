/* SPDX-License-Identifier: MIT */
/* Recognises files given by mistake, by their first bytes. */
#pragma once

#include "base/common.h"

/*
 * Returns the kind of a file that begins with these bytes, and the remedy, to follow "is not a
 * ..." in a message: ", but a zip file; unpack it first".  Returns "" if the kind is unknown.
 */
const char *file_kind_text(const uint8_t *bytes, size_t size);
