/* SPDX-License-Identifier: MIT */
/*
 * Compares length and branch kind of instructions with Zydis, an independent decoder generated from
 * XED's data: encodings of all maps, and programs' code.
 *
 * With LONG, ten million encodings are compared in each mode.  INSN_FILES are ELF files, separated
 * by colons.
 */
#include <Zydis/Zydis.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decoder/code/insn.h"
#include "decoder/code/syscall_number.h"
#include "tests/support/unit.h"

#define SAMPLES      200000
#define SAMPLES_LONG 10000000
#define BYTES        24

static const char *const mode_names[] = { "64", "32", "16" };

/* ---- Zydis --------------------------------------------------------------- */

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
	case ZYDIS_MNEMONIC_UIRET:
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

	/* XBEGIN and XABORT are branches in Zydis, but not in Intel PT. */
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

static ZydisDecoder decoder_for(enum insn_mode mode)
{
	static const struct {
		ZydisMachineMode mode;
		ZydisStackWidth width;
	} modes[] = {
		[INSN_MODE_64] = { ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64 },
		[INSN_MODE_32] = { ZYDIS_MACHINE_MODE_LONG_COMPAT_32, ZYDIS_STACK_WIDTH_32 },
		[INSN_MODE_16] = { ZYDIS_MACHINE_MODE_LONG_COMPAT_16, ZYDIS_STACK_WIDTH_16 },
	};
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, modes[mode].mode, modes[mode].width);
	return decoder;
}

/*
 * Returns length 0 if Zydis refuses the bytes, and for JKZD and JKNZD, which exist only on Knights
 * Corner, a CPU without Intel PT.
 */
static struct insn by_zydis(const ZydisDecoder *decoder, const uint8_t *bytes, size_t size)
{
	ZydisDecodedInstruction decoded;
	struct insn insn = { 0 };

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder, NULL, bytes, size, &decoded)))
		return insn;
	if (decoded.meta.isa_set == ZYDIS_ISA_SET_KNCJKBR)
		return insn;
	insn.length = decoded.length;
	insn.kind = kind_of(&decoded);
	insn.indirect = insn.kind == BRANCH_CALL || insn.kind == BRANCH_JUMP;
	if ((insn.indirect || insn.kind == BRANCH_COND) && decoded.raw.imm[0].is_relative) {
		insn.indirect = false;
		insn.distance = (int32_t)decoded.raw.imm[0].value.s;
	}
	return insn;
}

/* ---- Comparison ---------------------------------------------------------- */

static void print_insn(const char *who, const struct insn *insn)
{
	fprintf(stderr, " %s: length %u kind %u%s distance %d;", who, insn->length, insn->kind,
		insn->indirect ? " indirect" : "", insn->distance);
}

/* Returns Zydis's length. */
static unsigned compare(const ZydisDecoder *decoder, enum insn_mode mode, const uint8_t *bytes,
			size_t size)
{
	struct insn expected = by_zydis(decoder, bytes, size), is = { 0 };

	if (!expected.length)
		return 0;
	is = insn_decode(bytes, size, mode);
	if (is.length == expected.length && is.kind == expected.kind &&
	    is.indirect == expected.indirect && is.distance == expected.distance)
		return expected.length;
	fprintf(stderr, "mode %s,", mode_names[mode]);
	for (size_t i = 0; i < expected.length; i++)
		fprintf(stderr, " %02x", bytes[i]);
	fputc(':', stderr);
	print_insn("Zydis", &expected);
	print_insn("own", &is);
	fputc('\n', stderr);
	ck_abort_msg("not as Zydis has it");
	return 0;
}

/* ---- Encodings ----------------------------------------------------------- */

static uint64_t random_state = 1;

/* xorshift64* */
static uint32_t any(uint32_t count)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (uint32_t)((random_state * UINT64_C(2685821657736338717)) >> 32) % count;
}

static size_t add_prefixes(uint8_t *bytes, enum insn_mode mode)
{
	static const uint8_t prefixes[] = { 0x66, 0x67, 0xf2, 0xf3, 0xf0, 0x2e, 0x3e, 0x26, 0x64 };
	size_t count = any(2) ? 0 : any(12) ? any(3) : any(14), used = 0;

	while (used < count)
		bytes[used++] = prefixes[any(any(3) ? 4 : sizeof(prefixes))];
	if (mode == INSN_MODE_64 && any(2))
		bytes[used++] = (uint8_t)(0x40 + any(16));
	return used;
}

