/* SPDX-License-Identifier: MIT */
#include "tests/sweep/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIPE_HEADER  16u
#define DATA_SECTION 40u /* in the header: offset and size of the records */
#define AUXTRACE     71u
#define FEATURES_AT  72u /* in the header: a bit per feature section */
#define FEATURES     256u

static uint64_t number(const uint8_t *at, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, at, size);
	return value;
}

static void add_unit(struct recording *recording, size_t begin, size_t end)
{
	recording->units =
		reallocarray(recording->units, recording->count + 1, sizeof(*recording->units));
	if (!recording->units)
		abort();
	recording->units[recording->count++] = (struct unit){ begin, end };
}

static void find_units(struct recording *recording)
{
	size_t at = recording->data_begin;

	while (at + 8 <= recording->data_end) {
		const uint8_t *record = recording->bytes + at;
		size_t end = at + number(record + 6, 2);

		if (number(record, 4) == AUXTRACE)
			end += number(record + 8, 8);
		if (end <= at || end > recording->data_end)
			break;
		add_unit(recording, at, end);
		at = end;
	}
}

void recording_read(struct recording *recording, const char *path)
{
	FILE *in = fopen(path, "rb");
	long size;

	*recording = (struct recording){ 0 };
	if (!in || fseek(in, 0, SEEK_END) || (size = ftell(in)) < (long)PIPE_HEADER) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	rewind(in);
	recording->size = (size_t)size;
	recording->bytes = malloc(recording->size);
	if (!recording->bytes || fread(recording->bytes, 1, recording->size, in) != recording->size)
		abort();
	fclose(in);
	recording->stream = number(recording->bytes + 8, 8) == PIPE_HEADER;
	recording->data_begin = PIPE_HEADER;
	recording->data_end = recording->size;
	if (!recording->stream) {
		recording->data_begin = number(recording->bytes + DATA_SECTION, 8);
		recording->data_end =
			recording->data_begin + number(recording->bytes + DATA_SECTION + 8, 8);
	}
	find_units(recording);
}

void recording_release(struct recording *recording)
{
	free(recording->bytes);
	free(recording->units);
	*recording = (struct recording){ 0 };
}

/* Increase a number in the copy by `delta`. */
static void move_number(uint8_t *at, int64_t delta)
{
	uint64_t value = number(at, 8) + (uint64_t)delta;

	memcpy(at, &value, sizeof(value));
}

/* The feature sections follow the records: offsets, sizes. */
static void move_sections(const struct recording *recording, uint8_t *copy, int64_t delta)
{
	uint8_t *table = copy + (int64_t)recording->data_end + delta;

	move_number(copy + DATA_SECTION + 8, delta);
	for (size_t i = 0; i < FEATURES; i++) {
		if (!(recording->bytes[FEATURES_AT + i / 8] >> i % 8 & 1))
			continue;
		move_number(table, delta);
		table += 16;
	}
}

static size_t put(const struct recording *recording, uint8_t *copy, size_t at, size_t begin,
		  size_t end)
{
	memcpy(copy + at, recording->bytes + begin, end - begin);
	return at + (end - begin);
}

uint8_t *recording_change(const struct recording *recording, enum change change, size_t at,
			  size_t *size)
{
	const struct unit *unit = &recording->units[at], *next = unit;
	uint8_t *copy = malloc(recording->size + (unit->end - unit->begin));
	size_t used;

	if (!copy)
		abort();
	if (change == CHANGE_SWAP && at + 1 < recording->count)
		next = unit + 1;
	used = put(recording, copy, 0, 0, unit->begin);
	if (change == CHANGE_DOUBLE || next != unit)
		used = put(recording, copy, used, next->begin, next->end);
	if (change != CHANGE_DROP)
		used = put(recording, copy, used, unit->begin, unit->end);
	*size = put(recording, copy, used, next->end, recording->size);
	if (!recording->stream)
		move_sections(recording, copy, (int64_t)*size - (int64_t)recording->size);
	return copy;
}
