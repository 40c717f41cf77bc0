/* SPDX-License-Identifier: MIT */
/* Names as people write them, from names as linkers see them: C++ and Rust. */
#ifndef SYMBOLS_DEMANGLE_H
#define SYMBOLS_DEMANGLE_H

#include "base/name.h"

/*
 * Demangle as perf does: template arguments stay, parameter lists and Rust's
 * hashes go.
 * Returns the name to show, from `names`; `linkage` itself if it is not
 * mangled or too long to try.
 */
const struct name *demangle(struct name_table *names, const struct name *linkage);

#endif
