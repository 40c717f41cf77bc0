/* SPDX-License-Identifier: MIT */
/* Reads opcodes and ModRM (SDM volume 2, appendix A, "Opcode Map"). */
#include "decoder/dataflow/insn_fields.h"

#include <string.h>

static bool is_legacy_prefix(uint8_t byte)
{
	return byte && strchr("\x66\x67\xf0\xf2\xf3\x26\x2e\x36\x3e\x64\x65", byte);
}

bool insn_fields_read(const uint8_t *bytes, size_t size, enum insn_mode mode,
		      struct insn_fields *fields)
{
	size_t at = 0;

	*fields = (struct insn_fields){ .bits32 = mode == INSN_MODE_32 };
	for (; at < size && is_legacy_prefix(bytes[at]); at++) {
		fields->narrow |= bytes[at] == 0x66;
		fields->elsewhere |= bytes[at] >= 0x64 && bytes[at] <= 0x67 && bytes[at] != 0x66;
	}
	if (at < size && bytes[at] >> 4 == 4 && !fields->bits32)
		fields->rex = bytes[at++];
	if (at < size && bytes[at] == 0x0f) {
		fields->map_0f = true;
		at++;
	}
	if (at == size)
		return false;
	fields->opcode = bytes[at++];
	if (at < size)
		fields->modrm = bytes[at++];
	fields->rest = bytes + at;
	fields->rest_size = size - at;
	return true;
}

/* Returns the operand that is written by an opcode with an operation in ModRM.reg. */
static enum insn_written written_by_group(const struct insn_fields *fields)
{
	unsigned operation = fields->modrm >> 3 & 7;

	switch (fields->opcode) {
	case 0x80:
	case 0x81:
	case 0x83:
		return operation == 7 ? WRITES_NOTHING : WRITES_RM; /* cmp */
	case 0xf6:
	case 0xf7:
		return operation < 2   ? WRITES_NOTHING
		       : operation < 4 ? WRITES_RM
				       : WRITES_ANYTHING; /* test; mul */
	default:                                          /* fe, ff */
		return operation < 2    ? WRITES_RM
		       : operation == 6 ? WRITES_NOTHING
					: WRITES_ANYTHING; /* push */
	}
}

static enum insn_written written_by_map_0f(const struct insn_fields *fields)
{
	uint8_t opcode = fields->opcode;

	if (opcode == 0x1e && fields->modrm != 0xfa && fields->modrm != 0xfb)
		return WRITES_RM; /* perhaps rdssp; not endbr64, endbr32 */
	if ((opcode >= 0x10 && opcode <= 0x1f) || opcode == 0x28 || opcode == 0x29 ||
	    opcode == 0x2e || opcode == 0x2f || (opcode >= 0x51 && opcode <= 0x6f) ||
	    opcode == 0x7f || opcode == 0xd6 || opcode == 0xef)
		return WRITES_NOTHING; /* vectors, endbr64, nop */
	if (opcode >> 4 == 4 || opcode == 0xaf || opcode == 0xb6 || opcode == 0xb7 ||
	    opcode == 0xbe || opcode == 0xbf)
		return WRITES_REG;                             /* cmov, imul, movzx, movsx */
	return opcode >> 4 == 9 ? WRITES_RM : WRITES_ANYTHING; /* set */
}

enum insn_written insn_fields_written(const struct insn_fields *fields)
{
	uint8_t opcode = fields->opcode;

	if (fields->map_0f)
		return written_by_map_0f(fields);
	if (opcode < 0x40) { /* add, or, ..., cmp */
		if ((opcode & 7) > 5)
			return WRITES_ANYTHING;
		if (opcode >= 0x38)
			return WRITES_NOTHING;
		return (opcode & 7) > 3 ? WRITES_ANYTHING : opcode & 2 ? WRITES_REG : WRITES_RM;
	}
	if (fields->bits32 && opcode >> 4 == 4)
		return WRITES_OPCODE; /* inc, dec */
	switch (opcode) {
	case 0x63:
		return fields->bits32 ? WRITES_ANYTHING : WRITES_REG; /* arpl; movsxd */
	case 0x69:
	case 0x6b:
	case 0x8a:
	case 0x8b:
	case 0x8d:
		return WRITES_REG;
	case 0x88:
	case 0x89:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xc7:
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3:
		return WRITES_RM;
	case 0x80:
	case 0x81:
	case 0x83:
	case 0xf6:
	case 0xf7:
	case 0xfe:
	case 0xff:
		return written_by_group(fields);
	case 0x68: /* push */
	case 0x6a:
	case 0x84: /* test */
	case 0x85:
	case 0xa8:
	case 0xa9:
	case 0xf4: /* hlt */
		return WRITES_NOTHING;
	case 0x90:
		return fields->rex & REX_B ? WRITES_ANYTHING : WRITES_NOTHING;
	default:
		if (opcode >> 3 == 0x50 >> 3) /* push */
			return WRITES_NOTHING;
		return opcode >> 3 == 0x58 >> 3 || opcode >> 4 == 0xb ? WRITES_OPCODE
								      : WRITES_ANYTHING;
	}
}
