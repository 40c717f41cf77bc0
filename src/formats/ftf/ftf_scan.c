/* SPDX-License-Identifier: MIT */
/* Find the records of a trace, their threads, and the arguments that count folded slices. */
#include "src/formats/ftf/ftf_scan.h"

#include <assert.h>

#include "src/slices/slice_args.h"
#include "writer/ftf.h"

#define WORD    8
#define THREADS 256

/* Numbers of the format missing in the writer's header ("Record Types", "Metadata types"). */
enum { PROVIDER_INFO = 1, PROVIDER_SECTION };

/* The arguments to find. */
enum { KEYS = 2, KEY_OTHER = KEYS };

/* The definitions of a provider's references. */
struct scan_provider {
	struct scan_thread *threads[THREADS]; /* borrowed */
	uint16_t keys[KEYS];                  /* string references; 0 if absent */
};

static const enum slice_arg_key keys[KEYS] = { SLICE_ARG_FOLDED, SLICE_ARG_FOLDED_TIME };

static uint64_t word_at(const uint8_t *bytes, size_t index)
{
	uint64_t word;

	memcpy(&word, bytes + index * WORD, WORD);
	return word;
}

/* Returns bits [low .. high] of a word, numbered as in the specification. */
static uint64_t bits(uint64_t word, unsigned low, unsigned high)
{
	return word << (63 - high) >> (63 - high + low);
}

/* ---- Tables -------------------------------------------------------------- */

static struct scan_provider *current_provider(const struct ftf_scan *scan)
{
	return scan->providers[scan->provider];
}

static void select_provider(struct ftf_scan *scan, uint32_t id)
{
	ARRAY_GROW_ZEROED(scan->providers, scan->room, (size_t)id + 1);
	if (!scan->providers[id])
		scan->providers[id] = alloc_zeroed(1, sizeof(*scan->providers[id]));
	scan->provider = id;
}

static void define_string(const struct ftf_scan *scan)
{
	uint16_t reference = (uint16_t)bits(scan->header, 16, 30);
	size_t length = bits(scan->header, 32, 46);

	for (int key = 0; key < KEYS; key++) {
		const char *text = slice_arg_text(keys[key]);
		uint16_t *slot = &current_provider(scan)->keys[key];

		if (length == strlen(text) && memcmp(scan->record + WORD, text, length) == 0)
			*slot = reference;
		else if (*slot == reference)
			*slot = 0;
	}
}

/* Returns the track of this number of the thread whose ids are at word `index` of the record. */
static struct scan_thread *track_at(struct ftf_scan *scan, size_t index, uint64_t number)
{
	struct scan_ids ids = { word_at(scan->record, index), word_at(scan->record, index + 1),
				number };
	struct scan_thread *thread;

	HASH_FIND_OR_ADD(scan->threads, ids, &ids, thread);
	if (!thread->current) {
		thread->current = thread;
		thread->ranks.number = HASH_COUNT(scan->threads) - 1;
	}
	return thread;
}

void ftf_scan_restart(struct ftf_scan *scan)
{
	for (size_t i = 0; i < scan->room; i++)
		free(scan->providers[i]);
	free(scan->providers);
	*scan = (struct ftf_scan){ .threads = scan->threads };
}

void ftf_scan_release(struct ftf_scan *scan)
{
	struct scan_thread *thread;

	HASH_FREE_ALL(scan->threads, thread, fit_ranks_release(&thread->ranks);
		      free(thread->frames));
	ftf_scan_restart(scan);
}

/* ---- Records ------------------------------------------------------------- */

static const uint8_t event_kinds[16] = {
	[FTF_INSTANT] = SCAN_INSTANT,  [FTF_DURATION_BEGIN] = SCAN_BEGIN,
	[FTF_DURATION_END] = SCAN_END, [FTF_DURATION_COMPLETE] = SCAN_COMPLETE,
	[FTF_FLOW_BEGIN] = SCAN_FLOW,  [FTF_FLOW_STEP] = SCAN_FLOW,
	[FTF_FLOW_END] = SCAN_FLOW,
};

static void take_event(struct ftf_scan *scan)
{
	size_t reference = bits(scan->header, 24, 31);

	scan->kind = event_kinds[bits(scan->header, 16, 19)];
	scan->time = word_at(scan->record, 1);
	if (scan->kind == SCAN_COMPLETE)
		scan->end = word_at(scan->record, scan->record_size / WORD - 1);
	scan->thread =
		reference ? current_provider(scan)->threads[reference] : track_at(scan, 2, 0);
	if (scan->thread)
		scan->thread = scan->thread->current;
}

struct ftf_scan ftf_scan_at(const struct ftf_scan *scan, const uint8_t *record, uint32_t provider)
{
	struct ftf_scan made = *scan;

	made.provider = provider;
	made.record = record;
	made.header = word_at(record, 0);
	made.record_size = bits(made.header, 4, 15) * WORD;
	return made;
}

static void take_metadata(struct ftf_scan *scan)
{
	uint64_t type = bits(scan->header, 16, 19);

	if (type != PROVIDER_INFO && type != PROVIDER_SECTION)
		return;
	select_provider(scan, (uint32_t)bits(scan->header, 20, 51));
	scan->kind = type == PROVIDER_INFO ? SCAN_PROVIDER : SCAN_SECTION;
}

