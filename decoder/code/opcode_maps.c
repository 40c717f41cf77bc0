/* SPDX-License-Identifier: MIT */
/* x86 opcode maps: a letter for each opcode, and a form for each letter. */
#include "decoder/code/opcode_maps.h"

#include "decoder/branch_event.h"

/* clang-format off */
static const struct opcode_form forms['z' + 1] = {
	['x'] = { .group = GROUP_INVALID },
	['.'] = { .modrm = false },
	['!'] = { .not_in_64 = true },
	['b'] = { .immediate = IMMEDIATE_1 },
	['d'] = { .immediate = IMMEDIATE_1, .not_in_64 = true },
	['z'] = { .immediate = IMMEDIATE_Z },
	['v'] = { .immediate = IMMEDIATE_V },
	['o'] = { .immediate = IMMEDIATE_ADDRESS },
	['e'] = { .immediate = IMMEDIATE_2_1 },
	['m'] = { .modrm = true },
	['B'] = { .modrm = true, .immediate = IMMEDIATE_1 },
	['D'] = { .modrm = true, .immediate = IMMEDIATE_1, .not_in_64 = true },
	['Z'] = { .modrm = true, .immediate = IMMEDIATE_Z },
	['Q'] = { .modrm = true, .immediate = IMMEDIATE_4 },
	['t'] = { .modrm = true, .immediate = IMMEDIATE_1, .group = GROUP_TEST },
	['T'] = { .modrm = true, .immediate = IMMEDIATE_Z, .group = GROUP_TEST },
	['h'] = { .modrm = true, .immediate = IMMEDIATE_1_1, .group = GROUP_EXTRQ },
	['g'] = { .modrm = true, .group = GROUP_CONTROL },
	['a'] = { .modrm = true, .group = GROUP_MEMORY },
	['A'] = { .modrm = true, .group = GROUP_MEMORY, .not_in_64 = true },
	['P'] = { .modrm = true, .group = GROUP_POP },
	['4'] = { .modrm = true, .group = GROUP_4 },
	['5'] = { .modrm = true, .group = GROUP_5 },
	['7'] = { .modrm = true, .group = GROUP_7 },
	/* Branches. */
	['c'] = { .immediate = IMMEDIATE_1, .kind = BRANCH_COND },
	['C'] = { .immediate = IMMEDIATE_NEAR, .kind = BRANCH_COND },
	['j'] = { .immediate = IMMEDIATE_1, .kind = BRANCH_JUMP },
	['J'] = { .immediate = IMMEDIATE_NEAR, .kind = BRANCH_JUMP },
	['L'] = { .immediate = IMMEDIATE_NEAR, .kind = BRANCH_CALL },
	['r'] = { .kind = BRANCH_RETURN },
	['R'] = { .immediate = IMMEDIATE_2, .kind = BRANCH_RETURN },
	['f'] = { .kind = BRANCH_IRET },
	['F'] = { .immediate = IMMEDIATE_2, .kind = BRANCH_IRET },
	['i'] = { .kind = BRANCH_SOFTINT },
	['I'] = { .immediate = IMMEDIATE_1, .kind = BRANCH_SOFTINT },
	['O'] = { .kind = BRANCH_SOFTINT, .not_in_64 = true },
	['p'] = { .immediate = IMMEDIATE_POINTER, .kind = BRANCH_SOFTINT, .not_in_64 = true },
	['s'] = { .kind = BRANCH_SYSCALL },
	['S'] = { .kind = BRANCH_SYSRET },
};
/* clang-format on */

/* Table A-2.  Prefixes and escapes are 'x': insn.c looks at them before. */
static const char map_0[] = "mmmmbz!!mmmmbz!x"  /* 00 */
			    "mmmmbz!!mmmmbz!!"  /* 10 */
			    "mmmmbzx!mmmmbzx!"  /* 20 */
			    "mmmmbzx!mmmmbzx!"  /* 30 */
			    "................"  /* 40 */
			    "................"  /* 50 */
			    "!!AmxxxxzZbB...."  /* 60 */
			    "cccccccccccccccc"  /* 70 */
			    "BZDBmmmmmmmmmamP"  /* 80 */
			    "..........p....."  /* 90 */
			    "oooo....bz......"  /* A0 */
			    "bbbbbbbbvvvvvvvv"  /* B0 */
			    "BBRrAABZe.FfiIOf"  /* C0 */
			    "mmmmdd..mmmmmmmm"  /* D0 */
			    "ccccbbbbLJpj...."  /* E0 */
			    "xixx..tT......45"; /* F0 */

