/* SPDX-License-Identifier: MIT */
/*
 * What every fuzz target defines: libFuzzer calls it (`make fuzz`), and so does
 * run_inputs.c, which `make check` runs over the seeds.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Returns 0; anything that should not happen ends the program. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/*
 * What a target may define: changes an input of `size` bytes, which has room for `room`, in a
 * way that `seed` decides.  Returns the new size.
 */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t room, unsigned seed);

#endif
