/* SPDX-License-Identifier: MIT */
/* Print the parts of the page, and data into it. */
#include "src/html/html_page.h"

#include "src/formats/text/any_text.h"

/* Placeholder lines are "@NAME@". */
static const char *const page_lines[] = {
#include "src/html/page_lines.inc"
	NULL,
};

/* ---- Text ---------------------------------------------------------------- */

static void print_character(char c, FILE *out)
{
	if (c == '<')
		fputs("&lt;", out);
	else if (c == '>')
		fputs("&gt;", out);
	else if (c == '&')
		fputs("&amp;", out);
	else if (c == '"')
		fputs("&quot;", out);
	else if (((unsigned char)c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
		fputs("\xef\xbf\xbd", out);
	else
		putc(c, out);
}

void html_text_print(const char *text, size_t length, FILE *out)
{
	char *valid = valid_text(text, length);

	for (const char *at = valid; *at; at++)
		print_character(*at, out);
	free(valid);
}

/* json_dump_callback_t. */
static int print_json_bytes(const char *bytes, size_t size, void *out)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == '<')
			fputs("\\u003c", out);
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

static void print_sextets(struct html_numbers *numbers, unsigned count)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (unsigned i = 0; i < count; i++)
		putc_unlocked(digits[numbers->bits >> (18 - 6 * i) & 63], numbers->out);
	numbers->bits = numbers->bytes = 0;
}

static void print_byte(struct html_numbers *numbers, uint8_t byte)
{
	numbers->bits |= (uint32_t)byte << (16 - 8 * numbers->bytes);
	if (++numbers->bytes == 3)
		print_sextets(numbers, 4);
}

void html_numbers_begin(struct html_numbers *numbers, FILE *out)
{
	*numbers = (struct html_numbers){ .out = out };
	putc('"', out);
}

void html_numbers_print(struct html_numbers *numbers, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		print_byte(numbers, (uint8_t)(number | 0x80));
	print_byte(numbers, (uint8_t)number);
}

void html_numbers_end(struct html_numbers *numbers)
{
	unsigned bytes = numbers->bytes;

	if (bytes) {
		print_sextets(numbers, bytes + 1);
		fputs(&"=="[bytes - 1], numbers -> out);
	}
	putc('"', numbers->out);
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
