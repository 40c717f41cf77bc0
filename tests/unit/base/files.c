/* SPDX-License-Identifier: MIT */
/* Files of outputs: how they appear and end; paths of outputs, and paths below a root. */
#include <fcntl.h>
#include <signal.h>
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
START_TEST(many_bytes_are_written)
{
	enum { COUNT = 1 << 20 };
	char *read_back = malloc(COUNT * 4);

	open_output("a");
	for (uint32_t i = 0; i < COUNT; i++)
		output_write(&output, &i, sizeof(i));
	ck_assert_int_eq(output_close(&output, &err), 0);
	ck_assert_uint_eq(output.written, COUNT * 4);
	ck_assert_uint_eq(read_file("a", read_back, COUNT * 4), COUNT * 4);
	for (uint32_t i = 0; i < COUNT; i += 1021)
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
		{ "//", "/.ftf", 1, 1 },
		{ "a/", "a.ftf", 1, 1 },
		{ ".data", ".data.ftf", 5, 5 },
		{ "a/.data", "a/.data.ftf", 7, 7 },
		{ "a.data.data", "a.data.ftf", 6, 11 },
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

/* ---- More of outputs -------------------------------------------------------------- */

/* The new file is readable by no more users than the old one. */
START_TEST(a_new_file_has_the_mode_of_the_old_one)
{
	static const mode_t modes[] = { 0600, 0640, 0444 };
	struct stat status;

	fclose(fopen(at("a"), "w"));
	ck_assert_int_eq(chmod(at("a"), modes[_i]), 0);
	open_output("a");
	ck_assert_int_eq(output_close(&output, &err), 0);
	ck_assert_int_eq(stat(at("a"), &status), 0);
	ck_assert_int_eq(status.st_mode & 07777, modes[_i]);
}
END_TEST

/* The first failure is kept, and later writes do nothing. */
START_TEST(a_full_disk_is_an_error)
{
	static uint8_t bytes[300000];

	ck_assert_int_eq(output_open(&output, "/dev/full", &err), 0);
	ck_assert(!output_failed(&output));
	for (size_t i = 0; i < sizeof(bytes); i += 1000 * (size_t)(_i * 50 + 10))
		output_write(&output, bytes + i, 1000 * (size_t)(_i * 50 + 10));
	ck_assert(output_failed(&output));
	ck_assert_int_eq(output_close(&output, &err), -1);
	ck_assert_int_eq(err.system, ENOSPC);
	ck_assert_msg(starts_with(err.text, "/dev/full: cannot write"), "%s", err.text);
	output_abandon(&output);
}
END_TEST

/* `| head` has read enough: that is no error of a file. */
START_TEST(a_pipe_without_a_reader_is_another_error)
{
	int reader;

	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(mkfifo(at("pipe"), 0600), 0);
	reader = open(at("pipe"), O_RDONLY | O_NONBLOCK);
	open_output("pipe");
	ck_assert(!output_is_readable(&output));
	close(reader);
	write_text("text");
	ck_assert_int_eq(output_close(&output, &err), -1);
	ck_assert_int_eq(err.kind, ERROR_NO_READER);
	signal(SIGPIPE, SIG_DFL);
}
END_TEST

START_TEST(what_is_given_up_leaves_nothing)
{
	open_output("a");
	write_text("text");
	ck_assert_int_eq(count_files(), 1);
	output_abandon(&output);
	output_abandon(&output);
	ck_assert_int_eq(count_files(), 0);
	memset(&output, 0, sizeof(output));
	output_abandon(&output);
	/* Both temporary files, of a complete and of an open output. */
	output_hold();
	output_track_unfinished();
	open_output("complete");
	ck_assert_int_eq(output_close(&output, &err), 0);
	open_output("open");
	ck_assert_int_eq(count_files(), 2);
	output_remove_unfinished();
	ck_assert_int_eq(count_files(), 0);
	output_drop();
	output_abandon(&output);
}
END_TEST

/* When a name of several cannot be given, the later ones get none. */
START_TEST(outputs_after_one_that_cannot_be_named_are_removed)
{
	output_hold();
	for (int i = 0; i < 3; i++) {
		open_output(i == 0 ? "a" : i == 1 ? "b" : "c");
		write_text("text");
		ck_assert_int_eq(output_close(&output, &err), 0);
	}
	ck_assert_int_eq(mkdir(at("b"), 0700), 0);
	ck_assert_int_eq(output_rename(&err), -1);
	ck_assert_msg(strstr(err.text, "/b: cannot rename") != NULL, "%s", err.text);
	expect_file("a", "text");
	ck_assert_int_eq(access(at("c"), F_OK), -1);
	ck_assert_int_eq(count_files(), 2);
}
END_TEST

static const char *guarded;
static int asked;

static int refuse(const char *path, struct error *at_error)
{
	asked++;
	return guarded && strcmp(base_name(path), guarded) == 0
		       ? error_set(at_error, ERROR_SYSTEM, "refused")
		       : 0;
}

/* A guard is asked before a file is opened, or replaced. */
START_TEST(guards_refuse_outputs)
{
	output_ask(_i ? NULL : refuse, _i ? refuse : NULL);
	guarded = NULL;
	asked = 0;
	open_output("a");
	write_text("old");
	ck_assert_int_eq(output_close(&output, &err), 0);
	ck_assert_int_eq(asked, 1);
	guarded = "a";
	if (_i) {
		open_output("a");
		write_text("new");
		ck_assert_int_eq(output_close(&output, &err), -1);
	} else {
		ck_assert_int_eq(output_open(&output, at("a"), &err), -1);
	}
	ck_assert_str_eq(err.text, "refused");
	output_ask(NULL, NULL);
	expect_file("a", "old");
	ck_assert_int_eq(count_files(), 1);
}
END_TEST

/* A line is cut, too, if it is longer than a mebibyte after the limit. */
START_TEST(a_line_that_does_not_end_is_cut)
{
	FILE *out = output_open_text(&output, at("a"), 10, &err);
	struct stat status;

	ck_assert_ptr_nonnull(out);
	for (int i = 0; i < 3000; i++)
		fprintf(out, "%1000d", i);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert(output.cut);
	ck_assert_int_eq(output_close(&output, &err), 0);
	ck_assert_int_eq(stat(at("a"), &status), 0);
	ck_assert_int_gt(status.st_size, 1 << 20);
	ck_assert_int_lt(status.st_size, (1 << 20) + 200000);
}
END_TEST

/* Sequences that control a terminal are not printed there; in a file they are. */
START_TEST(controls_are_not_for_terminals)
{
	int terminal = posix_openpt(O_RDWR | O_NOCTTY);
	char found[5000] = "", line[3000];
	FILE *out;
	ssize_t size, used = 0;

	if (_i == 0 && (terminal < 0 || grantpt(terminal) < 0 || unlockpt(terminal) < 0))
		return;
	out = output_open_text(&output, _i ? at("a") : ptsname(terminal), 0, &err);
	ck_assert_ptr_nonnull(out);
	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = 0;
	fprintf(out, "a\033[31mb\t%s", line);
	fclose(out);
	ck_assert_int_eq(output_close(&output, &err), 0);
	if (_i) {
		read_file("a", found, sizeof(found) - 1);
		ck_assert_msg(starts_with(found, "a\033[31mb\tx"), "%.20s", found);
		return;
	}
	while ((size = read(terminal, found + used, sizeof(found) - 1 - (size_t)used)) > 0)
		used += size;
	close(terminal);
	ck_assert_ptr_null(memchr(found, '\033', (size_t)used));
	ck_assert_msg(starts_with(found, "a?[31mb"), "%.20s", found);
	ck_assert_ptr_nonnull(strstr(found, line));
}
END_TEST

/* ---- Names of temporary files ------------------------------------------------------ */

/* "x*N" is a name of N letters; the end of a long one is kept. */
START_TEST(temporary_names_fit_the_file_system)
{
	static const struct {
		int letters;
		const char *end, *made; /* made: without letters */
		int left;               /* letters */
	} rows[] = {
		{ 1, ".ftf", ".ftf.5.3.tmp", 1 },
		{ 243, ".ftf", ".ftf.5.3.tmp", 243 },
		{ 244, ".ftf", ".ftf.5.3.tmp", 243 },
		{ 251, ".ftf", ".ftf.5.3.tmp", 243 },
		/* Whole characters: an umlaut has two bytes. */
		{ 3, "\xc3\xa4.ftf", "\xc3\xa4.ftf.5.3.tmp", 3 },
	};
	char path[600], expected[600], name[700], umlauts[600];

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		memset(umlauts, 'x', 300);
		snprintf(path, sizeof(path), "dir/%.*s%s", rows[i].letters, umlauts, rows[i].end);
		snprintf(expected, sizeof(expected), "dir/%.*s%s", rows[i].left, umlauts,
			 rows[i].made);
		output_name_temporary(name, sizeof(name), path, 5, 3);
		ck_assert_str_eq(name, expected);
	}
	for (int i = 0; i < 250; i++)
		umlauts[i] = i % 2 ? '\xa4' : '\xc3';
	snprintf(path, sizeof(path), "%.250sx", umlauts);
	output_name_temporary(name, sizeof(name), path, 5, 3);
	ck_assert_int_eq(name[0], '\xc3');
	ck_assert_uint_eq(strlen(name), 246 + 8 + 1 - (246 % 2));
}
END_TEST

