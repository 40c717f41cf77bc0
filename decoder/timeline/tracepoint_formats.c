/* SPDX-License-Identifier: MIT */
/* Read TRACING_DATA, and the fields of its formats. */
#include "decoder/timeline/tracepoint_formats.h"

#define MAGIC "\x17\x08\x44tracing"

/*
 * libtraceevent is not used: its parser (1.7.1) recurses on the parentheses of "print fmt", so a
 * hostile text overflows the stack. This parser suffices for offsets and sizes of fields.
 */

/* ---- Formats ------------------------------------------------------------- */

bool tracepoint_format_event(const char *format, char name[64], uint64_t *id)
{
	return sscanf(format, "name: %63s ID: %" SCNu64, name, id) == 2;
}

/* Returns the bytes of an element of a probe's array by type: u8, s16, x32, u64; else 1. */
static uint32_t element_size(const char *type)
{
	unsigned long bits = strtoul(type + strcspn(type, "0123456789 "), NULL, 10);

	return bits == 16 || bits == 32 || bits == 64 ? (uint32_t)bits / 8 : 1;
}

/*
 * Read a declaration up to its ';': the last word is the name. For an array without a length, as in
 * probes ("u16 list[]"), returns the bytes of an element; else 0.
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
	if (starts_with(at, "__data_loc "))
		field->storage = TRACEPOINT_DATA_LOC;
	else if (starts_with(at, "__rel_loc "))
		field->storage = TRACEPOINT_REL_LOC;
	at += field->storage ? strcspn(at, " ") + 1 : 0;
	field->is_text = (bracket || field->storage) && starts_with(at, "char");
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

/* Returns a format's field by name; size 0 if it is missing. */
static struct tracepoint_field tracepoint_format_find(const char *format, const char *name)
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

static struct cursor take_sized(struct cursor *c)
{
	uint64_t size = cursor_u64(c);
	const uint8_t *bytes = cursor_take(c, size);

	return cursor_over(bytes, bytes ? size : 0);
}

/* Read the formats of all events of a system. */
static void read_system(struct cursor *c, tracepoint_format_reader *read, void *context)
{
	const char *name = cursor_text(c);
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
	cursor_text(&c);              /* version */
	cursor_take(&c, 6);           /* byte order, size of a long, size of a page */
	for (int i = 0; i < 2; i++) { /* header_page, header_event */
		cursor_text(&c);
		take_sized(&c);
	}
	count = cursor_u32(&c); /* formats of ftrace */
	for (uint32_t i = 0; i < count && !c.short_; i++)
		take_sized(&c);
	count = cursor_u32(&c);
	for (uint32_t i = 0; i < count && !c.short_; i++)
		read_system(&c, read, context);
}

/*
 * Low bits of a task's state: 0, it is runnable; EXIT_DEAD and EXIT_ZOMBIE (include/linux/sched.h).
 * The bit above them marks a preempted task.
 */
#define STATE_MASK 0xff
#define STATE_DEAD 0x30

#define WAKE_MEMBERS                                                                               \
	{                                                                                          \
		"pid", "comm", NULL, "target_cpu", "prio", "common_flags"                          \
	}

static const struct {
	const char *name; /* the event's name in its format */
	const char *fields[SCHED_MEMBERS];
} kinds[SCHED_KINDS] = {
	[SCHED_SWITCH] = { "sched_switch",
			   { "next_pid", "next_comm", "prev_state", NULL, "next_prio" } },
	[SCHED_WAKING] = { "sched_waking", WAKE_MEMBERS },
	[SCHED_WAKEUP] = { "sched_wakeup", WAKE_MEMBERS },
	[SCHED_WAKEUP_NEW] = { "sched_wakeup_new", WAKE_MEMBERS },
};

/* ---- Formats ------------------------------------------------------------- */

static void read_sched_format(void *context, const char *system, const char *format)
{
	struct sched_points *points = context;
	unsigned kind = SCHED_NONE + 1;
	char name[64];
	uint64_t id;

	if (strcmp(system, "sched") != 0 || !tracepoint_format_event(format, name, &id))
		return;
	while (kind < SCHED_KINDS && strcmp(kinds[kind].name, name) != 0)
		kind++;
	if (kind == SCHED_KINDS)
		return;
	points->formats[kind].id = id;
	for (unsigned member = 0; member < SCHED_MEMBERS; member++) {
		struct tracepoint_field field;

		if (!kinds[kind].fields[member])
			continue;
		field = tracepoint_format_find(format, kinds[kind].fields[member]);
		points->formats[kind].fields[member] =
			(struct sched_field){ field.offset, field.size };
	}
}

bool tracepoint_is_recorded(const struct perf_file *file, uint64_t id)
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
	*points = (struct sched_points){ 0 };
	tracepoint_formats_read(file, read_sched_format, points);
	for (unsigned kind = SCHED_NONE + 1; kind < SCHED_KINDS; kind++)
		points->formats[kind].recorded =
			points->formats[kind].fields[SCHED_TID].size &&
			tracepoint_is_recorded(file, points->formats[kind].id);
}

/* ---- Samples ------------------------------------------------------------- */

const uint8_t *tracepoint_bytes(struct byte_view raw, size_t offset, size_t size)
{
	return raw.bytes && offset <= raw.size && size <= raw.size - offset ? raw.bytes + offset
									    : NULL;
}

bool tracepoint_number(struct byte_view raw, size_t offset, size_t size, bool is_signed,
		       uint64_t *value)
{
	const uint8_t *bytes = tracepoint_bytes(raw, offset, size);

	if (!bytes || !size || size > sizeof(*value))
		return false;
	*value = 0;
	memcpy(value, bytes, size);
	if (is_signed && size < sizeof(*value) && *value >> (8 * size - 1))
		*value |= ~UINT64_C(0) << 8 * size;
	return true;
}

static bool read_number(struct byte_view raw, struct sched_field field, uint64_t *value)
{
	return tracepoint_number(raw, field.offset, field.size, false, value);
}

enum sched_kind sched_points_read(const struct sched_points *points,
				  const struct perf_sample *sample, struct sched_point *point)
{
	const struct sched_field *fields;
	uint64_t tid, state = 1, cpu = UINT64_MAX, priority;
	unsigned kind = SCHED_NONE + 1;

	*point = (struct sched_point){ 0 };
	if (sample->attr->attr.type != PERF_TYPE_TRACEPOINT)
		return SCHED_NONE;
	while (kind < SCHED_KINDS && (!points->formats[kind].recorded ||
				      points->formats[kind].id != sample->attr->attr.config))
		kind++;
	if (kind == SCHED_KINDS)
		return SCHED_NONE;
	fields = points->formats[kind].fields;
	if (!read_number(sample->raw, fields[SCHED_TID], &tid))
		return SCHED_NONE;
	read_number(sample->raw, fields[SCHED_STATE], &state);
	read_number(sample->raw, fields[SCHED_CPU], &cpu);
	read_number(sample->raw, fields[SCHED_FLAGS], &point->flags);
	point->has_priority = read_number(sample->raw, fields[SCHED_PRIORITY], &priority);
	if (point->has_priority)
		point->priority = (int32_t)priority;
	point->kind = (enum sched_kind)kind;
	point->tid = (int32_t)tid;
	point->cpu = (int32_t)cpu;
	point->runnable = !(state & STATE_MASK);
	point->dead = state & STATE_DEAD;
	if (fields[SCHED_NAME].size >= SCHED_NAME_SIZE)
		point->name = (const char *)tracepoint_bytes(sample->raw, fields[SCHED_NAME].offset,
							     fields[SCHED_NAME].size);
	return point->kind;
}
