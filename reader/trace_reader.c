/* SPDX-License-Identifier: MIT */
/* Parses records, checks them, and keeps the tables that they refer to. */
#include "reader/trace_reader.h"

#include <stdarg.h>

#include "base/file_kind.h"
#include "base/tables/hash.h"

#define MAGIC         UINT64_C(0x0016547846040010)
#define STRINGS       32768
#define THREADS       256
#define STRING_MAX    32000
#define PROVIDERS_MAX 256 /* half a MiB each */
#define HELD_MAX      ((uint64_t)1 << 30)
#define PIECE         4096 /* bytes of a large record that are skipped at a time */

/* "Large Blob Record": its size is of 32 bits. */
#define LARGE_RECORD 15

struct trace_provider {
	uint32_t id;
	uint64_t ticks_per_second;
	size_t string_end; /* index after the last defined string; later pages stay untouched */
	struct text_view strings[STRINGS]; /* owned copies; NULL: not defined */
	struct trace_ids threads[THREADS];
	bool thread_defined[THREADS];
	UT_hash_handle hh;
};

/* A record being read: `next` is the first word not yet taken. */
struct parse {
	struct trace_reader *reader;
	struct trace_record *record;
	const uint8_t *bytes;
	size_t next;
	uint64_t header;
};

static bool fine(const struct parse *p)
{
	return !p->record->problem[0];
}

void trace_complain(struct trace_record *record, const char *format, ...)
{
	va_list args;

	if (record->problem[0])
		return;
	va_start(args, format);
	vsnprintf(record->problem, sizeof(record->problem), format, args);
	va_end(args);
}

void trace_refuse(struct trace_record *record, const char *text)
{
	if (!record->refusal[0])
		snprintf(record->refusal, sizeof(record->refusal), "%s", text);
}

const char *const trace_unknown_texts[UNKNOWN_KINDS] = {
	"record type", "metadata type",        "trace info type", "provider event",
	"event type",  "argument type",        "scheduling type", "thread state",
	"provider",    "words after the data",
};

static void pass_unknown(struct parse *p, enum trace_unknown kind, uint64_t number)
{
	struct trace_record *record = p->record;

	p->reader->unknown[kind][kind < UNKNOWN_TYPES ? number : 0]++;
	if (!record->unknown[0])
		snprintf(record->unknown, sizeof(record->unknown), "%s %" PRIu64,
			 trace_unknown_texts[kind], number);
}

/* Bits [low .. high] of a word, as the specification counts them. */
static uint64_t bits(uint64_t value, unsigned low, unsigned high)
{
	return value << (63 - high) >> (63 - high + low);
}

static void reserved(struct parse *p, unsigned low, unsigned high)
{
	if (bits(p->header, low, high))
		trace_complain(p->record, "reserved bits %u..%u of the header are not zero", low,
			       high);
}

static uint64_t take_word(struct parse *p)
{
	uint64_t word = 0;

	if (p->next >= p->record->words) {
		trace_complain(p->record, "a word is missing: the record has only %zu",
			       p->record->words);
		return 0;
	}
	memcpy(&word, p->bytes + p->next++ * 8, sizeof(word));
	return word;
}

/* Viewers hold times as int64 of nanoseconds. */
static void check_time(struct parse *p, uint64_t ticks)
{
	uint64_t per_second = p->reader->current->ticks_per_second;

	if ((unsigned __int128)ticks * NS_PER_S / per_second > INT64_MAX)
		trace_complain(p->record, "%" PRIu64 " ticks are 2^63 ns or more", ticks);
}

static uint64_t take_time(struct parse *p)
{
	uint64_t ticks = take_word(p);

	check_time(p, ticks);
	return ticks;
}

/* Take a stream of bytes, padded with zeros to whole words. */
static struct text_view take_text(struct parse *p, size_t length, const char *what)
{
	size_t words = (length + 7) / 8;
	struct text_view text = { (const char *)p->bytes + p->next * 8, length };

