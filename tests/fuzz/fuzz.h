/* SPDX-License-Identifier: MIT */
/*
 * The interface of a fuzz target: libFuzzer calls it in `make fuzz`, run_inputs.c in `make check`.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Returns 0; a fault aborts. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/*
 * Optional: mutates an input of `size` bytes, which has room for `room`, by `seed`.  Returns the
 * new size.
 */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t room, unsigned seed);
