/* SPDX-License-Identifier: MIT */
/*
 * Turns linkage names into the names in the source: C++, Rust, D and Ada by libiberty,
 * OCaml, Fortran, Pascal and Haskell by their rules.  Go's names are not mangled, and Swift's stay
 * mangled.
 *
 * A name of a hundred bytes can expand to gigabytes of text or take hours without any
 * (substitutions nest), so output, CPU time and memory are bounded
 * (base/budget.h), and the work stops at the bound.
 */
#pragma once

#include "base/budget.h"
#include "base/common.h"

/*
 * Languages whose linkage names are plain text with escapes: Fortran, Pascal, Haskell.
 *
 * Sources: GCC's gfc_sym_mangled_function_id() (trans-decl.cc); Free Pascal's
 * make_mangledname() (compiler/symdef.pas, symconst.pas); GHC's GHC.Utils.Encoding and
 * GHC.Cmm.CLabel (z-encoding, suffixes).
 */

/*
 * Languages whose linkage names can also be C names: decoded only in files where another name shows
 * the language.
 */
enum demangle_language {
	DEMANGLE_ADA = 1,     /* GNAT's */
	DEMANGLE_HASKELL = 2, /* GHC's */
};

/* Returns the languages, as bits, that a name proves to be in its file. */
unsigned demangle_languages(const char *linkage);

/*
 * Write the name in the source, NUL-terminated, of at most `room` bytes.  Returns its length; 0 if
 * the name is not of the language, or is too long.
 */
size_t demangle_fortran(const char *linkage, char *text, size_t room);
size_t demangle_pascal(const char *linkage, char *text, size_t room);
size_t demangle_haskell(const char *linkage, char *text, size_t room);

enum demangle_style {
	DEMANGLE_SHORT = 0, /* no template arguments, no parameter lists */
	DEMANGLE_FULL,      /* with both, as nm -C has it */
	DEMANGLE_NONE,      /* as in the symbol table */
	DEMANGLE_PERF, /* as perf script has it: no parameter lists, suffixes of plain names stay */
};

/* Scratch memory; a zeroed one is ready for use. */
struct demangler {
	char *text;    /* owned: the last result, with room for DEMANGLE_MAX; NULL at first */
	size_t length; /* bytes used of text, without its NUL */
	char *plain;   /* owned: the last name without its suffixes */
	size_t plain_room;
	unsigned languages; /* bits of enum demangle_language, for the file that has the names */
	bool costly;        /* the last name exceeds a limit, so it stays mangled */
	uint64_t spent;     /* ns of CPU time, in excess of usual names */
	/* The name that libiberty demangles: */
	const char *linkage; /* borrowed */
	int options;
	bool done;
	char *memory; /* owned: DEMANGLE_NAME_MEMORY bytes, reused for each name; may be NULL */
	size_t memory_used; /* bytes */
};

void demangler_release(struct demangler *demangler);

/*
 * Returns the text to show for `linkage`, NUL-terminated, borrowed until the next call; NULL if the
 * text is `linkage` itself: it is not mangled, is damaged, or would be longer than DEMANGLE_MAX.
 *
 * In the styles short and full, symbol versions ("@@GLIBC_2.34") and the suffixes of clones and
 * parts (".cold", ".part.0", ".isra.0", ".constprop.0", ".lto_priv.0", ".llvm.123") are left out.
 */
const char *demangler_demangle(struct demangler *demangler, const char *linkage,
			       enum demangle_style style);

/*
 * Returns the length of the function's name in the name of a part; 0 if the name is not a part's.
 * Compilers move code that seldom runs out of a function into FUNCTION.cold, and the remainder of a
 * partly inlined function into FUNCTION.part.N (GCC: cgraph clone_function_name; LLVM:
 * HotColdSplitting, BasicBlockSections; BOLT numbers its .cold).
 */
size_t demangle_part_of(const char *linkage);

/*
 * Shortens demangled names by their template arguments and parameter lists.
 *
 * "std::vector<int>::push_back(int&&)" becomes "std::vector::push_back".  Text
 * in angle brackets or parentheses that is part of the name stays: operators,
 * "(anonymous namespace)", Rust's "<Type as Trait>".
 */

/*
 * Shorten a demangled C++, Rust or D name in place.  If brackets do not pair,
 * the rest of the text is unchanged.
 */
void demangle_shorten(char *text);
