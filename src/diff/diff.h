/* SPDX-License-Identifier: MIT */
/* `ptrace2ftf diff A B`: compare two recordings, function by function. */
#pragma once

#include "src/batch/batch.h"

enum diff_side { SIDE_A = 0, SIDE_B, SIDES };

/*
 * Convert both recordings, each with its own options in its own process, and print the difference
 * according to A's options: a table, or stacks (--format=folded), and --json. Returns the exit
 * status; EXIT_EXCEEDED: a condition of --fail-if is met.
 */
int diff_command(const struct options sides[SIDES], batch_convert_fn *convert);

/* ---- The first difference ------------------------------------------------- */

/*
 * Compares the threads of two recordings branch by branch (--first), without storing these: each
 * pass decodes both, and has hashes of up to 4096 points of each thread; the next pass has them
 * between two points, until a single branch is left.  Threads are pairs by name and order.
 * Branches are the same if both ends are, by file and offset.  Only user code counts, and with
 * --symbol only calls of the functions.
 */
struct first_diff {
	/* Decodes a side with these windows.  Returns the ways (first_ways.c), borrowed until the
	 * next pass; NULL: failed. */
	const json_t *(*pass)(void *context, enum diff_side side, const struct way_window *windows,
			      size_t count);
	void *context;
};

/* Returns the answer (doc/diff-first.schema.json), owned by the caller; NULL: a pass failed. */
json_t *first_diff_make(const struct first_diff *diff, char *const names[SIDES]);

void first_diff_print(const json_t *answer, FILE *out);

/* ---- Rows ---------------------------------------------------------------- */

/* Compared values. Times are in ns. Totals include callees; recursions count once. */
enum diff_metric {
	METRIC_CALLS = 0,
	METRIC_SELF,
	METRIC_INSNS,
	METRIC_TOTAL,
	METRIC_TOTAL_INSNS,
	METRICS
};

/* In JSON, both of the reports and of the difference. */
extern const char *diff_metric_keys[METRICS];

/* Texts are borrowed from the reports and the rows, and "" if unknown. */
struct diff_row {
	const char *name;
	const char *label;    /* what is printed: function_labels.h */
	const char *file;     /* the last part of its path */
	const char *identity; /* function_identity() */
	const char *linkage;
	const char *signature;
	const char *source;   /* path of the source file */
	uint64_t start;       /* address, in its file */
	size_t number[SIDES]; /* in the reports */
	const char *was;      /* its label in A, if it was paired; else NULL */
	const char *was_by;   /* "code", or "callers and callees" */
	uint64_t code;        /* hash; 0: unknown */
	bool has[SIDES];      /* it ran in the recording */
	bool outside; /* not a function but [syscall] or [untraced], whose number depends on the
			 machine */
	uint64_t values[SIDES][METRICS];
};

struct diff_rows {
	struct diff_row *rows; /* owned */
	size_t count, room;
	struct name_table labels;
	uint64_t sums[SIDES][METRICS]; /* calls: without `outside`; METRIC_TOTAL*: unused */
};

/*
 * Make the rows from reports (report.h, with options->all_functions), borrowed until release.
 * Functions with the same identity and file are one row; of the file's path only the last part
 * counts, because builds are in different directories. Functions that remain are one row if all but
 * the file agrees, or if each side has only one of the name: the program may have been renamed.
 */
void diff_rows_make(struct diff_rows *rows, const json_t *const reports[SIDES]);

/*
 * Pair functions that ran in A only with functions of B alone, which were likely renamed: if both,
 * and no others, have the same code, but for displacements, and callees, or else the same callers
 * and callees.  Paired functions count as the same, others without a pair as unknown.  The rows
 * must be as they were made.
 */
void diff_rows_pair(struct diff_rows *rows, const json_t *const reports[SIDES]);

/* Sort by name, or by the difference in own instructions, instructions with callees, or calls. */
void diff_rows_sort(struct diff_rows *rows, enum function_order order);

/* Returns the amount by which a value of A and B differs. */
uint64_t diff_row_change(const struct diff_row *row, enum diff_metric metric);

/* Returns whether calls and instructions (METRIC_INSNS or METRIC_TOTAL_INSNS) are equal. */
bool diff_row_is_equal(const struct diff_row *row, enum diff_metric insns);

void diff_rows_release(struct diff_rows *rows);

/* ---- The conditions of --fail-if ----------------------------------------- */

/*
 * Check all conditions, METRIC[@GLOB]:+N[%]; METRIC is insns, self, calls or time. Without GLOB,
 * the condition applies to the sum of all functions; with GLOB, to each matching function,
 * including its callees except for self. Functions missing in B, and patterns without a match, also
 * meet the condition. For each condition met, prints a line to `out` and appends an object to
 * `exceeded`: condition, function, a, b. Returns whether any is met.
 */
bool diff_limits_check(const struct pattern_list *conditions, const struct diff_rows *rows,
		       json_t *exceeded, FILE *out);

/* Returns whether a text is a condition. */
bool diff_limit_is_valid(const char *text);

/* ---- As text and JSON ---------------------------------------------------- */

/*
 * Print the sums, and the rows that differ, in their order, with own instructions or with those of
 * callees (METRIC_TOTAL_INSNS); before them, callers that changed by their callees. `top`: limit of
 * rows; 0: no limit. `markdown`: as tables for a comment of a CI.
 */
void diff_print_table(const struct diff_rows *rows, enum diff_metric insns, size_t top,
		      char *const names[SIDES], bool markdown, FILE *out);

/*
 * Returns the same as an object (ptrace2ftf-diff(1)), owned by the caller; takes over `exceeded`.
 */
json_t *diff_print_json(const struct diff_rows *rows, char *const names[SIDES],
			const json_t *const reports[SIDES], json_t *exceeded);

/*
 * Print stacks with the numbers of both sides, like difffolded.pl: "stack A B", sorted. Borrows the
 * texts, output of --format=folded.
 */
void diff_print_folded(const char *const texts[SIDES], const size_t sizes[SIDES], FILE *out);
