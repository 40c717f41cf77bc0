/* SPDX-License-Identifier: MIT */
/* The text of --format=slices, parsed as far as its times. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slice_line {
	const char *thread; /* "pid/tid" */
	const char *name;
	uint64_t begin, end; /* ns */
};

struct slice_text {
	char *text;               /* owned; cut into words */
	struct slice_line *lines; /* owned; in the order of the text */
	size_t count;
};

/* Takes ownership of the text. */
void slice_text_init(struct slice_text *slices, char *text);
void slice_text_release(struct slice_text *slices);

/*
 * Returns whether `part` is a beginning of `whole`: up to a thread's last time in the part, both
 * have the same slices, except for marks and slices that are open then.
 */
bool slice_text_is_start(const struct slice_text *whole, const struct slice_text *part);