/* Of the process that was killed, and of that output. */
START_TEST(what_a_killed_process_left_is_removed)
{
	static const char *const names[] = { "a.5.0.tmp", "a.5.99.tmp", "a.5.100.tmp",
					     "a.6.0.tmp", "b.5.0.tmp",  "a" };

	for (size_t i = 0; i < COUNT_OF(names); i++)
		fclose(fopen(at(names[i]), "w"));
	output_remove_left(at("a"), 5);
	for (size_t i = 0; i < COUNT_OF(names); i++)
		ck_assert_int_eq(access(at(names[i]), F_OK), i < 2 ? -1 : 0);
}
END_TEST

/* A name that is taken is not used: another process writes the same output. */
START_TEST(a_temporary_name_is_new)
{
	char name[300];

	output_name_temporary(name, sizeof(name), at("a"), (int)getpid(), 0);
	fclose(fopen(name, "w"));
	open_output("a");
	ck_assert_str_ne(output.temporary, name);
	write_text("text");
	ck_assert_int_eq(output_close(&output, &err), 0);
	expect_file("a", "text");
	ck_assert_int_eq(access(name, F_OK), 0);
}
END_TEST

/* ---- More of paths ------------------------------------------------------------------ */

START_TEST(parts_are_numbered_before_the_extension)
{
	static const struct {
		const char *path;
		size_t part;
		const char *made;
	} rows[] = {
		{ "a/out.ftf", 0, "a/out.000.ftf" },
		{ "a/out.ftf.gz", 7, "a/out.007.ftf.gz" },
		{ "out.ftf.zst", 123, "out.123.ftf.zst" },
		{ "out.a.ftf", 1234, "out.a.1234.ftf" },
		{ "out", 1, "out.001" },
		{ "out.gz", 1, "out.001.gz" },
		{ "dir.d/out", 1, "dir.d/out.001" },
		{ "dir.d/out.gz", 1, "dir.d/out.001.gz" },
		{ ".hidden", 1, ".hidden.001" },
		{ "d/.hidden", 1, "d/.hidden.001" },
		{ "x.y", 1, "x.001.y" },
		{ "out.", 18446744073709551615UL, "out.18446744073709551615." },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char *made = output_path_part(rows[i].path, rows[i].part);

		ck_assert_str_eq(made, rows[i].made);
		free(made);
	}
}
END_TEST

