/* SPDX-License-Identifier: MIT */
/* Reads, checks and writes files of lines. */
#include "symbols/dso/line_cache.h"

#include <elfutils/libdwfl.h>
#include <time.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "config.h"

/* Increase the digit if the format or the meaning of an answer changes. */
#define MAGIC "p2fline2"

/* A file that changes twice in a clock's tick has one time of change; FAT's tick is the longest. */
#define TICK_NS UINT64_C(2000000000)

/*
 * Limits of a file, less than what base/io/cache_files.c takes. A program has two answers for each
 * function that runs, one or two for each instruction if costs are counted by instruction.
 */
#define ANSWERS_MOST 160000
#define TEXTS_MOST   ((size_t)3 << 20) /* bytes, without the last text */

#define NO_TEXT UINT32_MAX

/* The file: a header, answers in the order of their keys, texts that end in NUL. */
struct stored_header {
	char magic[8];
	uint64_t checksum; /* checksum of all bytes that follow */
	struct line_cache_source source;
	uint64_t count, text_size;
};

COMPARE_BY_TWO(compare_answers, struct stored_answer, query, key)

static uint64_t sum_of(const uint8_t *bytes, size_t size)
{
	const size_t skip = offsetof(struct stored_header, source);

	return XXH3_64bits(bytes + skip, size - skip);
}

static const struct stored_answer *answers_of(const struct line_cache *cache)
{
	return (const struct stored_answer *)(cache->bytes + sizeof(struct stored_header));
}

static const char *text_of(const struct line_cache *cache, uint32_t offset)
{
	return offset == NO_TEXT ? NULL : (const char *)(answers_of(cache) + cache->count) + offset;
}

/* Check all that answers rely on: afterwards they are read without checks. */
static bool is_sound(const struct line_cache *cache, const uint8_t *bytes, size_t size)
{
	const struct stored_header *header = (const struct stored_header *)bytes;
	const struct stored_answer *answers = (const struct stored_answer *)(header + 1);
	size_t left;

	if (size < sizeof(*header) || memcmp(header->magic, MAGIC, sizeof(header->magic)) != 0 ||
	    memcmp(&header->source, &cache->source, sizeof(cache->source)) != 0 ||
	    header->checksum != sum_of(bytes, size))
		return false;
	left = size - sizeof(*header);
	if (header->count > left / sizeof(*answers) ||
	    header->text_size != left - header->count * sizeof(*answers) ||
	    (header->text_size && bytes[size - 1]))
		return false;
	for (size_t i = 0; i < header->count; i++)
		if (answers[i].text != NO_TEXT && answers[i].text >= header->text_size)
			return false;
	return true;
}

static void read_file(struct line_cache *cache)
{
	size_t size;
	uint8_t *bytes = cache_file_read(cache->name, &size);

	if (bytes && !is_sound(cache, bytes, size)) {
		free(bytes);
		bytes = NULL;
	}
	free(cache->bytes);
	cache->bytes = bytes;
	cache->count = bytes ? ((const struct stored_header *)bytes)->count : 0;
}

void line_cache_open(struct line_cache *cache, const struct elf_file *program,
		     const struct elf_file *debug, const struct elf_file *shared,
		     const char *contents)
{
	const struct elf_file *files[] = { program, debug, shared };
	struct timespec clock;
	XXH128_hash_t hash;
	uint64_t now;

	if (!program->build_id_size)
		return;
	clock_gettime(CLOCK_REALTIME, &clock);
	now = (uint64_t)clock.tv_sec * 1000000000 + (uint64_t)clock.tv_nsec;
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		uint64_t changed = files[i]->changed_ns;

		if (files[i]->elf && !changed)
			return;
		cache->source.files[i].identity = files[i]->identity;
		cache->source.files[i].size = files[i]->size;
		cache->source.files[i].changed_ns = changed;
		cache->frozen |= changed + TICK_NS > now;
	}
	memcpy(cache->source.build_id, program->build_id, program->build_id_size);
	snprintf(cache->source.versions, sizeof(cache->source.versions), "%s, libdw %s",
		 PACKAGE_VERSION, dwfl_version(NULL));
	name_table_init(&cache->texts);
	snprintf(cache->source.contents, sizeof(cache->source.contents), "%s", contents);
	hash = XXH3_128bits(&cache->source, sizeof(cache->source));
	snprintf(cache->name, sizeof(cache->name), "%016" PRIx64 "%016" PRIx64, hash.high64,
		 hash.low64);
	read_file(cache);
}