/* Blobs without a name are ftf_sink.c's: a thread's ids, and perhaps the number of a track. */
static void take_blob(struct ftf_scan *scan)
{
	struct scan_thread *thread;

	if (bits(scan->header, 16, 31) != 0)
		return;
	thread = track_at(scan, 1, 0);
	scan->kind = scan->record_size == 3 * WORD ? SCAN_PART : SCAN_TRACK;
	if (scan->kind == SCAN_TRACK)
		thread->current = track_at(scan, 1, word_at(scan->record, 3));
	scan->thread = thread->current;
}

/* Not inlined, so that ftf_scan_next() saves no registers for it. */
static __attribute__((noinline)) void take_definition(struct ftf_scan *scan, unsigned type)
{
	if (type == FTF_RECORD_STRING)
		define_string(scan);
	else if (type == FTF_RECORD_THREAD)
		current_provider(scan)->threads[bits(scan->header, 16, 23)] = track_at(scan, 1, 0);
	else if (type == FTF_RECORD_METADATA)
		take_metadata(scan);
	else if (type == FTF_RECORD_BLOB)
		take_blob(scan);
}

bool ftf_scan_next(struct ftf_scan *scan)
{
	unsigned type;
	uint64_t words;

	if (!scan->room)
		select_provider(scan, 0);
	if (scan->at + WORD > scan->size)
		return false;
	scan->record = scan->bytes + scan->at;
	scan->header = word_at(scan->record, 0);
	type = (unsigned)bits(scan->header, 0, 3);
	words = bits(scan->header, 4, 15);
	assert(words);
	if (words > (scan->size - scan->at) / WORD)
		return false;
	scan->record_size = words * WORD;
	scan->kind = SCAN_OTHER;
	scan->at += scan->record_size;
	if (type == FTF_RECORD_EVENT)
		take_event(scan);
	else
		take_definition(scan, type);
	return true;
}

/* ---- Arguments ----------------------------------------------------------- */

/* Returns the index of the word at which an event's arguments begin. */
static size_t args_at(uint64_t header)
{
	return 2 + (bits(header, 24, 31) ? 0 : 2) +
	       ftf_reference_words((uint16_t)bits(header, 32, 47)) +
	       ftf_reference_words((uint16_t)bits(header, 48, 63));
}

static size_t arg_words(uint64_t head)
{
	return bits(head, 4, 15);
}

/* Returns the key of the argument at a word. */
static int key_of(const struct ftf_scan *scan, size_t at)
{
	uint16_t reference = (uint16_t)bits(word_at(scan->record, at), 16, 31);
	const uint8_t *name = scan->record + (at + 1) * WORD;

	for (int key = 0; key < KEYS; key++) {
		const char *text = slice_arg_text(keys[key]);

		if (reference & 0x8000
			    ? reference == FTF_INLINE(strlen(text)) &&
				      memcmp(name, text, strlen(text)) == 0
			    : reference && reference == current_provider(scan)->keys[key])
			return key;
	}
	return KEY_OTHER;
}

static uint64_t number_at(const struct ftf_scan *scan, size_t at)
{
	uint64_t head = word_at(scan->record, at);

	if (bits(head, 0, 3) == FTF_INT32)
		return bits(head, 32, 63);
	return word_at(scan->record, at + arg_words(head) - 1);
}

void ftf_scan_add_folded(const struct ftf_scan *scan, uint64_t sum[KEYS])
{
	uint64_t left = bits(scan->header, 20, 23);

	for (size_t at = args_at(scan->header); left; left--) {
		int key = key_of(scan, at);

		if (key != KEY_OTHER)
			sum[key] += number_at(scan, at);
		at += arg_words(word_at(scan->record, at));
	}
}

/* Append a number with its name.  Returns the word after it. */
static size_t put_number(uint8_t *copy, size_t at, int key, uint64_t number)
{
	const char *text = slice_arg_text(keys[key]);
	size_t length = strlen(text), words = 2 + ftf_words(length);
	uint64_t head = FTF_INT64 | (uint64_t)words << 4 | (uint64_t)FTF_INLINE(length) << 16;

	memset(copy + at * WORD, 0, words * WORD);
	memcpy(copy + at * WORD, &head, WORD);
	memcpy(copy + (at + 1) * WORD, text, length);
	memcpy(copy + (at + words - 1) * WORD, &number, WORD);
	return at + words;
}

size_t ftf_scan_with_folded(const struct ftf_scan *scan, const uint64_t numbers[KEYS],
			    uint8_t *copy)
{
	/* Two headers, the names, and two values. */
	const size_t most = 2 + 1 + 2 + 2, last = scan->record_size / WORD - 1;
	uint64_t count = 0, header = scan->header;
	size_t at = args_at(header), end = at;

	if (scan->record_size / WORD + most > SCAN_RECORD_MAX / WORD)
		return 0;
	memcpy(copy, scan->record, at * WORD);
	for (uint64_t left = bits(header, 20, 23); left; left--) {
		size_t words = arg_words(word_at(scan->record, at));

		if (key_of(scan, at) == KEY_OTHER) {
			memcpy(copy + end * WORD, scan->record + at * WORD, words * WORD);
			end += words;
			count++;
		}
		at += words;
	}
	if (count + KEYS > FTF_ARGS_MAX)
		return 0;
	for (int key = 0; key < KEYS; key++)
		end = put_number(copy, end, key, numbers[key]);
	if (event_kinds[bits(header, 16, 19)] == SCAN_COMPLETE)
		memcpy(copy + end++ * WORD, scan->record + last * WORD, WORD);
	header = (header & ~(UINT64_C(0xfff) << 4 | UINT64_C(0xf) << 20)) | (uint64_t)end << 4 |
		 (count + KEYS) << 20;
	memcpy(copy, &header, WORD);
	return end * WORD;
}