/* Before long work, with the error that output_open() would have. */
START_TEST(outputs_are_checked_before_they_are_opened)
{
	static char longest[5000];
	static const struct {
		const char *path;
		int errnum;
	} rows[] = { { "new", 0 },
		     { "file", 0 },
		     { "missing/new", ENOENT },
		     { "file/new", ENOTDIR },
		     { ".", EISDIR },
		     { "folder", EISDIR },
		     { "pipe", 0 },
		     { "dangling", 0 } };

	fclose(fopen(at("file"), "w"));
	ck_assert_int_eq(mkdir(at("folder"), 0700), 0);
	ck_assert_int_eq(mkfifo(at("pipe"), 0600), 0);
	ck_assert_int_eq(symlink("nothing", at("dangling")), 0);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		err = (struct error){ 0 };
		ck_assert_int_eq(output_path_check(at(rows[i].path), &err),
				 rows[i].errnum ? -1 : 0);
		ck_assert_int_eq(err.system, rows[i].errnum);
	}
	memset(longest, 'x', sizeof(longest) - 1);
	err = (struct error){ 0 };
	ck_assert_int_eq(output_path_check(longest, &err), -1);
	ck_assert_int_eq(err.system, ENAMETOOLONG);
	ck_assert_int_eq(output_path_check("/dev/null", &err), 0);
	ck_assert_int_eq(chdir(folder), 0);
	ck_assert_int_eq(output_path_check("new", &err), 0);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(output_path_check("/tmp", &err), -1);
	/* A file below the root, and standard output. */
	ck_assert_int_eq(output_path_check("/new", &err), access("/", W_OK));
	ck_assert_int_eq(output_path_check("-", &err), 0);
}
END_TEST

