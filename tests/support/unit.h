/* SPDX-License-Identifier: MIT */
/* Runs one unit program's tests and reports them as TAP on stdout. */
#ifndef TESTS_SUPPORT_UNIT_H
#define TESTS_SUPPORT_UNIT_H

#include <check.h>

/*
 * Check calls write() for each assertion that holds, so that it can name the last one before a
 * crash. Tests that compare many values spend most of their time there.
 */
#define _mark_point(file, line) ((void)0)

/*
 * Run the suite (owned by the callee), each test in a process of its own with a limit of CPU
 * time.  Returns main()'s status.
 */
int unit_run(Suite *suite);

/*
 * Returns the signal that ends RUN in a process of its own; 0 if it returns. Check's own test of
 * a signal would end the whole program under CK_FORK=no.
 */
int unit_signal_of(void (*run)(void));

#endif
