/* SPDX-License-Identifier: MIT */
/* Decodes linkage names that are plain text with escapes. */
#include "symbols/names/demangle.h"

#include <ctype.h>

/* The binder's function, GNAT's runtime; GHC's main, or a module of base; a versioned package. */
unsigned demangle_languages(const char *linkage)
{
	const char *version = strchr(linkage, 'z');

	/* This runs for each name of a file: starts_with() mostly compares a byte. */
	if ((starts_with(linkage, "adainit") && !linkage[7]) || starts_with(linkage, "__gnat_"))
		return DEMANGLE_ADA;
	if (version)
		version = strstr(version, "zm");
	if (starts_with(linkage, "ZCMain_main_") || starts_with(linkage, "base_GHCzi") ||
	    (version && isdigit((unsigned char)version[2]) && strstr(version, "zi")))
		return DEMANGLE_HASKELL;
	return 0;
}

/* "__module_MOD_name"; a submodule is "module.submodule". */
size_t demangle_fortran(const char *linkage, char *text, size_t room)
{
	const char *name = starts_with(linkage, "__") ? strstr(linkage + 2, "_MOD_") : NULL;
	int length;

	if (!name || name == linkage + 2 || !name[5] || strlen(linkage) >= room)
		return 0;
	length = snprintf(text, room, "%.*s::%s", (int)(name - linkage - 2), linkage + 2, name + 5);
	return length > 0 ? (size_t)length : 0;
}

/* Returns the length of a separator of two names, longest first; 0: no separator is here. */
static size_t pascal_separator(const char *at)
{
	static const char *const separators[] = { "_$__$$_", "_$$_", "$_$", "_$_" };

	for (size_t i = 0; i < COUNT_OF(separators); i++)
		if (starts_with(at, separators[i]))
			return strlen(separators[i]);
	return 0;
}

/*
 * "UNIT_$$_NAME$TYPE$$RESULT", "UNIT$_$CLASS_$__$$_NAME", "P$PROGRAM$_$OUTER$TYPE_$$_INNER"; the
 * name of an operator is between "$"s.  Types are left out.
 */
size_t demangle_pascal(const char *linkage, char *text, size_t room)
{
	const char *at = linkage + (starts_with(linkage, "P$") ? 2 : 0);
	size_t length = 0, separator;
	bool types = false;

	if (!isalpha((unsigned char)*at) || !strstr(at, "_$$_") || strlen(linkage) >= room)
		return 0;
	for (; *at; at++) {
		separator = pascal_separator(at);
		if (separator) {
			types = false;
			text[length++] = '.';
			at += separator - (at[separator] != '$');
		} else if (*at == '$') {
			if (!memchr(text, '.',
				    length)) /* WRPR_$UNIT_$$_..., VMT_$...: no function's */
				return 0;
			types = true;
		} else if (!types) {
			text[length++] = *at;
		}
	}
	text[length] = 0;
	return length;
}

/* ---- Haskell ------------------------------------------------------------- */

/* Write the text of an escape sequence (z or Z first).  Returns its end; NULL if it is not valid.
 */
static const char *decode_escape(const char *at, char *text, size_t *length)
{
	static const char *const codes[] = { "zabcdeghilmnpqrstuv", "LRMNCZ" };
	static const char *const signs[] = { "z&|^$=>#.<-!+'\\/*_%", "()[]:Z" };
	const char *code = at[1] ? strchr(codes[*at == 'Z'], at[1]) : NULL;
	unsigned long commas;
	char *end;

	if (code) {
		text[(*length)++] = signs[*at == 'Z'][code - codes[*at == 'Z']];
		return at + 2;
	}
	/* Tuples; names of functions have no characters encoded by number. */
	commas = strtoul(at + 1, &end, 10);
	if (*at != 'Z' || !isdigit((unsigned char)at[1]) || *end != 'T' || commas > 64)
		return NULL;
	text[(*length)++] = '(';
	for (; commas > 1; commas--)
		text[(*length)++] = ',';
	text[(*length)++] = ')';
	return end + 1;
}

/* "package_Module_name_info", without a package in the program itself: Module.name. */
size_t demangle_haskell(const char *linkage, char *text, size_t room)
{
	static const char *const suffixes[] = { "_con_info",  "_static_info", "_info", "_entry",
						"_con_entry", "_slow",        "_fast", "_closure" };
	size_t end = strlen(linkage), length = 0, suffix = 0;
	const char *module = linkage, *at = linkage, *name;

	for (size_t i = 0; i < COUNT_OF(suffixes) && !suffix; i++)
		if (end > strlen(suffixes[i]) && ends_with(linkage, suffixes[i]))
			suffix = strlen(suffixes[i]);
	end -= suffix;
	name = memchr(module, '_', end);
	if (name && memchr(name + 1, '_', (size_t)(linkage + end - name - 1))) {
		module = name + 1;
		name = strchr(module, '_');
	}
	if (!suffix || !name || !isupper((unsigned char)*module) ||
	    memchr(name + 1, '_', (size_t)(linkage + end - name - 1)))
		return 0;
	for (at = module; at && at < linkage + end && length + 80 < room;) {
		if (*at == 'z' || *at == 'Z')
			at = decode_escape(at, text, &length);
		else
			text[length++] = at == name ? (at++, '.') : *at++;
	}
	text[length] = 0;
	return at == linkage + end ? length : 0;
}
