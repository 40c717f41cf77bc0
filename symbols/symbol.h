/* SPDX-License-Identifier: MIT */
/*
 * A function with its name in the tables of its file: plain data.
 *
 * A symbol lives as long as its dso_store and compares by pointer.  A function that has
 * no name in the tables is named by its file and address, "libfoo.so+0x1230"; other
 * code has one symbol for the whole file, SYMBOL_FILE, named "[libfoo.so]".
 *
 * Compilers may cut a function into parts: FUNCTION.cold, FUNCTION.part.0; assembly may have labels
 * inside a function.  Each part is a separate symbol, and all have the same `function`.
 */
#pragma once

#include "base/tables/name.h"

enum symbol_kind {
	SYMBOL_FUNCTION = 0, /* from a symbol table */
	SYMBOL_PLT,          /* a linkage stub "foo@plt"; their common code ".plt"; a retpoline */
	SYMBOL_UNNAMED,      /* a function, known by where it begins (code_starts.h) */
	SYMBOL_PART,         /* unnamed code of unknown functions */
	SYMBOL_FILE,         /* all other code of a file */
	SYMBOL_SPECIAL,      /* made by the call-stack machine: "[untraced]" and the like */
	SYMBOL_MARK,         /* no code: an instant with a value */
};

/* The meaning of a SYMBOL_SPECIAL, whose name is only shown. */
enum symbol_special {
	SPECIAL_OTHER = 0, /* no other meaning; also of all other symbols */
	SPECIAL_UNTRACED,  /* an interrupt, a fault, or an unknown reason */
	SPECIAL_OFF_CPU,   /* another thread ran */
	SPECIAL_FILTERED,  /* outside of an address filter */
	SPECIAL_SYSCALL,   /* `linkage` is the kernel's name of the call, `name` if unknown */
	SPECIAL_UNKNOWN,   /* code without a name */
	SPECIAL_GUEST,     /* a virtual machine */
	SPECIAL_PAUSED,    /* GAP_PAUSED */
	SPECIAL_GAP,       /* trace that is lost or cannot be decoded */
	SPECIAL_PARKED,    /* another stack runs (--fibers) */
	SPECIAL_STACK,     /* a stack: src/slices/fiber_tracks.h */
	SPECIALS
};

enum symbol_binding { SYMBOL_LOCAL = 0, SYMBOL_WEAK, SYMBOL_GLOBAL };

struct symbol {
	uint64_t start; /* ELF virtual address in its file; unrelated to where it is mapped */
	uint64_t size;  /* bytes; the range is [start, start + size) */
	const struct name *name;    /* as shown: demangled, in the style of the options */
	const struct name *linkage; /* as in the symbol table; == name if nothing was demangled */
	const struct symbol
		*function; /* the function of which this is a part; NULL: no part, or unknown */
	const struct inlined_call
		*inlined; /* the symbol is this inlined call (dso_store.h); else NULL */
	struct dso *dso;  /* borrowed; NULL for SYMBOL_SPECIAL and SYMBOL_MARK */
	uint8_t kind;     /* enum symbol_kind */
	uint8_t binding;  /* enum symbol_binding */
	uint8_t special;  /* enum symbol_special */
	bool changed;     /* other code was at its address at some time (DSO_CHANGED) */
	bool has_traps;   /* its file has a table of OCaml's exception handlers (trap_table.h) */
};

/* Returns the function that the symbol's code belongs to. */
static inline const struct symbol *symbol_function(const struct symbol *symbol)
{
	return symbol && symbol->function ? symbol->function : symbol;
}

/* Returns whether a slice is a stop that can hit any function: an interrupt or a context switch. */
static inline bool symbol_is_stop(const struct symbol *symbol)
{
	return symbol->special == SPECIAL_UNTRACED || symbol->special == SPECIAL_OFF_CPU;
}

/* Returns a symbol for slices without a function. */
static inline struct symbol symbol_special(struct name_table *names, const char *text,
					   enum symbol_special special)
{
	const struct name *name = name_intern_text(names, text);

	return (struct symbol){
		.kind = SYMBOL_SPECIAL, .special = (uint8_t)special, .name = name, .linkage = name
	};
}

static inline bool symbol_is_syscall(const struct symbol *symbol)
{
	return symbol->special == SPECIAL_SYSCALL;
}
