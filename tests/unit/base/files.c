/* SPDX-License-Identifier: MIT */
/* Files of outputs: how they appear and end; paths of outputs, and paths below a root. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/io/file_use.h"
#include "base/io/output.h"
#include "base/io/output_path.h"
#include "base/io/temp_file.h"
#include "tests/support/unit.h"

static char folder[64];
static struct output output;
static struct error err;

static void setup(void)
{
	strcpy(folder, "/tmp/ptrace2ftf-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	err = (struct error){ 0 };
}

static void teardown(void)
{
	char command[100];

	sprintf(command, "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

/* Returns a path in the folder, in one of a few buffers. */
static const char *at(const char *name)
{
	static char paths[8][BENEATH_PATH];
	static int next;
	char *path = paths[next++ % 8];

	snprintf(path, BENEATH_PATH, "%s/%s", folder, name);
	return path;
}

static size_t read_file(const char *name, char *bytes, size_t room)
{
	FILE *in = fopen(at(name), "r");
	size_t size;

	if (!in)
		return 0;
	size = fread(bytes, 1, room, in);
	fclose(in);
	return size;
}

static void expect_file(const char *name, const char *expected)
{
	char text[1000] = "";

	read_file(name, text, sizeof(text) - 1);
	ck_assert_str_eq(text, expected);
}

static int count_files(void)
{
	char command[100], text[20] = "";
	FILE *in;

	sprintf(command, "ls -A %s | wc -l", folder);
	in = popen(command, "r");
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), in));
	pclose(in);
	return atoi(text);
}

static void open_output(const char *name)
{
	ck_assert_msg(output_open(&output, at(name), &err) == 0, "%s", err.text);
}

static void write_text(const char *text)
{
	output_write(&output, text, strlen(text));
}

/* ---- Outputs ------------------------------------------------------------------- */

/* Readers see the old file, or the whole new one. */
START_TEST(an_output_appears_whole)
{
	open_output("a");
	write_text("old");
	ck_assert_int_eq(output_close(&output, &err), 0);
	open_output("a");
	ck_assert_int_eq(count_files(), 2);
	write_text("new ");
	write_text("text");
	ck_assert_uint_eq(output_size(&output), 8);
	ck_assert(output_is_readable(&output));
	expect_file("a", "old");
	ck_assert_int_eq(output_close(&output, &err), 0);
	expect_file("a", "new text");
	ck_assert_int_eq(count_files(), 1);
}
END_TEST

/* More than a buffer. */
START_TEST(many_bytes_are_written_and_can_be_read_before_the_end)
{
	enum { COUNT = 1 << 20 };
	const uint8_t *mapped;
	char *read_back = malloc(COUNT * 4);

	open_output("a");
	for (uint32_t i = 0; i < COUNT; i++)
		output_write(&output, &i, sizeof(i));
	mapped = output_map(&output);
	ck_assert_ptr_nonnull(mapped);
	ck_assert_uint_eq(output.written, COUNT * 4);
	for (uint32_t i = 0; i < COUNT; i += 4093)
		ck_assert_int_eq(memcmp(mapped + (size_t)4 * i, &i, 4), 0);
	munmap((void *)(uintptr_t)mapped, COUNT * 4);
	if (_i) {
		output_clear(&output);
		ck_assert_uint_eq(output_size(&output), 0);
		ck_assert_ptr_null(output_map(&output));
		write_text("anew");
	}
	ck_assert_int_eq(output_close(&output, &err), 0);
	if (_i)
		expect_file("a", "anew");
	else
		ck_assert_uint_eq(read_file("a", read_back, COUNT * 4), COUNT * 4);
	for (uint32_t i = 0; i < COUNT && !_i; i += 1021)
		ck_assert_int_eq(memcmp(read_back + (size_t)4 * i, &i, 4), 0);
	free(read_back);
}
END_TEST

/* As the suffix says; both are read by others' libraries. */
START_TEST(an_output_is_compressed_by_its_name)
{
	static const char *const names[] = { "a.gz", "a.zst", "a.gz.txt", "gz" };
	static const enum compression kinds[] = { COMPRESSION_GZIP, COMPRESSION_ZSTD,
						  COMPRESSION_NONE, COMPRESSION_NONE };
	static char text[300000], packed[300000], unpacked[300000];
	size_t size;
	gzFile in;

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + i * i % 23);
	ck_assert_int_eq(compression_of_path(names[_i]), kinds[_i]);
	open_output(names[_i]);
	ck_assert_int_eq(output_is_readable(&output), _i > 1);
	for (size_t i = 0; i < sizeof(text); i += 1000)
		output_write(&output, text + i, 1000);
	if (_i > 1)
		ck_assert_uint_eq(output_size(&output), sizeof(text));
	ck_assert_int_eq(output_close(&output, &err), 0);
	size = read_file(names[_i], packed, sizeof(packed));
	if (_i == 0) {
		in = gzopen(at(names[_i]), "r");
		ck_assert_int_eq(gzread(in, unpacked, sizeof(unpacked)), sizeof(text));
		gzclose(in);
	} else if (_i == 1) {
		ck_assert_uint_eq(ZSTD_decompress(unpacked, sizeof(unpacked), packed, size),
				  sizeof(text));
		/* RFC 8878, 3.1.1.1.1: the frame has a checksum. */
		ck_assert(packed[4] & 4);
	} else {
		memcpy(unpacked, packed, size);
	}
	ck_assert_int_eq(memcmp(unpacked, text, sizeof(text)), 0);
	if (_i < 2)
		ck_assert_uint_lt(size, sizeof(text) / 4);
}
END_TEST