/* Write the map's escape or prefix, which precedes the opcode.  Returns its size. */
static size_t add_map(uint8_t *bytes)
{
	static const uint8_t prefixes[] = { 0xc4, 0xc5, 0x62, 0x8f };

	switch (any(8)) {
	case 0:
		return 0;
	case 1:
	case 2:
		bytes[0] = 0x0f;
		return 1;
	case 3:
		bytes[0] = 0x0f;
		bytes[1] = (uint8_t)(0x38 + 2 * any(2));
		return 2;
	default:
		break;
	}
	bytes[0] = prefixes[any(4)];
	switch (bytes[0]) {
	case 0xc4:
		bytes[1] = (uint8_t)(any(8) << 5 | (any(8) ? 1 + any(3) : any(32)));
		return 3;
	case 0x62:
		bytes[1] = (uint8_t)(any(16) << 4 | (any(8) ? 1 + any(3) : any(16)));
		bytes[2] |= 4;
		return 4;
	case 0x8f:
		bytes[1] = (uint8_t)(any(8) << 5 | (any(8) ? 8 + any(3) : any(32)));
		return 3;
	default:
		return 2;
	}
}

/* All bytes are random; the first ones probably begin an instruction. */
static void make_encoding(uint8_t *bytes, enum insn_mode mode)
{
	uint64_t word;

	for (size_t i = 0; i < BYTES; i += sizeof(word)) {
		word = (uint64_t)any(UINT32_MAX) << 32 | any(UINT32_MAX);
		memcpy(bytes + i, &word, sizeof(word));
	}
	if (!any(8))
		return;
	add_map(bytes + add_prefixes(bytes, mode));
}

START_TEST(random_encodings_are_what_zydis_says)
{
	unsigned wanted = getenv("LONG") ? SAMPLES_LONG : SAMPLES, accepted = 0;
	enum insn_mode mode = (enum insn_mode)_i;
	ZydisDecoder decoder = decoder_for(mode);
	uint8_t bytes[BYTES];

	while (accepted < wanted) {
		make_encoding(bytes, mode);
		accepted += compare(&decoder, mode, bytes, 1 + any(BYTES)) != 0;
	}
}
END_TEST

/* Each opcode of each map, with each ModRM and many prefixes. */
START_TEST(all_opcodes_are_what_zydis_says)
{
	static const struct {
		uint8_t size, bytes[5];
	} before[] = {
		{ 0, { 0 } },
		{ 1, { 0x66 } },
		{ 1, { 0x67 } },
		{ 1, { 0xf2 } },
		{ 1, { 0xf3 } },
		{ 1, { 0x48 } },
		{ 2, { 0x66, 0x48 } },
		{ 1, { 0x0f } },
		{ 2, { 0x66, 0x0f } },
		{ 2, { 0xf2, 0x0f } },
		{ 2, { 0xf3, 0x0f } },
		{ 2, { 0x0f, 0x38 } },
		{ 3, { 0x66, 0x0f, 0x38 } },
		{ 2, { 0x0f, 0x3a } },
		{ 3, { 0x66, 0x0f, 0x3a } },
		{ 2, { 0xc5, 0xf8 } },
		{ 2, { 0xc5, 0xfd } },
		{ 3, { 0xc4, 0xe2, 0x79 } },
		{ 3, { 0xc4, 0xe3, 0xfd } },
		{ 4, { 0x62, 0xf1, 0x7d, 0x48 } },
		{ 4, { 0x62, 0xf2, 0xfd, 0x48 } },
		{ 4, { 0x62, 0xf3, 0x7d, 0x48 } },
		{ 4, { 0x62, 0xf5, 0x7c, 0x48 } },
		{ 4, { 0x62, 0xf6, 0x7d, 0x48 } },
	};
	enum insn_mode mode = (enum insn_mode)_i;
	ZydisDecoder decoder = decoder_for(mode);

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		for (unsigned number = 0; number < 0x10000; number++) {
			uint8_t bytes[BYTES] = { 0 };

			memcpy(bytes, before[i].bytes, before[i].size);
			bytes[before[i].size] = (uint8_t)(number >> 8);
			bytes[before[i].size + 1] = (uint8_t)number;
			bytes[before[i].size + 2] = (uint8_t)any(256);
			compare(&decoder, mode, bytes, sizeof(bytes));
		}
	}
}
END_TEST

