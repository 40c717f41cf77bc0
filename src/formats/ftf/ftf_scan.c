/* SPDX-License-Identifier: MIT */
/* Finds the records of a trace, their threads, and the arguments that count folded slices. */
#include "src/formats/ftf/ftf_scan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "src/slices/slice_args.h"
#include "writer/ftf.h"

#define WORD     8
#define THREADS  256
#define ARGS_MAX FTF_ARGS_MAX

/* Numbers of the format ("Record Types", "Metadata types", "Event Record"). */
enum { RECORD_METADATA = 0, RECORD_STRING = 2, RECORD_THREAD, RECORD_EVENT, RECORD_LARGE = 15 };
enum { PROVIDER_INFO = 1, PROVIDER_SECTION };
enum { EVENT_INSTANT = 0, EVENT_BEGIN = 2, EVENT_END, EVENT_COMPLETE };

/* The arguments that are looked for. */
enum { KEY_FOLDED = 0, KEY_TIME, KEYS, KEY_OTHER = KEYS };

/* What references of a provider mean. */
struct scan_provider {
	struct scan_ids threads[THREADS];
	void *places[THREADS];
	uint16_t keys[KEYS]; /* string references; 0: none */
};

static const enum slice_arg_key keys[KEYS] = { SLICE_ARG_FOLDED, SLICE_ARG_FOLDED_TIME };

static uint64_t word_at(const uint8_t *bytes, size_t index)
{
	uint64_t word;

	memcpy(&word, bytes + index * WORD, WORD);
	return word;
}

/* Returns bits [low .. high] of a word, as the specification counts them. */
static uint64_t bits(uint64_t word, unsigned low, unsigned high)
{
	return word << (63 - high) >> (63 - high + low);
}

/* ---- Tables -------------------------------------------------------------- */

static struct scan_provider *current(const struct ftf_scan *scan)
{
	return scan->providers[scan->provider];
}

static void select_provider(struct ftf_scan *scan, uint32_t id)
{
	scan->providers = alloc_grow_zeroed(scan->providers, &scan->room, (size_t)id + 1,
					    sizeof(*scan->providers));
	if (scan->count <= id)
		scan->count = (size_t)id + 1;
	if (!scan->providers[id])
		scan->providers[id] = alloc_zeroed(1, sizeof(*scan->providers[id]));
	scan->provider = id;
}

static void define_string(const struct ftf_scan *scan, const struct scan_record *record)
{
	uint16_t reference = (uint16_t)bits(record->header, 16, 30);
	size_t length = bits(record->header, 32, 46);

	for (int key = 0; key < KEYS; key++) {
		const char *text = slice_arg_text(keys[key]);
		uint16_t *place = &current(scan)->keys[key];

		if (length == strlen(text) && memcmp(record->bytes + WORD, text, length) == 0)
			*place = reference;
		else if (*place == reference)
			*place = 0;
	}
}

static void define_thread(const struct ftf_scan *scan, const struct scan_record *record)
{
	size_t reference = bits(record->header, 16, 23);

	current(scan)->threads[reference] =
		(struct scan_ids){ word_at(record->bytes, 1), word_at(record->bytes, 2) };
	current(scan)->places[reference] = NULL;
}

void ftf_scan_release(struct ftf_scan *scan)
{
	for (size_t i = 0; i < scan->count; i++)
		free(scan->providers[i]);
	free(scan->providers);
	*scan = (struct ftf_scan){ 0 };
}

/* ---- Records ------------------------------------------------------------- */

static enum scan_kind kind_of(uint64_t header)
{
	switch (bits(header, 16, 19)) {
	case EVENT_INSTANT:
		return SCAN_INSTANT;
	case EVENT_BEGIN:
		return SCAN_BEGIN;
	case EVENT_END:
		return SCAN_END;
	case EVENT_COMPLETE:
		return SCAN_COMPLETE;
	default:
		return SCAN_OTHER;
	}
}

static void take_event(const struct ftf_scan *scan, struct scan_record *record)
{
	size_t reference = bits(record->header, 24, 31);

	record->kind = kind_of(record->header);
	record->time = record->end = word_at(record->bytes, 1);
	if (record->kind == SCAN_COMPLETE)
		record->end = word_at(record->bytes, record->size / WORD - 1);
	record->place = reference ? &current(scan)->places[reference] : NULL;
	record->thread = reference ? current(scan)->threads[reference]
				   : (struct scan_ids){ word_at(record->bytes, 2),
							word_at(record->bytes, 3) };
}

static void take_metadata(struct ftf_scan *scan, struct scan_record *record)
{
	uint64_t type = bits(record->header, 16, 19);

	if (type != PROVIDER_INFO && type != PROVIDER_SECTION)
		return;
	select_provider(scan, (uint32_t)bits(record->header, 20, 51));
	record->kind = type == PROVIDER_INFO ? SCAN_PROVIDER : SCAN_SECTION;
}

