/* SPDX-License-Identifier: MIT */
/* Long traces made of repeated short ones, each later than the one before. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Repeat a complete trace (from a PSB+ to where tracing is off) of `duration` TSC ticks until it
 * has at least `least` bytes.  Each copy's TSC packets are later by a multiple of the wrap of the
 * crystal clock's 16 bits, so TMA and MTC packets fit unchanged.  `apart`: an overflow after each
 * copy marks the following trace as lost; otherwise the program restarts in the midst of itself,
 * deeper each time.  Returns *size bytes, owned by the caller.
 */
uint8_t *repeat_trace(const uint8_t *trace, size_t trace_size, uint64_t duration, bool apart,
		      size_t least, size_t *size);
