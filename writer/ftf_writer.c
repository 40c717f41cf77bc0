/* SPDX-License-Identifier: MIT */
#include "writer/ftf_writer.h"

#include <assert.h>
#include <string.h>

#define MAGIC UINT64_C(0x0016547846040010)
#define TICKS_PER_SECOND UINT64_C(1000000000)
#define PROVIDER_ID 1
#define PROVIDER_NAME "ptrace2ftf"

#define STRING_NUMBERS 32767 /* 15 bits, 0 is the empty string */
#define THREAD_NUMBERS 255   /* 8 bits, 0 is an inline thread */

enum record_type { RECORD_METADATA, RECORD_INIT, RECORD_STRING, RECORD_THREAD, RECORD_EVENT,
		   RECORD_KERNEL_OBJECT = 7 };
enum metadata_type { METADATA_PROVIDER_INFO = 1, METADATA_PROVIDER_SECTION };
enum event_type { EVENT_DURATION_BEGIN = 2, EVENT_DURATION_END };
enum kernel_object { KERNEL_PROCESS = 1, KERNEL_THREAD };

/* A record being filled; the words are in the output's buffer. */
struct filling {
	uint8_t *bytes;
	size_t words;
};

static void put(struct filling *record, uint64_t word)
{
	memcpy(record->bytes + record->words++ * sizeof(word), &word, sizeof(word));
}

static uint64_t header(enum record_type type, size_t words)
{
	return (uint64_t)type | (uint64_t)words << 4;
}

static struct filling begin(struct ftf_writer *writer, size_t words)
{
	return (struct filling){ output_reserve(writer->output, words * sizeof(uint64_t)), 0 };
}

static void finish(struct ftf_writer *writer, const struct filling *record)
{
	output_advance(writer->output, record->words * sizeof(uint64_t));
}

static size_t words_of(size_t bytes)
{
	return (bytes + 7) / 8;
}

/* Put text, padded with zeros to whole words. */
static void put_text(struct filling *record, const char *text, size_t length)
{
	uint8_t *at = record->bytes + record->words * sizeof(uint64_t);
	size_t words = words_of(length);

	if (!length)
		return;
	memset(at + (words - 1) * sizeof(uint64_t), 0, sizeof(uint64_t));
	memcpy(at, text, length);
	record->words += words;
}

/* The longest prefix within the limit that does not end inside a UTF-8 sequence. */
static size_t cut(const char *text, size_t length)
{
	size_t end = FTF_STRING_MAX;

	if (length <= FTF_STRING_MAX)
		return length;
	for (int i = 0; i < 4 && end; i++, end--) {
		if (((unsigned char)text[end] & 0xc0) != 0x80)
			return end;
	}
	return FTF_STRING_MAX; /* not UTF-8 */
}

/* The number of a string in this record, defined by a string record where needed. */
static uint64_t use_string(struct ftf_writer *writer, const struct name *name)
{
	struct filling record;
	size_t length;
	uint16_t number;
	bool is_new;

	if (!name || !name->length)
		return 0;
	number = ftf_slots_use(&writer->strings, name->id, writer->record, &is_new);
	if (!is_new)
		return number;
	length = cut(name->text, name->length);
	record = begin(writer, 1 + words_of(length));
	put(&record, header(RECORD_STRING, 1 + words_of(length)) | (uint64_t)number << 16 |
			     (uint64_t)length << 32);
	put_text(&record, name->text, length);
	finish(writer, &record);
	return number;
}

static uint64_t use_thread(struct ftf_writer *writer, const struct ftf_thread *thread)
{
	struct filling record;
	uint16_t number;
	bool is_new;

	number = ftf_slots_use(&writer->threads, thread->index, writer->record, &is_new);
	if (!is_new)
		return number;
	record = begin(writer, 3);
	put(&record, header(RECORD_THREAD, 3) | (uint64_t)number << 16);
	put(&record, thread->pid);
	put(&record, thread->tid);
	finish(writer, &record);
	return number;
}

/* ---- Arguments ----------------------------------------------------------- */

static size_t arg_words(const struct ftf_arg *arg)
{
	switch (arg->type) {
	case FTF_INT64:
	case FTF_UINT64:
	case FTF_DOUBLE:
	case FTF_POINTER:
	case FTF_KOID:
		return 2;
	default:
		return 1;
	}
}

struct arg_numbers {
	uint64_t name, string;
};

/* Strings come before the record that uses them. */
static size_t prepare_args(struct ftf_writer *writer, const struct ftf_arg *args, size_t count,
			   struct arg_numbers *numbers)
{
	size_t words = 0;

	assert(count <= FTF_ARGS_MAX);
	for (size_t i = 0; i < count; i++) {
		numbers[i].name = use_string(writer, args[i].name);
		numbers[i].string = args[i].type == FTF_STRING
					    ? use_string(writer, args[i].value.string)
					    : 0;
		words += arg_words(&args[i]);
	}
	return words;
}

