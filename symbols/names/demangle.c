/* SPDX-License-Identifier: MIT */
/* Demangles names of C++, Rust, D and OCaml, and strips the suffixes of clones. */
#include "symbols/names/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbols/names/demangle_short.h"

void demangler_release(struct demangler *demangler)
{
	demangle_limits_release(&demangler->limits);
	free(demangler->text);
	free(demangler->plain);
	*demangler = (struct demangler){ 0 };
}

/* ---- By libiberty -------------------------------------------------------- */

/* A linkage name on its way through libiberty. */
struct compiled_name {
	struct demangler *demangler;
	const char *linkage;
	int options;
	bool done;
};

static void append(const char *text, size_t length, void *context)
{
	struct demangler *demangler = context;

	if (length > DEMANGLE_MAX - demangler->length)
		demangle_limits_end();
	/* libiberty passes a null pointer for an empty identifier of Rust. */
	if (length)
		memcpy(demangler->text + demangler->length, text, length);
	demangler->length += length;
	demangler->text[demangler->length] = 0;
}

/* Rust's older mangling looks like C++, so Rust comes first, as in cplus_demangle(). */
static void demangle_compiled(void *context)
{
	struct compiled_name *name = context;
	struct demangler *demangler = name->demangler;

	name->done = rust_demangle_callback(name->linkage, name->options, append, demangler);
	if (name->done)
		return;
	demangler->length = 0;
	name->done = cplus_demangle_v3_callback(name->linkage, name->options, append, demangler);
}

/* D's mangling: https://dlang.org/spec/abi.html#name_mangling. */
static void demangle_d(void *context)
{
	struct compiled_name *name = context;
	const char *text = dlang_demangle(name->linkage, DMGL_NO_OPTS);

	name->done = text;
	if (text)
		append(text, strlen(text), name->demangler);
}

static bool demangle_by_library(struct demangler *demangler, const char *linkage, int options)
{
	struct compiled_name name = { demangler, linkage, options, false };
	bool is_d = linkage[1] == 'D';
	size_t length = strlen(linkage);

	demangler->length = 0;
	if (is_d && length > DEMANGLE_D_NAME)
		return false;
	demangler->costly = !demangle_limits_run(&demangler->limits, length,
						 is_d ? demangle_d : demangle_compiled, &name);
	return name.done && !demangler->costly;
}

/* ---- OCaml --------------------------------------------------------------- */

static int digit_value(char digit)
{
	return isdigit((unsigned char)digit) ? digit - '0'
					     : tolower((unsigned char)digit) - 'a' + 10;
}

/* Returns the length of '_' and digits at the end of a name: a number by the compiler. */
static size_t stamp_length(const char *name, size_t length)
{
	size_t digits = 0;

	while (digits < length && isdigit((unsigned char)name[length - 1 - digits]))
		digits++;
	return digits && digits < length && name[length - 1 - digits] == '_' ? digits + 1 : 0;
}

/* Returns the length of an OCaml name without the numbers that make it unique. */
static size_t unstamped_length(const char *name)
{
	static const char code[] = "_code";
	size_t length = strlen(name), tail = sizeof(code) - 1;

	/* flambda 2: "fn_3_17_code". */
	if (length > tail && strcmp(name + length - tail, code) == 0 &&
	    stamp_length(name, length - tail)) {
		length -= tail;
		length -= stamp_length(name, length);
	}
	return length - stamp_length(name, length);
}

/*
 * OCaml's native compiler writes "caml" + module + separator + value + "_" +
 * number; the separator is "__", since 5.1 "." (asmcomp/compilenv.ml,
 * caml_symbol_separator), and "__" is in module names too.  A byte that
 * assemblers do not accept is "$" and two hex digits.
 */
