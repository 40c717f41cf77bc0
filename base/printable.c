/* SPDX-License-Identifier: MIT */
/* Replaces controls and damaged UTF-8 in printed text. */
#include "base/printable.h"

#include <stdarg.h>

#include "base/utf8.h"

static size_t drop_held(struct printable *state, char *out)
{
	size_t count = state->count;

	memset(out, '?', count);
	state->count = 0;
	return count;
}

size_t printable_pass(struct printable *state, const char *bytes, size_t size, char *out)
{
	size_t used = 0;

	for (size_t i = 0; i < size; i++) {
		uint8_t byte = (uint8_t)bytes[i];

		if (state->count == 1 ? !utf8_is_second(state->held[0], byte)
				      : state->count && (byte & 0xc0) != 0x80)
			used += drop_held(state, out + used);
		if (!state->count && utf8_length(byte) < 2) {
			bool control = (byte < ' ' && byte != '\n' && byte != '\t') || byte >= 0x7f;

			out[used++] = control ? '?' : (char)byte;
			continue;
		}
		state->held[state->count++] = byte;
		if (state->count < utf8_length(state->held[0]))
			continue;
		if (utf8_control((const char *)state->held, state->count)) {
			used += drop_held(state, out + used);
		} else {
			memcpy(out + used, state->held, state->count);
			used += state->count;
			state->count = 0;
		}
	}
	return used;
}

void escaped_text_print(const char *text, size_t length, FILE *out)
{
	size_t escaped = 0; /* bytes */

	for (const char *end = text + length; text < end; text++) {
		if (!escaped)
			escaped = *text == '\\' ? 1 : utf8_control(text, (size_t)(end - text));
		if (escaped)
			fprintf(out, "\\x%02x", (unsigned char)*text);
		else
			putc_unlocked(*text, out);
		escaped -= escaped > 0;
	}
}

void printable_print(const char *text, size_t length, FILE *out)
{
	struct printable state = { 0 };
	char part[8];

	for (const char *end = text + length; text < end; text++) {
		char c = *text == '\n' || *text == '\t' ? '\r' : *text;

		fwrite(part, 1, printable_pass(&state, &c, 1, part), out);
	}
	fwrite(part, 1, drop_held(&state, part), out);
}

/* Print a text by a conversion without asterisks. */
static void print_text(const char *spec, const char *text, text_print_fn *print, FILE *out)
{
	const char *dot = strchr(spec, '.');
	size_t length = strlen(text), most = dot ? strtoul(dot + 1, NULL, 10) : SIZE_MAX;
	size_t kept = length > most ? utf8_cut(text, length, most - 2) : length;
	long width = strtol(spec + 1, NULL, 10), used = (long)kept;

	fprintf(out, "%*s", (int)MAX(width - used, 0), "");
	print(text, kept, out);
	fprintf(out, "%s%*s", kept < length ? ".." : "", (int)MIN(width + used, 0), "");
}

void real_print(double value, FILE *out)
{
	char text[400];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	fputs(text, out);
}

void text_printf(FILE *out, text_print_fn *print, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	for (; *format; format++) {
		char spec[48] = "%", *end = spec + 1;

		if (*format != '%') {
			putc_unlocked(*format, out);
			continue;
		}
		for (; strchr("-+.*0123456789zlt", *++format); end += strlen(end))
			snprintf(end, 16, *format == '*' ? "%d" : "%c",
				 *format == '*' ? va_arg(args, int) : *format);
		*end = *format;
		if (*format == '%')
			putc_unlocked('%', out);
		else if (*format == 's')
			print_text(spec, va_arg(args, const char *) ?: "", print, out);
		else if (*format == 'f')
			fprintf(out, spec, va_arg(args, double));
		else if (strpbrk(spec, "zlt"))
			fprintf(out, spec, va_arg(args, uint64_t));
		else
			fprintf(out, spec, va_arg(args, int));
	}
	va_end(args);
}
