/* SPDX-License-Identifier: MIT */
/* Which command installs debug files, by os-release(5) of several distributions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/pipeline/recording.h"
#include "tests/support/unit.h"

static char root[] = "/tmp/ptrace2ftf-XXXXXX";
static char path[sizeof(root) + 40];
static char shown[600];

static void setup(void)
{
	unsetenv("DEBUGINFOD_URLS");
	strcpy(root + strlen(root) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	snprintf(path, sizeof(path), "%s/etc", root);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	strcat(path, "/os-release");
}

static void teardown(void)
{
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(root);
}

static void system_is(const char *text)
{
	FILE *out = fopen(path, "w");

	ck_assert_ptr_nonnull(out);
	fputs(text, out);
	fclose(out);
}

static const char *hint(const char *file)
{
	const struct mapped_file first = { .path = file,
					   .build_id = { 0xab, 0xcd },
					   .build_id_size = 2 };
	const struct mapped_file second = { .path = "/lib/libm.so.6" };
	char *text = debug_hint_make((const struct mapped_file *const[]){ &first, &second },
				     (const unsigned[]){ 38, 3 }, 2, root);

	snprintf(shown, sizeof(shown), "%s", text);
	free(text);
	return shown;
}

#define SHARES "libc.so.6: 38 % of the time has no names, libm.so.6: 3 %; get debug files by: "

START_TEST(the_distribution_decides_the_command)
{
	system_is("NAME=\"Debian GNU/Linux\"\nID=debian\n");
	ck_assert_str_eq(hint("/lib/libc.so.6"), SHARES "apt install libc6-dbg");
	ck_assert_ptr_nonnull(
		strstr(hint("/lib/libz.so.1"),
		       "by: find-dbgsym-packages /lib/libz.so.1 (of debian-goodies)"));
	system_is("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n");
	ck_assert_str_eq(hint("/lib/libc.so.6"), SHARES "apt install libc6-dbg");
	system_is("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n");
	ck_assert_str_eq(hint("/lib/libc.so.6"),
			 SHARES "dnf debuginfo-install $(rpm -qf /lib/libc.so.6)");
	system_is("ID=unheard\nHOME_URL=https://debian.org\n");
	ck_assert_str_eq(hint("/lib/libc.so.6"),
			 SHARES "--debuginfod with DEBUGINFOD_URLS set, or --debug-dir");
}
END_TEST

START_TEST(servers_come_first_if_they_are_known)
{
	system_is("ID=debian\n");
	setenv("DEBUGINFOD_URLS", "https://debuginfod.debian.net", 1);
	ck_assert_str_eq(hint("/lib/libc.so.6"),
			 SHARES "--debuginfod, or debuginfod-find debuginfo abcd");
}
END_TEST

/* A recording may be someone else's, and its paths end up in the user's shell. */
START_TEST(a_path_that_a_shell_would_interpret_is_not_part_of_a_command)
{
	system_is("ID=fedora\n");
	ck_assert_ptr_null(strstr(hint("/lib/$(reboot)/x"), "reboot"));
	ck_assert_ptr_null(strstr(hint("/lib/a;b/x"), "a;b"));
}
END_TEST

START_TEST(nothing_outside_of_the_recorded_system_is_read)
{
	char target[] = "/tmp/ptrace2ftf-XXXXXX";
	int fd = mkstemp(target);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "ID=debian\n", 10), 10);
	close(fd);
	ck_assert_int_eq(symlink(target, path), 0);
	ck_assert_ptr_null(strstr(hint("/lib/libc.so.6"), "apt"));
	unlink(target);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("debug_hint");
	TCase *all = tcase_create("debug_hint");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, the_distribution_decides_the_command);
	tcase_add_test(all, servers_come_first_if_they_are_known);
	tcase_add_test(all, a_path_that_a_shell_would_interpret_is_not_part_of_a_command);
	tcase_add_test(all, nothing_outside_of_the_recorded_system_is_read);
	suite_add_tcase(suite, all);
	return unit_run_apart(suite);
}