/* Returns the number of answers in the file before a key. */
static size_t count_before(const struct line_cache *cache, const struct stored_answer *key)
{
	const struct stored_answer *answers = answers_of(cache);

	return LOWER_BOUND(i, cache->count, compare_answers(&answers[i], key) < 0);
}

/* Returns the answer in the file, or NULL. */
static const struct stored_answer *find_stored(const struct line_cache *cache,
					       const struct stored_answer *key)
{
	size_t at = count_before(cache, key);
	const struct stored_answer *answer = &answers_of(cache)[at];

	return at < cache->count && compare_answers(answer, key) == 0 ? answer : NULL;
}

static uint32_t hash_of(const struct stored_answer *key)
{
	return hash_u64(key->key * LINE_QUERIES + key->query);
}

/* Returns the added answer, or NULL. */
static const struct stored_answer *find_added(const struct line_cache *cache,
					      const struct stored_answer *key)
{
	struct id_probe probe = id_index_probe(hash_of(key));
	uint32_t id;

	while ((id = id_index_next(&cache->index, &probe)))
		if (compare_answers(&cache->added[id - 1], key) == 0)
			return &cache->added[id - 1];
	return NULL;
}

bool line_cache_find(const struct line_cache *cache, enum line_query query, uint64_t key,
		     struct line_row *row, uint64_t *value)
{
	const struct stored_answer wanted = { .key = key, .query = query };
	const struct stored_answer *stored = cache->count ? find_stored(cache, &wanted) : NULL;
	const struct stored_answer *answer = stored ?: find_added(cache, &wanted);
	const char *text = NULL;

	if (!answer)
		return false;
	if (answer->text != NO_TEXT)
		text = stored ? text_of(cache, stored->text)
			      : cache->texts.names[answer->text]->text;
	*row = (struct line_row){ NULL, text, answer->line, answer->column, 0 };
	*value = answer->value;
	return true;
}

bool line_cache_find_range(const struct line_cache *cache, enum line_query query, uint64_t vaddr,
			   uint64_t *begin, uint64_t *end, uint64_t *value)
{
	struct stored_answer wanted = { .key = vaddr + 1, .query = query };
	const struct stored_answer *answer;
	size_t next = cache->count && wanted.key ? count_before(cache, &wanted) : 0;

	if (!next)
		return false;
	answer = &answers_of(cache)[next - 1];
	if (answer->query != query || vaddr - answer->key >= answer->line ||
	    answer->key + answer->line <= vaddr)
		return false;
	*begin = answer->key;
	*end = answer->key + answer->line;
	*value = answer->value;
	return true;
}

/* Returns the id of a file's name with its directory. */
static uint32_t keep_file(struct line_cache *cache, const struct line_row *row)
{
	const char *directory = row->directory;
	char *path;
	size_t count;
	const struct name *name;

	if (row->file == cache->last_file && directory == cache->last_directory)
		return cache->last;
	path = directory ? alloc_text("%s/%s", directory, row->file) : NULL;
	count = cache->texts.count;
	name = name_intern_text(&cache->texts, path ?: row->file);
	if (cache->texts.count > count)
		cache->text_size += name->length + 1u;
	cache->last = name->id;
	cache->last_file = row->file;
	cache->last_directory = directory;
	free(path);
	return cache->last;
}

