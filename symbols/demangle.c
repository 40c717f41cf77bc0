/* SPDX-License-Identifier: MIT */
#include "symbols/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void demangler_release(struct demangler *demangler)
{
	free(demangler->text);
	*demangler = (struct demangler){ 0 };
}

/*
 * libiberty's printers call this for each piece of text and cannot be told to
 * stop; they hold nothing but their stack, so a jump out of them loses nothing.
 */
static void append(const char *text, size_t length, void *context)
{
	struct demangler *demangler = context;

	if (length > DEMANGLE_MAX - demangler->length)
		longjmp(demangler->too_long, 1);
	demangler->text =
		alloc_grow(demangler->text, &demangler->room, demangler->length + length + 1, 1);
	memcpy(demangler->text + demangler->length, text, length);
	demangler->length += length;
	demangler->text[demangler->length] = 0;
}

/* Rust's older mangling looks like C++, so Rust is asked first, as cplus_demangle() does. */
static bool demangle_compiled(struct demangler *demangler, const char *linkage)
{
	if (setjmp(demangler->too_long))
		return false;
	demangler->length = 0;
	if (rust_demangle_callback(linkage, DMGL_NO_OPTS, append, demangler))
		return true;
	demangler->length = 0;
	return cplus_demangle_v3_callback(linkage, DMGL_NO_OPTS, append, demangler);
}

static int digit_value(char digit)
{
	return isdigit((unsigned char)digit) ? digit - '0'
					     : tolower((unsigned char)digit) - 'a' + 10;
}

/*
 * OCaml's native compiler writes "caml" + module + "__" + value; a byte that
 * assemblers do not take is "$" and two hex digits (ocaml/asmcomp, Compilenv
 * and X86_proc.string_of_symbol).
 */
static bool demangle_ocaml(struct demangler *demangler, const char *linkage)
{
	const char *at = linkage + strlen("caml");

	if (strncmp(linkage, "caml", 4) != 0 || !isupper((unsigned char)*at))
		return false;
	if (strlen(linkage) > DEMANGLE_MAX)
		return false;
	demangler->length = 0;
	while (*at) {
		char byte = *at;
		size_t taken = 1;

		if (at[0] == '_' && at[1] == '_') {
			byte = '.';
			taken = 2;
		} else if (at[0] == '$' && isxdigit((unsigned char)at[1]) &&
			   isxdigit((unsigned char)at[2])) {
			byte = (char)(digit_value(at[1]) << 4 | digit_value(at[2]));
			taken = 3;
		}
		append(&byte, 1, demangler);
		at += taken;
	}
	return true;
}

const char *demangler_demangle(struct demangler *demangler, const char *linkage)
{
	bool done = false;

	if (linkage[0] == '_')
		done = demangle_compiled(demangler, linkage);
	else if (linkage[0] == 'c')
		done = demangle_ocaml(demangler, linkage);
	return done && demangler->length > 0 ? demangler->text : NULL;
}
