/* SPDX-License-Identifier: MIT */
/* The low face of libftf: the buffer and the records of metadata. */

#include "writer/ftf_writer.h"

#define MAGIC             UINT64_C(0x0016547846040010) /* "Magic Number Record" */
#define BUFFER_WORDS      ((size_t)64 * 1024 / 8)      /* see base/io/output.c */
#define PROVIDER_NAME_MAX 255                          /* 8 bits */
#define ROOM_FIRST        16                           /* elements of a growing array */

/* "Metadata Record", types. */
enum metadata_type {
	METADATA_PROVIDER_INFO = 1,
	METADATA_PROVIDER_SECTION = 2,
};

/* Sink for writes without a buffer; never read. */
static uint64_t lost[2 * FTF_RECORD_WORDS_MAX];

static void *no_memory(struct ftf_low *low)
{
	if (!low->err.text[0]) {
		low->err.system = ENOMEM;
		snprintf(low->err.text, sizeof(low->err.text), "out of memory");
	}
	return NULL;
}

void *ftf_memory_get(struct ftf_low *low, size_t count, size_t size)
{
	void *memory = calloc(count, size);

	return memory ? memory : no_memory(low);
}

bool ftf_memory_grow(struct ftf_low *low, void *array, size_t *room, size_t need, size_t size)
{
	size_t wanted = *room ? *room : ROOM_FIRST;
	char *old, *moved;

	if (need <= *room)
		return true;
	while (wanted < need)
		wanted *= 2;
	memcpy(&old, array, sizeof(old));
	moved = realloc(old, wanted * size);
	if (!moved)
		return no_memory(low) != NULL;
	memset(moved + *room * size, 0, (wanted - *room) * size);
	memcpy(array, &moved, sizeof(moved));
	*room = wanted;
	return true;
}

int ftf_low_init(struct ftf_low *low, const struct ftf_destination *to, bool appended)
{
	*low = (struct ftf_low){ .to = *to };
	low->at = low->full = lost;
	/* A record that begins before `full` may end beyond it. */
	low->buffer = malloc((BUFFER_WORDS + FTF_RECORD_WORDS_MAX) * sizeof(*low->buffer));
	if (!low->buffer) {
		no_memory(low);
		return -1;
	}
	low->at = low->buffer;
	low->full = low->buffer + BUFFER_WORDS;
	if (!appended)
		*low->at++ = MAGIC;
	return 0;
}

/* Drop the record that is being filled. */
static void drop_record(struct ftf_low *low)
{
	if (low->end)
		low->at = low->start;
	low->end = NULL;
	low->shape = 0;
}

void ftf_low_flush(struct ftf_low *low)
{
	size_t size;

	if (low->end) {
		ftf_low_misuse(low, "a flush inside of a record");
		drop_record(low);
		return;
	}
	if (!low->buffer) {
		if (low->err.system != ENOMEM)
			ftf_low_misuse(low, "a record is written after closing");
		low->at = low->full = lost;
		return;
	}
	size = (size_t)(low->at - low->buffer) * sizeof(*low->buffer);
	low->at = low->buffer;
	if (!size || low->err.text[0])
		return;
	low->err.system = low->to.write(low->to.context, low->buffer, size);
	if (low->err.system)
		snprintf(low->err.text, sizeof(low->err.text), "cannot write: %s",
			 strerror(low->err.system));
	else
		low->written += size;
}

void ftf_low_set_destination(struct ftf_low *low, const struct ftf_destination *to)
{
	ftf_low_flush(low);
	low->to = *to;
}

void ftf_low_records(struct ftf_low *low, const void *records, size_t size)
{
	const uint8_t *from = records;

	if (size % sizeof(*low->at) || low->end) {
		ftf_low_misuse(low, low->end ? "records are passed on inside of a record"
					     : "records are not of whole words");
		return;
	}
	while (size) {
		size_t piece = sizeof(*low->at) * FTF_RECORD_WORDS_MAX;

		if (low->at >= low->full)
			ftf_low_flush(low);
		piece = size < piece ? size : piece;
		memcpy(low->at, from, piece);
		low->at += piece / sizeof(*low->at);
		from += piece;
		size -= piece;
	}
}

