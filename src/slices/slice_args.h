/* SPDX-License-Identifier: MIT */
/*
 * The arguments of a slice besides its name, as a list that is the same in all outputs. Each output
 * has one function that prints an argument by its type.
 */
#ifndef SRC_SLICES_SLICE_ARGS_H
#define SRC_SLICES_SLICE_ARGS_H

#include "src/slices/track.h"
#include "symbols/dso/dso_store.h"

/* Values of struct slice_cause. */
#define SLICE_EVENT_VALUES 3

/* In the order of the list. */
enum slice_arg_key {
	SLICE_ARG_ADDRESS, /* of the code that the slice entered; 0: no code */
	SLICE_ARG_VALUE,   /* of a mark, instead of the address */
	SLICE_ARG_LINE,    /* 1-based */
	SLICE_ARG_COLUMN,  /* 1-based */
	SLICE_ARG_SYMBOL,  /* linkage name, if not the name shown, or with --args=full */
	SLICE_ARG_FILE,    /* of the source */
	SLICE_ARG_INLINED, /* the call was inlined */
	SLICE_ARG_VECTOR,  /* of an interrupt */
	SLICE_ARG_EVENT,   /* the first value of struct slice_cause */
	SLICE_ARG_INFERRED = SLICE_ARG_EVENT + SLICE_EVENT_VALUES, /* the call was not seen */
	SLICE_ARG_UNCERTAIN, /* calls may be missing between it and the slices in it */
	SLICE_ARG_CHANGED,   /* its code may have been other code then */
	SLICE_ARG_ESTIMATED, /* SLICE_ESTIMATED_TIME */
	SLICE_ARG_CONTINUED, /* it began in an earlier part (--split) */
	SLICE_ARG_DSO,       /* path of the file, for its first unnamed function */
	SLICE_ARG_BUILD_ID,  /* likewise, in hexadecimal */
	SLICE_ARG_CALLER,    /* "file:line" of the call */
	/* Known at the slice's end: */
	SLICE_ARG_INSNS,
	SLICE_ARG_CYCLES,
	SLICE_ARG_IPC,
	SLICE_ARG_FOLDED, /* shorter slices inside that are left out */
	SLICE_ARG_FOLDED_TIME,
	SLICE_ARG_KEYS,
};

enum slice_arg_type {
	SLICE_ARG_NUMBER,
	SLICE_ARG_POINTER, /* `number` in hexadecimal */
	SLICE_ARG_NAME,
	SLICE_ARG_REAL,
	SLICE_ARG_TRUE, /* no value */
};

struct slice_args {
	struct slice_arg {
		enum slice_arg_key key;
		enum slice_arg_type type;
		union {
			uint64_t number;
			const struct name *name; /* borrowed */
			double real;
		};
	} list[SLICE_ARG_KEYS];
	size_t count;
};

/* Returns the first source line of a slice's function; file NULL, line 0: unknown. */
struct source_line slice_source_line(const struct symbol *symbol);

/* Returns the category of a slice: the file of its code, borrowed; may be NULL. */
const struct name *slice_category(const struct symbol *symbol);

/* Returns the text of a key, a constant. */
const char *slice_arg_text(enum slice_arg_key key);

/*
 * Append the arguments known at a slice's begin, except for the caller. `flags`: enum slice_flags;
 * `full`: append the linkage name even if it is the name shown.
 */
void slice_args_add_begin(struct slice_args *args, const struct symbol *symbol, uint64_t ip,
			  unsigned flags, bool full);

/* The files of which an output has shown an unnamed function. Zeroed memory is empty. */
struct slice_files {
	const struct dso **shown; /* owned; the dsos are borrowed */
	size_t count, room;
};

/* Release the memory.  Idempotent. */
void slice_files_release(struct slice_files *files);

/*
 * Append the path and build id of an unnamed function's file if it is the file's first in this
 * output. Returns whether it is.
 */
bool slice_args_add_dso(struct slice_args *args, const struct symbol *symbol,
			struct slice_files *files);

/* Append the location of the call; NULL: unknown. */
void slice_args_add_caller(struct slice_args *args, const struct name *caller);

/* Append the costs, as far as known. */
void slice_args_add_cost(struct slice_args *args, struct slice_cost cost);

/* Append the number of slices left out, if not 0, and their total ns. */
void slice_args_add_folded(struct slice_args *args, uint64_t folded, uint64_t time);

#endif
