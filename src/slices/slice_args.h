/* SPDX-License-Identifier: MIT */
/*
 * The arguments of a slice besides its name, which are the same in every output
 * that shows slices.  In this order: address (of a mark: value), line, col, symbol,
 * file, vector, values of the event (page_fault_address, exit_qualification,
 * exit_reason), inferred_start_time, continued, caller; and, known at the slice's end,
 * insns, cycles, ipc.
 */
#ifndef SRC_SLICES_SLICE_ARGS_H
#define SRC_SLICES_SLICE_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols/symbol.h"

struct slice_cause;

struct slice_args {
	uint64_t address;      /* ip that the slice entered; 0: a slice of no code; or a value */
	bool is_value;         /* `address` is the value of a mark, and its name is "value" */
	uint32_t line, column; /* 1-based; 0: not known, not shown */
	const struct name *symbol;       /* linkage name, if it is not the shown one; else NULL */
	const struct name *file;         /* source file; NULL: not known */
	const struct name *caller;       /* "file:line" of the call; NULL: not known */
	int vector;                      /* of an interrupt; -1: none, or unknown */
	const struct slice_cause *event; /* its values; borrowed; NULL: none */
	bool continued;                  /* it began in the part before (--split) */
	bool inferred_start;             /* the call was not seen */
};

#define SLICE_EVENT_VALUES 3

/* Returns the argument name of a value of struct slice_cause; constant. */
const char *slice_event_value_name(int index);

/* Returns the args of a slice; `flags` is enum slice_flags. */
struct slice_args slice_args_of(const struct symbol *symbol, uint64_t ip, unsigned flags);

#endif