int ftf_low_close(struct ftf_low *low, struct ftf_error *err)
{
	if (low->end)
		ftf_low_misuse(low, "a record is not finished");
	drop_record(low);
	if (low->buffer)
		ftf_low_flush(low);
	free(low->buffer);
	low->buffer = low->at = low->full = NULL;
	if (low->err.text[0] && err)
		*err = low->err;
	return low->err.text[0] ? -1 : 0;
}

void ftf_low_misuse(struct ftf_low *low, const char *text)
{
	if (low->strict) {
		fprintf(stderr, "libftf: %s\n", text);
		abort();
	}
	if (!low->err.text[0])
		snprintf(low->err.text, sizeof(low->err.text), "%s", text);
}

void ftf_low_string(struct ftf_low *low, uint16_t reference, const char *text, size_t length)
{
	static const char process[] = "process";

	if (length > FTF_STRING_MAX)
		ftf_low_misuse(low, "a string has more than 31999 bytes");
	else if (!reference || reference > FTF_STRING_REFERENCES)
		ftf_low_misuse(low, "a string reference is not in 1..32767");
	else if (reference == 1 &&
		 (length != strlen(process) || memcmp(text, process, length) != 0))
		ftf_low_misuse(low, "string reference 1 is not \"process\"");
	else
		ftf_low_string_record(low, reference, text, length);
}

void ftf_low_string_record(struct ftf_low *low, uint16_t reference, const char *text, size_t length)
{
	ftf_low_start(low,
		      ftf_low_header(FTF_RECORD_STRING, 1 + ftf_words(length)) |
			      (uint64_t)reference << 16 | (uint64_t)length << 32,
		      0);
	ftf_low_text(low, text, length);
	ftf_low_finish(low);
}

void ftf_low_thread(struct ftf_low *low, uint8_t reference, uint64_t pid, uint64_t tid)
{
	if (!reference) {
		ftf_low_misuse(low, "a thread reference is not in 1..255");
		return;
	}
	ftf_low_start(low, ftf_low_header(FTF_RECORD_THREAD, 3) | (uint64_t)reference << 16, 0);
	ftf_low_word(low, pid);
	ftf_low_word(low, tid);
	ftf_low_finish(low);
}

static uint64_t metadata(enum metadata_type type, size_t words, uint32_t provider)
{
	return ftf_low_header(FTF_RECORD_METADATA, words) | (uint64_t)type << 16 |
	       (uint64_t)provider << 20;
}

void ftf_low_provider(struct ftf_low *low, uint32_t id, const char *name)
{
	size_t length = strnlen(name, PROVIDER_NAME_MAX);

	ftf_low_start(low,
		      metadata(METADATA_PROVIDER_INFO, 1 + ftf_words(length), id) | (uint64_t)length
											    << 52,
		      0);
	ftf_low_text(low, name, length);
	ftf_low_finish(low);
}

void ftf_low_section(struct ftf_low *low, uint32_t id)
{
	ftf_low_start(low, metadata(METADATA_PROVIDER_SECTION, 1, id), 0);
	ftf_low_finish(low);
}

void ftf_low_initialization(struct ftf_low *low, const struct ftf_clock *clock)
{
	ftf_low_start(low, ftf_low_header(FTF_RECORD_INITIALIZATION, clock->has_base ? 4 : 2), 0);
	ftf_low_word(low, clock->ticks_per_second ? clock->ticks_per_second : NS_PER_S);
	if (clock->has_base) {
		ftf_low_word(low, clock->base_ticks);
		ftf_low_word(low, clock->base_time);
	}
	ftf_low_finish(low);
}
