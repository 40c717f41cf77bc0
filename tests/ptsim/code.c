/* SPDX-License-Identifier: MIT */
#include "tests/ptsim/code.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define SLOT_BITS 16
#define SLOTS     ((size_t)1 << SLOT_BITS)
#define INSN_MAX  15

void code_init(struct code *code, code_read_fn *read, void *context)
{
	code->slots = alloc_zeroed(SLOTS, sizeof(*code->slots));
	code->read = read;
	code->context = context;
}

void code_release(struct code *code)
{
	free(code->slots);
	code->slots = NULL;
}

void code_forget(struct code *code)
{
	memset(code->slots, 0, SLOTS * sizeof(*code->slots));
}

static enum flow call_or_jump(const ZydisDecodedOperand *target, enum flow direct,
			      enum flow indirect)
{
	return target->type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? direct : indirect;
}

static enum flow flow_of(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
	switch (insn->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		/* xbegin never jumps by itself: an abort does, and single steps abort. */
		return insn->mnemonic == ZYDIS_MNEMONIC_XBEGIN ? FLOW_NONE : FLOW_COND;
	case ZYDIS_CATEGORY_UNCOND_BR:
		if (insn->mnemonic == ZYDIS_MNEMONIC_XABORT)
			return FLOW_NONE;
		if (insn->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
			return FLOW_FAR;
		return call_or_jump(&operands[0], FLOW_JUMP, FLOW_JUMP_INDIRECT);
	case ZYDIS_CATEGORY_CALL:
		if (insn->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
			return FLOW_FAR;
		return call_or_jump(&operands[0], FLOW_CALL, FLOW_CALL_INDIRECT);
	case ZYDIS_CATEGORY_RET:
		return insn->mnemonic == ZYDIS_MNEMONIC_RET &&
				       insn->meta.branch_type != ZYDIS_BRANCH_TYPE_FAR
			       ? FLOW_RETURN
			       : FLOW_FAR;
	case ZYDIS_CATEGORY_SYSCALL:
		return FLOW_SYSCALL;
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSRET:
		return FLOW_FAR;
	default:
		return FLOW_NONE;
	}
}

static bool is_sp(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       operand->reg.value == ZYDIS_REGISTER_RSP;
}

static bool sets_sp(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_LEAVE:
		return true;
	case ZYDIS_MNEMONIC_XCHG:
		return is_sp(&operands[0]) || is_sp(&operands[1]);
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_LEA:
	case ZYDIS_MNEMONIC_POP:
		return is_sp(&operands[0]);
	default:
		return false;
	}
}

static struct code_insn decode(const struct code *code, uint64_t ip)
{
	struct code_insn result = { .ip = ip };
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	ZydisDecoder decoder;
	uint8_t bytes[INSN_MAX];
	size_t size = code->read(code->context, ip, bytes, sizeof(bytes));

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size, &insn, operands)))
		return result;
	result.length = insn.length;
	result.flow = flow_of(&insn, operands);
	result.by_carry = insn.mnemonic == ZYDIS_MNEMONIC_JB && !operands[0].imm.value.s;
	result.sets_sp = sets_sp(&insn, operands);
	return result;
}

struct code_insn code_at(struct code *code, uint64_t ip, bool keep)
{
	struct code_insn *slot = &code->slots[(ip ^ ip >> SLOT_BITS) & (SLOTS - 1)];

	if (slot->ip != ip || !slot->length || !keep)
		*slot = decode(code, ip);
	return *slot;
}
