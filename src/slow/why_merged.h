/* SPDX-License-Identifier: MIT */
/* Causes of slow calls in several recordings, each a separate incident. */
#pragma once

#include <jansson.h>

#include "base/arena.h"
#include "base/tables/id_index.h"

/* Zeroed memory has no answers. */
struct why_merged {
	struct arena texts; /* of the causes */
	size_t recordings, without, failed;
	/* A cause of slow calls of a function. All fields are the same for any order of answers. */
	struct merged_cause {
		const char *names[2],
			*unit;             /* names of the function and the cause, in worst_input */
		const char *identities[2]; /* identities of both, in any recording */
		const char *symbol;        /* chooses the function there, with --symbol */
		size_t recordings, last;   /* last: 1 + number of the last recording */
		uint64_t calls, cut;       /* cut: of these, their extra is a lower bound */
		double extra; /* extra of all these calls, in the unit: in parts of 2^-6, so that
				 sums are exact */
		double worst_extra; /* extra of a call, as the mean of its recording's calls */
		const char *worst_input;
		uint64_t worst_begin; /* ns: of the slowest call there */
	} * causes;                   /* owned */
	size_t count, room;
	struct id_index index; /* causes by their identities, until they are sorted */
};

/*
 * Add the report of a run: a line of --json-lines, a summary of --json=FILE, or an answer of
 * --json. `input` names the recording if the line does not.  Returns false if it is neither an
 * answer of `ptrace2ftf why` nor a failure.
 */
bool why_merged_add(struct why_merged *merged, const json_t *line, const char *input);

/* After the last answer: sort by unit, then the causes with the most extra first. */
void why_merged_sort(struct why_merged *merged);

/* Print a struct why_merged as text: for batch_answer_write(). */
void why_merged_print(void *merged, FILE *out);

/* Returns the same as an object, owned by the caller: ptrace2ftf-why(1). */
json_t *why_merged_json(const struct why_merged *merged);

void why_merged_release(struct why_merged *merged);
