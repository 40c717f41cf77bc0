/* SPDX-License-Identifier: MIT */
/* Finds the formats of the scheduler's tracepoints, and reads samples by them. */
#include "decoder/timeline/sched_points.h"

#include "decoder/perf_data/perf_sample.h"
#include "decoder/timeline/tracepoint_formats.h"

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
	for (unsigned place = 0; place < SCHED_PLACES; place++) {
		struct tracepoint_field field;

		if (!kinds[kind].fields[place])
			continue;
		field = tracepoint_format_find(format, kinds[kind].fields[place]);
		points->formats[kind].fields[place] =
			(struct sched_field){ field.offset, field.size };
	}
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
	*points = (struct sched_points){ 0 };
	tracepoint_formats_read(file, read_sched_format, points);
	for (unsigned kind = SCHED_NONE + 1; kind < SCHED_KINDS; kind++)
		points->formats[kind].recorded = points->formats[kind].fields[PLACE_TID].size &&
						 is_recorded(file, points->formats[kind].id);
}

/* ---- Samples ------------------------------------------------------------- */

/* Returns the field's bytes, `*size` of them; NULL if the sample does not have them. */
static const uint8_t *field_of(struct byte_view raw, struct sched_field field, size_t *size)
{
	*size = field.size;
	return field.size && field.offset <= raw.size && field.size <= raw.size - field.offset
		       ? raw.bytes + field.offset
		       : NULL;
}

/* Returns false, and leaves the value alone, if the sample has no such number. */
static bool read_number(struct byte_view raw, struct sched_field field, uint64_t *value)
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
