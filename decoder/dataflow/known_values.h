/* SPDX-License-Identifier: MIT */
/*
 * What registers and the words on top of the stack hold, as far as the code of a function shows:
 * a constant, or what the function was called with.  Anything that an instruction might write, and
 * that it is not known to write otherwise, is forgotten.
 */
#ifndef DECODER_DATAFLOW_KNOWN_VALUES_H
#define DECODER_DATAFLOW_KNOWN_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "decoder/code/insn.h"

/*
 * Places: registers by their numbers in instructions (SDM volume 2, "Register Encoding"), and from
 * KNOWN_STACK on the words of the stack, from its top on.  For a function they are its arguments
 * when it is called (System V ABI, "Parameter Passing"): from KNOWN_STACK on those behind the
 * return address, as its caller had them on top when it called.
 */
#define KNOWN_REGISTERS       16
#define KNOWN_STACK           KNOWN_REGISTERS
#define KNOWN_STACK_ARGUMENTS 8

/* So many words of the stack are followed. */
#define KNOWN_WORDS 40

struct known_value {
	enum { VALUE_UNKNOWN = 0, VALUE_CONSTANT, VALUE_ARGUMENT } kind;
	int32_t number; /* VALUE_CONSTANT: its lower 32 bits; VALUE_ARGUMENT: the place */
};

struct known_values {
	struct known_value registers[KNOWN_REGISTERS];
	struct known_value
		words[KNOWN_WORDS]; /* from the top of the stack on; of 64-bit code alone */
};

/* Every place has what the function is called with. */
void known_values_begin(struct known_values *values, enum insn_mode mode);

/* Nothing is known of any place. */
void known_values_forget(struct known_values *values);

/* Keep what two ways to one instruction have in common.  Returns whether less is known than before.
 */
bool known_values_merge(struct known_values *values, const struct known_values *other);

/* Follow an instruction, decoded from `bytes`, to the next one; a conditional jump is not taken. */
void known_values_step(struct known_values *values, const uint8_t *bytes, const struct insn *insn,
		       enum insn_mode mode);

/* Returns the value at a place. */
struct known_value known_value_of(const struct known_values *values, unsigned place);

#endif