static bool is_full(const struct line_cache *cache, size_t count)
{
	return count >= ANSWERS_MOST || cache->text_size >= TEXTS_MOST;
}

void line_cache_add(struct line_cache *cache, enum line_query query, uint64_t key,
		    const struct line_row *row, uint64_t value)
{
	struct stored_answer answer = { key, query, NO_TEXT, value, row->line, row->column };

	/* Texts that name_intern() would cut are not kept. */
	if (!cache->name[0] || is_full(cache, cache->added_count) ||
	    (row->file && (row->directory ? strlen(row->directory) + 1 : 0) + strlen(row->file) >
				  NAME_LENGTH_MAX) ||
	    find_added(cache, &answer))
		return;
	if (row->file)
		answer.text = keep_file(cache, row);
	*ARRAY_ADD(cache->added, cache->added_count, cache->added_room) = answer;
	id_index_add(&cache->index, hash_of(&answer), (uint32_t)cache->added_count);
}

void line_cache_add_range(struct line_cache *cache, enum line_query query, uint64_t begin,
			  uint64_t end, uint64_t value)
{
	const struct line_row size = { .line = (uint32_t)MIN(end - begin, UINT32_MAX) };

	line_cache_add(cache, query, begin, &size, value);
}

/* ---- Writing ------------------------------------------------------------- */

/*
 * Write the answers, whose texts are ids, behind a header into `bytes`, which are zeroed.  Sort the
 * answers.
 */
static void write_bytes(const struct line_cache *cache, struct stored_answer *answers, size_t count,
			uint8_t *bytes, size_t size)
{
	struct stored_header *header = (struct stored_header *)bytes;
	uint32_t *offsets = alloc_zeroed(cache->texts.count + 1, sizeof(*offsets));
	char *texts = (char *)bytes + sizeof(*header) + count * sizeof(*answers);

	for (size_t i = 0; i < cache->texts.count; i++) {
		strcpy(texts + offsets[i], cache->texts.names[i]->text);
		offsets[i + 1] = offsets[i] + cache->texts.names[i]->length + 1;
	}
	for (size_t i = 0; i < count; i++)
		if (answers[i].text != NO_TEXT)
			answers[i].text = offsets[answers[i].text];
	free(offsets);
	SORT(answers, count, compare_answers);
	memcpy(header + 1, answers, count * sizeof(*answers));
	memcpy(header->magic, MAGIC, sizeof(header->magic));
	header->source = cache->source;
	header->count = count;
	header->text_size = cache->text_size;
	header->checksum = sum_of(bytes, size);
}

int line_cache_save(struct line_cache *cache)
{
	size_t count = cache->added_count, size;
	struct stored_answer *answers;
	uint8_t *bytes;
	int status;

	if (!count || cache->frozen)
		return 0;
	/* Other processes may have written it meanwhile. */
	read_file(cache);
	answers = alloc_zeroed(count + cache->count, sizeof(*answers));
	memcpy(answers, cache->added, count * sizeof(*answers));
	for (size_t i = 0; i < cache->count && !is_full(cache, count); i++) {
		struct stored_answer answer = answers_of(cache)[i];
		const struct line_row row = { .file = text_of(cache, answer.text) };

		if (find_added(cache, &answer))
			continue;
		if (row.file)
			answer.text = keep_file(cache, &row);
		answers[count++] = answer;
	}
	size = sizeof(struct stored_header) + count * sizeof(*answers) + cache->text_size;
	bytes = alloc_zeroed(1, size);
	write_bytes(cache, answers, count, bytes, size);
	status = cache_file_write(cache->name, bytes, size);
	free(answers);
	free(bytes);
	return status;
}

void line_cache_close(struct line_cache *cache)
{
	free(cache->added);
	free(cache->bytes);
	id_index_release(&cache->index);
	name_table_release(&cache->texts);
	*cache = (struct line_cache){ 0 };
}
