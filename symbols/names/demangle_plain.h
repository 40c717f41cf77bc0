/* SPDX-License-Identifier: MIT */
/*
 * Names of languages whose linkage names are texts with escapes: Fortran, Pascal, Haskell.
 *
 * Sources: GCC's gfc_sym_mangled_function_id() (trans-decl.cc); Free Pascal's
 * make_mangledname() (compiler/symdef.pas, symconst.pas); GHC's GHC.Utils.Encoding and
 * GHC.Cmm.CLabel (z-encoding, suffixes).
 */
#ifndef SYMBOLS_NAMES_DEMANGLE_PLAIN_H
#define SYMBOLS_NAMES_DEMANGLE_PLAIN_H

#include "base/common.h"

/*
 * Languages whose linkage names may be C's, too: they are decoded in files where another name
 * shows the language.
 */
enum demangle_language {
	DEMANGLE_ADA = 1,     /* GNAT's */
	DEMANGLE_HASKELL = 2, /* GHC's */
};

/* Returns the languages, as bits, that a name of a file shows to be in it. */
unsigned demangle_languages(const char *linkage);

/*
 * Write the name in the source, NUL-terminated, of at most `room` bytes.
 * Returns its length; 0 if the name is not one of the language, or is too long.
 */
size_t demangle_fortran(const char *linkage, char *text, size_t room);
size_t demangle_pascal(const char *linkage, char *text, size_t room);
size_t demangle_haskell(const char *linkage, char *text, size_t room);

#endif