	if (words > p->record->words - p->next) {
		trace_complain(p->record, "%s of %zu bytes leaves its record", what, length);
		return (struct text_view){ "", 0 };
	}
	for (size_t i = length; i < words * 8; i++) {
		if (text.at[i])
			trace_complain(p->record, "%s is not padded with zeros", what);
	}
	p->next += words;
	return text;
}

/* ---- References ---------------------------------------------------------- */

static struct text_view string_of(struct parse *p, uint64_t reference, const char *what)
{
	struct text_view *text;

	if (reference == 0)
		return (struct text_view){ "", 0 };
	if (reference & 0x8000)
		return take_text(p, reference & 0x7fff, what);
	text = &p->reader->current->strings[reference];
	if (text->at)
		return *text;
	trace_complain(p->record, "%s: string %" PRIu64 " is not defined", what, reference);
	return (struct text_view){ "", 0 };
}

static struct trace_ids thread_of(struct parse *p, uint64_t reference)
{
	struct trace_ids ids;

	if (reference == 0) {
		ids.pid = take_word(p);
		ids.tid = take_word(p);
		return ids;
	}
	if (!p->reader->current->thread_defined[reference])
		trace_complain(p->record, "thread %" PRIu64 " is not defined", reference);
	return p->reader->current->threads[reference];
}

/* ---- Arguments ----------------------------------------------------------- */

static void take_value(struct parse *p, struct trace_arg *arg, uint64_t head)
{
	switch (arg->type) {
	case ARG_INT32:
		arg->word = (uint64_t)(int64_t)(int32_t)bits(head, 32, 63);
		return;
	case ARG_UINT32:
		arg->word = bits(head, 32, 63);
		return;
	case ARG_BOOL:
		arg->word = bits(head, 32, 32);
		if (bits(head, 33, 63))
			trace_complain(p->record, "reserved bits of a bool argument are not zero");
		return;
	case ARG_STRING:
		arg->string = string_of(p, bits(head, 32, 47), "argument");
		if (bits(head, 48, 63))
			trace_complain(p->record,
				       "reserved bits of a string argument are not zero");
		return;
	case ARG_NULL:
		break;
	default:
		arg->word = take_word(p);
	}
	if (bits(head, 32, 63))
		trace_complain(p->record, "reserved bits of an argument are not zero");
}

static void take_arg(struct parse *p, struct trace_arg *arg)
{
	size_t begin = p->next;
	uint64_t head = take_word(p), size = bits(head, 4, 15);

	*arg = (struct trace_arg){ .type = (enum trace_arg_type)bits(head, 0, 3) };
	if (!fine(p))
		return;
	if (!size || size > p->record->words - begin) {
		trace_complain(p->record, "an argument of %" PRIu64 " words leaves its record",
			       size);
		return;
	}
	arg->name = string_of(p, bits(head, 16, 31), "argument name");
	if (arg->type < ARG_TYPES)
		take_value(p, arg, head);
	else
		pass_unknown(p, UNKNOWN_ARGUMENT_TYPE, arg->type);
	if (p->next > begin + size)
		trace_complain(p->record, "an argument has %zu words and says %" PRIu64,
			       p->next - begin, size);
	else if (p->next < begin + size && arg->type < ARG_TYPES)
		pass_unknown(p, UNKNOWN_WORDS, begin + size - p->next);
	p->next = begin + size;
	if (memchr(arg->name.at, '.', arg->name.length) ||
	    memchr(arg->name.at, '[', arg->name.length))
		trace_refuse(p->record,
			     "an argument's name has '.' or '[', which Perfetto cannot show");
}

static void take_args(struct parse *p, size_t count)
{
	struct trace_record *record = p->record;

	while (fine(p) && record->arg_count < count)
		take_arg(p, &record->args[record->arg_count++]);
}

/* ---- Metadata ------------------------------------------------------------ */

