/* SPDX-License-Identifier: MIT */
/*
 * Shortens demangled names by their template arguments and parameter lists.
 *
 * "std::vector<int>::push_back(int&&)" becomes "std::vector::push_back".  Text
 * in angle brackets or parentheses that is part of the name stays: operators,
 * "(anonymous namespace)", Rust's "<Type as Trait>".
 */
#ifndef SYMBOLS_NAMES_DEMANGLE_SHORT_H
#define SYMBOLS_NAMES_DEMANGLE_SHORT_H

/*
 * Shorten a demangled C++, Rust or D name in place.  If brackets do not pair,
 * the rest of the text is unchanged.
 */
void demangle_shorten(char *text);

#endif
