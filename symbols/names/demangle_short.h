/* SPDX-License-Identifier: MIT */
/*
 * Demangled names without what makes them long.
 *
 * "std::vector<int>::push_back(int&&)" becomes "std::vector::push_back".  What
 * stands in angle brackets or parentheses but is part of the name stays:
 * operators, "(anonymous namespace)", Rust's "<Type as Trait>".
 */
#ifndef SYMBOLS_NAMES_DEMANGLE_SHORT_H
#define SYMBOLS_NAMES_DEMANGLE_SHORT_H

/*
 * Shorten a demangled C++, Rust or D name in place.  A text whose brackets do
 * not pair is left as it is from there on.
 */
void demangle_shorten(char *text);

#endif
