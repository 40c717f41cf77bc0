/* SPDX-License-Identifier: MIT */
/*
 * The arguments of a slice besides its name: a list, which is the same in every output that
 * shows slices.  An output has one function that shows an argument by its type.
 */
#ifndef SRC_SLICES_SLICE_ARGS_H
#define SRC_SLICES_SLICE_ARGS_H

#include "src/slices/track.h"
#include "symbols/dso/dso_store.h"

/* Values of struct slice_cause. */
#define SLICE_EVENT_VALUES 3

/* The keys, in the order of the list. */
enum slice_arg_key {
	SLICE_ARG_ADDRESS, /* of code that the slice entered; 0: a slice of no code */
	SLICE_ARG_VALUE,   /* of a mark, in place of the address */
	SLICE_ARG_LINE,    /* 1-based */
	SLICE_ARG_COLUMN,  /* 1-based */
	SLICE_ARG_SYMBOL,  /* the linkage name, if it is not the shown one, or all are asked for */
	SLICE_ARG_FILE,    /* of the source */
	SLICE_ARG_INLINED, /* the compiler replaced the call by the code */
	SLICE_ARG_VECTOR,  /* of an interrupt */
	SLICE_ARG_EVENT,   /* the first value of struct slice_cause */
	SLICE_ARG_INFERRED = SLICE_ARG_EVENT + SLICE_EVENT_VALUES, /* the call was not seen */
	SLICE_ARG_UNCERTAIN, /* calls may be missing between it and the slices in it */
	SLICE_ARG_ESTIMATED, /* SLICE_ESTIMATED_TIME */
	SLICE_ARG_CONTINUED, /* it began in the part before (--split) */
	SLICE_ARG_DSO,       /* of the first unnamed function of a file: its path */
	SLICE_ARG_BUILD_ID,  /* the same: in hexadecimal */
	SLICE_ARG_CALLER,    /* "file:line" of the call */
	/* Known at the slice's end: */
	SLICE_ARG_INSNS,
	SLICE_ARG_CYCLES,
	SLICE_ARG_IPC,
	SLICE_ARG_FOLDED, /* shorter slices inside that are not shown */
	SLICE_ARG_FOLDED_TIME,
	SLICE_ARG_KEYS,
};

enum slice_arg_type {
	SLICE_ARG_NUMBER,
	SLICE_ARG_POINTER, /* `number`, shown in hexadecimal */
	SLICE_ARG_NAME,
	SLICE_ARG_REAL,
	SLICE_ARG_TRUE, /* no value */
};

struct slice_arg {
	enum slice_arg_key key;
	enum slice_arg_type type;
	union {
		uint64_t number;
		const struct name *name; /* borrowed */
		double real;
	};
};

/* `count` 0 is an empty list. */
struct slice_args {
	struct slice_arg list[SLICE_ARG_KEYS];
	size_t count;
};

/* Returns where a slice's function begins in the source; file NULL, line 0: not known. */
struct source_line slice_source_line(const struct symbol *symbol);

/* Returns the category of a slice: the file of its code; NULL: none.  Borrowed. */
const struct name *slice_category(const struct symbol *symbol);

/* Returns the text of a key; constant. */
const char *slice_arg_text(enum slice_arg_key key);

/*
 * Append what is known at the begin of a slice, but for the caller; `flags` is enum slice_flags;
 * `full`: also the linkage name of code that is the shown one.
 */
void slice_args_add_begin(struct slice_args *args, const struct symbol *symbol, uint64_t ip,
			  unsigned flags, bool full);

/* The files of which an output has shown an unnamed function.  Zeroed memory is none. */
struct slice_files {
	const struct dso **shown; /* owned; the dsos are borrowed */
	size_t count, room;
};

/* Release the memory.  Idempotent. */
void slice_files_release(struct slice_files *files);

/*
 * Append the path and build id of the file of an unnamed function, if it is the file's
 * first in this output.  Returns whether it is.
 */
bool slice_args_add_dso(struct slice_args *args, const struct symbol *symbol,
			struct slice_files *files);

/* Append the place of the call; NULL: not known. */
void slice_args_add_caller(struct slice_args *args, const struct name *caller);

/* Append the costs that are known. */
void slice_args_add_cost(struct slice_args *args, struct slice_cost cost);

/* Append the number of slices that were left out, and their ns together, unless it is 0. */
void slice_args_add_folded(struct slice_args *args, uint64_t folded, uint64_t time);

#endif
