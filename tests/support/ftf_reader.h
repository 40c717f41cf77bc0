/* SPDX-License-Identifier: MIT */
/*
 * A strict reader of Fuchsia traces, written from the format's specification
 * and independent of the writer.
 *
 * It accepts only what the project promises to write: known records, every
 * reference defined before use, durations balanced per thread, times of a
 * thread that do not go back, at most 512 durations open at a time.
 */
#ifndef TESTS_SUPPORT_FTF_READER_H
#define TESTS_SUPPORT_FTF_READER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ftf_report {
	uint64_t records, strings, threads, events, slices;
	size_t deepest;       /* most durations open on one thread */
	uint64_t first, last; /* ns: times of events; 0 if there are none */
	char error[300];      /* why it was refused; empty: it was not */
	uint64_t offset;      /* of the record that was refused */
};

/*
 * Check a whole trace.  With `slices`, print one line per slice to it:
 * `pid/tid depth begin_ns end_ns name key=value...`, sorted by pid, tid,
 * begin, depth; control characters and backslashes as \xNN.  With `names`,
 * print one line per named process and thread: `process PID NAME`,
 * `thread PID/TID NAME`, in the order of the file.
 * Returns 0; -1 with report->error filled.
 */
int ftf_read(const uint8_t *bytes, size_t size, struct ftf_report *report, FILE *slices,
	     FILE *names);

#endif
