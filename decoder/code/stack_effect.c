/* SPDX-License-Identifier: MIT */
/* Finds the loads of the stack pointer in front of a jump or call: see stack_effect.h. */
#include "decoder/code/stack_effect.h"

#include <stdbool.h>

#include "decoder/code/insn.h"

/*
 * The bytes of straight code between the load and a jump, which restores registers, and a call;
 * of a function in front of it, few, because a file may be made so that this is asked at each
 * branch.
 */
#define JUMP_BYTES     128
#define CALL_BYTES     16
#define FUNCTION_BYTES 4096

/* Register numbers: SDM volume 2, table 2-2. */
enum { RSP = 4, RBP = 5, NO_REGISTER = 16 };

/* What the code did to RSP so far. */
struct sp_state {
	bool written;   /* loaded from anywhere */
	bool loaded;    /* in the straight code: from elsewhere than this stack */
	bool saved;     /* copied to a register or memory */
	unsigned holds; /* registers that have a copy, by bits */
};

/* The operands of MOV, XCHG or LEA. */
struct operands {
	unsigned reg, base; /* NO_REGISTER: an address without a base */
	bool memory;
};

static struct operands operands_of(const uint8_t *modrm, unsigned rex)
{
	struct operands result = { .reg = (*modrm >> 3 & 7) | (rex & 4) << 1,
				   .memory = *modrm >> 6 != 3 };
	unsigned base = *modrm & 7;

	/* A SIB byte follows (SDM volume 2, table 2-2). */
	if (result.memory && base == RSP)
		base = modrm[1] & 7;
	/* Of the instruction pointer. */
	result.base = (*modrm & 0xc7) == 5 ? NO_REGISTER : base | (rex & 1) << 3;
	return result;
}

/* A value comes to RSP. */
static void load(struct sp_state *state, bool from_here)
{
	state->written = true;
	state->loaded = !from_here;
}

/* A value comes from memory or a register to a register. */
static void load_register(struct sp_state *state, const struct operands *from, unsigned to)
{
	bool here = from->base == RSP || from->base == RBP;

	if (to == RSP) {
		load(state, here || (!from->memory && state->holds >> from->base & 1));
	} else if (from->base == RSP && !from->memory) {
		state->saved = true;
		state->holds |= 1U << to;
	} else {
		state->holds &= ~(1U << to);
	}
}

/* MOV r/m64, r64. */
static void store_register(struct sp_state *state, const struct operands *operands)
{
	struct operands from = { .base = operands->reg };

	if (!operands->memory)
		load_register(state, &from, operands->base);
	else if (operands->reg == RSP || state->holds >> operands->reg & 1)
		state->saved = true;
}

/* LEA: an address in the frame, or, to RSP, one that takes a frame down. */
static void load_address(struct sp_state *state, const struct operands *operands)
{
	if (operands->reg == RSP && operands->base != RSP)
		load(state, true);
	else if (operands->reg != RSP && operands->base == RSP)
		state->holds |= 1U << operands->reg;
	else if (operands->reg != RSP)
		state->holds &= ~(1U << operands->reg);
}

static void exchange(struct sp_state *state, const struct operands *operands)
{
	bool has_sp = operands->reg == RSP || (!operands->memory && operands->base == RSP);

	if (!has_sp)
		return;
	load(state, false);
	state->saved = true;
}

static void follow(struct sp_state *state, const uint8_t *bytes, size_t length)
{
	const uint8_t *end = bytes + length;
	struct operands operands;
	unsigned rex = 0;

	if (*bytes >= 0x40 && *bytes <= 0x4f)
		rex = *bytes++;
	if (end - bytes == 1 && !(rex & 1)) {
		if (*bytes == 0x5c) /* pop %rsp */
			load(state, false);
		else if (*bytes == 0xc9) /* leave */
			load(state, true);
		else if (*bytes == 0x94 && rex & 8) /* xchg %rax, %rsp */
			exchange(state, &(struct operands){ .reg = RSP });
		else if (*bytes == 0x54) /* push %rsp */
			state->saved = true;
		return;
	}
	if (end - bytes < 2 || !(rex & 8))
		return;
	if (*bytes != 0x8b && *bytes != 0x89 && *bytes != 0x8d && *bytes != 0x87)
		return;
	operands = operands_of(bytes + 1, rex);
	if (*bytes == 0x8b)
		load_register(state, &operands, operands.reg);
	else if (*bytes == 0x89)
		store_register(state, &operands);
	else if (*bytes == 0x8d)
		load_address(state, &operands);
	else
		exchange(state, &operands);
}

