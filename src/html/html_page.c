/* SPDX-License-Identifier: MIT */
/* Print the parts of the page, and data into it. */
#include "src/html/html_page.h"

#include "base/utf8.h"
#include "src/formats/text/any_text.h"

/* Placeholder lines are "@NAME@". */
static const char *const page_lines[] = {
#include "src/html/page_lines.inc"
	NULL,
};

/* ---- Text ---------------------------------------------------------------- */

void html_text_print(const char *text, size_t length, FILE *out)
{
	static const char *const entities[UCHAR_MAX + 1] = {
		['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['"'] = "&quot;"
	};
	char *valid = valid_text(text, length, true);

	for (const unsigned char *at = (unsigned char *)valid; *at; at++)
		if (entities[*at])
			fputs(entities[*at], out);
		else
			putc(*at, out);
	free(valid);
}

/* json_dump_callback_t. */
static int print_json_bytes(const char *bytes, size_t size, void *out)
{
	for (size_t i = 0, control; i < size; i += control ? control : 1) {
		control = utf8_control(bytes + i, size - i);
		if (control || bytes[i] == '<')
			fputs(control ? "\xef\xbf\xbd" : "\\u003c", out);
		else
			putc(bytes[i], out);
	}
	return 0;
}

void html_json_print(json_t *value, FILE *out)
{
	json_dump_callback(value, print_json_bytes, out,
			   JSON_COMPACT | JSON_ENCODE_ANY | JSON_PRESERVE_ORDER |
				   JSON_REAL_PRECISION(9));
	json_decref(value);
}

/* ---- Numbers ------------------------------------------------------------- */

void html_numbers_begin(struct html_numbers *numbers, FILE *out)
{
	*numbers = (struct html_numbers){ .out = out };
	putc('"', out);
}

static void print_digits(struct html_numbers *numbers)
{
	fwrite_unlocked(numbers->text, 1, numbers->used, numbers->out);
	numbers->used = 0;
}

/* Add the digits of three bytes. */
static void add_digits(struct html_numbers *numbers, uint32_t bits)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *at = numbers->text + numbers->used;

	at[0] = digits[bits >> 18 & 63];
	at[1] = digits[bits >> 12 & 63];
	at[2] = digits[bits >> 6 & 63];
	at[3] = digits[bits & 63];
	numbers->used += 4;
	if (numbers->used == sizeof(numbers->text))
		print_digits(numbers);
}

void html_numbers_copy(struct html_numbers *numbers, const uint8_t *bytes, size_t count)
{
	const uint8_t *end = bytes + count;

	while (bytes < end) {
		for (; !numbers->left && end - bytes >= 3; bytes += 3)
			add_digits(numbers, (uint32_t)(bytes[0] << 16 | bytes[1] << 8 | bytes[2]));
		if (bytes == end)
			break;
		numbers->bits = numbers->bits << 8 | *bytes++;
		if (++numbers->left == 3) {
			add_digits(numbers, numbers->bits);
			numbers->left = 0;
		}
	}
}

void html_numbers_print(struct html_numbers *numbers, uint64_t number)
{
	uint8_t bytes[10];

	html_numbers_copy(numbers, bytes, (size_t)(html_number_put(bytes, number) - bytes));
}

void html_numbers_end(struct html_numbers *numbers)
{
	unsigned missing = numbers->left ? 3 - numbers->left : 0;

	print_digits(numbers);
	if (missing)
		add_digits(numbers, numbers->bits << 8 * missing);
	numbers->used -= missing;
	print_digits(numbers);
	fprintf(numbers->out, "%.*s\"", (int)missing, "==");
}

/* ---- The page ------------------------------------------------------------ */

const char *const *html_page_print(const char *const *line, const char *title, FILE *out)
{
	for (line = line ? line : page_lines; *line; line++) {
		if (strcmp(*line, "@title@\n") == 0)
			html_text_print(title, strlen(title), out);
		else if (**line == '@' && ends_with(*line, "@\n"))
			return line + 1;
		else
			fputs(*line, out);
	}
	return line;
}

void html_why_begin(FILE *out)
{
	const char *const *line = page_lines;

	while (strcmp(*line++, "@why@\n") != 0)
		;
	html_page_print(line, "", out);
}
