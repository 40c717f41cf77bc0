/* SPDX-License-Identifier: MIT */
/* Limits and output of the unit programs. */
#include "tests/support/unit.h"

#include <limits.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
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
 * of stdout.  Returns main()'s status.
 */
static int run_suite(SRunner *runner)
{
	srunner_set_tap(runner, "/dev/stdout");
	srunner_run_all(runner, CK_SILENT);
	return srunner_ntests_failed(runner) ? EXIT_FAILURE : EXIT_SUCCESS;
}

/*
 * Run all tests in this process.  The heap keeps free memory, so that the next test has no page
 * faults there.
 */
static _Noreturn void run_together(SRunner *runner, int output)
{
	mallopt(M_TRIM_THRESHOLD, 256 << 20);
	if (dup2(output, STDOUT_FILENO) < 0)
		_exit(EXIT_FAILURE);
	srunner_set_fork_status(runner, CK_NOFORK);
	exit(run_suite(runner));
}

/* Returns whether all tests pass in one process; if so, their output is in `output`. */
static bool pass_together(SRunner *runner, int output)
{
	int status = EXIT_FAILURE;
	pid_t child;

	child = output < 0 ? -1 : fork();
	if (child == 0)
		run_together(runner, output);
	return child > 0 && waitpid(child, &status, 0) == child && status == EXIT_SUCCESS;
}

static int copy_to_stdout(int output)
{
	char text[BUFSIZ];
	ssize_t count;

	for (off_t at = 0; (count = pread(output, text, sizeof(text), at)) > 0; at += count)
		fwrite(text, 1, (size_t)count, stdout);
	return fflush(stdout) || count < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int run_and_free(SRunner *runner, bool together)
{
	struct rlimit cpu = { .rlim_cur = CPU_SECONDS, .rlim_max = CPU_SECONDS + 10 };
	int output = together ? memfd_create("unit", MFD_CLOEXEC) : -1, status;

	setrlimit(RLIMIT_CPU, &cpu); /* of each process */
	if (together && pass_together(runner, output)) {
		status = copy_to_stdout(output);
	} else {
		status = run_suite(runner);
		if (together && status == EXIT_SUCCESS)
			puts("# not in one process: a test depends on another one, see unit_run_apart()");
	}
	srunner_free(runner);
	return status;
}

int unit_run_apart(Suite *suite)
{
	return run_and_free(srunner_create(suite), false);
}

/* CK_FORK, Check's own variable, has priority. */
int unit_run(Suite *suite)
{
	return run_and_free(srunner_create(suite), !getenv("LONG") && !getenv("CK_FORK"));
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
