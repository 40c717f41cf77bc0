/* SPDX-License-Identifier: MIT */
/* The index of the traces of slow calls: index.tsv for people, index.jsonl for programs. */
#ifndef SRC_BATCH_SLOW_INDEX_H
#define SRC_BATCH_SLOW_INDEX_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* A slow call and its trace. */
struct slow_trace {
	const json_t *call;          /* borrowed: of the answer's list, as it is in the report */
	uint64_t begin, duration;    /* ns: of the call */
	uint64_t from, to;           /* ns: what is decoded */
	uint64_t view_from, view_to; /* ns: what is to be shown */
	char *path;                  /* owned */
	int status;                  /* enum exit_status of the conversion; -1: not begun */
	char *error;                 /* owned: why it failed; NULL: it did not */
};

/* Write both files, "index.tsv" and "index.jsonl".  Returns 0; -1 with err filled. */
int slow_index_write(const struct slow_trace *traces, size_t count, const char *tsv,
		     const char *jsonl, struct error *err);

#endif
