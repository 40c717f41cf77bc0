/* SPDX-License-Identifier: MIT */
/* Long code in basic blocks: the cost of entering it anywhere. */
#include <stdlib.h>
#include <string.h>

#include "decoder/code/basic_block.h"
#include "tests/support/unit.h"

#define SIZE    ((size_t)1 << 20)
#define ENTRIES 100

/* Returns the number of instructions from an offset to the branch, which is at the end. */
static size_t follow(struct basic_blocks *blocks, const uint8_t *code, size_t at)
{
	const struct basic_block *block;
	size_t insns = 0;

	do {
		block = basic_blocks_find(blocks, 0, code + at, INSN_MODE_64);
		if (!block)
			block = basic_blocks_add(blocks, 0, code + at, SIZE - at, SIZE_MAX,
						 INSN_MODE_64);
		insns += block->insns;
		at += block->length + block->insn.length;
	} while (basic_block_continues(block));
	ck_assert_int_eq(block->insn.kind, BRANCH_RETURN);
	ck_assert_uint_eq(at, SIZE);
	return insns;
}

/* A packet may enter it anywhere, and must not cause decoding of all of it. */
START_TEST(long_code_is_decoded_once_wherever_it_is_entered)
{
	uint8_t *code = malloc(SIZE);
	struct basic_blocks blocks;
	size_t shared;

	memset(code, 0x90, SIZE);
	code[SIZE - 1] = 0xc3;
	basic_blocks_init(&blocks, SIZE);
	ck_assert_uint_eq(follow(&blocks, code, 0), SIZE);
	shared = blocks.count;
	for (size_t i = 1; i <= ENTRIES; i++)
		ck_assert_uint_eq(follow(&blocks, code, i * 97), SIZE - i * 97);
	ck_assert_uint_le(blocks.count, shared + ENTRIES);
	ck_assert_uint_le(shared, 64);
	basic_blocks_release(&blocks);
	free(code);
}
END_TEST

/* Zeros are two-byte instructions; entered at an odd address they are others. */
START_TEST(ways_through_long_code_come_together)
{
	uint8_t *code = calloc(1, SIZE);
	struct basic_blocks blocks;
	size_t first;

	memset(code + SIZE - 16, 0x90, 15);
	code[SIZE - 1] = 0xc3;
	basic_blocks_init(&blocks, SIZE);
	follow(&blocks, code, 0);
	first = blocks.count;
	follow(&blocks, code, 1);
	ck_assert_uint_le(blocks.count, 2 * first + 1);
	first = blocks.count;
	for (size_t i = 2; i <= ENTRIES; i++)
		follow(&blocks, code, i);
	ck_assert_uint_le(blocks.count, first + ENTRIES);
	basic_blocks_release(&blocks);
	free(code);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("basic_block");
	TCase *tcase = tcase_create("basic_block");

	tcase_add_test(tcase, long_code_is_decoded_once_wherever_it_is_entered);
	tcase_add_test(tcase, ways_through_long_code_come_together);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