/* ---- What is known of registers ------------------------------------------ */

/*
 * Returns whether an instruction writes a register, given by its encoded number, or a part of it,
 * unless with its own value.
 */
static bool writes_register(const ZydisDecoder *decoder, const uint8_t *bytes, unsigned number)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, bytes, BYTES, &insn, operands)))
		return false;
	if (insn.mnemonic == ZYDIS_MNEMONIC_MOV && operands[0].reg.value == operands[1].reg.value)
		return false;
	for (unsigned i = 0; i < insn.operand_count; i++)
		if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64,
						     operands[i].reg.value) ==
			    (ZydisRegister)(ZYDIS_REGISTER_RAX + number))
			return true;
	return false;
}

/* Put the first instruction after "mov $12" to a register.  Returns whether 12 is kept. */
static bool keeps_register(const ZydisDecoder *decoder, const uint8_t *bytes, enum insn_mode mode,
			   unsigned number)
{
	uint8_t code[6 + BYTES + 2] = { 0x90, (uint8_t)(0xb8 | (number & 7)), 12 };
	struct insn insn = by_zydis(decoder, bytes, BYTES);
	size_t at = 6 + insn.length;

	if (mode == INSN_MODE_64)
		code[0] = (uint8_t)(0x40 | number >> 3);
	if (!insn.length || insn.kind != BRANCH_NONE)
		return false;
	memcpy(code + 6, bytes, insn.length);
	code[at] = 0x0f;
	code[at + 1] = 0x05;
	return syscall_number_find(&(struct syscall_code){ code, at + 2, mode }, at, number)
		       .number == 12;
}

START_TEST(an_instruction_that_writes_a_register_leaves_no_number)
{
	enum insn_mode mode = (enum insn_mode)_i;
	ZydisDecoder decoder = decoder_for(mode);
	unsigned kept = 0;

	for (unsigned i = 0; i < SAMPLES; i++) {
		unsigned registers = mode == INSN_MODE_64 ? SYSCALL_STACK : 8;
		unsigned number = i % 2 ? any(registers) : SYSCALL_EAX;
		uint8_t bytes[BYTES];

		make_encoding(bytes, mode);
		if (!keeps_register(&decoder, bytes, mode, number))
			continue;
		kept++;
		ck_assert_msg(!writes_register(&decoder, bytes, number),
			      "%02x %02x %02x %02x %02x writes %u", bytes[0], bytes[1], bytes[2],
			      bytes[3], bytes[4], number);
	}
	ck_assert_uint_gt(kept, SAMPLES / 20);
}
END_TEST

/* Returns whether an instruction may write the top word of the stack, or moves the stack. */
static bool writes_top(const ZydisDecoder *decoder, const uint8_t *bytes)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, bytes, BYTES, &insn, operands)))
		return false;
	for (unsigned i = 0; i < insn.operand_count; i++) {
		const ZydisDecodedOperand *operand = &operands[i];
		int64_t at = operand->mem.disp.value;

		if (!(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64,
						     operand->reg.value) == ZYDIS_REGISTER_RSP)
			return insn.raw.imm[0].value.u != 0; /* add 0 does not */
		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operand->mem.base != ZYDIS_REGISTER_RIP &&
		    operand->mem.base != ZYDIS_REGISTER_EIP &&
		    !(operand->mem.base == ZYDIS_REGISTER_RSP &&
		      operand->mem.index == ZYDIS_REGISTER_NONE &&
		      (at >= 8 || at + operand->size / 8 <= 0)))
			return true;
	}
	return false;
}

/* An opcode of one or two bytes, mostly with memory on the stack as operand. */
static void make_stack_encoding(uint8_t *bytes)
{
	static const uint8_t distances[] = { 0, 1, 4, 7, 8, 16, 0xf8, 0xf0, 0xc0 };
	size_t at = any(4) ? 0 : add_prefixes(bytes, INSN_MODE_64);

	make_encoding(bytes + at, INSN_MODE_64);
	if (any(2))
		bytes[at++] = 0x48;
	if (!any(4))
		bytes[at++] = 0x0f;
	at++; /* any opcode */
	bytes[at] = (uint8_t)((bytes[at] & 0x38) | 4 | any(4) << 6);
	bytes[at + 1] = any(8) ? 0x24 : (uint8_t)any(256);
	bytes[at + 2] = distances[any(sizeof(distances))];
	memset(bytes + at + 3, bytes[at + 2] & 0x80 ? 0xff : 0, 3);
}

