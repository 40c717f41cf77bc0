/* SPDX-License-Identifier: MIT */
/* Reads TRACING_DATA, and fields of the formats in it. */
#include "decoder/timeline/tracepoint_formats.h"

#include "decoder/perf_data/perf_file.h"

#define MAGIC "\x17\x08\x44tracing"

/*
 * libtraceevent is not used: its parser (1.7.1) recurses on the parentheses of "print fmt", so
 * that a hostile text overflows the stack.  Offsets and sizes of fields need no more than this.
 */

/* ---- Formats ------------------------------------------------------------- */

bool tracepoint_format_event(const char *format, char name[64], uint64_t *id)
{
	return sscanf(format, "name: %63s ID: %" SCNu64, name, id) == 2;
}

/* Returns the bytes of an element of a probe's array, by its type: u8, s16, x32, u64; else 1. */
static uint32_t element_size(const char *type)
{
	unsigned long bits = strtoul(type + strcspn(type, "0123456789 "), NULL, 10);

	return bits == 16 || bits == 32 || bits == 64 ? (uint32_t)bits / 8 : 1;
}

/*
 * Read a declaration up to its ';': the last word is the name.  Returns the bytes of an element
 * if it is an array that does not say how many it has, as arrays of probes: "u16 list[]"; else 0.
 */
static uint32_t read_declaration(const char *at, const char *end, struct tracepoint_field *field)
{
	const char *word = end, *bracket;

	while (word[-1] != ' ' && word[-1] != ':')
		word--;
	bracket = memchr(word, '[', (size_t)(end - word));
	field->name = word;
	field->name_length = (size_t)((bracket ? bracket : end) - word);
	if (bracket)
		field->count = (uint32_t)strtoul(bracket + 1, NULL, 10);
	if (strncmp(at, "__data_loc ", strlen("__data_loc ")) == 0)
		field->place = TRACEPOINT_DATA_LOC;
	else if (strncmp(at, "__rel_loc ", strlen("__rel_loc ")) == 0)
		field->place = TRACEPOINT_REL_LOC;
	at += field->place ? strcspn(at, " ") + 1 : 0;
	field->is_text = (bracket || field->place) && strncmp(at, "char", strlen("char")) == 0;
	return bracket && !field->count && !field->is_text ? element_size(at) : 0;
}

const char *tracepoint_format_next(const char *at, struct tracepoint_field *field)
{
	static const char start[] = "\tfield:";
	const char *end;
	char is_signed = 0;
	uint32_t element;

	*field = (struct tracepoint_field){ 0 };
	at = strstr(at, start);
	end = at ? strchr(at, ';') : NULL;
	if (!end)
		return NULL;
	element = read_declaration(at + strlen(start), end, field);
	sscanf(end, "; offset:%" SCNu32 "; size:%" SCNu32 "; signed:%c", &field->offset,
	       &field->size, &is_signed);
	field->is_signed = is_signed == '1';
	if (element)
		field->count = field->size / element;
	return end;
}

struct tracepoint_field tracepoint_format_find(const char *format, const char *name)
{
	struct tracepoint_field field;
	size_t length = strlen(name);

	while ((format = tracepoint_format_next(format, &field))) {
		if (field.name_length == length && memcmp(field.name, name, length) == 0)
			return field;
	}
	return (struct tracepoint_field){ 0 };
}

/* ---- TRACING_DATA -------------------------------------------------------- */

/* Returns the next text up to its NUL, or NULL. */
static const char *take_string(struct cursor *c)
{
	const uint8_t *text = c->at,
		      *end = cursor_left(c) ? memchr(c->at, 0, cursor_left(c)) : NULL;

	if (!end) {
		c->short_ = true;
		return NULL;
	}
	c->at = end + 1;
	return (const char *)text;
}

static struct cursor take_sized(struct cursor *c)
{
	uint64_t size = cursor_u64(c);
	const uint8_t *bytes = cursor_take(c, size);

	return cursor_over(bytes, bytes ? size : 0);
}

/* Read the formats of all events of a system. */
static void read_system(struct cursor *c, tracepoint_format_reader *read, void *context)
{
	const char *name = take_string(c);
	uint32_t count = cursor_u32(c);

	for (uint32_t i = 0; i < count && !c->short_; i++) {
		struct cursor format = take_sized(c);
		char *text, *begin;

		if (!name || c->short_)
			continue;
		text = alloc_zeroed(1, cursor_left(&format) + 1);
		memcpy(text, format.at, cursor_left(&format));
		begin = strstr(text, "name: ");
		if (begin)
			read(context, name, begin);
		free(text);
	}
}

void tracepoint_formats_read(const struct perf_file *file, tracepoint_format_reader *read,
			     void *context)
{
	struct byte_view section = file->features.sections[PERF_FEATURE_TRACING_DATA];
	struct cursor c = cursor_over(section.bytes, section.size);
	const uint8_t *magic = cursor_take(&c, sizeof(MAGIC) - 1);
	uint32_t count;

	if (!magic || memcmp(magic, MAGIC, sizeof(MAGIC) - 1) != 0)
		return;
	take_string(&c);              /* version */
	cursor_take(&c, 6);           /* byte order, size of a long, size of a page */
	for (int i = 0; i < 2; i++) { /* header_page, header_event */
		take_string(&c);
		take_sized(&c);
	}
	count = cursor_u32(&c); /* ftrace's own formats */
	for (uint32_t i = 0; i < count && !c.short_; i++)
		take_sized(&c);
	count = cursor_u32(&c);
	for (uint32_t i = 0; i < count && !c.short_; i++)
		read_system(&c, read, context);
}
