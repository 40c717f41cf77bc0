/* SPDX-License-Identifier: MIT */
/* Text of arbitrary bytes from a recording, for lines, JSON and UTF-8 formats. */
#pragma once

#include <jansson.h>

#include "base/printable.h"
#include "base/tables/name.h"

static inline void name_print(const struct name *name, FILE *out)
{
	escaped_text_print(name->text, name->length, out);
}

/* Maximum length of a short name, in bytes. */
#define SHORT_NAME_MOST 36

struct short_name {
	char text[SHORT_NAME_MOST + 1];
};

/*
 * Returns a name that fits into a sentence: if it is long, without arguments of templates and
 * parameters, and then with ".." in its middle.
 */
struct short_name short_name(const char *name);

static inline void short_name_print(const struct name *name, FILE *out)
{
	escaped_printf(out, "%s", short_name(name->text).text);
}

/* Returns the text of escaped_printf(), owned by the caller. */
#define ESCAPED_TEXT(...)                                                                          \
	({                                                                                         \
		char *escaped_text_;                                                               \
		FILE *escaped_out_ = OPEN_TEXT(escaped_text_);                                     \
		escaped_printf(escaped_out_, __VA_ARGS__);                                         \
		alloc_close_text(escaped_out_, &escaped_text_);                                    \
		escaped_text_;                                                                     \
	})

/* Print a JSON string (RFC 8259) with its quotes.  Each byte of invalid UTF-8 becomes U+FFFD. */
void json_text_print(const char *text, size_t length, FILE *out);

/* Returns a JSON string, owned by the caller; of invalid UTF-8, as valid_text() has it. */
json_t *json_any_text(const char *text, size_t length);

/* The same for a name; JSON's null for NULL. */
static inline json_t *json_name(const struct name *name)
{
	return name ? json_any_text(name->text, name->length) : json_null();
}

/* The same for NUL-terminated text; JSON's null for NULL. */
json_t *json_text_or_null(const char *text);

/*
 * Returns a NUL-terminated copy, owned by the caller: each byte of invalid UTF-8, and each NUL,
 * becomes U+FFFD; if it is `shown`, also each utf8_control() but '\n' and '\t'.
 */
char *valid_text(const char *text, size_t length, bool shown);

/* Returns an array of `value` for each i below the count; NULL is left out. */
#define JSON_LIST(i, count, value)                                                                 \
	({                                                                                         \
		json_t *json_list_ = json_array();                                                 \
		for (size_t i = 0; i < (count); i++)                                               \
			json_array_append_new(json_list_, value);                                  \
		json_list_;                                                                        \
	})

/* ---- Values of the program's own objects ------------------------- */

/* Returns a number, or 0 if the key is absent. */
static inline json_int_t json_value_number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static inline uint64_t json_value_count(const json_t *object, const char *key)
{
	return (uint64_t)json_value_number(object, key);
}

/* Returns a text, borrowed from the object; "" if the key is absent. */
static inline const char *json_value_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* Returns a number, limited to INT64_MAX, which is JSON's limit here. */
static inline json_int_t json_value_of(uint64_t number)
{
	return number > INT64_MAX ? INT64_MAX : (json_int_t)number;
}