START_TEST(standard_output_for_reading_only_is_refused)
{
	int kept = dup(STDOUT_FILENO), reader = open("/dev/null", O_RDONLY), status;

	dup2(reader, STDOUT_FILENO);
	status = output_path_check("-", &err);
	dup2(kept, STDOUT_FILENO);
	close(kept);
	close(reader);
	ck_assert_int_eq(status, -1);
	ck_assert_ptr_nonnull(strstr(err.text, "cannot write to standard output"));
}
END_TEST

/* ---- More of temporary files ---------------------------------------------------------- */

/* All that a pipe has; more than is read at once. */
START_TEST(a_stream_becomes_a_mapping)
{
	static uint8_t bytes[50000];
	struct temp_file file;
	const uint8_t *mapped;
	int ends[2];

	setenv("TMPDIR", folder, 1);
	ck_assert_int_eq(temp_file_open(&file, &err), 0);
	ck_assert_ptr_null(temp_file_map(&file, &err));
	ck_assert_str_eq(err.text, "is empty");
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i ^ i >> 8);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(pipe(ends), 0);
		ck_assert_int_eq(write(ends[1], bytes, sizeof(bytes)), sizeof(bytes));
		close(ends[1]);
		ck_assert_int_eq(temp_file_drain(&file, ends[0], &err), 0);
		close(ends[0]);
	}
	ck_assert_uint_eq(file.size, 2 * sizeof(bytes));
	mapped = temp_file_map(&file, &err);
	ck_assert_int_eq(memcmp(mapped, bytes, sizeof(bytes)), 0);
	ck_assert_int_eq(memcmp(mapped + sizeof(bytes), bytes, sizeof(bytes)), 0);
	munmap((void *)(uintptr_t)mapped, file.size);
	err = (struct error){ 0 };
	ck_assert_int_eq(temp_file_drain(&file, -1, &err), -1);
	ck_assert_int_eq(err.system, EBADF);
	temp_file_close(&file);
}
END_TEST

START_TEST(a_temporary_file_becomes_standard_output)
{
	int kept = dup(STDOUT_FILENO), status;
	struct temp_file file;
	char text[10] = "";

	ck_assert_int_eq(temp_file_open(&file, &err), 0);
	status = temp_file_become_output(&file, &err);
	if (write(STDOUT_FILENO, "text", 4) == 4 && pread(STDOUT_FILENO, text, 9, 0) != 4)
		status = -1;
	dup2(kept, STDOUT_FILENO);
	close(kept);
	ck_assert_int_eq(status, 0);
	ck_assert(!file.open);
	ck_assert_str_eq(text, "text");
}
END_TEST