bool ftf_scan_next(struct ftf_scan *scan, struct scan_record *record)
{
	unsigned type;
	uint64_t words;

	if (!scan->count)
		select_provider(scan, 0);
	if (scan->at + WORD > scan->size)
		return false;
	*record = (struct scan_record){ .bytes = scan->bytes + scan->at };
	record->header = word_at(record->bytes, 0);
	type = (unsigned)bits(record->header, 0, 3);
	words = bits(record->header, 4, type == RECORD_LARGE ? 35 : 15);
	assert(words && words <= (scan->size - scan->at) / WORD);
	record->size = words * WORD;
	scan->at += record->size;
	if (type == RECORD_EVENT)
		take_event(scan, record);
	else if (type == RECORD_STRING)
		define_string(scan, record);
	else if (type == RECORD_THREAD)
		define_thread(scan, record);
	else if (type == RECORD_METADATA)
		take_metadata(scan, record);
	return true;
}

/* ---- Arguments ----------------------------------------------------------- */

/* An argument of an event, at a word of its record. */
struct scan_arg {
	size_t at, words;
	uint64_t head;
};

/* Returns the word where an event's arguments begin. */
static size_t args_at(const struct scan_record *record)
{
	return 2 + (bits(record->header, 24, 31) ? 0 : 2) +
	       ftf_reference_words((uint16_t)bits(record->header, 32, 47)) +
	       ftf_reference_words((uint16_t)bits(record->header, 48, 63));
}

static struct scan_arg arg_at(const struct scan_record *record, size_t at)
{
	uint64_t head = word_at(record->bytes, at);

	return (struct scan_arg){ at, bits(head, 4, 15), head };
}

static int key_of(const struct ftf_scan *scan, const struct scan_record *record,
		  const struct scan_arg *arg)
{
	uint16_t reference = (uint16_t)bits(arg->head, 16, 31);
	const uint8_t *name = record->bytes + (arg->at + 1) * WORD;

	for (int key = 0; key < KEYS; key++) {
		const char *text = slice_arg_text(keys[key]);

		if (reference & 0x8000 ? reference == FTF_INLINE(strlen(text)) &&
						 memcmp(name, text, strlen(text)) == 0
				       : reference && reference == current(scan)->keys[key])
			return key;
	}
	return KEY_OTHER;
}

static uint64_t number_of(const struct scan_record *record, const struct scan_arg *arg)
{
	if (bits(arg->head, 0, 3) == FTF_INT32)
		return bits(arg->head, 32, 63);
	return word_at(record->bytes,
		       arg->at + 1 + ftf_reference_words((uint16_t)bits(arg->head, 16, 31)));
}

struct scan_folded ftf_scan_folded(const struct ftf_scan *scan, const struct scan_record *record)
{
	uint64_t found[KEYS + 1] = { 0 };
	size_t at = args_at(record);

	for (uint64_t left = bits(record->header, 20, 23); left; left--) {
		struct scan_arg arg = arg_at(record, at);
		int key = key_of(scan, record, &arg);

		if (key != KEY_OTHER)
			found[key] = number_of(record, &arg);
		at += arg.words;
	}
	return (struct scan_folded){ found[KEY_FOLDED], found[KEY_TIME] };
}

/* Append a number with its name.  Returns the word behind it. */
static size_t put_number(uint8_t *copy, size_t at, int key, uint64_t number)
{
	const char *text = slice_arg_text(keys[key]);
	size_t length = strlen(text), name = ftf_words(length);
	bool small = number <= INT32_MAX;
	size_t words = 1 + name + !small;
	uint64_t head = (small ? (uint64_t)FTF_INT32 | number << 32 : (uint64_t)FTF_INT64) |
			(uint64_t)words << 4 | (uint64_t)FTF_INLINE(length) << 16;

	memset(copy + at * WORD, 0, words * WORD);
	memcpy(copy + at * WORD, &head, WORD);
	memcpy(copy + (at + 1) * WORD, text, length);
	if (!small)
		memcpy(copy + (at + words - 1) * WORD, &number, WORD);
	return at + words;
}

size_t ftf_scan_with_folded(const struct ftf_scan *scan, const struct scan_record *record,
			    const struct scan_folded *numbers, uint8_t *copy)
{
	/* Two heads, the names, and two values. */
	const size_t most = 2 + 1 + 2 + 2;
	size_t at = args_at(record), end = at;
	uint64_t count = 0, header = record->header;

	if (record->size / WORD + most > SCAN_RECORD_MAX / WORD)
		return 0;
	memcpy(copy, record->bytes, at * WORD);
	for (uint64_t left = bits(header, 20, 23); left; left--) {
		struct scan_arg arg = arg_at(record, at);

		at += arg.words;
		if (key_of(scan, record, &arg) != KEY_OTHER)
			continue;
		memcpy(copy + end * WORD, record->bytes + arg.at * WORD, arg.words * WORD);
		end += arg.words;
		count++;
	}
	if (count + KEYS > ARGS_MAX)
		return 0;
	end = put_number(copy, end, KEY_FOLDED, numbers->folded);
	end = put_number(copy, end, KEY_TIME, numbers->folded_time);
	header = (header & ~(UINT64_C(0xfff) << 4 | UINT64_C(0xf) << 20)) | (uint64_t)end << 4 |
		 (count + KEYS) << 20;
	memcpy(copy, &header, WORD);
	return end * WORD;
}
