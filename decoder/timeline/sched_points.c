/* SPDX-License-Identifier: MIT */
#include "decoder/timeline/sched_points.h"

#include <string.h>

#include "base/cursor.h"
#include "decoder/perf_data/perf_sample.h"

#define MAGIC "\x17\x08\x44tracing"

/*
 * Low bits of a task's state: none, it can run; EXIT_DEAD and EXIT_ZOMBIE
 * (include/linux/sched.h).  Above them is what says that it was preempted.
 */
#define STATE_MASK 0xff
#define STATE_DEAD 0x30

static const struct {
	const char *name; /* of the event, as its format has it */
	const char *fields[SCHED_PLACES];
} kinds[SCHED_KINDS] = {
	[SCHED_SWITCH] = { "sched_switch", { "next_pid", "next_comm", "prev_state", NULL } },
	[SCHED_WAKING] = { "sched_waking", { "pid", "comm", NULL, "target_cpu" } },
	[SCHED_WAKEUP] = { "sched_wakeup", { "pid", "comm", NULL, "target_cpu" } },
	[SCHED_WAKEUP_NEW] = { "sched_wakeup_new", { "pid", "comm", NULL, "target_cpu" } },
};

/* ---- Format texts -------------------------------------------------------- */

/* Move behind the next `before`.  Returns false if the text has none. */
static bool skip_past(struct cursor *text, const char *before)
{
	size_t length = strlen(before);
	const uint8_t *found =
		cursor_left(text) ? memmem(text->at, cursor_left(text), before, length) : NULL;

	if (found)
		text->at = found + length;
	return found;
}

static bool at_text(const struct cursor *text, const char *expected)
{
	size_t length = strlen(expected);

	return cursor_left(text) >= length && memcmp(text->at, expected, length) == 0;
}

static uint32_t take_decimal(struct cursor *text)
{
	uint32_t value = 0;

	while (cursor_left(text) && *text->at >= '0' && *text->at <= '9')
		value = value * 10 + (uint32_t)(*text->at++ - '0');
	return value;
}

/* "	field:pid_t next_pid;	offset:56;	size:4;	signed:1;", or of an array "char
 * next_comm[16];". */
static struct sched_field find_field(struct cursor text, const char *name)
{
	struct sched_field field = { 0 };

	while (skip_past(&text, "\tfield:")) {
		struct cursor line = text;
		const uint8_t *end;

		if (!skip_past(&line, ";"))
			break;
		end = line.at - 1;
		line = cursor_over(text.at, (size_t)(end - text.at));
		while (skip_past(&line, " "))
			; /* to the last word of the declaration */
		if (!at_text(&line, name) ||
		    (cursor_left(&line) != strlen(name) && line.at[strlen(name)] != '['))
			continue;
		text.at = end;
		if (skip_past(&text, "\toffset:"))
			field.offset = take_decimal(&text);
		if (skip_past(&text, "\tsize:"))
			field.size = take_decimal(&text);
		break;
	}
	return field;
}

static enum sched_kind kind_of(const struct cursor *text)
{
	for (unsigned kind = SCHED_NONE + 1; kind < SCHED_KINDS; kind++) {
		size_t length = strlen(kinds[kind].name);

		if (at_text(text, kinds[kind].name) && cursor_left(text) > length &&
		    text->at[length] == '\n')
			return (enum sched_kind)kind;
	}
	return SCHED_NONE;
}

/* "name: sched_switch\nID: 314\nformat:\n\tfield:..." */
static void read_format(struct sched_points *points, struct cursor text)
{
	enum sched_kind kind;
	struct cursor id;

	if (!skip_past(&text, "name: "))
		return;
	kind = kind_of(&text);
	id = text;
	if (kind == SCHED_NONE || !skip_past(&id, "\nID: "))
		return;
	points->formats[kind].id = take_decimal(&id);
	for (unsigned place = 0; place < SCHED_PLACES; place++) {
		if (kinds[kind].fields[place])
			points->formats[kind].fields[place] =
				find_field(text, kinds[kind].fields[place]);
	}
}

/* ---- TRACING_DATA -------------------------------------------------------- */

/* Returns the next text up to its NUL; NULL if there is none. */
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

/* Of a system of events, all formats. */
static void read_system(struct sched_points *points, struct cursor *c)
{
	const char *name = take_string(c);
	uint32_t count = cursor_u32(c);

	for (uint32_t i = 0; i < count && !c->short_; i++) {
		struct cursor format = take_sized(c);

		if (name && strcmp(name, "sched") == 0)
			read_format(points, format);
	}
}

static void read_formats(struct sched_points *points, struct cursor c)
{
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
		read_system(points, &c);
}

static bool is_recorded(const struct perf_file *file, uint64_t id)
{
	for (size_t i = 0; i < file->attr_count; i++) {
		if (file->attrs[i].attr.type == PERF_TYPE_TRACEPOINT &&
		    file->attrs[i].attr.config == id)
			return true;
	}
	return false;
}

void sched_points_init(struct sched_points *points, const struct perf_file *file)
{
	struct perf_bytes section = file->features.sections[PERF_FEATURE_TRACING_DATA];

	*points = (struct sched_points){ 0 };
	read_formats(points, cursor_over(section.bytes, section.size));
	for (unsigned kind = SCHED_NONE + 1; kind < SCHED_KINDS; kind++)
		points->formats[kind].recorded = points->formats[kind].fields[PLACE_TID].size &&
						 is_recorded(file, points->formats[kind].id);
}

/* ---- Samples ------------------------------------------------------------- */

/* Returns the field's bytes, `*size` of them; NULL if the sample does not have them. */
static const uint8_t *field_of(struct perf_bytes raw, struct sched_field field, size_t *size)
{
	*size = field.size;
	return field.size && field.offset <= raw.size && field.size <= raw.size - field.offset
		       ? raw.bytes + field.offset
		       : NULL;
}

/* Returns false, and leaves the value alone, if the sample has no such number. */
static bool read_number(struct perf_bytes raw, struct sched_field field, uint64_t *value)
{
	size_t size;
	const uint8_t *bytes = field_of(raw, field, &size);

	if (!bytes || size > sizeof(*value))
		return false;
	*value = 0;
	memcpy(value, bytes, size);
	return true;
}

enum sched_kind sched_points_read(const struct sched_points *points,
				  const struct perf_sample *sample, struct sched_point *point)
{
	const struct sched_field *fields;
	uint64_t tid, state = 1, cpu = UINT64_MAX;
	unsigned kind = SCHED_NONE + 1;
	size_t size;

	*point = (struct sched_point){ 0 };
	if (sample->attr->attr.type != PERF_TYPE_TRACEPOINT)
		return SCHED_NONE;
	while (kind < SCHED_KINDS && (!points->formats[kind].recorded ||
				      points->formats[kind].id != sample->attr->attr.config))
		kind++;
	if (kind == SCHED_KINDS)
		return SCHED_NONE;
	fields = points->formats[kind].fields;
	if (!read_number(sample->raw, fields[PLACE_TID], &tid))
		return SCHED_NONE;
	read_number(sample->raw, fields[PLACE_STATE], &state);
	read_number(sample->raw, fields[PLACE_CPU], &cpu);
	point->kind = (enum sched_kind)kind;
	point->tid = (int32_t)tid;
	point->cpu = (int32_t)cpu;
	point->runnable = !(state & STATE_MASK);
	point->dead = state & STATE_DEAD;
	point->name = (const char *)field_of(sample->raw, fields[PLACE_NAME], &size);
	if (size < SCHED_NAME_SIZE)
		point->name = NULL;
	return point->kind;
}
