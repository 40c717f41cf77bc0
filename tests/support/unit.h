/* SPDX-License-Identifier: MIT */
/* Runs a unit program's tests and reports them as TAP on stdout. */
#pragma once

#include <check.h>

/*
 * Check calls write() for each successful assertion, so that it can name the last one before a
 * crash.  Tests that compare many values spend most of their time there.
 */
#define _mark_point(file, line) ((void)0)

/* 1 in builds with AddressSanitizer or ThreadSanitizer, else 0. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNIT_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNIT_SANITIZED 1
#endif
#endif
#ifndef UNIT_SANITIZED
#define UNIT_SANITIZED 0
#endif

/*
 * Run the suite (owned by the callee), each test in its own process with a limit of CPU time.
 * Returns main()'s status.
 */
int unit_run_apart(Suite *suite);

/*
 * Run all tests of the suite in one process, as most of the time of a small test is its process's.
 * If one fails or crashes, run them again by unit_run_apart(), which names the test and decides;
 * the log says so if they then pass.  With LONG=1 only unit_run_apart() runs.
 */
int unit_run(Suite *suite);

/*
 * Returns the signal that ends RUN in its own process; 0 if it returns.  Check's own test of a
 * signal would end the whole program under CK_FORK=no.
 */
int unit_signal_of(void (*run)(void));
