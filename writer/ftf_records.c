/* SPDX-License-Identifier: MIT */
/* The high face's records: strings and threads first, then one record of known size. */
#include "writer/ftf_writer.h"

/* ---- Arguments ----------------------------------------------------------- */

/* Encoded arguments of a record. */
struct ftf_ready_args {
	struct ftf_low_arg args[FTF_ARGS_MAX];
	size_t count;
	uint64_t shape;
	size_t words; /* with inline strings */
};

static uint64_t word_of(const struct ftf_arg *arg)
{
	switch (arg->type) {
	case FTF_INT32:
	case FTF_UINT32:
		return (uint32_t)arg->value.word;
	case FTF_BOOL:
		return arg->value.word != 0;
	default:
		return arg->value.word; /* also the bits of a double */
	}
}

/* Returns 0; -1, and a sticky error, if there are too many. */
static int encode_args(struct ftf_writer *writer, const struct ftf_arg *args, size_t count,
		       struct ftf_ready_args *ready)
{
	ready->count = count;
	ready->shape = 0;
	ready->words = 0;
	if (count > FTF_ARGS_MAX || (count && !args)) {
		ftf_low_misuse(&writer->low, args ? "a record has more than 15 arguments"
						  : "the arguments of a record are missing");
		return -1;
	}
	for (size_t i = 0; i < count; i++) {
		struct ftf_string_ref name = ftf_writer_use_string(writer, args[i].name),
				      string = { 0 };

		if (args[i].type > FTF_BOOL) {
			ftf_low_misuse(&writer->low, "an argument has no known type");
			return -1;
		}
		if (args[i].type == FTF_STRING)
			string = ftf_writer_use_string(writer, args[i].value.string);
		ready->args[i] = (struct ftf_low_arg){
			.type = args[i].type,
			.name = name.reference,
			.string = string.reference,
			.word = word_of(&args[i]),
			.name_text = name.text,
			.string_text = string.text,
		};
		ready->shape = ftf_shape_add(ready->shape, args[i].type);
		ready->words += ftf_type_words(args[i].type) + ftf_reference_words(name.reference) +
				ftf_reference_words(string.reference);
	}
	return 0;
}

/* Put them into the record that is being filled. */
static void put_args(struct ftf_writer *writer, const struct ftf_ready_args *ready)
{
	for (size_t i = 0; i < ready->count; i++)
		ftf_low_arg(&writer->low, &ready->args[i]);
}

/* ---- Events -------------------------------------------------------------- */

#define WORDS_SHIFT     4
#define ARG_COUNT_SHIFT 20
#define THREAD_SHIFT    24
#define THREAD_MASK     (UINT64_C(0xff) << THREAD_SHIFT)

static void put_ids(struct ftf_writer *writer, struct ftf_thread thread)
{
	const struct ftf_writer_thread *ids = ftf_writer_thread_borrow(writer, thread);

	ftf_low_word(&writer->low, ids->pid);
	ftf_low_word(&writer->low, ids->tid);
}

void ftf_any_event(struct ftf_writer *writer, enum ftf_event_type type,
		   const struct ftf_event *event, uint64_t tail)
{
	struct ftf_low_event low = { .type = type };
	struct ftf_string_ref category, name;
	struct ftf_ready_args ready;

	ftf_writer_next_record(writer);
	ftf_writer_select(writer, event->name);
	writer->events++;
	low.thread = ftf_writer_use_thread(writer, event->thread);
	category = ftf_writer_use_string(writer, event->category);
	name = ftf_writer_use_string(writer, event->name);
	if (encode_args(writer, event->args, event->arg_count, &ready) < 0)
		return;
	low.category = category.reference;
	low.name = name.reference;
	low.shape = ready.shape;
	low.text_words = ready.words - ftf_shape_words(ready.shape);
	ftf_low_start(&writer->low, ftf_low_event_header(&low), ready.shape);
	ftf_low_word(&writer->low, event->time);
	if (!low.thread)
		put_ids(writer, event->thread);
	ftf_writer_put_text(writer, &category);
	ftf_writer_put_text(writer, &name);
	put_args(writer, &ready);
	if (ftf_has_tail(type))
		ftf_low_word(&writer->low, tail);
	ftf_low_finish(&writer->low);
}

/* Find a name's reference.  Returns whether it has one, or is empty. */
static inline bool find_name(struct ftf_writer *writer, struct ftf_name name, uint64_t *reference)
{
	*reference = 0;
	if (!name.id)
		return true;
	*reference = ftf_slots_find(&writer->provider->strings, name.id, writer->record);
	return *reference != 0;
}

