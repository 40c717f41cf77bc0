/* SPDX-License-Identifier: MIT */
/* Which files are read and written: no input is overwritten, and no output is written twice. */
#include "base/io/file_use.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/unit.h"

static char folder[64];
static struct error err;

/* Each test runs in the folder, in its own process: the lists are the process's. */
static void setup(void)
{
	strcpy(folder, "/tmp/ptrace2ftf-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	err = (struct error){ 0 };
}

static void teardown(void)
{
	char command[100];

	ck_assert_int_eq(chdir("/"), 0);
	sprintf(command, "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

static void make_file(const char *path)
{
	FILE *out = fopen(path, "w");

	ck_assert_ptr_nonnull(out);
	fputs(path, out);
	fclose(out);
}

static bool is_input(const char *path)
{
	err = (struct error){ 0 };
	return file_use_check(path, &err) < 0;
}

/* ---- Files that are read ----------------------------------------------------- */

/* By any of its names. */
START_TEST(what_is_read_is_not_written)
{
	int fd;

	make_file("in");
	make_file("other");
	ck_assert_int_eq(link("in", "hard"), 0);
	ck_assert_int_eq(symlink("in", "soft"), 0);
	ck_assert(!is_input("in"));
	fd = file_use_open("in");
	ck_assert_int_ge(fd, 0);
	ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
	close(fd);
	ck_assert(is_input("in"));
	ck_assert_str_eq(err.text, "cannot write to in: it is the input in");
	ck_assert(is_input("hard"));
	ck_assert_str_eq(err.text, "cannot write to hard: it is the input in");
	ck_assert(is_input("soft"));
	ck_assert(is_input("./in"));
	ck_assert(!is_input("other"));
	ck_assert(!is_input("missing"));
	ck_assert_int_eq(file_use_write("in", "--output", FILE_REPLACED, &err), -1);
	ck_assert_int_eq(file_use_open_output("in", &err), -1);
	ck_assert_int_eq(file_use_open_output("other", &err), 0);
}
END_TEST

/* Devices and pipes lose no data. */
START_TEST(devices_and_pipes_are_no_inputs_to_lose)
{
	int fd;

	ck_assert_int_eq(mkfifo("pipe", 0600), 0);
	/* It does not wait for a writer. */
	fd = file_use_open_at_once("pipe");
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert(!is_input("pipe"));
	close(file_use_open("/dev/null"));
	ck_assert(!is_input("/dev/null"));
	ck_assert_int_eq(file_use_write("/dev/null", "--a", FILE_REPLACED, &err), 0);
	ck_assert_int_eq(file_use_write("./../../dev/null", "--b", FILE_REPLACED, &err), 0);
}
END_TEST

START_TEST(streams_and_standard_input_are_read)
{
	FILE *stream;
	char text[10] = "";
	int fd;

	make_file("in");
	make_file("stdin");
	stream = file_use_open_stream("in");
	ck_assert_ptr_nonnull(stream);
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), stream));
	ck_assert_str_eq(text, "in");
	fclose(stream);
	ck_assert(is_input("in"));
	ck_assert_ptr_null(file_use_open_stream("missing"));
	ck_assert_int_eq(errno, ENOENT);
	fd = open("stdin", O_RDONLY);
	dup2(fd, STDIN_FILENO);
	close(fd);
	ck_assert(!is_input("stdin"));
	if (_i)
		file_use_read("-");
	else
		close(file_use_open("-"));
	ck_assert(is_input("stdin"));
	ck_assert_str_eq(err.text, "cannot write to stdin: it is the input standard input");
}
END_TEST

/* Of a recording that is a directory: its files, and those of its subdirectories. */
START_TEST(a_directory_is_read_two_levels_deep)
{
	ck_assert_int_eq(mkdir("dir", 0700), 0);
	ck_assert_int_eq(mkdir("dir/kcore", 0700), 0);
	ck_assert_int_eq(mkdir("dir/kcore/deep", 0700), 0);
	make_file("dir/data");
	make_file("dir/kcore/file");
	make_file("dir/kcore/deep/file");
	make_file("outside");
	make_file("linked");
	ck_assert_int_eq(symlink("../linked", "dir/link"), 0);
	ck_assert_int_eq(symlink("dir", "name"), 0);
	file_use_read("missing");
	file_use_read(_i ? "name" : "dir");
	ck_assert(is_input("dir/data"));
	ck_assert(is_input("dir/kcore/file"));
	ck_assert(!is_input("dir/kcore/deep/file"));
	ck_assert(is_input("linked"));
	ck_assert(!is_input("outside"));
	file_use_read("outside");
	ck_assert(is_input("outside"));
}
END_TEST

/* ---- Shortages ------------------------------------------------------------------ */