/* --max-temp: copies of the input may not exceed it; without it, they may. */
START_TEST(copies_count_for_the_budget)
{
	struct temp_file file;

	ck_assert_int_eq(temp_file_open(&file, &err), 0);
	ck_assert_uint_gt(temp_files_most(), 100);
	ck_assert_uint_le(temp_files_most(), TEMP_FILES_DEFAULT);
	ck_assert_int_eq(temp_file_write(&file, folder, 60, &err), 0);
	ck_assert_uint_eq(temp_files_room(), temp_files_most());
	temp_files_limit(20);
	ck_assert_uint_eq(temp_files_most(), 20);
	ck_assert_int_eq(temp_file_write(&file, folder, 15, &err), 0);
	ck_assert_uint_eq(temp_files_room(), 5);
	ck_assert_int_eq(temp_file_write(&file, folder, 6, &err), -1);
	ck_assert_int_eq(err.kind, ERROR_LIMIT);
	ck_assert(!temp_files_full());
	ck_assert_int_eq(temp_file_write(&file, folder, 5, &err), 0);
	ck_assert_uint_eq(temp_files_room(), 0);
	ck_assert(!temp_files_full());
	ck_assert_uint_eq(file.size, 80);
	temp_files_give(20);
	ck_assert_uint_eq(temp_files_room(), 20);
	temp_files_keep_rest(4);
	ck_assert(!temp_files_spent());
	temp_files_take(5);
	temp_files_keep_rest(4);
	ck_assert(!temp_files_spent());
	temp_files_take(1);
	temp_files_keep_rest(4);
	ck_assert(temp_files_spent());
	ck_assert(!temp_files_full());
	temp_files_take(15);
	ck_assert(temp_files_full());
	temp_file_close(&file);
	temp_files_limit(0);
}
END_TEST

START_TEST(the_folder_of_temporary_files_is_by_the_environment)
{
	struct temp_file file;

	setenv("TMPDIR", "", 1);
	ck_assert_str_eq(temp_file_folder(), access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp");
	unsetenv("TMPDIR");
	ck_assert_str_eq(temp_file_folder(), access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp");
	setenv("TMPDIR", "/nonexistent", 1);
	ck_assert_int_eq(temp_file_open(&file, &err), -1);
	ck_assert_msg(starts_with(err.text, "/nonexistent: cannot make"), "%s", err.text);
	ck_assert(!file.open);
	unsetenv("TMPDIR");
}
END_TEST

/* Without standard input, a file may have its descriptor. */
START_TEST(files_are_made_without_standard_input)
{
	struct temp_file file;

	close(STDIN_FILENO);
	setenv("TMPDIR", folder, 1);
	ck_assert_int_eq(temp_file_open(&file, &err), 0);
	ck_assert_int_eq(file.fd, 0);
	ck_assert_int_eq(temp_file_write(&file, "text", 4, &err), 0);
	temp_file_close(&file);
	open_output("a");
	ck_assert_int_eq(output.fd, 0);
	write_text("text");
	output_abandon(&output);
	ck_assert_int_eq(count_files(), 0);
	open_output("a");
	write_text("text");
	ck_assert_int_eq(output_close(&output, &err), 0);
	expect_file("a", "text");
	ck_assert_int_eq(file_use_open(at("a")), 0);
	ck_assert_int_eq(file_use_check(at("a"), &err), -1);
	ck_assert_int_eq(file_use_shortage(&err), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("files");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, an_output_appears_whole);
	tcase_add_test(all, many_bytes_are_written);
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
	tcase_add_loop_test(all, a_new_file_has_the_mode_of_the_old_one, 0, 3);
	tcase_add_loop_test(all, a_full_disk_is_an_error, 0, 2);
	tcase_add_test(all, a_pipe_without_a_reader_is_another_error);
	tcase_add_test(all, what_is_given_up_leaves_nothing);
	tcase_add_test(all, outputs_after_one_that_cannot_be_named_are_removed);
	tcase_add_loop_test(all, guards_refuse_outputs, 0, 2);
	tcase_add_test(all, a_line_that_does_not_end_is_cut);
	tcase_add_loop_test(all, controls_are_not_for_terminals, 0, 2);
	tcase_add_test(all, temporary_names_fit_the_file_system);
	tcase_add_test(all, what_a_killed_process_left_is_removed);
	tcase_add_test(all, a_temporary_name_is_new);
	tcase_add_test(all, parts_are_numbered_before_the_extension);
	tcase_add_test(all, outputs_are_checked_before_they_are_opened);
	tcase_add_test(all, standard_output_for_reading_only_is_refused);
	tcase_add_test(all, a_stream_becomes_a_mapping);
	tcase_add_test(all, a_temporary_file_becomes_standard_output);
	tcase_add_test(all, copies_count_for_the_budget);
	tcase_add_test(all, the_folder_of_temporary_files_is_by_the_environment);
	tcase_add_test(all, files_are_made_without_standard_input);
	suite_add_tcase(suite, all);
	return unit_run_apart(suite);
}