static bool demangle_ocaml(struct demangler *demangler, const char *linkage, bool stamped)
{
	const char *at = linkage + strlen("caml"), *end;

	if (strncmp(linkage, "caml", 4) != 0 || !isupper((unsigned char)*at) ||
	    strlen(linkage) > DEMANGLE_MAX)
		return false;
	demangler->length = 0;
	end = linkage + (stamped ? strlen(linkage) : unstamped_length(linkage));
	while (at < end) {
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

struct suffix {
	const char *word;
	bool numbered; /* a number must follow */
	bool part;     /* of a part of a function, else of a clone or an alias */
};

/* GCC: clone_function_name(), lto.c, symtab_node::noninterposable_alias(); LLVM: FunctionImport. */
static const struct suffix suffixes[] = {
	{ "cold", false, true },        { "part", true, true },       { "__part", true, true },
	{ "isra", true, false },        { "constprop", true, false }, { "lto_priv", true, false },
	{ "localalias", false, false }, { "llvm", true, false },      { "__uniq", true, false },
};

/* Returns the offset of the dot before the last component of a name; 0: only one component. */
static size_t last_component(const char *name, size_t length)
{
	while (length && name[length - 1] != '.')
		length--;
	return length ? length - 1 : 0;
}

static bool all_digits(const char *text, size_t length)
{
	size_t digits = 0;

	while (digits < length && isdigit((unsigned char)text[digits]))
		digits++;
	return digits && digits == length;
}

/*
 * Find the suffix that a name of a length ends with.
 * Returns it and fills *begin, where it begins; NULL if there is none.
 */
static const struct suffix *find_suffix(const char *name, size_t length, size_t *begin)
{
	size_t dot = last_component(name, length), end = length;

	while (dot && all_digits(name + dot + 1, end - dot - 1)) {
		end = dot;
		dot = last_component(name, end);
	}
	for (size_t i = 0; dot && i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		const struct suffix *suffix = &suffixes[i];

		if (strlen(suffix->word) != end - dot - 1 ||
		    memcmp(name + dot + 1, suffix->word, end - dot - 1) != 0)
			continue;
		if (end == length && suffix->numbered)
			return NULL;
		*begin = dot;
		return suffix;
	}
	return NULL;
}

/* Returns the length without a symbol version, "@GLIBC_2.2.5" or "@@GLIBC_2.34". */
static size_t unversioned_length(const char *linkage)
{
	size_t length = strcspn(linkage, "@");

	/* '?' begins a name of Microsoft's mangling; Go's paths may have an '@'. */
	if (length == 0 || linkage[0] == '?' || memchr(linkage, '/', length))
		return strlen(linkage);
	return length;
}

size_t demangle_part_of(const char *linkage)
{
	size_t length = unversioned_length(linkage);
	const struct suffix *suffix;

	while ((suffix = find_suffix(linkage, length, &length)))
		if (suffix->part)
			return length;
	return 0;
}

static const char *without_suffixes(struct demangler *demangler, const char *linkage)
{
	size_t length = unversioned_length(linkage);

	while (find_suffix(linkage, length, &length))
		;
	if (!linkage[length])
		return linkage;
	demangler->plain = alloc_grow(demangler->plain, &demangler->plain_room, length + 1, 1);
	memcpy(demangler->plain, linkage, length);
	demangler->plain[length] = 0;
	return demangler->plain;
}

const char *demangler_demangle(struct demangler *demangler, const char *linkage,
			       enum demangle_style style)
{
	/* nm -C's options; perf's. */
	int options = style == DEMANGLE_FULL ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS;
	const char *plain = linkage;
	bool done = false;

	demangler->costly = false;
	if (style == DEMANGLE_NONE)
		return NULL;
	if (!demangler->text)
		demangler->text = alloc_zeroed(DEMANGLE_MAX + 1, 1);
	if (style != DEMANGLE_PERF)
		plain = without_suffixes(demangler, linkage);
	if (plain[0] == '_')
		done = demangle_by_library(demangler, plain, options);
	else if (plain[0] == 'c')
		done = demangle_ocaml(demangler, plain, style == DEMANGLE_PERF);
	if (!done || !demangler->length)
		return plain == linkage ? NULL : plain;
	if (style == DEMANGLE_SHORT && plain[0] == '_')
		demangle_shorten(demangler->text);
	return demangler->text;
}
