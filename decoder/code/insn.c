/* SPDX-License-Identifier: MIT */
/* Classify x86 instructions by Zydis, with a cache by address. */
#include "decoder/code/insn.h"

#include <Zydis/Zydis.h>

#define SLOT_BITS 15

struct insn_slot {
	const uint8_t *bytes; /* NULL: empty */
	struct insn insn;
	uint8_t mode;
};

static ZydisDecoder decoder_for(enum insn_mode mode)
{
	ZydisDecoder decoder;

	if (mode == INSN_MODE_64)
		ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	else if (mode == INSN_MODE_32)
		ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_COMPAT_32, ZYDIS_STACK_WIDTH_32);
	else
		ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_COMPAT_16, ZYDIS_STACK_WIDTH_16);
	return decoder;
}

static enum branch_kind far_kind(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_SYSENTER:
		return BRANCH_SYSCALL;
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_SYSEXIT:
		return BRANCH_SYSRET;
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
		return BRANCH_IRET;
	case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_INTO:
	case ZYDIS_MNEMONIC_VMLAUNCH:
	case ZYDIS_MNEMONIC_VMRESUME:
	case ZYDIS_MNEMONIC_VMCALL:
		return BRANCH_SOFTINT;
	default:
		return BRANCH_NONE;
	}
}

/* Near and far forms share mnemonics; meta.branch_type distinguishes them. */
static enum branch_kind kind_of(const ZydisDecodedInstruction *insn)
{
	bool far = insn->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;

	/* xbegin and xabort count as branches for Zydis; for Intel PT they are none. */
	if (insn->meta.isa_set == ZYDIS_ISA_SET_RTM)
		return BRANCH_NONE;
	switch (insn->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		return far ? BRANCH_SOFTINT : BRANCH_CALL;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return far ? BRANCH_SOFTINT : BRANCH_JUMP;
	case ZYDIS_CATEGORY_COND_BR:
		return BRANCH_COND;
	case ZYDIS_CATEGORY_RET:
		if (far_kind(insn->mnemonic) != BRANCH_NONE)
			return far_kind(insn->mnemonic);
		return far ? BRANCH_IRET : BRANCH_RETURN;
	default:
		return far_kind(insn->mnemonic);
	}
}

struct insn insn_decode(const uint8_t *bytes, size_t size, enum insn_mode mode)
{
	ZydisDecoder decoder = decoder_for(mode);
	ZydisDecodedInstruction decoded;
	struct insn insn = { 0 };

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, size, &decoded)))
		return insn;
	insn.length = decoded.length;
	insn.kind = kind_of(&decoded);
	insn.indirect = insn.kind == BRANCH_CALL || insn.kind == BRANCH_JUMP;
	if (insn.kind == BRANCH_CALL || insn.kind == BRANCH_JUMP || insn.kind == BRANCH_COND) {
		if (decoded.raw.imm[0].is_relative) {
			insn.indirect = false;
			insn.distance = (int32_t)decoded.raw.imm[0].value.s;
		}
	}
	return insn;
}

void insn_cache_init(struct direct_cache *cache)
{
	direct_cache_init(cache, SLOT_BITS, sizeof(struct insn_slot));
}

struct insn insn_cache_decode(struct direct_cache *cache, const uint8_t *bytes, size_t size,
			      enum insn_mode mode)
{
	struct insn_slot *slots = cache->slots;
	struct insn_slot *slot = &slots[direct_cache_index((uintptr_t)bytes, SLOT_BITS)];

	if (slot->bytes != bytes || slot->mode != mode) {
		slot->insn = insn_decode(bytes, size, mode);
		slot->bytes = bytes;
		slot->mode = (uint8_t)mode;
	}
	return slot->insn;
}