static void clear_tables(struct trace_reader *reader, struct trace_provider *provider)
{
	for (size_t i = 0; i < provider->string_end; i++) {
		if (!provider->strings[i].at)
			continue;
		reader->held -= provider->strings[i].length;
		free((char *)provider->strings[i].at);
		provider->strings[i] = (struct text_view){ NULL, 0 };
	}
	provider->string_end = 0;
	memset(provider->thread_defined, 0, sizeof(provider->thread_defined));
	provider->ticks_per_second = NS_PER_S; /* until an initialization says otherwise */
}

static struct trace_provider *find_provider(struct trace_reader *reader, uint32_t id)
{
	struct trace_provider *provider;

	HASH_FIND(hh, reader->providers, &id, sizeof(id), provider);
	return provider;
}

/* Make a provider known with empty tables, and select it. */
static void enter_provider(struct trace_reader *reader, uint32_t id)
{
	HASH_FIND_OR_ADD(reader->providers, id, &id, reader->current);
	clear_tables(reader, reader->current);
}

static void begin_provider(struct parse *p)
{
	if (!find_provider(p->reader, (uint32_t)p->record->number) &&
	    HASH_COUNT(p->reader->providers) >= PROVIDERS_MAX)
		trace_complain(p->record, "more than %d providers", PROVIDERS_MAX);
	else
		enter_provider(p->reader, (uint32_t)p->record->number);
}

static void read_provider_section(struct parse *p)
{
	struct trace_provider *provider = find_provider(p->reader, (uint32_t)p->record->number);

	p->record->kind = TRACE_PROVIDER_SECTION;
	reserved(p, 52, 63);
	if (provider) {
		p->reader->current = provider;
		return;
	}
	pass_unknown(p, UNKNOWN_PROVIDER, p->record->number);
	trace_refuse(p->record, "the provider is not known, and Perfetto drops what follows");
	begin_provider(p);
}

static void read_metadata(struct parse *p)
{
	p->record->number = bits(p->header, 20, 51);
	switch (bits(p->header, 16, 19)) {
	case 1:
		p->record->kind = TRACE_PROVIDER_INFO;
		p->record->name = take_text(p, bits(p->header, 52, 59), "provider name");
		reserved(p, 60, 63);
		begin_provider(p);
		return;
	case 2:
		read_provider_section(p);
		return;
	case 3:
		p->record->kind = TRACE_PROVIDER_EVENT;
		p->record->type = (unsigned)bits(p->header, 52, 55);
		if (p->record->type)
			pass_unknown(p, UNKNOWN_PROVIDER_EVENT, p->record->type);
		reserved(p, 56, 63);
		return;
	case 4:
		if (p->header == MAGIC)
			p->record->kind = TRACE_MAGIC;
		else
			pass_unknown(p, UNKNOWN_TRACE_INFO, bits(p->header, 20, 23));
		return;
	default:
		pass_unknown(p, UNKNOWN_METADATA_TYPE, bits(p->header, 16, 19));
	}
}

/* ---- Tables -------------------------------------------------------------- */

static void read_initialization(struct parse *p)
{
	p->record->kind = TRACE_INITIALIZATION;
	p->record->number = take_word(p);
	reserved(p, 16, 63);
	/* Jane Street's "tracing" library adds a tick and its time since 1970. */
	if (p->record->words >= 4) {
		p->record->base_ticks = take_word(p);
		p->record->base_time = take_word(p);
	}
	if (fine(p) && !p->record->number)
		trace_complain(p->record, "0 ticks a second");
	if (fine(p))
		p->reader->current->ticks_per_second = p->record->number;
}

static void read_string(struct parse *p)
{
	struct trace_reader *reader = p->reader;
	size_t length = bits(p->header, 32, 46);
	struct text_view *text;
	char *copy;

	p->record->kind = TRACE_STRING;
	p->record->number = bits(p->header, 16, 30);
	p->record->name = take_text(p, length, "string");
	reserved(p, 31, 31);
	reserved(p, 47, 63);
	if (!p->record->number || length > STRING_MAX)
		trace_complain(p->record, "string %" PRIu64 " of %zu bytes", p->record->number,
			       length);
	if (!fine(p))
		return;
	text = &reader->current->strings[p->record->number];
	if (reader->held - text->length + length > HELD_MAX) {
		trace_complain(p->record, "the strings in use are larger than 1 GiB");
		return;
	}
	reader->held += length - text->length;
	free((char *)text->at);
	copy = alloc_zeroed(1, length + 1);
	memcpy(copy, p->record->name.at, length);
	*text = (struct text_view){ copy, length };
	reader->current->string_end = MAX(reader->current->string_end, p->record->number + 1);
}

