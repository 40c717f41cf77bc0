/* SPDX-License-Identifier: MIT */
/* Which files may not be those that ran. */
#include <string.h>

#include "src/resolve/code_files.h"
#include "tests/support/unit.h"

#define RECORDED UINT64_C(1000) /* ns: the time of the recording */

/* A file with 0x300 bytes of code in its second page, found with another inode than recorded. */
static struct mapped_file mapped;
static struct code_range code;
static struct dso dso;
static struct perf_file recording;
static struct diag diag;

static void set_up(void)
{
	diag_init(&diag);
	mapped = (struct mapped_file){
		.path = "/f", .begin = 0x1000, .end = 0x2000, .inode = 7, .major = 8
	};
	code = (struct code_range){ 0x1010, 0x300, 0 };
	memset(&dso, 0, sizeof(dso));
	dso.state = DSO_FOUND;
	dso.file = "/f";
	dso.elf = (struct elf_file){
		.identity = { 1, 8 }, .written_ns = RECORDED - 1, .code = &code, .code_count = 1
	};
	recording = (struct perf_file){ .written_ns = RECORDED };
}

static void tear_down(void)
{
	diag_release(&diag);
}

/* The last check warned of this; NULL: it did not warn. */
static void expect(bool symfs, const char *doubt)
{
	diag_release(&diag);
	diag_init(&diag);
	code_files_check(&mapped, &dso, &recording, symfs, &diag);
	ck_assert_uint_eq(diag_kinds(&diag), doubt != NULL);
	if (doubt)
		ck_assert_msg(strstr(diag.first->text, doubt), "%s", diag.first->text);
}

static void give_build_id(uint8_t size)
{
	memset(mapped.build_id, 0xab, sizeof(mapped.build_id));
	mapped.build_id_size = size;
}

START_TEST(a_new_inode_is_another_file_and_the_recorded_one_unless_written_later_is_not)
{
	expect(false, "another inode than the recorded file, and no build id");
	mapped.inode = 8;
	expect(false, NULL);
	dso.elf.written_ns = RECORDED + 1;
	expect(false, "written after the recording, and no build id");
	recording.written_ns = 0; /* a pipe */
	expect(false, NULL);
	mapped.inode = 0; /* not recorded */
	dso.elf.written_ns = RECORDED + 1;
	expect(false, NULL);
}
END_TEST

START_TEST(a_build_id_of_a_hash_proves_the_file)
{
	give_build_id(8); /* lld's default */
	expect(false, NULL);
	give_build_id(20);
	expect(false, NULL);
	dso.forced = true;
	expect(false, "another inode");
	dso.forced = false;
	give_build_id(4); /* --build-id=0xabababab */
	expect(false, "another inode");
}
END_TEST

START_TEST(a_copy_that_is_older_than_the_recordings_clock_is_right)
{
	recording.features.has_clock_data = true;
	recording.features.clock_wall_ns = RECORDED - 100;
	expect(true, "another inode");
	dso.elf.written_ns = RECORDED - 101;
	expect(true, NULL);
	expect(false, NULL);
}
END_TEST

START_TEST(below_symfs_inodes_count_only_without_any_build_ids)
{
	expect(true, "another inode");
	recording.build_id_count = 1;
	expect(true, NULL);
	expect(false, "another inode");
}
END_TEST

/* Device numbers of such file systems are anonymous: include/linux/kdev_t.h, get_anon_bdev(). */
START_TEST(on_btrfs_and_overlayfs_only_newer_files_count)
{
	mapped.major = 0;
	expect(false, NULL);
	dso.elf.written_ns = RECORDED + 1;
	expect(false, "another inode");
	expect(true, NULL);
}
END_TEST

START_TEST(several_files_of_one_path_are_a_warning)
{
	mapped.several = true;
	mapped.inode = 8;
	expect(false, "several files had its path");
	give_build_id(20);
	expect(false, NULL);
}
END_TEST

START_TEST(code_at_other_offsets_is_another_file_whatever_its_build_id)
{
	static const struct {
		uint64_t begin, end; /* of the mapping */
		struct code_range code;
		bool agree;
	} cases[] = {
		{ 0x1000, 0x2000, { 0x1010, 0x300, 0 }, true },
		{ 0x1000, 0x105a, { 0x1000, 0x5a, 0 }, true },    /* not rounded */
		{ 0x1000, 0x2000, { 0x1000, 0x1001, 0 }, false }, /* grew by a page */
		{ 0x1000, 0x3000, { 0x1000, 0x1000, 0 }, false }, /* shrank */
		{ 0x1000, 0x2000, { 0x2000, 0x300, 0 }, false },  /* moved */
		{ 0x2000, 0x3000, { 0x1000, 0x2000, 0 }, false },
		{ 0, 0x5000, { 0, 0x1000, 0 }, true },      /* ld.so maps all */
		{ 0, 0x4000, { 0x1000, 0x1000, 0 }, true }, /* all data is executable */
		{ 0, 0, { 0x1000, 0x1000, 0 }, true },      /* not recorded */
	};

	mapped.begin = cases[_i].begin;
	mapped.end = cases[_i].end;
	code = cases[_i].code;
	give_build_id(20);
	expect(true, cases[_i].agree ? NULL : "at other offsets than those that were mapped");
}
END_TEST

START_TEST(other_states_have_other_warnings)
{
	dso.state = DSO_MISSING;
	expect(false, NULL);
	dso.state = DSO_FOUND;
	dso.file = NULL; /* this process's vdso */
	expect(false, NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("file_changed");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_add_test(
		all, a_new_inode_is_another_file_and_the_recorded_one_unless_written_later_is_not);
	tcase_add_test(all, a_build_id_of_a_hash_proves_the_file);
	tcase_add_test(all, a_copy_that_is_older_than_the_recordings_clock_is_right);
	tcase_add_test(all, below_symfs_inodes_count_only_without_any_build_ids);
	tcase_add_test(all, on_btrfs_and_overlayfs_only_newer_files_count);
	tcase_add_test(all, several_files_of_one_path_are_a_warning);
	tcase_add_loop_test(all, code_at_other_offsets_is_another_file_whatever_its_build_id, 0, 9);
	tcase_add_test(all, other_states_have_other_warnings);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
