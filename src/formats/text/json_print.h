/* SPDX-License-Identifier: MIT */
/*
 * Text of an answer from its JSON, so that it shows nothing that JSON lacks.  A form is text with
 * fields of an object: "{KEY}", or "{KEY:WIDTHKIND}" with the width of printf() and the kind of a
 * number:
 *
 *	a  an amount: KEY, or KEY_ns, KEY_insns or KEY_cycles (amount_set())
 *	b  bytes, as "1.5 MiB"
 *	e  a real amount in the object's "unit"
 *	m  a moment: KEY_ns on the time axis; "?" for null
 *	p  percent of `whole`, of a number or an amount
 *	r  a real number; "-" for null
 *
 * A '>' before the width marks the lower bound of a call that is cut.  After "{KEY?}", all up to
 *the next '?' is left out if the field is absent, null, false, 0 or ""; "{?}" ends that.
 *
 * The form of a table's row also prints its titles, the keys: "{TITLE=KEY:WIDTH}" has another one.
 */
#pragma once

#include <jansson.h>

#include "base/common.h"

/* Print text as a field of CSV, in quotes if it needs them (RFC 4180). */
void csv_text_print(const char *text, size_t length, FILE *out);

/* Print rows, which are objects with the same keys, as CSV with a header. */
void csv_rows_print(const json_t *rows, FILE *out);

/* Print rows as lines of JSON. */
void json_lines_print(const json_t *rows, FILE *out);

/* Print an object, or the titles for NULL.  Absent fields and null are "", and texts are printed by
 * printable_print(). */
void json_print(FILE *out, const json_t *object, uint64_t whole, const char *form);
