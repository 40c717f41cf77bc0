/* SPDX-License-Identifier: MIT */
/* The high face of libftf: opening and closing, names, providers, processes and threads. */
#include "writer/ftf_writer.h"

/* ---- Slots of references ------------------------------------------------- */

/*
 * The assignment of a table's few references to any number of keys.
 *
 * FTF refers to strings by 15 bits and to threads by 8, and a reference may be redefined at any
 * time.  If all references are in use, a clock hand reclaims the first reference that was not used
 * since its last turn (second chance), so frequent keys keep theirs.  Then a new key is first
 * written inline in the record, and gets a reference at its next use: a key that is used once takes
 * no reference from others, and costs less.  Keys are dense, so finding one is an array access.
 */

#define HAD_REFERENCE 0x80u /* with the misses: the key had a reference before */

/* `count` is at most 65535, and more than a record uses.  Returns whether there was memory. */
static bool ftf_slots_init(struct ftf_slots *slots, struct ftf_low *low, uint32_t count,
			   uint32_t inline_uses)
{
	*slots = (struct ftf_slots){ .low = low, .count = count, .inline_uses = inline_uses };
	slots->lent = ftf_memory_get(low, count + 1, sizeof(*slots->lent));
	return slots->lent != NULL;
}

/* Returns the reference to reclaim: not recently used, and not by this record. */
static uint32_t reclaim_slot(struct ftf_slots *slots, uint32_t record)
{
	for (;;) {
		uint32_t *stamp;

		slots->hand = slots->hand % slots->count + 1;
		stamp = &slots->lent[slots->hand].stamp;
		if (*stamp == 0)
			return slots->hand;
		if (*stamp != record)
			*stamp = 0;
	}
}

/*
 * Assign a reference to a key without one.  `may_inline`: the record may contain the key's text or
 * ids instead.  Returns the reference, which must be (re)defined first; 0: write the key inline, or
 * there is no memory, and the trace has an error.
 */
static uint16_t ftf_slots_assign(struct ftf_slots *slots, uint32_t key, uint32_t record,
				 bool may_inline)
{
	uint32_t reference;

	if (!ftf_memory_grow(slots->low, &slots->keys, &slots->room, (size_t)key + 1,
			     sizeof(*slots->keys)))
		return 0;
	if (slots->assigned < slots->count) {
		reference = ++slots->assigned;
	} else if (may_inline && (slots->keys[key].misses & ~HAD_REFERENCE) < slots->inline_uses) {
		slots->keys[key].misses++;
		return 0;
	} else {
		reference = reclaim_slot(slots, record);
		slots->keys[slots->lent[reference].key].reference = 0;
		slots->redefined += (slots->keys[key].misses & HAD_REFERENCE) != 0;
	}
	slots->keys[key].misses = HAD_REFERENCE;
	slots->keys[key].reference = (uint16_t)reference;
	slots->lent[reference].key = key;
	slots->lent[reference].stamp = record;
	return (uint16_t)reference;
}

/* A thread record is 24 bytes, two ids in a record are 16. */
#define THREAD_INLINE_USES 2
#define STRING_INLINE_USES 1

/* Events between checks of a provider: did it redefine more than one string in eight? */
#define CHECK_EVENTS   65536
#define MANY_REDEFINED (CHECK_EVENTS / 8)

/* ---- Opening and closing ------------------------------------------------- */

static void release_provider(struct ftf_provider *provider)
{
	free(provider->strings.lent);
	free(provider->strings.keys);
	free(provider->threads.lent);
	free(provider->threads.keys);
	free(provider);
}

/* Returns whether there was memory. */
static bool add_provider(struct ftf_writer *writer)
{
	struct ftf_low *low = &writer->low;
	struct ftf_provider *provider = ftf_memory_get(low, 1, sizeof(*provider));

	if (!provider)
		return false;
	if (!ftf_slots_init(&provider->strings, low, FTF_STRING_REFERENCES, STRING_INLINE_USES) ||
	    !ftf_slots_init(&provider->threads, low, FTF_THREAD_REFERENCES, THREAD_INLINE_USES)) {
		release_provider(provider);
		return false;
	}
	writer->check_at = writer->events + CHECK_EVENTS;
	writer->providers[++writer->provider_count] = provider;
	writer->current = writer->filling = writer->provider_count;
	writer->provider = provider;
	ftf_low_provider(&writer->low, writer->current, writer->provider_name);
	ftf_low_initialization(&writer->low, &writer->clock);
	return true;
}

