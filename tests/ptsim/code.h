/* SPDX-License-Identifier: MIT */
/*
 * A traced program's instructions, as Intel PT distinguishes them.
 *
 * Zydis decodes them when they first run, and they are kept by address.  decoder/code/insn.h, which
 * is under test, is deliberately not used.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* SDM volume 3, "Intel Processor Trace", table of COFI types. */
enum flow {
	FLOW_NONE,
	FLOW_COND,          /* jcc, loop, jrcxz: a TNT bit */
	FLOW_JUMP,          /* direct: no packet */
	FLOW_JUMP_INDIRECT, /* a TIP */
	FLOW_CALL,          /* direct: no packet */
	FLOW_CALL_INDIRECT, /* a TIP */
	FLOW_RETURN,        /* near: a TIP, or a TNT bit if compressed */
	FLOW_SYSCALL,       /* syscall, sysenter, int $0x80: the trace goes off */
	FLOW_FAR,           /* any other far transfer */
};

/* A branch target's location. */
enum code_target_kind {
	TARGET_UNKNOWN,  /* no branch, or a rare form of one */
	TARGET_DIRECT,   /* `value` */
	TARGET_REGISTER, /* in the register `base` */
	TARGET_MEMORY,   /* at `value` + the register `base` + the register `index` * `scale` */
	TARGET_STACK,    /* a return: on top of the stack */
};

struct code_target {
	uint64_t value;
	uint8_t kind;       /* enum code_target_kind */
	int8_t base, index; /* numbers as instructions encode them, 0 is rax; -1: none */
	uint8_t scale;
};

struct code_insn {
	uint64_t ip;
	struct code_target target;
	struct code_target data; /* TARGET_MEMORY: it reads or writes there, but for a branch */
	uint8_t length;          /* bytes; 0: none */
	uint8_t flow;            /* enum flow */
	bool by_carry;    /* jc to the next instruction: only the flag shows whether it is taken */
	bool straight;    /* the next instruction follows, unless there is a fault; not with rep or
			     lock */
	int8_t condition; /* of a FLOW_COND: the low 4 bits of jcc's opcode; -1: another one */
	bool sets_sp;     /* loads the stack pointer from elsewhere: mov, lea, xchg, leave ... */
	long word;        /* the code from here on, if `has_word` */
	bool has_word;
};

/* Reads up to `size` bytes of the program at `address`; returns how many are readable. */
typedef size_t code_read_fn(void *context, uint64_t address, uint8_t *bytes, size_t size);

struct code {
	struct code_insn *slots; /* owned */
	code_read_fn *read;
	void *context; /* borrowed */
	bool bits32;   /* the mode; else 64-bit */
};

void code_init(struct code *code, code_read_fn *read, void *context);

/* Idempotent, also on zeroed memory. */
void code_release(struct code *code);

/* Forget all instructions: the memory has changed. */
void code_forget(struct code *code);

/* Set the mode, initially 64-bit; instructions of another mode are forgotten. */
void code_set_mode(struct code *code, bool bits32);

/* Returns the instruction at an address, with length 0 if it is invalid; `keep`: it may be kept. */
struct code_insn code_at(struct code *code, uint64_t ip, bool keep);
