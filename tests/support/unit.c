/* SPDX-License-Identifier: MIT */
/* Limits and output of the unit programs. */
#include "tests/support/unit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * An endless loop ends by its own CPU time, however busy the machine; sanitizers make tests up to
 * 20 times slower.  Check's limit, 4 s of elapsed time, is only for a test that waits forever.
 */
#define CPU_SECONDS   300
#define CLOCK_SECONDS "1200"

/*
 * Check reads the limit when main() creates its first test case.  A program started by hand runs in
 * the build directory, or with a relative path of it: recordings name files by absolute paths.
 */
__attribute__((constructor)) static void set_environment(void)
{
	const char *build = getenv("top_builddir");
	char path[PATH_MAX];

	setenv("CK_DEFAULT_TIMEOUT", CLOCK_SECONDS, 0);
	if (realpath(build ? build : ".", path))
		setenv("top_builddir", path, 1);
}

/*
 * Check writes TAP only to a file, but automake's driver reads stdout: so the file is a descriptor
 * of stdout.
 */
int unit_run(Suite *suite)
{
	struct rlimit cpu = { .rlim_cur = CPU_SECONDS, .rlim_max = CPU_SECONDS + 10 };
	SRunner *runner = srunner_create(suite);
	int failed;

	setrlimit(RLIMIT_CPU, &cpu); /* each test is a process and has all of it */
	srunner_set_tap(runner, "/dev/stdout");
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int unit_signal_of(void (*run)(void))
{
	int status;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		run();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}
