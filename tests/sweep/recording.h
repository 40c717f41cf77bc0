/* SPDX-License-Identifier: MIT */
/*
 * A perf.data file or stream as a sequence of records that can be dropped, doubled and swapped.
 * Layouts: tools/perf/Documentation/perf.data-file-format.txt.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A record with its trace data, as a range of the file. */
struct unit {
	size_t begin, end;
};

struct recording {
	uint8_t *bytes; /* owned: the whole file */
	size_t size;
	bool stream; /* of perf record -o - */
	size_t data_begin, data_end;
	struct unit *units; /* owned */
	size_t count;
};

/* The change of unit `at`. */
enum change { CHANGE_DROP, CHANGE_DOUBLE, CHANGE_SWAP };

/* Any failure ends the program. */
void recording_read(struct recording *recording, const char *path);
void recording_release(struct recording *recording);

/*
 * Returns the file with one change, `*size` bytes, owned by the caller; sections after the records
 * move with them.
 */
uint8_t *recording_change(const struct recording *recording, enum change change, size_t at,
			  size_t *size);
