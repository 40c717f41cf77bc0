/* SPDX-License-Identifier: MIT */
/* Debug information that is made to take much time or memory (base/budget.h, symbols/dwarf/). */
#pragma once

#include "tests/sweep/hostile_set.h"

/* Contents: make_hostile.c; the last one has no name. */
extern const struct hostile_kind hostile_dwarf_kinds[];
