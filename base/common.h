/* SPDX-License-Identifier: MIT */
/*
 * The usual headers of the C library, and allocation.  Every header but libftf's includes this
 * one, directly or by another of the project's headers, so no file lists these again.
 */
#ifndef BASE_COMMON_H
#define BASE_COMMON_H

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#endif
