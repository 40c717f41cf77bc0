/* SPDX-License-Identifier: MIT */
/*
 * The source lines, conditional jumps and functions of executed code, with counts.
 *
 * As in gcov, a line counts whenever execution reaches one of its statements (is_stmt in DWARF's
 * line tables) from another line, or by a jump back.
 */
#pragma once

#include "base/tables/hash.h"
#include "base/tables/pair_table.h"
#include "src/costs/executed_code.h"
#include "src/select/function_choice.h"

struct covered_row;

/* Empty if zeroed, except for `names`. The first four members are owned hashes. */
struct covered_lines {
	struct covered_file {
		const struct name *name; /* borrowed */
		bool ran;                /* a line was executed */
		bool missing;            /* not on this machine */
		bool expected; /* of the program, or of a library with a file that is here */
		UT_hash_handle hh;
	} * files;
	struct covered_line {
		struct covered_at {
			struct covered_file *file;
			uint64_t line;
		} key;
		bool shown; /* has chosen code */
		uint64_t count;
		UT_hash_handle hh;
	} * lines;
	/* A conditional jump. */
	struct covered_jump {
		struct jump_key {
			const struct dso *dso;
			uint64_t vaddr;
		} key;
		struct covered_line *line;
		uint64_t taken, not_taken;
		bool back; /* to a lower address: a loop */
		UT_hash_handle hh;
	} * jumps;
	struct covered_function {
		const struct symbol *symbol; /* borrowed */
		struct covered_line *line;   /* the first line */
		uint64_t count;
		UT_hash_handle hh;
	} * functions;
	struct covered_row *rows; /* owned; statements by dso and address */
	size_t row_count, row_room;
	struct pair_table dso_ids;  /* files by a dso's pointer */
	struct pair_table unit_ids; /* units by (dso, number of unit) */
	uint32_t dso;               /* index, of the rows being added */
	struct name_table *names;   /* borrowed */
	const struct dso *program;  /* borrowed; NULL: unknown */
	/* The last row's file, and its path without "." and "..". */
	const struct name *file, *plain_file;
};

/* Call once: look up the executed code of the functions of `choice` (NULL: all). */
void covered_lines_find(struct covered_lines *lines, const struct executed_code *code,
			struct function_choice *choice);

void covered_lines_release(struct covered_lines *lines);