/* An event without arguments takes two words if all its references are assigned. */
static inline void emit_pair(struct ftf_writer *writer, enum ftf_event_type type,
			     const struct ftf_event *event)
{
	uint64_t thread, category, name;

	ftf_writer_next_record(writer);
	thread = ftf_slots_find(&writer->provider->threads, event->thread.id, writer->record);
	if (!thread || event->arg_count || writer->provider_count > 1 ||
	    writer->events >= writer->check_at || !find_name(writer, event->category, &category) ||
	    !find_name(writer, event->name, &name)) {
		ftf_any_event(writer, type, event, 0);
		return;
	}
	writer->events++;
	ftf_low_pair(&writer->low,
		     (uint64_t)FTF_RECORD_EVENT | 2 << 4 | (uint64_t)type << 16 | thread << 24 |
			     category << 32 | name << 48,
		     event->time);
}

void ftf_instant(struct ftf_writer *writer, const struct ftf_event *event)
{
	emit_pair(writer, FTF_INSTANT, event);
}

void ftf_counter(struct ftf_writer *writer, const struct ftf_event *event, uint64_t id)
{
	const unsigned numbers = 1u << FTF_INT32 | 1u << FTF_UINT32 | 1u << FTF_INT64 |
				 1u << FTF_UINT64 | 1u << FTF_DOUBLE;

	if (!event->arg_count)
		ftf_low_misuse(&writer->low, "a counter has no value");
	for (size_t i = 0; event->args && i < event->arg_count; i++) {
		if (event->args[i].type > FTF_BOOL || !(numbers >> event->args[i].type & 1))
			ftf_low_misuse(&writer->low, "a counter's value is not a number");
	}
	ftf_any_event(writer, FTF_COUNTER, event, id);
}

void ftf_begin(struct ftf_writer *writer, const struct ftf_event *event)
{
	emit_pair(writer, FTF_DURATION_BEGIN, event);
}

void ftf_end(struct ftf_writer *writer, const struct ftf_event *event)
{
	emit_pair(writer, FTF_DURATION_END, event);
}

/*
 * Returns the words of a begin without text in it, on a thread with a reference, with its arguments
 * from number `first`.
 */
static size_t words_of(const struct ftf_event *event, size_t first)
{
	size_t words = 2;

	for (size_t i = first; i < event->arg_count; i++)
		words += ftf_type_words(event->args[i].type);
	return words;
}

/* Changes a begin into a complete slice, which has one more word, its end. */
#define WHOLE ((uint64_t)(FTF_DURATION_COMPLETE - FTF_DURATION_BEGIN) << 16 | 1 << WORDS_SHIFT)

void ftf_make_template(struct ftf_writer *writer, const struct ftf_event *event, uint64_t end,
		       size_t own, struct ftf_template *made)
{
	const uint64_t inline_names = UINT64_C(0x8000) << 32 | UINT64_C(0x8000) << 48;
	const struct ftf_low *low = &writer->low;
	bool whole = end > event->time;
	size_t count, own_words;

	ftf_any_event(writer, whole ? FTF_DURATION_COMPLETE : FTF_DURATION_BEGIN, event, end);
	/* The buffer is flushed before a record, so this record is still in it. */
	count = (size_t)(low->at - low->start) - whole;
	made->count = 0;
	if (low->err.text[0] || count != words_of(event, 0) || *low->start & inline_names ||
	    !(*low->start & THREAD_MASK))
		return;
	own_words = words_of(event, event->arg_count - own) - 2;
	count -= own_words;
	if (count > FTF_TEMPLATE_WORDS)
		return;
	made->count = (uint32_t)count;
	memcpy(made->words, low->start, count * sizeof(*made->words));
	made->words[0] -= whole * WHOLE + (own << ARG_COUNT_SHIFT) + (own_words << WORDS_SHIFT);
	made->words[0] &= ~THREAD_MASK;
}

uint64_t ftf_arg_head(struct ftf_writer *writer, enum ftf_arg_type type, struct ftf_name name)
{
	uint64_t reference = ftf_slots_find(&writer->provider->strings, name.id, writer->record);

	return reference ? (uint64_t)type | ftf_type_words(type) << WORDS_SHIFT | reference << 16
			 : 0;
}