static void read_thread(struct parse *p)
{
	uint64_t number = bits(p->header, 16, 23);

	p->record->kind = TRACE_THREAD;
	p->record->number = number;
	p->record->thread.pid = take_word(p);
	p->record->thread.tid = take_word(p);
	reserved(p, 24, 63);
	if (!number)
		trace_complain(p->record, "thread 0 cannot be defined");
	if (!fine(p))
		return;
	p->reader->current->threads[number] = p->record->thread;
	p->reader->current->thread_defined[number] = true;
}

/* ---- Events -------------------------------------------------------------- */

/* Perfetto drops a record in which an argument that it reads has another type. */
static void check_arg_type(struct parse *p, const char *name, enum trace_arg_type type)
{
	for (size_t i = 0; i < p->record->arg_count; i++) {
		const struct trace_arg *arg = &p->record->args[i];

		if (arg->name.length == strlen(name) &&
		    memcmp(arg->name.at, name, arg->name.length) == 0 && arg->type != type)
			trace_refuse(p->record,
				     "an argument does not have the type that Perfetto needs");
	}
}

static void read_event(struct parse *p)
{
	struct trace_record *record = p->record;

	record->kind = TRACE_EVENT;
	record->type = (unsigned)bits(p->header, 16, 19);
	record->time = take_time(p);
	record->thread = thread_of(p, bits(p->header, 24, 31));
	record->category = string_of(p, bits(p->header, 32, 47), "category");
	record->name = string_of(p, bits(p->header, 48, 63), "name");
	take_args(p, bits(p->header, 20, 23));
	if (record->type >= EVENT_TYPES)
		pass_unknown(p, UNKNOWN_EVENT_TYPE, record->type);
	else if (record->type == EVENT_COUNTER || record->type >= EVENT_COMPLETE)
		record->id = take_word(p);
	if (fine(p) && record->type == EVENT_COUNTER) {
		const unsigned numbers = 1u << ARG_INT32 | 1u << ARG_UINT32 | 1u << ARG_INT64 |
					 1u << ARG_UINT64 | 1u << ARG_DOUBLE;

		if (!p->record->arg_count)
			trace_complain(p->record, "a counter has no value");
		for (size_t i = 0; i < p->record->arg_count; i++) {
			if (!(numbers >> p->record->args[i].type & 1))
				trace_refuse(
					p->record,
					"a counter's value is not a number, and Perfetto drops it");
		}
	}
	if (fine(p) && record->type == EVENT_COMPLETE && record->id < record->time)
		trace_complain(p->record, "a complete event ends before it begins");
	if (record->type == EVENT_COMPLETE)
		check_time(p, record->id);
}

/* ---- Other records ------------------------------------------------------- */

static void read_blob(struct parse *p)
{
	p->record->kind = TRACE_BLOB;
	p->record->type = (unsigned)bits(p->header, 48, 55);
	p->record->name = string_of(p, bits(p->header, 16, 31), "name");
	p->record->bytes = take_text(p, bits(p->header, 32, 46), "blob");
	reserved(p, 47, 47);
	reserved(p, 56, 63);
}

static void read_userspace_object(struct parse *p)
{
	uint64_t reference = bits(p->header, 16, 23);

	p->record->kind = TRACE_USERSPACE_OBJECT;
	p->record->id = take_word(p);
	if (reference)
		p->record->thread = thread_of(p, reference);
	else
		p->record->thread.pid = take_word(p);
	p->record->name = string_of(p, bits(p->header, 24, 39), "name");
	take_args(p, bits(p->header, 40, 43));
	reserved(p, 44, 63);
}