/* Table A-3.  0F 0F is 3DNow!, whose opcode is where an immediate would be. */
static const char map_0f[] = "m7mmxs.S..x.xm.B"  /* 00 */
			     "mmmmmmmmmmmmmmmm"  /* 10 */
			     "ggggxxxxmmmmmmmm"  /* 20 */
			     "....sSx.xxxxxxxx"  /* 30 */
			     "mmmmmmmmmmmmmmmm"  /* 40 */
			     "mmmmmmmmmmmmmmmm"  /* 50 */
			     "mmmmmmmmmmmmmmmm"  /* 60 */
			     "BBBBmmm.hmxxmmmm"  /* 70 */
			     "CCCCCCCCCCCCCCCC"  /* 80 */
			     "mmmmmmmmmmmmmmmm"  /* 90 */
			     "...mBmmm...mBmmm"  /* A0 */
			     "mmmmmmmmmmBmmmmm"  /* B0 */
			     "mmBmBBBm........"  /* C0 */
			     "mmmmmmmmmmmmmmmm"  /* D0 */
			     "mmmmmmmmmmmmmmmm"  /* E0 */
			     "mmmmmmmmmmmmmmmm"; /* F0 */

static const struct opcode_form *form(char letter)
{
	return &forms[(unsigned char)letter];
}

const struct opcode_form *opcode_form_legacy(enum opcode_map map, uint8_t opcode)
{
	switch (map) {
	case MAP_0:
		return form(map_0[opcode]);
	case MAP_0F:
		return form(map_0f[opcode]);
	case MAP_0F38:
		return form('m');
	default:
		return form('B');
	}
}

/* 0F after VEX or EVEX: the vector instructions of 0F that have an immediate keep it. */
static char letter_of_vector_0f(uint8_t opcode)
{
	return (opcode & 0xfc) == 0x70 || opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6)
		       ? 'B'
		       : 'm';
}

const struct opcode_form *opcode_form_vex(unsigned map, uint8_t opcode)
{
	switch (map) {
	case MAP_0F:
		return form(opcode == 0x77 ? '.' : letter_of_vector_0f(opcode));
	case MAP_0F38:
	case MAP_5:
	case MAP_6:
		return form('m');
	case MAP_0F3A:
		return form('B');
	case MAP_7:
		return form('Q');
	default:
		return form('x');
	}
}

/* Legacy instructions of maps 0, 0F and 0F38 side by side: APX, "EVEX map 4". */
static char letter_of_evex_4(uint8_t opcode)
{
	switch (opcode) {
	case 0x24: /* SHLD */
	case 0x2c: /* SHRD */
	case 0x6b: /* IMUL */
	case 0x80: /* ADD ... CMP */
	case 0x83:
	case 0xc0: /* ROL ... SAR */
	case 0xc1:
		return 'B';
	case 0x69: /* IMUL */
	case 0x81: /* ADD ... CMP */
		return 'Z';
	case 0xf6:
		return 't';
	case 0xf7:
		return 'T';
	default:
		return 'm';
	}
}

const struct opcode_form *opcode_form_evex(unsigned map, uint8_t opcode)
{
	if (map == MAP_EVEX_4)
		return form(letter_of_evex_4(opcode));
	if (map == MAP_0F)
		return form(letter_of_vector_0f(opcode));
	return opcode_form_vex(map, opcode);
}

const struct opcode_form *opcode_form_xop(unsigned map)
{
	switch (map) {
	case MAP_XOP_8:
		return form('B');
	case MAP_XOP_9:
		return form('m');
	case MAP_XOP_A:
		return form('Q');
	default:
		return form('x');
	}
}

bool opcode_excludes_rex2(enum opcode_map map, uint8_t opcode)
{
	unsigned row = opcode >> 4;

	if (map == MAP_0F)
		return row == 0x3 || row == 0x8;
	return row == 0x4 || row == 0x7 || row == 0xa || row == 0xe;
}
