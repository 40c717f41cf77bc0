/* SPDX-License-Identifier: MIT */
/* Runs one unit program's tests and reports them as TAP on stdout. */
#ifndef TESTS_SUPPORT_UNIT_H
#define TESTS_SUPPORT_UNIT_H

#include <check.h>

/*
 * Check writes each assertion that holds to a file, to name the last one before a crash: a write()
 * for each, which takes most of the time of tests that compare many values.
 */
#define _mark_point(file, line) ((void)0)

/*
 * Run the suite (owned by the callee), each test in a process of its own with a limit of CPU
 * time.  Returns main()'s status.
 */
int unit_run(Suite *suite);

#endif