#define ON_TOP 0x1234567

/* Put an instruction after "push $ON_TOP".  Returns whether the value stays on top. */
static bool keeps_top(const ZydisDecoder *decoder, const uint8_t *bytes)
{
	uint8_t code[5 + BYTES + 2] = { 0x68, 0x67, 0x45, 0x23, 0x01 };
	struct insn insn = by_zydis(decoder, bytes, BYTES);
	size_t at = 5 + insn.length;

	if (!insn.length || insn.kind != BRANCH_NONE)
		return false;
	memcpy(code + 5, bytes, insn.length);
	code[at] = 0x0f;
	code[at + 1] = 0x05;
	return syscall_number_find(&(struct syscall_code){ code, at + 2, INSN_MODE_64 }, at,
				   SYSCALL_STACK)
		       .number == ON_TOP;
}

START_TEST(an_instruction_that_writes_the_stack_leaves_no_number_there)
{
	ZydisDecoder decoder = decoder_for(INSN_MODE_64);
	unsigned kept = 0, above = 0;

	for (unsigned i = 0; i < SAMPLES; i++) {
		uint8_t bytes[2 * BYTES];

		make_stack_encoding(bytes);
		if (!keeps_top(&decoder, bytes))
			continue;
		kept++;
		above += bytes[0] == 0x48 && bytes[1] == 0x89;
		ck_assert_msg(!writes_top(&decoder, bytes), "%02x %02x %02x %02x %02x %02x %02x",
			      bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6]);
	}
	ck_assert_uint_gt(kept, SAMPLES / 20);
	ck_assert_uint_gt(above, 0); /* words beside it were written */
}
END_TEST

/* ---- Programs ------------------------------------------------------------ */

/* Decode like Zydis, and skip a byte that it refuses.  Returns the number of instructions. */
static uint64_t sweep(const uint8_t *bytes, size_t size)
{
	ZydisDecoder decoder = decoder_for(INSN_MODE_64);
	uint64_t count = 0;

	for (size_t at = 0; at < size;) {
		unsigned length = compare(&decoder, INSN_MODE_64, bytes + at, size - at);

		at += length ? length : 1;
		count += length != 0;
	}
	return count;
}

/* Returns the number of instructions in an ELF file's executable segments; 0: no such file. */
static uint64_t sweep_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status = { 0 };
	const Elf64_Phdr *segment;
	const Elf64_Ehdr *elf;
	uint64_t count = 0;

	if (fd < 0 || fstat(fd, &status) < 0 || status.st_size < (off_t)sizeof(*elf))
		return 0;
	elf = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	ck_assert_ptr_ne(elf, MAP_FAILED);
	segment = (const void *)((const uint8_t *)elf + elf->e_phoff);
	for (int i = 0; i < elf->e_phnum; i++)
		if (segment[i].p_type == PT_LOAD && segment[i].p_flags & PF_X)
			count += sweep((const uint8_t *)elf + segment[i].p_offset,
				       segment[i].p_filesz);
	munmap((void *)(uintptr_t)elf, (size_t)status.st_size);
	return count;
}

START_TEST(code_of_programs_is_what_zydis_says)
{
	const char *given = getenv("INSN_FILES");
	char *files = strdup(given ? given : "/proc/self/exe:/lib/x86_64-linux-gnu/libc.so.6");
	uint64_t count, all = 0;

	for (char *file = strtok(files, ":"); file; file = strtok(NULL, ":")) {
		count = sweep_file(file);
		all += count;
		if (given)
			printf("# %s: %llu instructions\n", file, (unsigned long long)count);
	}
	free(files);
	ck_assert_uint_gt(all, 100000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("insn_agrees");
	TCase *tcase = tcase_create("insn_agrees");

	tcase_add_loop_test(tcase, random_encodings_are_what_zydis_says, 0, 3);
	tcase_add_loop_test(tcase, all_opcodes_are_what_zydis_says, 0, 3);
	tcase_add_loop_test(tcase, an_instruction_that_writes_a_register_leaves_no_number,
			    INSN_MODE_64, INSN_MODE_32 + 1);
	tcase_add_test(tcase, an_instruction_that_writes_the_stack_leaves_no_number_there);
	tcase_add_test(tcase, code_of_programs_is_what_zydis_says);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
