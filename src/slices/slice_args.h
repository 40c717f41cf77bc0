/* SPDX-License-Identifier: MIT */
/*
 * The arguments of a slice, as a list that is the same in all outputs. Each output has one function
 * that prints an argument by its type.
 */
#pragma once

#include "src/options/options.h"
#include "src/slices/track.h"
#include "symbols/dso/dso_store.h"

/* Values of struct slice_cause. */
#define SLICE_EVENT_VALUES 3

/* Arguments and their texts, in the order of the list. */
#define SLICE_ARGS(ARG)                                                                            \
	ARG(LOC, "loc")                          /* "file:line": LINE and FILE in one */           \
	ARG(ADDRESS, "address")                  /* address of the entered code; 0: unknown */     \
	ARG(VALUE, "value")                      /* value of a mark, instead of the address */     \
	ARG(LINE, "line")                        /* 1-based */                                     \
	ARG(COLUMN, "col")                       /* 1-based */                                     \
	ARG(SYMBOL, "symbol")                    /* linkage name: slice_args_add_begin() */        \
	ARG(FILE, "file")                        /* file of the source */                          \
	ARG(INLINED, "inlined")                  /* the call was inlined */                        \
	ARG(VECTOR, "vector")                    /* vector of an interrupt */                      \
	ARG(EVENT, "page_fault_address")         /* values of struct slice_cause, */               \
	ARG(QUALIFICATION, "exit_qualification") /* by enum cpu_event_evd */                       \
	ARG(REASON, "exit_reason")                                                                 \
	ARG(INFERRED, "inferred_start_time") /* the call was not seen */                           \
	ARG(UNCERTAIN, "uncertain_level")    /* calls may be missing inside */                     \
	ARG(TAIL_CALL, "tail_call")          /* SLICE_TAIL_CALLED */                               \
	ARG(CHANGED, "code_changed")         /* its code may have changed */                       \
	ARG(ESTIMATED, "estimated")          /* SLICE_ESTIMATED_TIME */                            \
	ARG(CONTINUED, "continued")          /* began in an earlier part (--split) */              \
	ARG(DSO, "dso")                      /* path, for its first unnamed function */            \
	ARG(BUILD_ID, "build_id")            /* likewise, in hexadecimal */                        \
	ARG(CALLER, "caller")                /* "file:line" of the call */                         \
	ARG(INSNS, "insns")                  /* this and later: known at its end */                \
	ARG(CYCLES, "cycles")                                                                      \
	ARG(IPC, "ipc")                                                                            \
	ARG(FOLDED, "folded") /* omitted shorter slices inside */                                  \
	ARG(FOLDED_TIME, "folded_time")

enum slice_arg_key {
#define SLICE_ARG_KEY(key, text) SLICE_ARG_##key,
	SLICE_ARGS(SLICE_ARG_KEY) SLICE_ARG_KEYS
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
 * Append the arguments known at a slice's begin, except for names of code. `flags`: enum
 * slice_flags; `level`: OPTION_ARGS_LOC omits address and source, OPTION_ARGS_FULL appends the
 * linkage name even if it is displayed.
 */
void slice_args_add_begin(struct slice_args *args, const struct symbol *symbol, uint64_t ip,
			  unsigned flags, enum option_args level);

/* Files with an unnamed function in an output. Zeroed memory is empty. */
struct slice_files {
	const struct dso **shown; /* owned; the dsos are borrowed */
	size_t count, room;
};

void slice_files_release(struct slice_files *files);

/*
 * For the first unnamed function of a file in this output, append the file's path and build id.
 * Returns whether it is the first.
 */
bool slice_args_add_dso(struct slice_args *args, const struct symbol *symbol,
			struct slice_files *files);

/* Append a name; NULL: unknown. */
void slice_args_add_name(struct slice_args *args, enum slice_arg_key key, const struct name *name);

/* Returns the instructions per cycle, in hundredths as displayed; 0: unknown, or less. */
static inline double slice_cost_ipc(struct slice_cost cost)
{
	/* Conversions of signed numbers take fewer instructions. */
	double hundredths =
		cost.cycles ? 100 * (double)(int64_t)cost.insns / (double)(int64_t)cost.cycles : 0;

	return hundredths >= 0.5 ? (double)(int64_t)(hundredths + 0.5) / 100 : 0;
}

/* Append the known costs. */
void slice_args_add_cost(struct slice_args *args, struct slice_cost cost);

/* Append the number of omitted slices, if not 0, and their total ns. */
void slice_args_add_folded(struct slice_args *args, uint64_t folded, uint64_t time);