/* Write a record that has its own arguments. Returns the end of its words. */
static inline uint64_t *put_with_args(uint64_t *at, const struct ftf_templated *record,
				      const struct ftf_template *from,
				      const struct ftf_own_args *own, uint64_t reference)
{
	bool whole = record->end > record->time;
	uint64_t *more = at + from->count;

	memcpy(at, from->words, sizeof(from->words));
	memcpy(more, own->words, FTF_OWN_WORDS * sizeof(*more));
	at[0] += (reference << THREAD_SHIFT) + whole * WHOLE +
		 ((uint64_t)own->count << ARG_COUNT_SHIFT) +
		 ((uint64_t)own->word_count << WORDS_SHIFT);
	at[1] = record->time;
	more[own->word_count] = record->end;
	return more + own->word_count + whole;
}

/* The usual number of words of a template's arguments. */
#define USUAL_WORDS 2

/* The kind of the next record is unpredictable: choose its words by tables, not by branches. */
bool ftf_write_templates(struct ftf_writer *writer, struct ftf_thread thread,
			 const struct ftf_templated *records, const struct ftf_own_args *own,
			 size_t count)
{
	static const struct ftf_template end = {
		.words = { (uint64_t)FTF_RECORD_EVENT | 2 << 4 | (uint64_t)FTF_DURATION_END << 16 },
		.count = 2,
	};
	const struct ftf_slots *strings = &writer->provider->strings;
	struct ftf_low *low = &writer->low;
	uint64_t *at, reference;

	/*
	 * After all references were assigned, one may be reclaimed, and references in templates
	 * mean other strings.  Names of arguments need references.
	 */
	if (writer->provider_count > 1 || strings->assigned + FTF_ARGS_MAX > strings->count)
		return false;
	ftf_writer_next_record(writer);
	reference = ftf_slots_find(&writer->provider->threads, thread.id, writer->record);
	if (!reference)
		return false;
	writer->events += count;
	at = low->at;
	for (size_t i = 0; i < count; i++) {
		const struct ftf_templated *record = &records[i];
		const struct ftf_template *from = record->from ? record->from : &end;
		bool whole = record->end > record->time;

		if (at >= low->full) {
			low->at = at;
			ftf_low_flush(low);
			at = low->at;
		}
		if (own) {
			at = put_with_args(at, record, from, &own[i], reference);
			continue;
		}
		at[0] = (from->words[0] | reference << THREAD_SHIFT) + whole * WHOLE;
		at[1] = record->time;
		/* Copy a constant size, which is fast; the buffer has room for it. */
		memcpy(at + 2, from->words + 2, USUAL_WORDS * sizeof(*at));
		if (from->count > 2 + USUAL_WORDS)
			memcpy(at + 2 + USUAL_WORDS, from->words + 2 + USUAL_WORDS,
			       (FTF_TEMPLATE_WORDS - 2 - USUAL_WORDS) * sizeof(*at));
		at[from->count] = record->end; /* the next record overwrites it if not whole */
		at += from->count + whole;
	}
	low->at = at;
	return true;
}

#define DEFINE_EVENT(function, type)                                                               \
	void function(struct ftf_writer *writer, const struct ftf_event *event, uint64_t tail)     \
	{                                                                                          \
		ftf_any_event(writer, type, event, tail);                                          \
	}
DEFINE_EVENT(ftf_complete, FTF_DURATION_COMPLETE)
DEFINE_EVENT(ftf_async_begin, FTF_ASYNC_BEGIN)
DEFINE_EVENT(ftf_async_instant, FTF_ASYNC_INSTANT)
DEFINE_EVENT(ftf_async_end, FTF_ASYNC_END)
DEFINE_EVENT(ftf_flow_begin, FTF_FLOW_BEGIN)
DEFINE_EVENT(ftf_flow_step, FTF_FLOW_STEP)
DEFINE_EVENT(ftf_flow_end, FTF_FLOW_END)

/* ---- Scheduling ---------------------------------------------------------- */

/* "Scheduling Record", types, in the top 4 bits. */
enum scheduling_type { CONTEXT_SWITCH = 1, THREAD_WAKEUP = 2 };

static void add_weight(struct ftf_arg *args, size_t *count, struct ftf_name name, int32_t weight)
{
	if (weight)
		args[(*count)++] = ftf_arg_int32(name, weight);
}

