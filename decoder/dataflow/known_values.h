/* SPDX-License-Identifier: MIT */
/*
 * Constant propagation (compilers) for registers and the words on top of the stack: each holds a
 * constant, an argument of the function, or an unknown value.  An instruction that may write a
 * place makes its value unknown, unless the value that it writes is known.
 */
#ifndef DECODER_DATAFLOW_KNOWN_VALUES_H
#define DECODER_DATAFLOW_KNOWN_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "decoder/code/insn.h"

/*
 * Places: registers by their numbers in instructions (SDM volume 2, "Register Encoding"), and from
 * KNOWN_STACK on the words of the stack, from its top on.  An argument (System V ABI, "Parameter
 * Passing") is named by its place in the caller at the call: KNOWN_STACK is the word on top there,
 * which is behind the return address in the function.
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

/* A function begins: each place holds an argument. */
void known_values_begin(struct known_values *values, enum insn_mode mode);

/* Nothing is known of any place. */
void known_values_forget(struct known_values *values);

/* Two paths join: keep the values that both have.  Returns whether any became unknown. */
bool known_values_merge(struct known_values *values, const struct known_values *other);

/* Follow an instruction, decoded from `bytes`, to the next one; a conditional jump is not taken. */
void known_values_step(struct known_values *values, const uint8_t *bytes, const struct insn *insn,
		       enum insn_mode mode);

/* Returns the value at a place. */
struct known_value known_value_of(const struct known_values *values, unsigned place);

#endif
