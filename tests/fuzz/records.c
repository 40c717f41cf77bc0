/* SPDX-License-Identifier: MIT */
/*
 * Whole runs as in run.c, with a mutator that knows perf.data: it changes the fields, order and
 * number of records, their AUX data, attributes and features, but keeps records valid.  So
 * mutations pass the checks of sizes.
 *
 * Layouts: perf's tools/perf/Documentation/perf.data-file-format.txt, linux/perf_event.h.
 */
#include "tests/fuzz/fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPTIONS = 2, /* bytes before the file: run.c */
	PIPE_HEADER = 16,
	FILE_HEADER = 104,
	ATTRS_AT = 24,    /* offset and size of a section, each */
	DATA_AT = 40,     /* the same */
	FEATURES_AT = 72, /* a bit for each feature */
	FEATURE_BITS = 256,
	RECORD_HEADER = 8, /* u32 type, u16 misc, u16 size */
	RECORD_AUXTRACE = 71,
	RECORD_SIZE_MAX = 65528,
	CHANGES_MAX = 4,
};

/* libFuzzer's own mutations; absent without it. */
extern size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t room) __attribute__((weak));

/* A perf.data file in memory of `room` bytes. */
struct file {
	uint8_t *bytes;
	size_t size, room;
	bool pipe;
	size_t begin, end; /* of the records */
	uint32_t seed;
};

static uint32_t random_below(struct file *file, size_t limit)
{
	file->seed = file->seed * 1664525 + 1013904223;
	return limit ? (uint32_t)((file->seed >> 8) % limit) : 0;
}

static uint64_t load(const struct file *file, size_t at, size_t width)
{
	uint64_t value = 0;

	if (at <= file->size && width <= file->size - at)
		memcpy(&value, file->bytes + at, width);
	return value;
}

static void store(struct file *file, size_t at, size_t width, uint64_t value)
{
	if (at <= file->size && width <= file->size - at)
		memcpy(file->bytes + at, &value, width);
}

/* Returns whether the bytes have a header, and finds the records. */
static bool find_records(struct file *file)
{
	uint64_t header = load(file, 8, 8);

	file->pipe = header == PIPE_HEADER;
	file->begin = file->pipe ? PIPE_HEADER : load(file, DATA_AT, 8);
	file->end = file->size;
	if (!file->pipe && file->begin <= file->size &&
	    load(file, DATA_AT + 8, 8) <= file->size - file->begin)
		file->end = file->begin + load(file, DATA_AT + 8, 8);
	return file->size > FILE_HEADER && (file->pipe || header == FILE_HEADER) &&
	       file->begin < file->end;
}

/* Returns the size of a record without its AUX data; 0: there is none. */
static size_t record_size(const struct file *file, size_t at)
{
	size_t size = at < file->end ? load(file, at + 6, 2) : 0;

	return size >= RECORD_HEADER && size <= file->end - at ? size : 0;
}

/* Returns the size of the AUX data that follow a record. */
static size_t aux_size(const struct file *file, size_t at)
{
	size_t size = record_size(file, at);
	uint64_t aux =
		load(file, at, 4) == RECORD_AUXTRACE && size >= 16 ? load(file, at + 8, 8) : 0;

	return aux <= file->end - at - size ? aux : 0;
}

static size_t whole_size(const struct file *file, size_t at)
{
	return record_size(file, at) + aux_size(file, at);
}

/* Returns where a record begins, 0 if there is none; `only_aux`: choose an AUXTRACE with data. */
static size_t pick_record(struct file *file, bool only_aux)
{
	size_t picked = 0, count = 0;

	for (size_t at = file->begin; record_size(file, at); at += whole_size(file, at))
		if ((!only_aux || aux_size(file, at)) && random_below(file, ++count) == 0)
			picked = at;
	return picked;
}

/* ---- Room ---------------------------------------------------------------- */

static void shift_section(struct file *file, size_t at, size_t from, int64_t by)
{
	uint64_t offset = load(file, at, 8);

	if (offset >= from)
		store(file, at, 8, offset + (uint64_t)by);
}

/* Move the sections after the records too. */
static void shift_sections(struct file *file, int64_t by)
{
	size_t old_end = file->end - (size_t)by, features = 0;

	store(file, DATA_AT + 8, 8, file->end - file->begin);
	shift_section(file, ATTRS_AT, old_end, by);
	for (size_t i = 0; i < FEATURE_BITS; i++)
		features += load(file, FEATURES_AT + i / 8, 1) >> i % 8 & 1;
	for (size_t i = 0; i < features; i++)
		shift_section(file, file->end + 16 * i, old_end, by);
}

/* Replace `removed` bytes of the records by `added` ones.  Returns false if there is no room. */
static bool splice(struct file *file, size_t at, size_t removed, size_t added)
{
	if (at > file->end || removed > file->end - at || added > file->room ||
	    file->size - removed > file->room - added)
		return false;
	memmove(file->bytes + at + added, file->bytes + at + removed, file->size - at - removed);
	if (added > removed)
		memset(file->bytes + at + removed, 0, added - removed);
	file->size += added - removed;
	file->end += added - removed;
	if (!file->pipe)
		shift_sections(file, (int64_t)added - (int64_t)removed);
	return true;
}

