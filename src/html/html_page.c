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

/* Print the high six bits of `left` bits. */
static void print_digit(struct html_numbers *numbers)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	numbers->left -= 6;
	putc_unlocked(digits[numbers->bits >> numbers->left & 63], numbers->out);
}

void html_numbers_print(struct html_numbers *numbers, uint64_t number)
{
	bool more;

	do {
		more = number > 0x7f;
		numbers->bits = numbers->bits << 8 | (number & 0x7f) | (uint32_t)more << 7;
		for (numbers->left += 8; numbers->left >= 6;)
			print_digit(numbers);
		number >>= 7;
	} while (more);
}

void html_numbers_end(struct html_numbers *numbers)
{
	unsigned padding = numbers->left ? 6 - numbers->left : 0;

	if (padding) {
		numbers->bits <<= padding;
		numbers->left = 6;
		print_digit(numbers);
	}
	fprintf(numbers->out, "%.*s\"", (int)padding / 2, "==");
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