/* The line that reaches the limit is the last; no other file is touched. */
START_TEST(a_text_ends_with_the_line_that_reaches_the_limit)
{
	FILE *out = output_open_text(&output, at("a"), _i ? 20 : 6, &err);

	ck_assert_ptr_nonnull(out);
	fputs("one\ntwo\nthree\n", out);
	fclose(out);
	ck_assert_int_eq(output.cut, !_i);
	ck_assert_uint_eq(output_room(&output), _i ? 6 : 0);
	ck_assert_int_eq(output_full(&output), !_i);
	ck_assert_int_eq(output_close(&output, &err), 0);
	expect_file("a", _i ? "one\ntwo\nthree\n" : "one\ntwo\n");
}
END_TEST

START_TEST(bytes_elsewhere_count_for_the_limit)
{
	open_output("a");
	ck_assert_uint_eq(output_room(&output), UINT64_MAX);
	output_limit(&output, 100, false);
	write_text("0123456789");
	output.elsewhere = 30;
	ck_assert_uint_eq(output_room(&output), 60);
	output.elsewhere = 90;
	ck_assert(output_full(&output));
	output.elsewhere = 0;
	output_limit(&output, 0, false);
	ck_assert_uint_ge(OUTPUT_LIMIT_DEFAULT, output.limit);
	ck_assert_uint_gt(output.limit, 0);
	ck_assert_int_eq(output_close(&output, &err), 0);
}
END_TEST

/* Several outputs appear together, or none. */
START_TEST(held_outputs_appear_together)
{
	output_hold();
	open_output("a");
	write_text("1");
	ck_assert_int_eq(output_close(&output, &err), 0);
	open_output("b");
	write_text("2");
	ck_assert_int_eq(output_close(&output, &err), 0);
	ck_assert_int_ne(access(at("a"), F_OK), 0);
	ck_assert_int_ne(access(at("b"), F_OK), 0);
	if (_i)
		output_drop();
	else
		ck_assert_int_eq(output_rename(&err), 0);
	ck_assert_int_eq(count_files(), _i ? 0 : 2);
	expect_file("a", _i ? "" : "1");
	expect_file("b", _i ? "" : "2");
}
END_TEST

START_TEST(what_cannot_be_an_output_is_refused)
{
	static const char *const names[] = { "missing/a", ".", "file/a" };

	fclose(fopen(at("file"), "w"));
	ck_assert_int_eq(output_open(&output, at(names[_i]), &err), -1);
	ck_assert_int_ne(err.kind, ERROR_NONE);
	ck_assert_int_eq(output_path_check(at(names[_i]), &err), -1);
	ck_assert_int_eq(count_files(), 1);
}
END_TEST

/* A link is replaced, and what it leads to stays; a fifo or device is written. */
START_TEST(a_link_is_replaced)
{
	fclose(fopen(at("file"), "w"));
	ck_assert_int_eq(symlink("file", at("link")), 0);
	ck_assert_int_eq(output_path_check(at("link"), &err), 0);
	open_output("link");
	write_text("text");
	ck_assert_int_eq(output_close(&output, &err), 0);
	expect_file("file", "");
	expect_file("link", "text");
	ck_assert_int_eq(output_open(&output, "/dev/null", &err), 0);
	ck_assert(!output_is_readable(&output));
	ck_assert_int_eq(output_close(&output, &err), 0);
	ck_assert(output_is_system_link("/dev/stdout"));
	ck_assert(!output_is_system_link(at("file")));
}
END_TEST

/* ---- Temporary files -------------------------------------------------------------- */

START_TEST(a_temporary_file_has_no_name)
{
	struct temp_file file;
	char bytes[10] = "";

	setenv("TMPDIR", folder, 1);
	ck_assert_str_eq(temp_file_folder(), folder);
	ck_assert_int_eq(temp_file_open(&file, &err), 0);
	ck_assert_int_eq(count_files(), 0);
	ck_assert_int_eq(temp_file_write(&file, "text", 4, &err), 0);
	ck_assert_int_eq(pread(file.fd, bytes, 10, 0), 4);
	ck_assert_str_eq(bytes, "text");
	temp_file_close(&file);
	ck_assert(!file.open);
}
END_TEST

/* ---- Paths -------------------------------------------------------------------------- */