/* ZX_OBJ_TYPE_THREAD */
#define KERNEL_OBJECT_THREAD 2

static void read_kernel_object(struct parse *p)
{
	p->record->kind = TRACE_KERNEL_OBJECT;
	p->record->type = (unsigned)bits(p->header, 16, 23);
	p->record->id = take_word(p);
	p->record->name = string_of(p, bits(p->header, 24, 39), "name");
	take_args(p, bits(p->header, 40, 43));
	reserved(p, 44, 63);
	if (p->record->type == KERNEL_OBJECT_THREAD)
		check_arg_type(p, "process", ARG_KOID);
}

static void read_legacy_switch(struct parse *p)
{
	struct trace_record *record = p->record;

	record->kind = TRACE_LEGACY_CONTEXT_SWITCH;
	record->number = bits(p->header, 16, 23);
	record->state = (unsigned)bits(p->header, 24, 27);
	record->out_priority = (unsigned)bits(p->header, 44, 51);
	record->in_priority = (unsigned)bits(p->header, 52, 59);
	record->time = take_time(p);
	record->thread = thread_of(p, bits(p->header, 28, 35));
	record->other = thread_of(p, bits(p->header, 36, 43));
}

static void read_context_switch(struct parse *p)
{
	struct trace_record *record = p->record;

	record->kind = TRACE_CONTEXT_SWITCH;
	record->number = bits(p->header, 20, 35);
	record->state = (unsigned)bits(p->header, 36, 39);
	record->time = take_time(p);
	record->thread.tid = take_word(p);
	record->other.tid = take_word(p);
	take_args(p, bits(p->header, 16, 19));
	check_arg_type(p, "incoming_weight", ARG_INT32);
	check_arg_type(p, "outgoing_weight", ARG_INT32);
	reserved(p, 40, 59);
}

static void read_wakeup(struct parse *p)
{
	struct trace_record *record = p->record;

	record->kind = TRACE_THREAD_WAKEUP;
	record->number = bits(p->header, 20, 35);
	record->time = take_time(p);
	record->thread.tid = take_word(p);
	take_args(p, bits(p->header, 16, 19));
	check_arg_type(p, "weight", ARG_INT32);
	reserved(p, 36, 59);
}

static void read_scheduling(struct parse *p)
{
	switch (bits(p->header, 60, 63)) {
	case 0:
		read_legacy_switch(p);
		break;
	case 1:
		read_context_switch(p);
		break;
	case 2:
		read_wakeup(p);
		break;
	default:
		pass_unknown(p, UNKNOWN_SCHEDULING_TYPE, bits(p->header, 60, 63));
	}
	if (p->record->state > 5)
		pass_unknown(p, UNKNOWN_THREAD_STATE, p->record->state);
}

static void read_log(struct parse *p)
{
	p->record->kind = TRACE_LOG;
	p->record->time = take_time(p);
	p->record->thread = thread_of(p, bits(p->header, 32, 39));
	p->record->name = take_text(p, bits(p->header, 16, 30), "log message");
	reserved(p, 31, 31);
	reserved(p, 40, 63);
}

/* ---- Records ------------------------------------------------------------- */

static void check_first(struct parse *p)
{
	if (p->record->offset == 0 && p->record->kind != TRACE_MAGIC)
		trace_complain(p->record, "the first record is not the magic number");
}

static void read_record(struct parse *p)
{
	static void (*const readers[])(struct parse *) = { read_metadata,
							   read_initialization,
							   read_string,
							   read_thread,
							   read_event,
							   read_blob,
							   read_userspace_object,
							   read_kernel_object,
							   read_scheduling,
							   read_log };
	size_t type = bits(p->header, 0, 3);

	if (type < COUNT_OF(readers))
		readers[type](p);
	else
		pass_unknown(p, UNKNOWN_RECORD_TYPE, type);
	if (fine(p) && !p->record->unknown[0] && p->next != p->record->words)
		pass_unknown(p, UNKNOWN_WORDS, p->record->words - p->next);
	check_first(p);
}

