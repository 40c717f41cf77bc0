/* SPDX-License-Identifier: MIT */
/* Values of a JSON object that this program has made: a key is there, or has a default. */
#ifndef SRC_FORMATS_TEXT_JSON_VALUE_H
#define SRC_FORMATS_TEXT_JSON_VALUE_H

#include <jansson.h>

#include "base/common.h"

/* Returns a number, or 0 if the key is absent. */
static inline json_int_t json_value_number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* Returns a text, borrowed from the object; "" if the key is absent. */
static inline const char *json_value_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* Returns a number that JSON can have: the most that it can, for larger ones. */
static inline json_int_t json_value_of(uint64_t number)
{
	return number > INT64_MAX ? INT64_MAX : (json_int_t)number;
}

#endif
