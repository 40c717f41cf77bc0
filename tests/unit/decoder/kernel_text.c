/* SPDX-License-Identifier: MIT */
/* The kernel's bytes by address and time, from handmade ranges and patches. */
#include "decoder/code/code_image.h"
#include "decoder/timeline/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/unit.h"

#define KERNEL UINT64_C(0xffffffff81000000)

static uint8_t file[] = "0123456789abcdefghij";
static const struct kernel_segment segments[] = {
	{ KERNEL, KERNEL + 4, 10 },
	{ KERNEL + 4, KERNEL + 8, 0 },
	{ KERNEL + 12, KERNEL + 16, 4 },
};
static const struct kernel_code kernel = {
	.file = { .bytes = file, .size = sizeof(file) },
	.segments = segments,
	.count = 3,
};

/* Returns the byte of the file at an address; 0: none. */
static char byte_at(uint64_t ip)
{
	const uint8_t *bytes;
	const struct kernel_segment *segment = kernel_code_find(&kernel, ip, &bytes);

	return segment ? (char)bytes[ip - segment->begin] : 0;
}

START_TEST(each_address_is_of_the_range_that_holds_it)
{
	ck_assert_int_eq(byte_at(KERNEL - 1), 0);
	ck_assert_int_eq(byte_at(KERNEL), 'a');
	ck_assert_int_eq(byte_at(KERNEL + 3), 'd');
	ck_assert_int_eq(byte_at(KERNEL + 4), '0');
	ck_assert_int_eq(byte_at(KERNEL + 7), '3');
	ck_assert_int_eq(byte_at(KERNEL + 8), 0);
	ck_assert_int_eq(byte_at(KERNEL + 11), 0);
	ck_assert_int_eq(byte_at(KERNEL + 12), '4');
	ck_assert_int_eq(byte_at(KERNEL + 15), '7');
	ck_assert_int_eq(byte_at(KERNEL + 16), 0);
}
END_TEST

/* Across two ranges that are apart in the file, a hole, and the start of a third. */
static const struct code_patch long_patch = {
	.time = 100,
	.address = KERNEL + 2,
	.new_bytes = (const uint8_t *)"ABCDEFGHIJKL",
	.new_size = 12,
};

/* Opens the file by path; it has `size` bytes. */
static void expect_text(size_t size, const char *expected)
{
	char path[] = "/tmp/ptrace2ftf-XXXXXX";
	struct kernel_code patched = kernel;
	struct kernel_text text;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, file, size), (ssize_t)size);
	close(fd);
	patched.file.path = path;
	patched.patches = &long_patch;
	patched.patch_count = 1;
	kernel_text_init(&text, &patched);
	kernel_text_advance(&text, 100);
	ck_assert_mem_eq(kernel_text_bytes(&text, file), expected, strlen(expected));
	ck_assert_str_eq((const char *)file, "0123456789abcdefghij");
	kernel_text_release(&text);
	unlink(path);
}

START_TEST(a_patch_over_several_ranges_changes_what_is_code)
{
	expect_text(sizeof(file), "CDEFKL6789abABefghij");
}
END_TEST

/* Another file has this name by now. */
START_TEST(a_file_of_another_size_is_not_patched)
{
	expect_text(sizeof(file) - 1, "0123456789abcdefghij");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kernel_text");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, each_address_is_of_the_range_that_holds_it);
	tcase_add_test(tests, a_patch_over_several_ranges_changes_what_is_code);
	tcase_add_test(tests, a_file_of_another_size_is_not_patched);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