START_TEST(a_lack_of_descriptors_is_no_missing_file)
{
	struct rlimit before, limit;
	static const int others[] = { 0, ENOENT, EACCES, ELOOP };

	make_file("in");
	ck_assert_int_eq(file_use_open("missing"), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_eq(file_use_shortage(&err), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = before;
	limit.rlim_cur = 0;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(file_use_open("in"), -1);
	ck_assert_int_eq(errno, EMFILE);
	ck_assert_int_eq(file_use_open("another"), -1);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_int_eq(file_use_shortage(&err), -1);
	ck_assert_msg(starts_with(err.text, "in: cannot open"), "%s", err.text);
	ck_assert(file_use_is_shortage(EMFILE));
	ck_assert(file_use_is_shortage(ENFILE));
	ck_assert(file_use_is_shortage(ENOMEM));
	for (size_t i = 0; i < COUNT_OF(others); i++)
		ck_assert(!file_use_is_shortage(others[i]));
}
END_TEST

/* ---- Files that are written ------------------------------------------------------ */

/* "old", and "hard", its other name, exist, as the folder "dir"; "a" and others do not. */
static const struct {
	const char *first, *second;
	enum file_use_way first_way, second_way;
	bool conflict;
} writes[] = {
	{ "a", "a", FILE_REPLACED, FILE_REPLACED, true },
	{ "a", "a", FILE_APPENDED, FILE_REPLACED, true },
	{ "a", "./a", FILE_REPLACED, FILE_REPLACED, true },
	{ "a", ".//.//a", FILE_REPLACED, FILE_REPLACED, true },
	{ "a", "dir/../a", FILE_REPLACED, FILE_REPLACED, true },
	{ "a", "b", FILE_REPLACED, FILE_REPLACED, false },
	{ "a", "dir/a", FILE_REPLACED, FILE_REPLACED, false },
	{ "dir/a", "link/a", FILE_REPLACED, FILE_REPLACED, true },
	/* In folders that are missing. */
	{ "x/y/a", "x//y/./a", FILE_REPLACED, FILE_REPLACED, true },
	{ "x/y/a", "x/z/a", FILE_REPLACED, FILE_REPLACED, false },
	{ "x/a", "dir/x/a", FILE_REPLACED, FILE_REPLACED, false },
	{ "dir/x/a", "link/x/a", FILE_REPLACED, FILE_REPLACED, true },
	/* A new file replaces one of the names only. */
	{ "old", "old", FILE_REPLACED, FILE_REPLACED, true },
	{ "old", "hard", FILE_REPLACED, FILE_REPLACED, false },
	{ "old", "hard", FILE_REPLACED, FILE_APPENDED, true },
	{ "old", "hard", FILE_APPENDED, FILE_REPLACED, true },
	{ "old", "hard", FILE_APPENDED, FILE_APPENDED, true },
	/* Standard output is the file "out". */
	{ "-", "out", FILE_REPLACED, FILE_REPLACED, true },
	{ "out", "-", FILE_REPLACED, FILE_REPLACED, true },
	{ "-", "old", FILE_REPLACED, FILE_REPLACED, false },
	{ "dir", "dir", FILE_REPLACED, FILE_REPLACED, false },
	{ "/dev/null", "/dev/null", FILE_REPLACED, FILE_REPLACED, false },
};

START_TEST(two_outputs_have_two_paths)
{
	char *second = strdup(writes[_i].second), expected[200];
	int standard = dup(STDOUT_FILENO), fd = open("out", O_WRONLY | O_CREAT, 0600), status;

	make_file("old");
	ck_assert_int_eq(link("old", "hard"), 0);
	ck_assert_int_eq(mkdir("dir", 0700), 0);
	ck_assert_int_eq(symlink("dir", "link"), 0);
	ck_assert_int_eq(file_use_write(writes[_i].first, "--first", writes[_i].first_way, &err),
			 0);
	/* The same output. */
	ck_assert_int_eq(file_use_write(writes[_i].first, "--first", writes[_i].first_way, &err),
			 0);
	dup2(fd, STDOUT_FILENO);
	if (strcmp(writes[_i].first, "-") == 0)
		ck_assert_int_eq(file_use_write(writes[_i].first, "--first", FILE_REPLACED, &err),
				 0);
	status = file_use_write(second, "--second", writes[_i].second_way, &err);
	dup2(standard, STDOUT_FILENO);
	ck_assert_int_eq(status, writes[_i].conflict ? -1 : 0);
	snprintf(expected, sizeof(expected), "--first and --second would both be written to %s",
		 strcmp(second, "-") == 0 ? writes[_i].first : second);
	ck_assert_str_eq(err.text, writes[_i].conflict ? expected : "");
	close(fd);
	close(standard);
	free(second);
}
END_TEST

/* ---- Descriptors ------------------------------------------------------------------ */

START_TEST(descriptors_are_closed_from_a_number_up)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		for (int fd = 40; fd < 60; fd += 5)
			dup2(STDERR_FILENO, fd);
		close_from(50);
		_exit(fcntl(40, F_GETFD) < 0 || fcntl(45, F_GETFD) < 0 || fcntl(50, F_GETFD) >= 0 ||
		      fcntl(55, F_GETFD) >= 0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* ---- Paths below a root -------------------------------------------------------------- */

/* The root "name" is a link to "root"; "links" has a chain of 40 links, "more" one of 41. */
START_TEST(a_root_has_two_names)
{
	static const char *const rows[][2] = {
		/* "=": the path stays as it is; "!": nothing is there */
		{ "name/file", "=" },         { "root/file", "=" },
		{ "name/soft", "root/file" }, { "root/soft", "root/file" },
		{ "name/missing", "!" },      { "root/missing", "!" },
		{ "root/l40", "root/file" },  { "root/l41", "!" },
		{ "elsewhere", "=" },         { "name", "=" },
	};
	char root[BENEATH_PATH], path[BENEATH_PATH], expected[BENEATH_PATH], target[20], link[20];

	ck_assert_int_eq(mkdir("root", 0700), 0);
	ck_assert_int_eq(symlink("root", "name"), 0);
	make_file("root/file");
	ck_assert_int_eq(symlink("file", "root/soft"), 0);
	for (int i = 1; i <= 41; i++) {
		snprintf(link, sizeof(link), "root/l%d", i);
		snprintf(target, sizeof(target), "l%d", i - 1);
		ck_assert_int_eq(symlink(i == 1 ? "/file" : target, link), 0);
	}
	snprintf(root, sizeof(root), "%s/name", folder);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		bool found = rows[i][1][0] != '!', same = rows[i][1][0] == '=';

		snprintf(path, sizeof(path), "%s/%s", folder, rows[i][0]);
		snprintf(expected, sizeof(expected), "%s/%s", folder, rows[i][found && !same]);
		ck_assert_msg(path_in_root_resolve(root, path) == found, "%s", rows[i][0]);
		ck_assert_str_eq(path, expected);
	}
	/* Without a root, paths below it lead nowhere. */
	strcpy(path, "/nonexistent/file");
	ck_assert(!path_in_root_resolve("/nonexistent", path));
	strcpy(path, "/elsewhere/file");
	ck_assert(path_in_root_resolve("/nonexistent", path));
	/* The root of the file system. */
	snprintf(path, sizeof(path), "%s/root/soft", folder);
	ck_assert(path_in_root_resolve("/", path));
	snprintf(expected, sizeof(expected), "%s/root/file", folder);
	ck_assert_str_eq(path, expected);
}
END_TEST

/* A path of more bytes than the system takes leads nowhere. */
START_TEST(a_path_is_not_longer_than_the_systems)
{
	static char path[BENEATH_PATH + 10], target[BENEATH_PATH];
	size_t length = strlen(folder);

	strcpy(path, folder);
	memset(path + length, 'x', BENEATH_PATH - 1 - length);
	path[length] = '/';
	path[BENEATH_PATH - 1] = 0;
	ck_assert(!path_in_root_resolve(folder, path));
	/* A link whose target, with what follows, is too long. */
	for (size_t i = 0; i < 3900; i += 2)
		memcpy(target + i, "./", 2);
	ck_assert_int_eq(symlink(target, "link"), 0);
	snprintf(path, sizeof(path), "%s/link/", folder);
	memset(path + strlen(path), 'x', 100);
	ck_assert(!path_in_root_resolve(folder, path));
	make_file("f");
	snprintf(path, sizeof(path), "%s/link/f", folder);
	ck_assert(path_in_root_resolve(folder, path));
	ck_assert_str_eq(path + length, "/f");
	memset(path + length + 6, '/', 300);
	strcpy(path + length + 306, "f");
	memcpy(path + length, "/link/", 6);
	ck_assert(!path_in_root_resolve(folder, path));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("file_use");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, what_is_read_is_not_written);
	tcase_add_test(all, devices_and_pipes_are_no_inputs_to_lose);
	tcase_add_loop_test(all, streams_and_standard_input_are_read, 0, 2);
	tcase_add_loop_test(all, a_directory_is_read_two_levels_deep, 0, 2);
	tcase_add_test(all, a_lack_of_descriptors_is_no_missing_file);
	tcase_add_loop_test(all, two_outputs_have_two_paths, 0, COUNT_OF(writes));
	tcase_add_test(all, descriptors_are_closed_from_a_number_up);
	tcase_add_test(all, a_root_has_two_names);
	tcase_add_test(all, a_path_is_not_longer_than_the_systems);
	suite_add_tcase(suite, all);
	return unit_run_apart(suite);
}