/* Returns a copy with a NUL, owned by the caller; NULL: there is no memory. */
static char *copy_text(struct ftf_writer *writer, const char *text, size_t length)
{
	char *copy = ftf_memory_get(&writer->low, length + 1, 1);

	return copy ? memcpy(copy, text, length) : NULL;
}

/* Takes ownership of `copy` if it is not NULL.  Returns the text's id; 0: there is no memory. */
static uint32_t add_text(struct ftf_writer *writer, const char *text, char *copy, size_t length)
{
	if (!text || !ftf_memory_grow(&writer->low, &writer->texts, &writer->text_room,
				      writer->text_count + 1, sizeof(*writer->texts))) {
		free(copy);
		return 0;
	}
	writer->texts[writer->text_count] =
		(struct ftf_writer_text){ text, copy, (uint32_t)length, 0 };
	return (uint32_t)writer->text_count++;
}

/* As add_text(), for a thread. */
static uint32_t add_thread(struct ftf_writer *writer, uint64_t pid, uint64_t tid)
{
	if (!ftf_memory_grow(&writer->low, &writer->threads, &writer->thread_room,
			     writer->thread_count + 1, sizeof(*writer->threads)))
		return 0;
	writer->threads[writer->thread_count] = (struct ftf_writer_thread){ pid, tid };
	return (uint32_t)writer->thread_count++;
}

/* Add an id to an index.  Without memory, the id is left out: its key gets another id next time. */
static void add_to_index(struct ftf_writer *writer, struct id_index *index, uint32_t hash,
			 uint32_t id)
{
	size_t room = id_index_wants(index);
	uint64_t *cells;

	if (room) {
		cells = ftf_memory_get(&writer->low, room, sizeof(*cells));
		if (!cells)
			return;
		free(id_index_move(index, cells, room));
	}
	id_index_put(index, hash, id);
}

/* Fill a zeroed writer.  Returns it; NULL with err filled, after freeing the writer. */
static struct ftf_writer *start_writer(struct ftf_writer *writer, const struct ftf_destination *to,
				       const struct ftf_options *options, struct ftf_error *err)
{
	const char *provider = options->provider ? options->provider : "";

	ftf_low_init(&writer->low, to, options->appended);
	writer->provider_name = copy_text(writer, provider, strlen(provider));
	writer->clock = options->clock;
	writer->next_id = options->first_new_id ? options->first_new_id : FTF_FIRST_NEW_ID;
	writer->record = 1;
	if (writer->provider_name)
		add_provider(writer);
	add_text(writer, "", NULL, 0);
	add_thread(writer, 0, 0);
	writer->process = ftf_text(writer, "process");
	writer->outgoing_weight = ftf_text(writer, "outgoing_weight");
	writer->incoming_weight = ftf_text(writer, "incoming_weight");
	writer->waker = ftf_text(writer, "waker");
	writer->weight = ftf_text(writer, "weight");
	if (!writer->low.err.text[0])
		return writer;
	if (err)
		*err = writer->low.err;
	ftf_abandon(writer);
	return NULL;
}

/* Returns a zeroed writer; NULL with err filled. */
static struct ftf_writer *new_writer(struct ftf_error *err)
{
	struct ftf_low low = { 0 };
	struct ftf_writer *writer = ftf_memory_get(&low, 1, sizeof(*writer));

	if (!writer && err)
		*err = low.err;
	return writer;
}

struct ftf_writer *ftf_open_destination(const struct ftf_destination *to,
					const struct ftf_options *options, struct ftf_error *err)
{
	struct ftf_writer *writer = new_writer(err);

	return writer ? start_writer(writer, to, options, err) : NULL;
}

static void release_writer(struct ftf_writer *writer)
{
	for (uint32_t i = 1; i <= writer->provider_count; i++)
		release_provider(writer->providers[i]);
	free(writer->text_index.cells);
	free(writer->thread_index.cells);
	for (size_t i = 0; i < writer->text_count; i++)
		free(writer->texts[i].copy);
	free(writer->texts);
	free(writer->provider_name);
	free(writer->threads);
	free(writer);
}

static void fill_error(struct ftf_error *err, const struct error *from)
{
	if (!err)
		return;
	err->system = from->system;
	snprintf(err->text, sizeof(err->text), "%s", from->text);
}

static int write_output(void *context, const void *bytes, size_t size)
{
	struct output *output = context;

	output_write(output, bytes, size);
	if (!output_failed(output))
		return 0;
	return output->err.system ? output->err.system : -1;
}

struct ftf_writer *ftf_open(const char *path, const struct ftf_options *options,
			    struct ftf_error *err)
{
	struct ftf_writer *writer = new_writer(err);
	struct ftf_destination to = { write_output, NULL };
	struct error failure = { 0 };