/* `fields`: bits of the header; `words`: the time, and the ids of `word_count` - 1 threads. */
static void emit_scheduling(struct ftf_writer *writer, uint64_t fields, const uint64_t *words,
			    size_t word_count, const struct ftf_arg *args, size_t count)
{
	struct ftf_ready_args ready;

	ftf_writer_next_record(writer);
	if (encode_args(writer, args, count, &ready) < 0)
		return;
	ftf_low_start(&writer->low,
		      ftf_low_header(FTF_RECORD_SCHEDULING, 1 + word_count + ready.words) |
			      (uint64_t)count << 16 | fields,
		      ready.shape);
	for (size_t i = 0; i < word_count; i++)
		ftf_low_word(&writer->low, words[i]);
	put_args(writer, &ready);
	ftf_low_finish(&writer->low);
}

void ftf_context_switch(struct ftf_writer *writer, const struct ftf_switch *change)
{
	const uint64_t words[] = { change->time, change->out_tid, change->in_tid };
	struct ftf_arg args[2];
	size_t count = 0;

	add_weight(args, &count, writer->incoming_weight, change->in_weight);
	add_weight(args, &count, writer->outgoing_weight, change->out_weight);
	emit_scheduling(writer,
			(uint64_t)change->cpu << 20 | (uint64_t)(change->state & 15) << 36 |
				(uint64_t)CONTEXT_SWITCH << 60,
			words, 3, args, count);
}

void ftf_thread_wakeup(struct ftf_writer *writer, const struct ftf_wakeup *wakeup)
{
	const uint64_t words[] = { wakeup->time, wakeup->tid };
	struct ftf_arg args[2];
	size_t count = 0;

	if (wakeup->waker_tid)
		args[count++] = ftf_arg_word(writer->waker, FTF_KOID, wakeup->waker_tid);
	add_weight(args, &count, writer->weight, wakeup->weight);
	emit_scheduling(writer, (uint64_t)wakeup->cpu << 20 | (uint64_t)THREAD_WAKEUP << 60, words,
			2, args, count);
}

/* ---- Other records ------------------------------------------------------- */

void ftf_log(struct ftf_writer *writer, struct ftf_thread thread, uint64_t time, const char *text)
{
	size_t length = utf8_cut(text, strnlen(text, FTF_STRING_MAX + 1), FTF_STRING_MAX);
	uint8_t reference;

	ftf_writer_next_record(writer);
	reference = ftf_writer_use_thread(writer, thread);
	ftf_low_start(&writer->low,
		      ftf_low_header(FTF_RECORD_LOG, 2 + (reference ? 0 : 2) + ftf_words(length)) |
			      (uint64_t)length << 16 | (uint64_t)reference << 32,
		      0);
	ftf_low_word(&writer->low, time);
	if (!reference)
		put_ids(writer, thread);
	ftf_low_text(&writer->low, text, length);
	ftf_low_finish(&writer->low);
}

void ftf_blob(struct ftf_writer *writer, const struct ftf_blob *blob)
{
	struct ftf_string_ref name;
	size_t words;

	if (blob->size > FTF_STRING_MAX || blob->type > UINT8_MAX) {
		ftf_low_misuse(&writer->low, blob->size > FTF_STRING_MAX
						     ? "a blob has more than 31999 bytes"
						     : "a blob's type has more than 8 bits");
		return;
	}
	ftf_writer_next_record(writer);
	name = ftf_writer_use_string(writer, blob->name);
	words = 1 + ftf_reference_words(name.reference) + ftf_words(blob->size);
	ftf_low_start(&writer->low,
		      ftf_low_header(FTF_RECORD_BLOB, words) | (uint64_t)name.reference << 16 |
			      (uint64_t)blob->size << 32 | (uint64_t)blob->type << 48,
		      0);
	ftf_writer_put_text(writer, &name);
	ftf_low_text(&writer->low, blob->bytes, blob->size);
	ftf_low_finish(&writer->low);
}

void ftf_kernel_object(struct ftf_writer *writer, uint8_t type, const struct ftf_object *object)
{
	struct ftf_ready_args ready;
	struct ftf_string_ref name;
	size_t words;

	ftf_writer_next_record(writer);
	name = ftf_writer_use_string(writer, object->name);
	if (encode_args(writer, object->args, object->arg_count, &ready) < 0)
		return;
	words = 2 + ftf_reference_words(name.reference) + ready.words;
	ftf_low_start(&writer->low,
		      ftf_low_header(FTF_RECORD_KERNEL_OBJECT, words) | (uint64_t)type << 16 |
			      (uint64_t)name.reference << 24 | (uint64_t)object->arg_count << 40,
		      ready.shape);
	ftf_low_word(&writer->low, object->id);
	ftf_writer_put_text(writer, &name);
	put_args(writer, &ready);
	ftf_low_finish(&writer->low);
}