int trace_reader_open(struct trace_reader *reader, const char *path, struct error *err)
{
	*reader = (struct trace_reader){ 0 };
	if (trace_input_open(&reader->input, path, err) < 0)
		return -1;
	/* Provider 0 exists before any provider is named. */
	enter_provider(reader, 0);
	return 0;
}

/* ---- Reading ------------------------------------------------------------ */

int trace_reader_check_magic(struct trace_reader *reader, struct error *err)
{
	const uint64_t magic = MAGIC;
	struct byte_view view;

	if (trace_input_peek(&reader->input, sizeof(magic), &view, err) < 0)
		return -1;
	if (!view.size)
		return error_set(err, ERROR_FORMAT, "is empty");
	view.size = MIN(view.size, sizeof(magic));
	if (view.size == sizeof(magic) && memcmp(view.bytes, &magic, sizeof(magic)) == 0)
		return 0;
	return error_set(err, ERROR_FORMAT, "is not a Fuchsia trace%s",
			 file_kind_text(view.bytes, view.size));
}

static int report_short(const struct trace_record *record, size_t left, struct error *err)
{
	return error_set_at(err, record->offset, "record of %zu words, %zu bytes are left",
			    record->words, left);
}

/* Skip the record.  Returns 1. */
static int pass_record(struct trace_reader *reader, size_t size)
{
	reader->input.at += size;
	reader->offset += size;
	return 1;
}

/* Skip a large record, of any size.  Returns 1; -1 with err filled. */
static int pass_large_record(struct parse *p, struct error *err)
{
	uint64_t rest = (uint64_t)p->record->words * 8;
	struct byte_view view;

	p->record->kind = TRACE_LARGE_RECORD;
	p->record->type = (unsigned)bits(p->header, 36, 39);
	check_first(p);
	trace_refuse(p->record, "Perfetto cannot pass over a large record");
	for (; rest; rest -= MIN(rest, PIECE)) {
		if (trace_input_peek(&p->reader->input, MIN(rest, PIECE), &view, err) < 0)
			return -1;
		if (view.size < MIN(rest, PIECE))
			return report_short(p->record, view.size + p->record->words * 8 - rest,
					    err);
		pass_record(p->reader, MIN(rest, PIECE));
	}
	return 1;
}

int trace_reader_next(struct trace_reader *reader, struct trace_record *record, struct error *err)
{
	struct parse p = { .reader = reader, .record = record, .next = 1 };
	struct byte_view view;
	bool large;
	size_t words;

	if (trace_input_peek(&reader->input, 8, &view, err) < 0)
		return -1;
	if (!view.size)
		return reader->offset ? 0 : error_set(err, ERROR_FORMAT, "is empty");
	if (view.size < 8)
		return error_set_at(err, reader->offset, "%zu bytes after the last record",
				    view.size);
	memcpy(&p.header, view.bytes, sizeof(p.header));
	large = bits(p.header, 0, 3) == LARGE_RECORD;
	words = bits(p.header, 4, large ? 35 : 15);
	if (!words)
		return error_set_at(err, reader->offset, "record of 0 words");
	memset(record, 0, offsetof(struct trace_record, args));
	record->words = words;
	record->kind = TRACE_UNKNOWN;
	record->offset = reader->offset;
	if (large)
		return pass_large_record(&p, err);
	if (trace_input_peek(&reader->input, words * 8, &view, err) < 0)
		return -1;
	if (view.size < words * 8)
		return report_short(record, view.size, err);
	p.bytes = view.bytes;
	read_record(&p);
	return pass_record(reader, words * 8);
}

void trace_reader_close(struct trace_reader *reader)
{
	struct trace_provider *provider;

	HASH_FREE_ALL(reader->providers, provider, clear_tables(reader, provider));
	trace_input_close(&reader->input);
	*reader = (struct trace_reader){ 0 };
}