static void put_arg(struct filling *record, const struct ftf_arg *arg,
		    const struct arg_numbers *numbers)
{
	uint64_t first = (uint64_t)arg->type | arg_words(arg) << 4 | numbers->name << 16;
	uint64_t real;

	switch (arg->type) {
	case FTF_INT32:
	case FTF_UINT32:
		put(record, first | (uint64_t)(uint32_t)arg->value.word << 32);
		return;
	case FTF_BOOL:
		put(record, first | (uint64_t)(arg->value.word != 0) << 32);
		return;
	case FTF_STRING:
		put(record, first | numbers->string << 32);
		return;
	case FTF_DOUBLE:
		memcpy(&real, &arg->value.real, sizeof(real));
		put(record, first);
		put(record, real);
		return;
	case FTF_NULL:
		put(record, first);
		return;
	default:
		put(record, first);
		put(record, arg->value.word);
		return;
	}
}

/* ---- Records ------------------------------------------------------------- */

void ftf_writer_init(struct ftf_writer *writer, struct output *output)
{
	const size_t name_length = sizeof(PROVIDER_NAME) - 1;
	struct filling record;

	*writer = (struct ftf_writer){ .output = output };
	ftf_slots_init(&writer->strings, STRING_NUMBERS);
	ftf_slots_init(&writer->threads, THREAD_NUMBERS);
	record = begin(writer, 16);
	put(&record, MAGIC);
	put(&record, header(RECORD_METADATA, 1 + words_of(name_length)) |
			     (uint64_t)METADATA_PROVIDER_INFO << 16 |
			     (uint64_t)PROVIDER_ID << 20 | (uint64_t)name_length << 52);
	put_text(&record, PROVIDER_NAME, name_length);
	put(&record, header(RECORD_METADATA, 1) | (uint64_t)METADATA_PROVIDER_SECTION << 16 |
			     (uint64_t)PROVIDER_ID << 20);
	put(&record, header(RECORD_INIT, 2));
	put(&record, TICKS_PER_SECOND);
	finish(writer, &record);
}

void ftf_writer_release(struct ftf_writer *writer)
{
	ftf_slots_release(&writer->strings);
	ftf_slots_release(&writer->threads);
}

static void kernel_object(struct ftf_writer *writer, enum kernel_object type, uint64_t koid,
			  const struct name *name, const struct ftf_arg *arg)
{
	struct arg_numbers numbers = { 0 };
	struct filling record;
	uint64_t name_number;
	size_t words = 2;

	writer->record++;
	name_number = use_string(writer, name);
	if (arg)
		words += prepare_args(writer, arg, 1, &numbers);
	record = begin(writer, words);
	put(&record, header(RECORD_KERNEL_OBJECT, words) | (uint64_t)type << 16 |
			     name_number << 24 | (uint64_t)(arg != NULL) << 40);
	put(&record, koid);
	if (arg)
		put_arg(&record, arg, &numbers);
	finish(writer, &record);
}

void ftf_process_name(struct ftf_writer *writer, uint32_t pid, const struct name *name)
{
	kernel_object(writer, KERNEL_PROCESS, pid, name, NULL);
}

void ftf_thread_name(struct ftf_writer *writer, const struct ftf_thread *thread,
		     const struct name *name, const struct name *process_key)
{
	struct ftf_arg process = { process_key, FTF_KOID, { .word = thread->pid } };

	kernel_object(writer, KERNEL_THREAD, thread->tid, name, &process);
}

void ftf_duration_begin(struct ftf_writer *writer, const struct ftf_thread *thread, uint64_t time,
			const struct name *category, const struct name *name,
			const struct ftf_arg *args, size_t count)
{
	struct arg_numbers numbers[FTF_ARGS_MAX];
	uint64_t thread_number, category_number, name_number;
	struct filling record;
	size_t words;

	writer->record++;
	writer->events++;
	thread_number = use_thread(writer, thread);
	category_number = use_string(writer, category);
	name_number = use_string(writer, name);
	words = 2 + prepare_args(writer, args, count, numbers);
	record = begin(writer, words);
	put(&record, header(RECORD_EVENT, words) | (uint64_t)EVENT_DURATION_BEGIN << 16 |
			     (uint64_t)count << 20 | thread_number << 24 | category_number << 32 |
			     name_number << 48);
	put(&record, time);
	for (size_t i = 0; i < count; i++)
		put_arg(&record, &args[i], &numbers[i]);
	finish(writer, &record);
}

void ftf_duration_end_args(struct ftf_writer *writer, const struct ftf_thread *thread,
			   uint64_t time, const struct ftf_arg *args, size_t count)
{
	struct arg_numbers numbers[FTF_ARGS_MAX];
	struct filling record;
	uint64_t thread_number;
	size_t words;

	writer->record++;
	writer->events++;
	thread_number = use_thread(writer, thread);
	words = 2 + prepare_args(writer, args, count, numbers);
	record = begin(writer, words);
	put(&record, header(RECORD_EVENT, words) | (uint64_t)EVENT_DURATION_END << 16 |
			     (uint64_t)count << 20 | thread_number << 24);
	put(&record, time);
	for (size_t i = 0; i < count; i++)
		put_arg(&record, &args[i], &numbers[i]);
	finish(writer, &record);
}

void ftf_duration_end(struct ftf_writer *writer, const struct ftf_thread *thread, uint64_t time)
{
	ftf_duration_end_args(writer, thread, time, NULL, 0);
}