START_TEST(paths_of_outputs_are_made_from_inputs)
{
	static const struct {
		const char *input, *beside;
		size_t base, length;
	} rows[] = {
		{ "perf.data", "perf.ftf", 4, 9 },
		{ "a/b.data", "a/b.ftf", 3, 8 },
		{ "dir/", "dir.ftf", 3, 3 },
		{ "dir///", "dir.ftf", 3, 3 },
		{ "x.data/", "x.ftf", 1, 6 },
		{ "xdata", "xdata.ftf", 5, 5 },
		{ "/", "/.ftf", 1, 1 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char *beside = output_path_beside(rows[i].input, "ftf");

		ck_assert_str_eq(beside, rows[i].beside);
		free(beside);
		ck_assert_uint_eq(output_path_base(rows[i].input), rows[i].base);
		ck_assert_uint_eq(output_path_length(rows[i].input), rows[i].length);
	}
	ck_assert_uint_eq(output_path_length(""), 0);
	ck_assert_str_eq(output_path_standard("/dev/stdout"), "-");
	ck_assert_str_eq(output_path_standard("/dev/fd/1"), "-");
	ck_assert_str_eq(output_path_standard("/dev/null"), "/dev/null");
	ck_assert(output_path_is_directory("missing/"));
	ck_assert(output_path_is_directory(folder));
	ck_assert(!output_path_is_directory(at("missing")));
}
END_TEST

START_TEST(missing_folders_are_made)
{
	struct stat status;

	ck_assert_int_eq(output_path_make_parents(at("a/b//c/file"), &err), 0);
	ck_assert_int_eq(stat(at("a/b/c"), &status), 0);
	ck_assert(S_ISDIR(status.st_mode));
	ck_assert_int_ne(access(at("a/b/c/file"), F_OK), 0);
	ck_assert_int_eq(output_path_make_parents(at("a/b/c/file"), &err), 0);
	fclose(fopen(at("file"), "w"));
	ck_assert_int_eq(output_path_make_parents(at("file/a/b"), &err), -1);
}
END_TEST

/* No link and no ".." leads out of the root; "!" not found, "=" the same path. */
START_TEST(a_path_below_a_root_stays_there)
{
	static const char *const rows[][2] = {
		{ "/below/file", "=" },
		{ "/below/folder/inner", "=" },
		{ "/below/missing", "!" },
		{ "/below/folder/missing/x", "!" },
		{ "/below/link", "/below/file" },
		{ "/below/folder/up", "/below/file" },
		{ "/below/absolute", "/below/file" },
		{ "/below/through/inner", "/below/folder/inner" },
		{ "/below/escape", "/below/file" },
		{ "/below/../../../file", "/below/file" },
		{ "/below/folder/../file", "/below/file" },
		{ "/below/./file", "/below/file" },
		{ "/below//file", "/below/file" },
		{ "/below/loop", "!" },
		{ "/elsewhere/file", "=" },
		{ "/belowground", "=" },
	};
	static const char *const links[][2] = {
		{ "file", "below/link" },      { "../file", "below/folder/up" },
		{ "/file", "below/absolute" }, { "folder", "below/through" },
		{ "loop", "below/loop" },      { "../../../../file", "below/escape" },
	};
	char path[BENEATH_PATH], root[BENEATH_PATH];

	ck_assert_int_eq(mkdir(at("below"), 0700), 0);
	ck_assert_int_eq(mkdir(at("below/folder"), 0700), 0);
	fclose(fopen(at("below/file"), "w"));
	fclose(fopen(at("below/folder/inner"), "w"));
	for (size_t i = 0; i < COUNT_OF(links); i++)
		ck_assert_int_eq(symlink(links[i][0], at(links[i][1])), 0);
	strcpy(root, at("below"));
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		bool found = *rows[i][1] != '!', same = *rows[i][1] == '=';

		strcpy(path, at(rows[i][0] + 1));
		ck_assert_msg(path_in_root_resolve(root, path) == found, "%s", rows[i][0]);
		if (found)
			ck_assert_str_eq(path, at((same ? rows[i][0] : rows[i][1]) + 1));
	}
	ck_assert_ptr_null(path_after_prefix("/a/b", "/a/c"));
	ck_assert_ptr_null(path_after_prefix("/ab", "/a"));
	ck_assert_str_eq(path_after_prefix("/a/b", "/a"), "/b");
	ck_assert_str_eq(path_after_prefix("/a/b", "/a//"), "/b");
	ck_assert_str_eq(path_after_prefix("/a/b", "/"), "/a/b");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("files");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, an_output_appears_whole);
	tcase_add_loop_test(all, many_bytes_are_written_and_can_be_read_before_the_end, 0, 2);
	tcase_add_loop_test(all, an_output_is_compressed_by_its_name, 0, 4);
	tcase_add_loop_test(all, a_text_ends_with_the_line_that_reaches_the_limit, 0, 2);
	tcase_add_test(all, bytes_elsewhere_count_for_the_limit);
	tcase_add_loop_test(all, held_outputs_appear_together, 0, 2);
	tcase_add_loop_test(all, what_cannot_be_an_output_is_refused, 0, 3);
	tcase_add_test(all, a_link_is_replaced);
	tcase_add_test(all, a_temporary_file_has_no_name);
	tcase_add_test(all, paths_of_outputs_are_made_from_inputs);
	tcase_add_test(all, missing_folders_are_made);
	tcase_add_test(all, a_path_below_a_root_stays_there);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
