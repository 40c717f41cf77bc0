/* SPDX-License-Identifier: MIT */
#include "tests/support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Check writes TAP only to a file, and automake's driver reads stdout: so the
 * file is a pipe end of stdout.
 */
int unit_run(Suite *suite)
{
	SRunner *runner = srunner_create(suite);

	srunner_set_tap(runner, "/dev/stdout");
	srunner_run_all(runner, CK_SILENT);
	srunner_free(runner);
	return EXIT_SUCCESS;
}
