/* SPDX-License-Identifier: MIT */
/* Reads the formats of tracepoints, and samples by them. */
#include "decoder/timeline/sched_points.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "decoder/perf_data/perf_sample.h"

#define MAGIC "\x17\x08\x44tracing"

/*
 * Low bits of a task's state: 0, it is runnable; EXIT_DEAD and EXIT_ZOMBIE
 * (include/linux/sched.h).  The bit above them means that it was preempted.
 */
#define STATE_MASK 0xff
#define STATE_DEAD 0x30

static const struct {
	const char *name; /* of the event, as its format has it */
	const char *fields[SCHED_PLACES];
} kinds[SCHED_KINDS] = {
	[SCHED_SWITCH] = { "sched_switch",
			   { "next_pid", "next_comm", "prev_state", NULL, "next_prio" } },
	[SCHED_WAKING] = { "sched_waking", { "pid", "comm", NULL, "target_cpu", "prio" } },
	[SCHED_WAKEUP] = { "sched_wakeup", { "pid", "comm", NULL, "target_cpu", "prio" } },
	[SCHED_WAKEUP_NEW] = { "sched_wakeup_new", { "pid", "comm", NULL, "target_cpu", "prio" } },
};

/* ---- Format texts -------------------------------------------------------- */

/*
 * Not by libtraceevent: its parser (1.7.1) recurses on the parentheses of "print fmt", so that a
 * hostile text ends it in a stack overflow.  Offsets and sizes of a few fields need no more than
 * this.
 */

/*
 * Find a field by the last word of its declaration:
 * "	field:pid_t next_pid;	offset:56;	size:4;	signed:1;", of an array "char
 * next_comm[16];".
 */
static struct sched_field find_field(const char *format, const char *name)
{
	struct sched_field field = { 0 };
	size_t length = strlen(name);

	for (const char *at = strstr(format, "\tfield:"); at; at = strstr(at, "\tfield:")) {
		const char *word = strchr(at, ';');

		if (!word)
			break;
		at = word;
		while (word[-1] != ' ' && word[-1] != ':')
			word--;
		if (strncmp(word, name, length) == 0 &&
		    (word[length] == ';' || word[length] == '[')) {
			sscanf(at, "; offset:%" SCNu32 "; size:%" SCNu32, &field.offset,
			       &field.size);
			break;
		}
	}
	return field;
}

/* "name: sched_switch\nID: 314\nformat:\n\tfield:..." */
static void read_format(struct sched_points *points, const char *format)
{
	const char *begin = strstr(format, "name: ");
	unsigned kind = SCHED_NONE + 1;
	char name[32];
	uint64_t id;

	if (!begin || sscanf(begin, "name: %31s ID: %" SCNu64, name, &id) != 2)
		return;
	while (kind < SCHED_KINDS && strcmp(kinds[kind].name, name) != 0)
		kind++;
	if (kind == SCHED_KINDS)
		return;
	points->formats[kind].id = id;
	for (unsigned place = 0; place < SCHED_PLACES; place++) {
		if (kinds[kind].fields[place])
			points->formats[kind].fields[place] =
				find_field(begin, kinds[kind].fields[place]);
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

/* Read the formats of all events of a system. */
static void read_system(struct sched_points *points, struct cursor *c)
{
	const char *name = take_string(c);
	uint32_t count = cursor_u32(c);

	for (uint32_t i = 0; i < count && !c->short_; i++) {
		struct cursor format = take_sized(c);
		char *text;

		if (!name || c->short_ || strcmp(name, "sched") != 0)
			continue;
		text = alloc_zeroed(1, cursor_left(&format) + 1);
		memcpy(text, format.at, cursor_left(&format));
		read_format(points, text);
		free(text);
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
	uint64_t tid, state = 1, cpu = UINT64_MAX, priority;
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
	point->has_priority = read_number(sample->raw, fields[PLACE_PRIORITY], &priority);
	if (point->has_priority)
		point->priority = (int32_t)priority;
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
