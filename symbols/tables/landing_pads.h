/* SPDX-License-Identifier: MIT */
/*
 * Where an exception lands that passes through a call, by the call sites that compilers write for
 * the personality routine of C++, which Rust, Ada, D and others use, too: a function's LSDA in
 * .gcc_except_table (LSB Core, "Exception Frames"; Itanium C++ ABI, "Exception Handling").
 *
 * Of a function that is active several times, only the call that each activation is in
 * says which of them an exception enters.
 */
#ifndef SYMBOLS_TABLES_LANDING_PADS_H
#define SYMBOLS_TABLES_LANDING_PADS_H

#include "base/common.h"

/* A function's LSDA. */
struct landing_pads {
	const uint8_t *bytes; /* borrowed: from its beginning to the end of the file's segment */
	size_t size;
	uint64_t vaddr;    /* of `bytes` */
	uint64_t function; /* virtual address where the function's unwind entry begins */
	bool wide;         /* the file's addresses have 64 bits */
};

/*
 * Returns the landing pad of the call at a virtual address; 0 if it has no landing pad, or
 * the LSDA is damaged.  Reads at most *work call sites, and subtracts their number.
 */
uint64_t landing_pads_find(const struct landing_pads *pads, uint64_t call, size_t *work);

#endif
