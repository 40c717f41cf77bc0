/* SPDX-License-Identifier: MIT */
/*
 * The lines, conditional jumps and functions of the source that executed code belongs to, with
 * counts.
 *
 * A line counts whenever the code comes to a statement of it (is_stmt in DWARF's line tables) from
 * another line, or by a jump back: as gcov counts lines.
 */
#ifndef SRC_FORMATS_LCOV_COVERED_LINES_H
#define SRC_FORMATS_LCOV_COVERED_LINES_H

#include "base/tables/pair_table.h"
#include "src/costs/executed_code.h"
#include "src/select/function_choice.h"

struct covered_row;

/* Zeroed but for `names`, it is empty. */
struct covered_lines {
	struct covered_file {
		const struct name *name; /* borrowed */
		bool ran;                /* a line of it was executed */
		bool missing;            /* it is not on this machine */
	} * files;                       /* owned */
	struct covered_line {
		uint32_t file, line; /* `file`: index */
		bool shown;          /* it has code that was chosen */
		uint64_t count;
	} * lines;
	/* A conditional jump. */
	struct covered_jump {
		uint32_t line; /* index of the line */
		uint64_t vaddr;
		uint64_t taken, not_taken;
		bool back; /* to a lower address: of a loop */
	} * jumps;
	struct covered_function {
		const struct symbol *symbol; /* borrowed */
		uint32_t line;               /* index of the line where it begins */
		uint64_t count;
	} * functions;
	size_t file_room, line_room, jump_room, function_room;
	struct covered_row *rows; /* owned; statements by dso and address */
	size_t row_count, row_room;
	/* Their counts are those of the arrays. */
	struct pair_table file_ids;     /* of a name's pointer */
	struct pair_table line_ids;     /* of (file, line) */
	struct pair_table jump_ids;     /* of (row, bytes from its address) */
	struct pair_table function_ids; /* of a symbol's pointer */
	struct pair_table dso_ids;      /* of a dso's pointer */
	struct pair_table unit_ids;     /* of (dso, number of unit) */
	uint32_t dso;                   /* of the rows that are added */
	struct name_table *names;       /* borrowed */
	/* The file of the last row, and the same without "." and "..". */
	const struct name *file, *plain_file;
};

/* Call once: look up the executed code of the functions of `choice` (NULL: of all). */
void covered_lines_find(struct covered_lines *lines, const struct executed_code *code,
			struct function_choice *choice);

void covered_lines_release(struct covered_lines *lines);

#endif