	if (!writer)
		return NULL;
	if (output_open(&writer->output, path, &failure) < 0) {
		fill_error(err, &failure);
		release_writer(writer);
		return NULL;
	}
	writer->has_output = true;
	to.context = &writer->output;
	return start_writer(writer, &to, options, err);
}

int ftf_close(struct ftf_writer *writer, struct ftf_error *err)
{
	struct error failure = { 0 };
	int status = ftf_low_close(&writer->low, err);

	/* The output's own message names the file. */
	if (writer->has_output && status < 0 && output_failed(&writer->output))
		fill_error(err, &writer->output.err);
	if (writer->has_output && status == 0) {
		status = output_close(&writer->output, &failure);
		if (status < 0)
			fill_error(err, &failure);
	}
	if (writer->has_output)
		output_abandon(&writer->output);
	release_writer(writer);
	return status;
}

void ftf_abandon(struct ftf_writer *writer)
{
	if (!writer)
		return;
	/* The trace is not written any more, whatever its state. */
	writer->low.strict = false;
	ftf_low_misuse(&writer->low, "abandoned");
	ftf_low_close(&writer->low, NULL);
	if (writer->has_output)
		output_abandon(&writer->output);
	release_writer(writer);
}

void ftf_flush(struct ftf_writer *writer)
{
	ftf_low_flush(&writer->low);
}

void ftf_set_destination(struct ftf_writer *writer, const struct ftf_destination *to)
{
	if (writer->has_output)
		ftf_low_misuse(&writer->low, "a trace in a file has no other destination");
	else
		ftf_low_set_destination(&writer->low, to);
}

const char *ftf_failure(const struct ftf_writer *writer)
{
	return writer->low.err.text[0] ? writer->low.err.text : NULL;
}

void ftf_set_strict(struct ftf_writer *writer, bool strict)
{
	writer->low.strict = strict;
}

uint64_t ftf_events(const struct ftf_writer *writer)
{
	return writer->events;
}

struct ftf_low *ftf_low_borrow(struct ftf_writer *writer)
{
	return &writer->low;
}

/* ---- Names --------------------------------------------------------------- */

struct ftf_name ftf_name_borrow(struct ftf_writer *writer, const char *text, size_t length)
{
	if (!length)
		return (struct ftf_name){ 0 };
	return (struct ftf_name){ add_text(writer, text, NULL,
					   utf8_cut(text, length, FTF_STRING_MAX)) };
}

struct ftf_name ftf_name(struct ftf_writer *writer, const char *text, size_t length)
{
	size_t kept = utf8_cut(text, length, FTF_STRING_MAX);
	uint32_t hash = hash_bytes(text, kept), id;
	struct id_probe probe = id_index_probe(hash);
	char *copy;

	if (!length)
		return (struct ftf_name){ 0 };
	while ((id = id_index_next(&writer->text_index, &probe)) != 0) {
		const struct ftf_writer_text *found = &writer->texts[id];

		if (found->length == kept && memcmp(found->text, text, kept) == 0)
			return (struct ftf_name){ id };
	}
	copy = copy_text(writer, text, kept);
	id = add_text(writer, copy, copy, kept);
	if (id)
		add_to_index(writer, &writer->text_index, hash, id);
	return (struct ftf_name){ id };
}

struct ftf_name ftf_text(struct ftf_writer *writer, const char *text)
{
	return text ? ftf_name(writer, text, strlen(text)) : (struct ftf_name){ 0 };
}

static const struct ftf_writer_text *text_of(struct ftf_writer *writer, struct ftf_name name)
{
	if (name.id < writer->text_count)
		return &writer->texts[name.id];
	ftf_low_misuse(&writer->low, "a name is not of this writer");
	return &writer->texts[0];
}

const char *ftf_name_text(struct ftf_writer *writer, struct ftf_name name, size_t *length)
{
	const struct ftf_writer_text *text = text_of(writer, name);

	if (length)
		*length = text->length;
	return text->text;
}

struct ftf_string_ref ftf_writer_define_string(struct ftf_writer *writer, struct ftf_name name)
{
	const struct ftf_writer_text *text = text_of(writer, name);
	uint16_t reference;

