/* SPDX-License-Identifier: MIT */
/* Print text with fields of JSON. */
#include "src/formats/text/json_print.h"

#include <assert.h>

#include "src/formats/text/any_text.h"
#include "src/formats/text/time_note.h"

static struct short_text bytes_text(double bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	struct short_text text;
	size_t unit = 0;

	for (; bytes >= 1024 && unit + 1 < COUNT_OF(units); unit++)
		bytes /= 1024;
	snprintf(text.text, sizeof(text.text), "%.*f %s", unit > 0, bytes, units[unit]);
	return text;
}

static struct short_text number_text(const json_t *object, const char *key, char kind,
				     uint64_t whole)
{
	static const char *const units[] = { "", "_ns", "_insns", "_cycles" };
	const json_t *field = NULL;
	struct short_text text;
	uint64_t number;
	size_t unit = 0;

	for (; !field; unit++) {
		assert(unit < COUNT_OF(units)); /* a column without a field */
		snprintf(text.text, sizeof(text.text), "%s%s", key, units[unit]);
		field = json_object_get(object, text.text);
	}
	number = (uint64_t)json_integer_value(field);
	if (kind == 'a' && json_is_null(field))
		return (struct short_text){ "?" };
	if (kind == 'a')
		return amount_text(unit > 2, number);
	if (kind == 'b')
		return bytes_text((double)number);
	if (kind == 'e')
		return extra_text(strcmp(json_value_text(object, "unit"), "ns") != 0,
				  json_number_value(field));
	if (kind == 'r') {
		snprintf(text.text, sizeof(text.text), json_is_null(field) ? "-" : "%.2f",
			 json_number_value(field));
		return text;
	}
	if (kind == 'm')
		return json_is_null(field) ? (struct short_text){ "?" } : moment_text(number);
	snprintf(text.text, sizeof(text.text), "%.1f%%",
		 whole ? 100 * (double)number / (double)whole : 0);
	return text;
}

static bool has_value(const json_t *field)
{
	return json_integer_value(field) || json_string_length(field) || json_is_true(field);
}

/* Print the title of a column, or its field. */
static void print_field(FILE *out, const json_t *object, uint64_t whole, const char *title,
			const char *form)
{
	const char *key = strchr(title, '=') ? strchr(title, '=') + 1 : title;
	const json_t *field = json_object_get(object, key);
	bool cut = *form == '>' && (json_value_number(object, "cut") ||
				    json_is_false(json_object_get(object, "begin_seen")) ||
				    json_is_false(json_object_get(object, "end_seen")));
	char *kind;
	int width = (int)strtol(form + (*form == '>'), &kind, 10) - cut;

	fputs(cut ? ">" : "", out);
	if (!object)
		fprintf(out, "%*.*s", width, (int)strcspn(title, "="), title);
	else if (*kind != '}')
		fprintf(out, "%*s", width, number_text(object, key, *kind, whole).text);
	else if (json_is_integer(field))
		fprintf(out, "%*" JSON_INTEGER_FORMAT, width, json_integer_value(field));
	else
		printable_printf(out, "%*s", width, json_string_value(field));
}

void json_print(FILE *out, const json_t *object, uint64_t whole, const char *form)
{
	bool skips = false;

	for (char key[48]; *form; form++) {
		if (*form != '{') {
			if (!skips)
				putc_unlocked(*form, out);
			continue;
		}
		snprintf(key, sizeof(key), "%.*s", (int)strcspn(form + 1, "?:}"), form + 1);
		form += 1 + strlen(key);
		if (*form == '?')
			skips = *key && !has_value(json_object_get(object, key));
		else if (!skips)
			print_field(out, object, whole, key, form + (*form == ':'));
		form = strchr(form, '}');
	}
}

/* ---- Rows ---------------------------------------------------------------- */

void csv_text_print(const char *text, size_t length, FILE *out)
{
	if (strcspn(text, ",\"\r\n") >= length) {
		fwrite(text, 1, length, out);
		return;
	}
	putc_unlocked('"', out);
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '"')
			putc_unlocked('"', out);
		putc_unlocked(text[i], out);
	}
	putc_unlocked('"', out);
}

void csv_rows_print(const json_t *rows, FILE *out)
{
	json_t *head = json_array_get(rows, 0), *row, *value;
	const char *key, *between = "";
	size_t i;

	json_object_foreach(head, key, value)
	{
		fprintf(out, "%s%s", between, key);
		between = ",";
	}
	fputs(head ? "\n" : "", out);
	json_array_foreach(rows, i, row)
	{
		between = "";
		json_object_foreach(row, key, value)
		{
			char *number;

			fputs(between, out);
			if (json_is_string(value)) {
				csv_text_print(json_string_value(value), json_string_length(value),
					       out);
			} else if (!json_is_null(value)) {
				number = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
				fputs(number, out);
				free(number);
			}
			between = ",";
		}
		putc_unlocked('\n', out);
	}
}

void json_lines_print(const json_t *rows, FILE *out)
{
	for (size_t i = 0; i < json_array_size(rows); i++) {
		json_dumpf(json_array_get(rows, i), out, JSON_COMPACT | JSON_ENSURE_ASCII);
		putc_unlocked('\n', out);
	}
}
