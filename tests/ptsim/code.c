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

void code_set_mode(struct code *code, bool bits32)
{
	if (code->bits32 == bits32)
		return;
	code->bits32 = bits32;
	code_forget(code);
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
		/* xbegin itself never jumps: an abort does, and single steps abort. */
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
		return insn->mnemonic == ZYDIS_MNEMONIC_INT && operands[0].imm.value.u == 0x80
			       ? FLOW_SYSCALL
			       : FLOW_FAR;
	case ZYDIS_CATEGORY_SYSRET:
		return FLOW_FAR;
	default:
		return FLOW_NONE;
	}
}

static bool is_sp(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       (operand->reg.value == ZYDIS_REGISTER_RSP ||
		operand->reg.value == ZYDIS_REGISTER_ESP);
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

/*
 * Returns the number of a register of the mode's width; -1 for ZYDIS_REGISTER_NONE, -2 for all
 * others.
 */
static int8_t register_number(const ZydisDecodedInstruction *insn, ZydisRegister reg)
{
	ZydisRegisterClass whole = insn->machine_mode == ZYDIS_MACHINE_MODE_LONG_64
					   ? ZYDIS_REGCLASS_GPR64
					   : ZYDIS_REGCLASS_GPR32;

	if (reg == ZYDIS_REGISTER_NONE)
		return -1;
	return ZydisRegisterGetClass(reg) == whole ? ZydisRegisterGetId(reg) : -2;
}

static unsigned width_of(const ZydisDecodedInstruction *insn)
{
	return insn->machine_mode == ZYDIS_MACHINE_MODE_LONG_64 ? 64 : 32;
}

static struct code_target memory_target(const ZydisDecodedInstruction *insn,
					const ZydisDecodedOperand *operand, uint64_t next)
{
	bool by_ip = operand->mem.base == ZYDIS_REGISTER_RIP;
	struct code_target target = {
		.kind = TARGET_MEMORY,
		.value = (uint64_t)operand->mem.disp.value + (by_ip ? next : 0),
		.base = by_ip ? -1 : register_number(insn, operand->mem.base),
		.index = register_number(insn, operand->mem.index),
		.scale = operand->mem.scale,
	};

	if (target.base < -1 || target.index < -1 || insn->address_width != width_of(insn) ||
	    operand->mem.segment == ZYDIS_REGISTER_FS || operand->mem.segment == ZYDIS_REGISTER_GS)
		target.kind = TARGET_UNKNOWN;
	return target;
}

static struct code_target target_of(const ZydisDecodedInstruction *insn,
				    const ZydisDecodedOperand *operands, uint64_t next,
				    enum flow flow)
{
	struct code_target target = { .kind = TARGET_UNKNOWN, .base = -1, .index = -1 };

	switch (flow) {
	case FLOW_COND:
	case FLOW_JUMP:
	case FLOW_CALL:
		target.kind = TARGET_DIRECT;
		target.value = next + (uint64_t)operands[0].imm.value.s;
		break;
	case FLOW_RETURN:
		if (!insn->operand_count_visible)
			target.kind = TARGET_STACK;
		break;
	case FLOW_JUMP_INDIRECT:
	case FLOW_CALL_INDIRECT:
		if (operands[0].size != width_of(insn))
			break;
		if (operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY)
			return memory_target(insn, &operands[0], next);
		target.base = register_number(insn, operands[0].reg.value);
		if (target.base >= 0)
			target.kind = TARGET_REGISTER;
		break;
	default:
		break;
	}
	return target;
}

/* The first operand in memory that the instruction's text has; lea and nop do not access it. */
static struct code_target data_of(const ZydisDecodedInstruction *insn,
				  const ZydisDecodedOperand *operands, uint64_t next)
{
	for (unsigned i = 0; i < insn->operand_count_visible; i++)
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operands[i].mem.type == ZYDIS_MEMOP_TYPE_MEM &&
		    insn->mnemonic != ZYDIS_MNEMONIC_NOP)
			return memory_target(insn, &operands[i], next);
	return (struct code_target){ .kind = TARGET_UNKNOWN };
}

/* jcc is 70 to 7f, or 0f 80 to 0f 8f. */
static int8_t condition_of(const ZydisDecodedInstruction *insn)
{
	unsigned first = insn->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT ? 0x70 : 0x80;

	if (insn->opcode_map > ZYDIS_OPCODE_MAP_0F || (insn->opcode & 0xf0) != first)
		return -1;
	return insn->opcode & 15;
}

/*
 * A transaction may commit at full speed; a stepped one never does.  Threads synchronize by locked
 * instructions, before which CPUs wait for each other.
 */
static bool is_straight(const ZydisDecodedInstruction *insn)
{
	return !(insn->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
				     ZYDIS_ATTRIB_HAS_REPNE | ZYDIS_ATTRIB_HAS_LOCK)) &&
	       insn->mnemonic != ZYDIS_MNEMONIC_XCHG && insn->mnemonic != ZYDIS_MNEMONIC_XBEGIN &&
	       insn->mnemonic != ZYDIS_MNEMONIC_XABORT;
}

static struct code_insn decode(const struct code *code, uint64_t ip)
{
	struct code_insn result = { .ip = ip };
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	ZydisDecoder decoder;
	uint8_t bytes[INSN_MAX];
	size_t size = code->read(code->context, ip, bytes, sizeof(bytes));

	result.has_word = size >= sizeof(result.word);
	if (result.has_word)
		memcpy(&result.word, bytes, sizeof(result.word));
	if (code->bits32)
		ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32);
	else
		ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size, &insn, operands)))
		return result;
	result.length = insn.length;
	result.flow = flow_of(&insn, operands);
	result.by_carry = insn.mnemonic == ZYDIS_MNEMONIC_JB && !operands[0].imm.value.s;
	result.target = target_of(&insn, operands, ip + insn.length, result.flow);
	result.data = data_of(&insn, operands, ip + insn.length);
	result.condition = condition_of(&insn);
	result.sets_sp = sets_sp(&insn, operands);
	result.straight = result.flow == FLOW_NONE && !result.sets_sp && is_straight(&insn);
	return result;
}

struct code_insn code_at(struct code *code, uint64_t ip, bool keep)
{
	struct code_insn *slot = &code->slots[(ip ^ ip >> SLOT_BITS) & (SLOTS - 1)];

	if (slot->ip != ip || !slot->length || !keep)
		*slot = decode(code, ip);
	return *slot;
}