	if (!text->length)
		return (struct ftf_string_ref){ 0 };
	reference = ftf_slots_assign(&writer->provider->strings, name.id, writer->record,
				     text->length <= FTF_INLINE_MAX);
	if (!reference && text->length > FTF_INLINE_MAX)
		return (struct ftf_string_ref){ 0 }; /* there is no memory */
	if (!reference)
		return (struct ftf_string_ref){ FTF_INLINE(text->length), text->text };
	ftf_low_string_record(&writer->low, reference, text->text, text->length);
	return (struct ftf_string_ref){ reference, NULL };
}

/* ---- Providers ----------------------------------------------------------- */

/* Redefining strings costs more than the word that selects another provider. */
static void check_provider(struct ftf_writer *writer, struct ftf_provider *provider)
{
	bool many = provider->strings.redefined - provider->redefined > MANY_REDEFINED;

	writer->check_at = writer->events + CHECK_EVENTS;
	provider->redefined = provider->strings.redefined;
	if (many && writer->provider_count < FTF_PROVIDERS_MAX &&
	    writer->providers[writer->filling]->strings.assigned == FTF_STRING_REFERENCES)
		add_provider(writer);
}

void ftf_writer_select_provider(struct ftf_writer *writer, struct ftf_name name)
{
	const struct ftf_slots *first = &writer->providers[1]->strings;
	struct ftf_writer_text *text;
	uint32_t provider_id;

	if (writer->events >= writer->check_at)
		check_provider(writer, writer->provider);
	if (writer->provider_count == 1 || name.id >= writer->text_count)
		return;
	text = &writer->texts[name.id];
	provider_id = text->provider_id;
	if (!provider_id)
		provider_id = name.id < first->room && first->keys[name.id].reference
				      ? 1
				      : writer->filling;
	text->provider_id = (uint8_t)provider_id;
	if (provider_id == writer->current)
		return;
	writer->current = provider_id;
	writer->provider = writer->providers[provider_id];
	ftf_low_section(&writer->low, provider_id);
}

/* ---- Processes and threads ----------------------------------------------- */

struct ftf_thread ftf_thread(struct ftf_writer *writer, uint64_t pid, uint64_t tid)
{
	const uint64_t ids[2] = { pid, tid };
	uint32_t hash = hash_bytes(ids, sizeof(ids)), id;
	struct id_probe probe = id_index_probe(hash);

	while ((id = id_index_next(&writer->thread_index, &probe)) != 0) {
		if (writer->threads[id].pid == pid && writer->threads[id].tid == tid)
			return (struct ftf_thread){ id };
	}
	id = add_thread(writer, pid, tid);
	if (id)
		add_to_index(writer, &writer->thread_index, hash, id);
	return (struct ftf_thread){ id };
}

const struct ftf_writer_thread *ftf_writer_thread_borrow(struct ftf_writer *writer,
							 struct ftf_thread thread)
{
	if (thread.id < writer->thread_count)
		return &writer->threads[thread.id];
	ftf_low_misuse(&writer->low, "a thread is not of this writer");
	return &writer->threads[0];
}

uint8_t ftf_writer_define_thread(struct ftf_writer *writer, struct ftf_thread thread)
{
	const struct ftf_writer_thread *ids = ftf_writer_thread_borrow(writer, thread);
	uint16_t reference =
		ftf_slots_assign(&writer->provider->threads, thread.id, writer->record, true);

	if (reference)
		ftf_low_thread(&writer->low, (uint8_t)reference, ids->pid, ids->tid);
	return (uint8_t)reference;
}

void ftf_process_name(struct ftf_writer *writer, uint64_t pid, struct ftf_name name)
{
	ftf_kernel_object(writer, FTF_OBJECT_PROCESS,
			  &(struct ftf_object){ .id = pid, .name = name });
}

void ftf_thread_name(struct ftf_writer *writer, struct ftf_thread thread, struct ftf_name name)
{
	const struct ftf_writer_thread *ids = ftf_writer_thread_borrow(writer, thread);
	struct ftf_arg process = ftf_arg_word(writer->process, FTF_KOID, ids->pid);

	ftf_kernel_object(writer, FTF_OBJECT_THREAD,
			  &(struct ftf_object){ ids->tid, name, &process, 1 });
}

uint64_t ftf_id_new(struct ftf_writer *writer)
{
	return writer->next_id++;
}

uint64_t ftf_process_new(struct ftf_writer *writer, struct ftf_name name)
{
	uint64_t pid = ftf_id_new(writer);

	ftf_process_name(writer, pid, name);
	return pid;
}

struct ftf_thread ftf_thread_new(struct ftf_writer *writer, uint64_t pid, struct ftf_name name)
{
	struct ftf_thread thread = ftf_thread(writer, pid, ftf_id_new(writer));

	ftf_thread_name(writer, thread, name);
	return thread;
}