/* ---- Changes ------------------------------------------------------------- */

static uint64_t interesting(struct file *file, uint64_t old)
{
	switch (random_below(file, 8)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
		return old + random_below(file, 17) - 8;
	case 3:
		return old ^ UINT64_C(1) << random_below(file, 64);
	case 4:
		return UINT64_C(1) << random_below(file, 64);
	case 5:
		return load(file, pick_record(file, false) + 8 * random_below(file, 8), 8);
	case 6:
		return random_below(file, 256);
	default:
		return (uint64_t)random_below(file, 1u << 24) << random_below(file, 41);
	}
}

/* Change a number in [at, at + size), aligned to 4. */
static void change_number(struct file *file, size_t at, size_t size)
{
	size_t width = random_below(file, 2) ? 8 : 4, place;

	if (size < width)
		return;
	place = at + random_below(file, (size - width) / 4 + 1) * 4;
	store(file, place, width, interesting(file, load(file, place, width)));
}

static void change_type(struct file *file, size_t at)
{
	uint32_t type =
		random_below(file, 2) ? 1 + random_below(file, 22) : 64 + random_below(file, 21);

	/* Its following bytes would be taken for records or AUX data. */
	if (type != RECORD_AUXTRACE && load(file, at, 4) != RECORD_AUXTRACE)
		store(file, at, 4, type);
}

static void copy_record(struct file *file, size_t at)
{
	size_t size = whole_size(file, at), to = pick_record(file, false);
	uint8_t *copy = malloc(size + 1);

	if (!copy)
		abort();
	memcpy(copy, file->bytes + at, size);
	if (splice(file, to, 0, size))
		memcpy(file->bytes + to, copy, size);
	free(copy);
}

/* Insert or remove a word anywhere in a record. */
static void resize_record(struct file *file, size_t at)
{
	size_t size = record_size(file, at), words = size / 8, place;
	bool grow = random_below(file, 2) != 0;

	place = at + RECORD_HEADER + random_below(file, words) * 8;
	if (grow && size <= RECORD_SIZE_MAX - 8 && place <= at + size && splice(file, place, 0, 8))
		store(file, at + 6, 2, size + 8);
	else if (!grow && place + 8 <= at + size && splice(file, place, 8, 0))
		store(file, at + 6, 2, size - 8);
}

static size_t change_bytes(struct file *file, uint8_t *bytes, size_t size, size_t room)
{
	if (LLVMFuzzerMutate)
		return LLVMFuzzerMutate(bytes, size, room);
	bytes[random_below(file, size)] ^= (uint8_t)(1u << random_below(file, 8));
	return size;
}

/* Change a trace's packets and its size, which stays a multiple of 8 as perf writes it. */
static void change_trace(struct file *file, size_t at)
{
	size_t record = record_size(file, at), size = aux_size(file, at), new_size,
	       room = size + 64;
	uint8_t *trace = calloc(1, room + 8);

	if (!trace)
		abort();
	memcpy(trace, file->bytes + at + record, size);
	new_size = change_bytes(file, trace, size, room);
	new_size = (new_size + 7) & ~(size_t)7;
	if (splice(file, at + record, size, new_size)) {
		memcpy(file->bytes + at + record, trace, new_size);
		store(file, at + 8, 8, new_size);
	}
	free(trace);
}

static void change_record(struct file *file, size_t at)
{
	switch (random_below(file, 10)) {
	case 0:
		store(file, at + 4, 2, interesting(file, load(file, at + 4, 2)));
		break;
	case 1:
		change_type(file, at);
		break;
	case 2:
		copy_record(file, at);
		break;
	case 3:
		splice(file, at, whole_size(file, at), 0);
		break;
	case 4:
		resize_record(file, at);
		break;
	default:
		/* An AUXTRACE keeps the size of its data. */
		at += load(file, at, 4) == RECORD_AUXTRACE ? 16 : RECORD_HEADER;
		change_number(file, at, file->end - at < 64 ? file->end - at : 64);
	}
}

static void change(struct file *file)
{
	size_t kind = random_below(file, 12), record = pick_record(file, kind >= 8);

	if (kind == 0 && !file->pipe)
		change_number(file, load(file, ATTRS_AT, 8), load(file, ATTRS_AT + 8, 8) & 0xffff);
	else if (kind == 1 && !file->pipe && file->end < file->size)
		change_number(file, file->end, file->size - file->end);
	else if (record && kind >= 8)
		change_trace(file, record);
	else if (record)
		change_record(file, record);
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t room, unsigned seed)
{
	struct file file = { .seed = seed };

	if (size > OPTIONS) {
		file.bytes = bytes + OPTIONS;
		file.size = size - OPTIONS;
		file.room = room - OPTIONS;
	}
	if (size <= OPTIONS || !find_records(&file))
		return LLVMFuzzerMutate ? LLVMFuzzerMutate(bytes, size, room) : size;
	if (random_below(&file, 16) == 0)
		bytes[random_below(&file, OPTIONS)] = (uint8_t)random_below(&file, 256);
	for (size_t i = 1 + random_below(&file, CHANGES_MAX); i; i--)
		change(&file);
	return OPTIONS + file.size;
}
