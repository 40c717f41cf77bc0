/* SPDX-License-Identifier: MIT */
/*
 * The source lines, conditional jumps and functions of executed code, with counts.
 *
 * As in gcov, a line counts whenever execution reaches one of its statements (is_stmt in DWARF's
 * line tables) from another line, or by a jump back.
 */
#pragma once

#include "base/tables/pair_table.h"
#include "src/costs/executed_code.h"
#include "src/select/function_choice.h"

struct covered_row;

/* Zeroed except for `names`, it is empty. */
struct covered_lines {
	struct covered_file {
		const struct name *name; /* borrowed */
		bool ran;                /* a line was executed */
		bool missing;            /* not on this machine */
	} * files;                       /* owned */
	struct covered_line {
		uint32_t file, line; /* `file`: index */
		bool shown;          /* has chosen code */
		uint64_t count;
	} * lines;
	/* A conditional jump. */
	struct covered_jump {
		uint32_t line; /* index of the line */
		uint64_t vaddr;
		uint64_t taken, not_taken;
		bool back; /* to a lower address: a loop */
	} * jumps;
	struct covered_function {
		const struct symbol *symbol; /* borrowed */
		uint32_t line;               /* index of its first line */
		uint64_t count;
	} * functions;
	size_t file_room, line_room, jump_room, function_room;
	struct covered_row *rows; /* owned; statements by dso and address */
	size_t row_count, row_room;
	/* Tables with indexes of the arrays. */
	struct pair_table file_ids;     /* of a name's pointer */
	struct pair_table line_ids;     /* of (file, line) */
	struct pair_table jump_ids;     /* of (row, offset from its address) */
	struct pair_table function_ids; /* of a symbol's pointer */
	struct pair_table dso_ids;      /* of a dso's pointer */
	struct pair_table unit_ids;     /* of (dso, number of unit) */
	uint32_t dso;                   /* of the rows in progress */
	struct name_table *names;       /* borrowed */
	/* The last row's file, and its path without "." and "..". */
	const struct name *file, *plain_file;
};

/* Call once: look up the executed code of the functions of `choice` (NULL: all). */
void covered_lines_find(struct covered_lines *lines, const struct executed_code *code,
			struct function_choice *choice);

void covered_lines_release(struct covered_lines *lines);
