/* SPDX-License-Identifier: MIT */
/*
 * Length and branch kind of instructions, by the SDM, the "Architecture Instruction Set Extensions
 * Programming Reference" and the APX specification.  insn_agrees.c compares with another decoder,
 * which lacks the newest instructions.
 */
#include <string.h>

#include "decoder/code/insn.h"
#include "tests/support/unit.h"

#define ROOM 32

/* An instruction's bytes in hexadecimal, and the expected result. */
struct encoding {
	const char *hex;
	enum branch_kind kind;
	bool indirect;
	int32_t distance;
};

static unsigned digit(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* Returns the number of bytes. */
static size_t bytes_of(const char *hex, uint8_t bytes[ROOM])
{
	size_t count = 0;

	for (; *hex; hex += 2) {
		if (*hex == ' ')
			hex++;
		bytes[count++] = (uint8_t)(digit(hex[0]) << 4 | digit(hex[1]));
	}
	return count;
}

static struct insn decode(const char *hex, enum insn_mode mode)
{
	uint8_t bytes[ROOM];

	memset(bytes, 0xf4, sizeof(bytes));
	bytes_of(hex, bytes);
	return insn_decode(bytes, sizeof(bytes), mode);
}

/* The row's bytes are one instruction, and no prefix of them is. */
static void expect(const struct encoding *row, enum insn_mode mode)
{
	uint8_t bytes[ROOM];
	size_t size = bytes_of(row->hex, bytes);
	struct insn insn = decode(row->hex, mode);

	ck_assert_msg(insn.length == size, "%s: length %u", row->hex, insn.length);
	ck_assert_msg(insn.kind == row->kind, "%s: kind %u", row->hex, insn.kind);
	ck_assert_msg(insn.indirect == row->indirect && insn.distance == row->distance,
		      "%s: distance %d", row->hex, insn.distance);
	for (size_t fewer = 0; fewer < size; fewer++)
		ck_assert_uint_eq(insn_decode(bytes, fewer, mode).length, 0);
}

static void expect_rows(const struct encoding *rows, size_t count, enum insn_mode mode)
{
	for (size_t i = 0; i < count; i++)
		expect(&rows[i], mode);
}

#define EXPECT_ROWS(rows, mode) expect_rows(rows, sizeof(rows) / sizeof((rows)[0]), mode)

static void expect_none(const char *const *rows, size_t count, enum insn_mode mode)
{
	for (size_t i = 0; i < count; i++)
		ck_assert_msg(!decode(rows[i], mode).length, "%s has a length", rows[i]);
}

#define EXPECT_NONE(rows, mode) expect_none(rows, sizeof(rows) / sizeof((rows)[0]), mode)

START_TEST(branches_have_their_kind_and_distance)
{
	static const struct encoding rows[] = {
		{ "74 80", BRANCH_COND, false, -128 },
		{ "0f 8f 01020304", BRANCH_COND, false, 0x04030201 },
		{ "e0 05", BRANCH_COND, false, 5 },    /* LOOPNE */
		{ "67e3 fe", BRANCH_COND, false, -2 }, /* JECXZ */
		{ "3e 75 10", BRANCH_COND, false, 0x10 },
		{ "eb fe", BRANCH_JUMP, false, -2 },
		{ "e9 ffffffff", BRANCH_JUMP, false, -1 },
		{ "66e9 01000000", BRANCH_JUMP, false, 1 }, /* Intel's CPUs ignore 66 */
		{ "e8 00000080", BRANCH_CALL, false, INT32_MIN },
		{ "f2e8 02000000", BRANCH_CALL, false, 2 }, /* BND */
		{ "ff 15 01020304", BRANCH_CALL, true, 0 },
		{ "41ff d3", BRANCH_CALL, true, 0 },
		{ "3eff e0", BRANCH_JUMP, true, 0 },
		{ "ff a4c8 01020304", BRANCH_JUMP, true, 0 },
		{ "c3", BRANCH_RETURN, false, 0 },
		{ "f3c3", BRANCH_RETURN, false, 0 },
		{ "c2 0800", BRANCH_RETURN, false, 0 },
		{ "0f05", BRANCH_SYSCALL, false, 0 },
		{ "0f34", BRANCH_SYSCALL, false, 0 },
		{ "480f07", BRANCH_SYSRET, false, 0 },
		{ "480f35", BRANCH_SYSRET, false, 0 },
		{ "48cf", BRANCH_IRET, false, 0 },
		{ "cb", BRANCH_IRET, false, 0 },
		{ "ca 0800", BRANCH_IRET, false, 0 },
		{ "cc", BRANCH_SOFTINT, false, 0 },
		{ "f1", BRANCH_SOFTINT, false, 0 },
		{ "cd 80", BRANCH_SOFTINT, false, 0 },
		{ "48ff 2b", BRANCH_SOFTINT, false, 0 },    /* far JMP */
		{ "ff 5c24 10", BRANCH_SOFTINT, false, 0 }, /* far CALL */
		{ "0f01c1", BRANCH_SOFTINT, false, 0 },     /* VMCALL */
		{ "0f01c2", BRANCH_SOFTINT, false, 0 },     /* VMLAUNCH */
		{ "0f01c3", BRANCH_SOFTINT, false, 0 },     /* VMRESUME */
	};

	EXPECT_ROWS(rows, INSN_MODE_64);
}
END_TEST

/* SDM volume 2, 2.2.1.6: ModRM with mod 0 and rm 5, in 64-bit code only. */
START_TEST(a_displacement_from_rip_is_found)
{
	ck_assert_uint_eq(decode("488b05 01020304", INSN_MODE_64).relative, 3);
	ck_assert_uint_eq(decode("c705 01020304 01000000", INSN_MODE_64).relative, 2);
	ck_assert_uint_eq(decode("c5fa1005 01020304", INSN_MODE_64).relative, 4);
	ck_assert_uint_eq(decode("ff15 01020304", INSN_MODE_64).relative, 2);
	ck_assert_uint_eq(decode("488b0425 01020304", INSN_MODE_64).relative, 0);
	ck_assert_uint_eq(decode("488b45 08", INSN_MODE_64).relative, 0);
	ck_assert_uint_eq(decode("e8 05000000", INSN_MODE_64).relative, 0);
	ck_assert_uint_eq(decode("8b05 01020304", INSN_MODE_32).relative, 0);
}
END_TEST

/* FRED specification, "ERETS" and "ERETU"; SDM volume 2, "UIRET". */
START_TEST(returns_from_events_are_branches_only_with_their_prefix)
{
	static const struct encoding rows[] = {
		{ "f20f01ca", BRANCH_IRET, false, 0 }, /* ERETS */
		{ "f30f01ca", BRANCH_IRET, false, 0 }, /* ERETU */
		{ "0f01ca", BRANCH_NONE, false, 0 },   /* CLAC */
		{ "f30f01ec", BRANCH_IRET, false, 0 }, /* UIRET */
		{ "f30f01ed", BRANCH_NONE, false, 0 }, /* TESTUI */
		{ "0f01ee", BRANCH_NONE, false, 0 },   /* RDPKRU */
	};

	EXPECT_ROWS(rows, INSN_MODE_64);
}
END_TEST

/* The packets are in insn.h. */
START_TEST(what_leaves_the_code_with_a_fup_is_no_branch)
{
	static const struct encoding rows[] = {
		{ .hex = "0f01d7" },        /* ENCLU */
		{ .hex = "0f01cf" },        /* ENCLS */
		{ .hex = "0f01c0" },        /* ENCLV */
		{ .hex = "660f01cc" },      /* TDCALL */
		{ .hex = "660f01cd" },      /* SEAMRET */
		{ .hex = "660f01ce" },      /* SEAMOPS */
		{ .hex = "660f01cf" },      /* SEAMCALL */
		{ .hex = "0f01d9" },        /* VMMCALL */
		{ .hex = "0faa" },          /* RSM */
		{ .hex = "0f37" },          /* GETSEC */
		{ .hex = "0fa2" },          /* CPUID */
		{ .hex = "c7f8 01020304" }, /* XBEGIN */
		{ .hex = "c6f8 01" },       /* XABORT */
		{ .hex = "0f01d5" },        /* XEND */
		{ .hex = "0f0b" },          /* UD2 */
		{ .hex = "d6" },            /* UDB */
	};

	EXPECT_ROWS(rows, INSN_MODE_64);
}
END_TEST

/* Each comment names the first chip with the instruction. */
START_TEST(instructions_of_new_chips_have_their_length)
{
	static const struct encoding rows[] = {
		/* Sierra Forest: CMPccXADD, AVX-IFMA, AVX-VNNI-INT8, AVX-NE-CONVERT, WRMSRNS ... */
		{ .hex = "c4e239e223" },
		{ .hex = "c4e209ebbdf48359bf" },
		{ .hex = "c4a279ecb60260e727" },
		{ .hex = "c42295b4c2" },
		{ .hex = "c40285b5cb" },
		{ .hex = "c4226b504a3e" },
		{ .hex = "c4822e509edef417d8" },
		{ .hex = "c4e22051 1a" },
		{ .hex = "c4027bb022" },
		{ .hex = "c4a27eb152d7" },
		{ .hex = "c4427e723c08" },
		{ .hex = "0f01c6" },
		{ .hex = "f20f01c6" },
		{ .hex = "f30f01c6" },
		{ .hex = "0f38fc1f" },
		{ .hex = "660f38fcac6cdc9ff03b" },
		/* Arrow Lake: SHA512, SM3, SM4, AVX-VNNI-INT16. */
		{ .hex = "c4a27fcce1" },
		{ .hex = "c4c277cbd2" },
		{ .hex = "c4e27fcdd4" },
		{ .hex = "c40258da8ef04024f2" },
		{ .hex = "c40369dea14d43bfb178" },
		{ .hex = "c4a24ada768f" },
		{ .hex = "c4221fdabfb3fe50cf" },
		{ .hex = "c4e20ad243f5" },
		{ .hex = "c4a232d3b4a0f7e9c5b9" },
		/* Sapphire and Granite Rapids: AMX. */
		{ .hex = "c4e27a5cfd" },
		{ .hex = "c4e26b5cdf" },
		{ .hex = "c4e2486cc7" },
		{ .hex = "c4e2596cf5" },
		{ .hex = "c4827b4b6c33b5" },
		/* Panther Lake: LKGS, PBNDKB, FRED. */
		{ .hex = "f20f00f6" },
		{ .hex = "0f01c7" },
		/* Clearwater Forest: USER_MSR and MSR_IMM. */
		{ .hex = "f20f38f8c8" },
		{ .hex = "f30f38f8c7" },
		{ .hex = "c4e77bf8c0 01020304" },
		{ .hex = "c4e77af8c1 01020304" },
		{ .hex = "c4e77bf6c3 01020304" },
		{ .hex = "c4e77af6c3 01020304" },
		/* Diamond Rapids: AMX of VEX map 5, AVX10.2, MOVRS. */
		{ .hex = "c4e571fde6" },
		{ .hex = "c4a24a5ec7" },
		{ .hex = "62f207406ddb" },
		{ .hex = "660f388a23" },
		{ .hex = "62f57c4858c1" },
		{ .hex = "62f65f48a8ca" },
		{ .hex = "62f37c4852c1 03" },
	};

	EXPECT_ROWS(rows, INSN_MODE_64);
}
END_TEST

START_TEST(apx_instructions_have_their_length)
{
	static const struct encoding rows[] = {
		/* REX2: PUSHP, POPP, ADD, MOV, MOVZX, an immediate of 8 bytes. */
		{ .hex = "d54d57" },
		{ .hex = "d57c5b" },
		{ .hex = "d51801c0" },
		{ .hex = "66d51081c0 0102" },
		{ .hex = "d518 b8 0102030405060708" },
		{ .hex = "d590b6c0" },
		{ .hex = "d5a701e8" },
		{ "d510ffd0", BRANCH_CALL, true, 0 },
		{ "d511ffe7", BRANCH_JUMP, true, 0 },
		/* JMPABS. */
		{ "d500a1 0102030405060708", BRANCH_JUMP, true, 0 },
		{ "d545a1 0102030405060708", BRANCH_JUMP, true, 0 },
		/* EVEX map 4: PUSH2, POP2, and new forms of old instructions. */
		{ .hex = "62f47c18fff0" },
		{ .hex = "62f47c188fc0" },
		{ .hex = "62f47c18 01c8" },
		{ .hex = "620429 0c8378f9 14" },
		{ .hex = "62f47c18 81c0 01020304" },
		{ .hex = "62f47d18 81c0 0102" },
		{ .hex = "62f4fd18 81c0 01020304" },
		{ .hex = "62f47c08 69c1 01020304" },
		{ .hex = "62f47c08 6bc1 01" },
		{ .hex = "62f47c08 f6c1 01" },
		{ .hex = "62f47c08 f7c1 01020304" },
		{ .hex = "62f47c08 f7d1" },
		{ .hex = "62b49418 2ca1368ceedb 53" },
		{ .hex = "62f47c18 24c1 05" },
		{ .hex = "621cc418 c1bbcec03db3 30" },
		{ .hex = "629c7a08 f21c1e" },
		{ .hex = "6214f908 f8bfe7ac21d6" },
		/* Other maps with registers 16 to 31. */
		{ .hex = "62cadf08f602" },
		{ .hex = "62f97d0890798e" },
		/* URDMSR and UWRMSR with an immediate. */
		{ .hex = "62f77f08f8c0 01020304" },
		{ .hex = "62f77e08f8c1 01020304" },
	};

	EXPECT_ROWS(rows, INSN_MODE_64);
}
END_TEST

/* Future opcodes of a map have the map's usual operands. */
START_TEST(an_opcode_that_nobody_knows_yet_has_the_length_of_its_map)
{
	static const struct encoding rows[] = {
		{ .hex = "0f38a08001020304" },
		{ .hex = "0f3a99c012" },
		{ .hex = "c4e279fec0" },
		{ .hex = "c4e379f8c001" },
		{ .hex = "c4e578000425 01020304" },
		{ .hex = "c4e67801c0" },
		{ .hex = "c4e77800c0 01020304" },
		{ .hex = "62f17c48fec0" },
		{ .hex = "62f37c48f840 01 02" },
		{ .hex = "62f67c48ff4401 02" },
		{ .hex = "0f01f0" },
		{ .hex = "0f01cb" },
	};

	EXPECT_ROWS(rows, INSN_MODE_64);
}
END_TEST

START_TEST(operands_have_their_size_in_64_bit_code)
{
	static const struct encoding rows[] = {
		{ .hex = "90" },
		{ .hex = "488b00" },
		{ .hex = "8b45 10" },
		{ .hex = "8b4424 10" },
		{ .hex = "8b8424 01020304" },
		{ .hex = "8b0425 01020304" },
		{ .hex = "8b05 01020304" },
		{ .hex = "8b44ad 10" },
		{ .hex = "678b05 01020304" },
		{ .hex = "b8 01020304" },
		{ .hex = "66b8 0102" },
		{ .hex = "48b8 0102030405060708" },
		{ .hex = "6648b8 0102030405060708" },
		{ .hex = "4866b8 0102" }, /* REX before another prefix has no effect */
		{ .hex = "48c7c0 01020304" },
		{ .hex = "a1 0102030405060708" },
		{ .hex = "67a1 01020304" },
		{ .hex = "68 01020304" },
		{ .hex = "6668 0102" },
		{ .hex = "c8 000100" },
		{ .hex = "f6c0 01" },
		{ .hex = "f6d0" },
		{ .hex = "f7c0 01020304" },
		{ .hex = "66f7c0 0102" },
		{ .hex = "f7d0" },
		{ .hex = "f0480fb10f" },
		{ .hex = "0f20c0" },
		{ .hex = "0f2000" }, /* a control register: ModRM never means memory */
		{ .hex = "0f78c1" },
		{ .hex = "660f78c0 0102" },
		{ .hex = "f20f78c1 0102" },
		{ .hex = "0f0fc1b4" },
		{ .hex = "0fffc0" },
		{ .hex = "c5f877" },
		{ .hex = "c5f958c1" },
		{ .hex = "c5f970c1 01" },
		{ .hex = "62f17d4870c1 01" },
		{ .hex = "8fe878c0c1 01" },
		{ .hex = "8fe97801d1" },
		{ .hex = "8fea7810c1 01020304" },
		{ .hex = "6666666666666666666666666666 90" },
	};

	EXPECT_ROWS(rows, INSN_MODE_64);
}
END_TEST

START_TEST(code_of_32_bit_has_other_operands_and_opcodes)
{
	static const struct encoding rows[] = {
		{ .hex = "40" },
		{ .hex = "c500" },
		{ .hex = "c400" },
		{ .hex = "6200" },
		{ .hex = "c5f877" },
		{ .hex = "62f17c4858c1" },
		{ .hex = "d500" },
		{ .hex = "82c001" },
		{ .hex = "8b05 01020304" },
		{ .hex = "678b06 0102" },
		{ .hex = "678b4010" },
		{ .hex = "a1 01020304" },
		{ .hex = "67a1 0102" },
		{ "74 10", BRANCH_COND, false, 0x10 },
		{ "0f84 01000000", BRANCH_COND, false, 1 },
		{ "660f84 ffff", BRANCH_COND, false, -1 },
		{ "e9 01000000", BRANCH_JUMP, false, 1 },
		{ "66e8 0100", BRANCH_CALL, false, 1 },
		{ "9a 010203040506", BRANCH_SOFTINT, false, 0 },
		{ "66ea 01020304", BRANCH_SOFTINT, false, 0 },
		{ "ce", BRANCH_SOFTINT, false, 0 },
		{ .hex = "f30f01ca" },
	};

	EXPECT_ROWS(rows, INSN_MODE_32);
}
END_TEST

START_TEST(code_of_16_bit_has_other_operands)
{
	static const struct encoding rows[] = {
		{ .hex = "b8 0102" },
		{ .hex = "66b8 01020304" },
		{ .hex = "8b06 0102" },
		{ .hex = "678b05 01020304" },
		{ .hex = "a1 0102" },
		{ .hex = "67a1 01020304" },
		{ .hex = "68 0102" },
		{ .hex = "c8 000100" },
		{ "e9 0100", BRANCH_JUMP, false, 1 },
		{ "66e9 01000000", BRANCH_JUMP, false, 1 },
		{ "0f82 feff", BRANCH_COND, false, -2 },
		{ "9a 01020304", BRANCH_SOFTINT, false, 0 },
		{ "66ea 010203040506", BRANCH_SOFTINT, false, 0 },
	};

	EXPECT_ROWS(rows, INSN_MODE_16);
}
END_TEST

START_TEST(what_no_cpu_executes_has_no_length)
{
	static const char *const anywhere[] = {
		"0f04",
		"0f0a",
		"0f24c0",
		"0f3b",
		"0f7ac0",       /* no opcodes */
		"8dc0",         /* LEA of a register */
		"ffd8",         /* far CALL of a register */
		"ffff",         /* FF /7 */
		"fed0",         /* FE /2 */
		"8f20",         /* 8F /4 */
		"8fcb7800c0",   /* XOP map B */
		"c4e07800c0",   /* VEX map 0 */
		"c4e47800c0",   /* VEX map 4 */
		"c4e87800c0",   /* VEX map 8 */
		"62f07c4800c0", /* EVEX map 0 */
		"66c5f858c1",   /* 66 is encoded in VEX */
		"f0c5f858c1",
		"f362f17c4858c1",
		"666666666666666666666666666666 90", /* 16 bytes */
	};
	static const char *const in_64[] = {
		"06",
		"0e",
		"16",
		"1f",
		"27",
		"37",
		"60",
		"82c001",
		"ce",
		"d40a",
		"9a010203040506",
		"ea010203040506",
		"48c5f877",
		"4862f17c4858c1", /* REX before VEX and EVEX */
		"48d51801c0",     /* and before REX2 */
		"d5180f01c0",     /* no escape after REX2 */
		"d50074 01",
		"d500e8 01020304",
		"d58084 01020304",
		"d5004090",
		"d500a0 0102030405060708",
		"66d500a1 0102030405060708",
		"d508a1 0102030405060708", /* JMPABS has neither 66 nor W */
		"67d500a1 0102030405060708",
		"f3d500a1 0102030405060708",
		"d50066",
		"d500c5f877",
	};
	static const char *const in_32[] = { "62f47c0801c8" }; /* EVEX map 4 */

	EXPECT_NONE(anywhere, INSN_MODE_64);
	EXPECT_NONE(in_64, INSN_MODE_64);
	EXPECT_NONE(anywhere, INSN_MODE_32);
	EXPECT_NONE(in_32, INSN_MODE_32);
}
END_TEST

static struct insn_fields fields_of(const char *hex, enum insn_mode mode)
{
	struct insn_fields fields;
	uint8_t bytes[ROOM];
	size_t size = bytes_of(hex, bytes);

	ck_assert_uint_eq(insn_decode_fields(bytes, size, mode, &fields).length, size);
	return fields;
}

START_TEST(the_fields_of_an_instruction_are_found)
{
	/* mov %r9,-8(%rsp); sub $-256,%r12; lea 0x10(%rip),%rcx; mov %r13,(%r12) */
	struct insn_fields store = fields_of("4c894c24 f8", INSN_MODE_64);
	struct insn_fields sub = fields_of("4981ec 00ffffff", INSN_MODE_64);
	struct insn_fields lea = fields_of("488d0d 10000000", INSN_MODE_64);
	struct insn_fields r12 = fields_of("4d892c24", INSN_MODE_64);

	ck_assert(store.memory && store.on_stack && store.map == INSN_MAP_0 && !store.prefixed);
	ck_assert(store.opcode == 0x89 && store.reg == 9 && store.base == 4);
	ck_assert_int_eq(store.displacement, -8);
	ck_assert(!sub.memory && !sub.on_stack && sub.base == 12 && sub.rex == 0x49);
	ck_assert(sub.immediate == -256 && sub.immediate_size == 4);
	ck_assert(lea.memory && lea.base == INSN_NO_REGISTER && lea.reg == 1);
	ck_assert_int_eq(lea.displacement, 16);
	ck_assert(r12.memory && !r12.on_stack && r12.base == 12);
}
END_TEST

START_TEST(prefixes_change_the_fields)
{
	/* mov $-1,%bx; mov %fs:(%rsp),%rax; endbr64; push $-2; push %r15 */
	struct insn_fields narrow = fields_of("66bb ffff", INSN_MODE_64);
	struct insn_fields fs = fields_of("64488b0424", INSN_MODE_64);
	struct insn_fields endbr = fields_of("f30f1efa", INSN_MODE_64);

	ck_assert(narrow.narrow && narrow.prefixed && narrow.opcode_reg == 3);
	ck_assert(narrow.immediate == -1 && narrow.immediate_size == 2);
	ck_assert(fs.elsewhere && fs.prefixed && fs.on_stack && fs.rex == 0x48);
	ck_assert(endbr.map == INSN_MAP_0F && endbr.opcode == 0x1e && endbr.modrm == 0xfa);
	ck_assert_int_eq(fields_of("6a fe", INSN_MODE_64).immediate, -2);
	ck_assert_uint_eq(fields_of("4157", INSN_MODE_64).opcode_reg, 15);
	/* A REX before another one has no effect. */
	ck_assert_uint_eq(fields_of("494c89e0", INSN_MODE_64).base, 0);
	/* dec %eax in 32-bit code; vzeroupper; mov %r16,%rax by REX2 */
	ck_assert(!fields_of("48", INSN_MODE_32).rex);
	ck_assert_uint_eq(fields_of("c5f877", INSN_MODE_64).map, INSN_MAP_OTHER);
	ck_assert_uint_eq(fields_of("d54889c0", INSN_MODE_64).map, INSN_MAP_OTHER);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("insn");
	TCase *tcase = tcase_create("insn");

	tcase_add_test(tcase, branches_have_their_kind_and_distance);
	tcase_add_test(tcase, a_displacement_from_rip_is_found);
	tcase_add_test(tcase, returns_from_events_are_branches_only_with_their_prefix);
	tcase_add_test(tcase, what_leaves_the_code_with_a_fup_is_no_branch);
	tcase_add_test(tcase, instructions_of_new_chips_have_their_length);
	tcase_add_test(tcase, apx_instructions_have_their_length);
	tcase_add_test(tcase, an_opcode_that_nobody_knows_yet_has_the_length_of_its_map);
	tcase_add_test(tcase, operands_have_their_size_in_64_bit_code);
	tcase_add_test(tcase, code_of_32_bit_has_other_operands_and_opcodes);
	tcase_add_test(tcase, code_of_16_bit_has_other_operands);
	tcase_add_test(tcase, what_no_cpu_executes_has_no_length);
	tcase_add_test(tcase, the_fields_of_an_instruction_are_found);
	tcase_add_test(tcase, prefixes_change_the_fields);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