/* Whether bytes may be the end of an instruction that loads RSP; rejects nearly all others. */
static inline bool may_load(const uint8_t *bytes)
{
	switch (bytes[1]) {
	case 0x8b: /* to reg */
		return (bytes[0] & 0xfc) == 0x48 && (bytes[2] & 0x38) == 0x20;
	case 0x89: /* to a register */
		return (bytes[0] & 0xf9) == 0x48 && (bytes[2] & 0xc7) == 0xc4;
	case 0x87:
	case 0x94:
		return (bytes[0] & 0xf8) == 0x48;
	case 0x5c:
		return bytes[0] != 0x41;
	default:
		return false;
	}
}

/* Most branches have no load of RSP near them. */
static bool may_load_before(const uint8_t *code, uint64_t offset, uint64_t straight)
{
	uint64_t at = offset > straight ? offset - straight : 0;

	if (offset && code[0] == 0x5c)
		return true;
	for (; at + 1 < offset; at++) {
		if (may_load(code + at))
			return true;
	}
	return false;
}

/*
 * Returns how far from a branch the load may be; 0: it is no call, and no jump through a register
 * or memory.
 */
static uint64_t straight_bytes(const uint8_t *bytes, size_t size)
{
	size_t i = 0;

	/* NOTRACK, BND and REX (SDM volume 1, 17.3.1 and 18.4). */
	while (i < 3 && i < size &&
	       (bytes[i] == 0x3e || bytes[i] == 0xf2 || (bytes[i] & 0xf0) == 0x40))
		i++;
	if (size - i < 2)
		return 0;
	if (bytes[i] == 0xe8)
		return CALL_BYTES;
	if (bytes[i] != 0xff)
		return 0;
	return (bytes[i + 1] & 0x38) == 0x20   ? JUMP_BYTES
	       : (bytes[i + 1] & 0x38) == 0x10 ? CALL_BYTES
					       : 0;
}

/* Follow a function's straight code up to an offset.  Returns whether it has an instruction there.
 */
static bool follow_to(struct sp_state *state, const uint8_t *code, size_t size, uint64_t offset,
		      uint64_t straight)
{
	uint64_t at = 0, loaded_at = 0;

	while (at < offset) {
		struct insn insn = insn_decode(code + at, size - at, INSN_MODE_64);
		bool loaded = state->loaded;

		if (!insn.length)
			return false;
		follow(state, code + at, insn.length);
		if (state->loaded && !loaded)
			loaded_at = at;
		/* What follows is reached from elsewhere. */
		if (insn.kind == BRANCH_JUMP || insn.kind == BRANCH_RETURN)
			state->loaded = false;
		at += insn.length;
	}
	state->loaded &= offset - loaded_at <= straight;
	return at == offset;
}

/* Returns whether the straight code from an offset on, to its next jump or return, loads RSP. */
static bool loads_behind(const uint8_t *code, size_t size, uint64_t offset)
{
	uint64_t end = offset + JUMP_BYTES;
	struct sp_state state = { 0 };

	while (offset < end && offset < size && !state.written) {
		struct insn insn = insn_decode(code + offset, size - offset, INSN_MODE_64);

		if (!insn.length || insn.kind == BRANCH_JUMP || insn.kind == BRANCH_RETURN)
			break;
		follow(&state, code + offset, insn.length);
		offset += insn.length;
	}
	return state.written;
}

enum stack_switch stack_switch_at(const uint8_t *code, size_t size, uint64_t offset)
{
	struct sp_state state = { 0 };
	uint64_t straight;
	struct insn insn;

	if (offset >= size || offset > FUNCTION_BYTES)
		return STACK_STAYS;
	straight = straight_bytes(code + offset, size - offset);
	if (!straight || !may_load_before(code, offset, straight) ||
	    !follow_to(&state, code, size, offset, straight) || !state.loaded)
		return STACK_STAYS;
	insn = insn_decode(code + offset, size - offset, INSN_MODE_64);
	if (insn.length && insn.kind == BRANCH_JUMP && insn.indirect)
		return state.saved ? STACK_LEFT_BY_JUMP : STACK_DROPPED_BY_JUMP;
	if (!insn.length || insn.kind != BRANCH_CALL || !state.saved)
		return STACK_STAYS;
	return loads_behind(code, size, offset + insn.length) ? STACK_STAYS : STACK_LEFT_BY_CALL;
}
