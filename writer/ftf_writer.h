/* SPDX-License-Identifier: MIT */
/* The state of the high face: names and threads by dense ids, and their references. */
#pragma once

#include "base/io/output.h"
#include "base/tables/id_index.h"
#include "base/utf8.h"
#include "writer/ftf.h"

/* ---- Memory: a lack of it is a sticky error of the trace ------------------- */

/* Returns count * size zeroed bytes, owned by the caller; NULL, and an error of the trace. */
void *ftf_memory_get(struct ftf_low *low, size_t count, size_t size);

/*
 * Grow the array at `array`, a pointer to a pointer to elements of `size` bytes, to at least `need`
 * elements; *room is its capacity.  The new room is zeroed.  On failure, returns false, leaves the
 * array unchanged, and records an error of the trace.
 */
bool ftf_memory_grow(struct ftf_low *low, void *array, size_t *room, size_t need, size_t size);

/* ---- References ------------------------------------------------------------ */

struct ftf_slots {
	struct ftf_low *low; /* borrowed: the trace, for its memory */
	uint32_t count;      /* number of references: [1 .. count] */
	uint32_t assigned;   /* number ever assigned */
	uint32_t hand;
	uint32_t inline_uses; /* number of inline uses of a key before it gets a reference */
	struct {
		uint32_t stamp; /* the record that last used it, or 0 */
		uint32_t key;
	} * lent; /* owned; by reference */
	struct {
		uint16_t reference; /* or 0 */
		uint8_t misses;     /* times it was inline, and HAD_REFERENCE */
	} * keys;                   /* owned; by key */
	size_t room;                /* allocated `keys` */
	uint64_t redefined;         /* keys that lost their reference and got another */
};

/* Returns the reference of a key, for use in record number `record`; 0: currently without one. */
static inline uint16_t ftf_slots_find(struct ftf_slots *slots, uint32_t key, uint32_t record)
{
	uint16_t reference = key < slots->room ? slots->keys[key].reference : 0;

	slots->lent[reference].stamp = record;
	return reference;
}

/* Longest inline string of a record: 17 of them must fit. */
#define FTF_INLINE_MAX 256

/* One provider's tables. */
struct ftf_provider {
	struct ftf_slots strings, threads; /* keys: ids */
	uint64_t redefined;                /* at the last check */
};

#define FTF_PROVIDERS_MAX 64

struct ftf_writer {
	struct ftf_low low;
	struct output output; /* the output of ftf_open() */
	bool has_output;
	struct ftf_writer_text {
		const char *text;    /* borrowed from the caller if it is not `copy` */
		char *copy;          /* owned; or NULL */
		uint32_t length;     /* at most FTF_STRING_MAX */
		uint8_t provider_id; /* provider in which it is a name of events; 0: not yet */
	} * texts;                   /* owned; by id, 0 is the empty string */
	size_t text_count, text_room;
	struct id_index text_index;
	struct ftf_writer_thread {
		uint64_t pid, tid;
	} * threads; /* owned; by id, 0 is 0/0 */
	size_t thread_count, thread_room;
	struct id_index thread_index;
	struct ftf_provider *providers[FTF_PROVIDERS_MAX + 1]; /* owned; [1 .. provider_count] */
	uint32_t provider_count;
	uint32_t current;              /* provider selected */
	struct ftf_provider *provider; /* the same; borrowed from `providers` */
	uint32_t filling;              /* provider that takes names without a provider_id */
	char *provider_name;           /* owned */
	struct ftf_clock clock;
	uint32_t record; /* number of the current record, not 0 */
	uint64_t events;
	uint64_t check_at; /* the number of events at the next check of the provider */
	uint64_t next_id;  /* for new processes and threads */
	struct ftf_name process, outgoing_weight, incoming_weight, waker, weight;
};

/* A string of a record: a reference, or text that the record contains. */
struct ftf_string_ref {
	uint16_t reference;
	const char *text; /* if the reference is inline; borrowed */
};

/* Begin a record of the current provider: references used before may be reassigned. */
static inline void ftf_writer_next_record(struct ftf_writer *writer)
{
	if (!++writer->record)
		writer->record = 1;
}

/* The slow paths of the three functions below. */
void ftf_writer_select_provider(struct ftf_writer *writer, struct ftf_name name);
struct ftf_string_ref ftf_writer_define_string(struct ftf_writer *writer, struct ftf_name name);
uint8_t ftf_writer_define_thread(struct ftf_writer *writer, struct ftf_thread thread);

/* Select the provider of `name` (provider_id), before the record's first reference. */
static inline void ftf_writer_select(struct ftf_writer *writer, struct ftf_name name)
{
	if (writer->provider_count > 1 || writer->events >= writer->check_at)
		ftf_writer_select_provider(writer, name);
}

/* Returns a name as a string of this record, for which a string record may be written. */
static inline struct ftf_string_ref ftf_writer_use_string(struct ftf_writer *writer,
							  struct ftf_name name)
{
	struct ftf_string_ref refs = { 0 };

	if (!name.id)
		return refs;
	refs.reference = ftf_slots_find(&writer->provider->strings, name.id, writer->record);
	return refs.reference ? refs : ftf_writer_define_string(writer, name);
}

/* Returns a thread's reference, and may write its record; 0: the record must contain the ids. */
static inline uint8_t ftf_writer_use_thread(struct ftf_writer *writer, struct ftf_thread thread)
{
	uint16_t reference = ftf_slots_find(&writer->provider->threads, thread.id, writer->record);

	return reference ? (uint8_t)reference : ftf_writer_define_thread(writer, thread);
}

/* Returns the thread; another writer's thread is misuse and gives 0/0. */
const struct ftf_writer_thread *ftf_writer_thread_borrow(struct ftf_writer *writer,
							 struct ftf_thread thread);

/* Write a string record; length and reference must be within their limits. */
void ftf_low_string_record(struct ftf_low *low, uint16_t reference, const char *text,
			   size_t length);

/* Put a string's text, if the record contains it. */
static inline void ftf_writer_put_text(struct ftf_writer *writer, const struct ftf_string_ref *refs)
{
	if (refs->reference & 0x8000)
		ftf_low_text(&writer->low, refs->text, refs->reference & 0x7fff);
}
