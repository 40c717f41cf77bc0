/* SPDX-License-Identifier: MIT */
/* Reads, checks and writes files of lines. */
#include "symbols/dso/line_cache.h"

#include <elfutils/libdwfl.h>
#include <time.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "config.h"

/* Increase the digit if the format or the meaning of an answer changes. */
#define MAGIC "p2fline1"

/* A file that changes twice in a clock's tick has one time of change; FAT's tick is the longest. */
#define TICK_NS UINT64_C(2000000000)

/* New answers of a run, each of some 150 bytes; a program has two for each function that runs. */
#define ADDED_MOST 100000

#define NO_FILE UINT32_MAX

/* The file: a header, answers in the order of their keys, texts that end in NUL. */
struct stored_header {
	char magic[8];
	uint64_t checksum; /* checksum of all bytes that follow */
	struct line_cache_source source;
	uint64_t count, text_size;
};

/* Bytes of an answer's address and query. */
#define KEY_SIZE offsetof(struct stored_answer, found)

COMPARE_BY_TWO(compare_answers, struct stored_answer, vaddr, query)

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
	return offset == NO_FILE ? NULL : (const char *)(answers_of(cache) + cache->count) + offset;
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
		if (answers[i].file != NO_FILE && answers[i].file >= header->text_size)
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
		     const struct elf_file *debug, const struct elf_file *shared)
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
	hash = XXH3_128bits(&cache->source, sizeof(cache->source));
	snprintf(cache->name, sizeof(cache->name), "%016" PRIx64 "%016" PRIx64, hash.high64,
		 hash.low64);
	read_file(cache);
}

/* Returns the answer in the file, or NULL. */
static const struct stored_answer *find_stored(const struct line_cache *cache,
					       const struct stored_answer *key)
{
	const struct stored_answer *answers = answers_of(cache);
	size_t at = LOWER_BOUND(i, cache->count, compare_answers(&answers[i], key) < 0);

	return at < cache->count && compare_answers(&answers[at], key) == 0 ? &answers[at] : NULL;
}

int line_cache_find(const struct line_cache *cache, enum line_query query, uint64_t vaddr,
		    struct line_row *row)
{
	struct stored_answer key = { .vaddr = vaddr, .query = query };
	const struct stored_answer *answer = cache->count ? find_stored(cache, &key) : NULL;
	const struct line_answer *added = NULL;

	if (!answer)
		HASH_FIND(hh, cache->added, &key, KEY_SIZE, added);
	if (!answer && !added)
		return -1;
	answer = added ? &added->stored : answer;
	*row = (struct line_row){ NULL, added ? added->file : text_of(cache, answer->file),
				  answer->line, answer->column, 0 };
	return answer->found != 0;
}

/* Returns the kept text that is equal; takes `text`, which is owned by the caller. */
static const struct stored_text *keep_text(struct line_cache *cache, char *text)
{
	size_t length = strlen(text);
	struct stored_text *stored;

	HASH_FIND(hh, cache->texts, text, length, stored);
	if (stored) {
		free(text);
		return stored;
	}
	stored = alloc_zeroed(1, sizeof(*stored));
	stored->text = text;
	stored->offset = (uint32_t)cache->text_size;
	HASH_ADD_KEYPTR(hh, cache->texts, text, length, stored);
	cache->text_size += length + 1;
	return stored;
}

static const struct stored_text *keep_file(struct line_cache *cache, const struct line_row *row)
{
	const char *directory = row->directory;

	if (!row->file)
		return NULL;
	if (row->file != cache->last_file || directory != cache->last_directory)
		cache->last = keep_text(cache, alloc_text("%s%s%s", directory ? directory : "",
							  directory ? "/" : "", row->file));
	cache->last_file = row->file;
	cache->last_directory = directory;
	return cache->last;
}

/* Add an answer with the name of its file, or NULL, unless it is there. */
static void add(struct line_cache *cache, const struct stored_answer *answer,
		const struct stored_text *file)
{
	struct line_answer *added;

	HASH_FIND(hh, cache->added, answer, KEY_SIZE, added);
	if (added)
		return;
	added = alloc_zeroed(1, sizeof(*added));
	added->stored = *answer;
	added->stored.file = file ? file->offset : NO_FILE;
	added->file = file ? file->text : NULL;
	HASH_ADD(hh, cache->added, stored, KEY_SIZE, added);
}

void line_cache_add(struct line_cache *cache, enum line_query query, uint64_t vaddr,
		    const struct line_row *row)
{
	struct stored_answer answer = { .vaddr = vaddr, .query = query, .found = row != NULL };

	if (!cache->name[0] || HASH_COUNT(cache->added) >= ADDED_MOST)
		return;
	if (row) {
		answer.line = row->line;
		answer.column = row->column;
	}
	add(cache, &answer, row ? keep_file(cache, row) : NULL);
}

/* ---- Writing ------------------------------------------------------------- */

/* Add the answers of the file: other processes may have written it meanwhile. */
static void add_stored(struct line_cache *cache)
{
	read_file(cache);
	for (size_t i = 0; i < cache->count; i++) {
		const struct stored_answer *stored = &answers_of(cache)[i];
		const char *text = text_of(cache, stored->file);

		add(cache, stored, text ? keep_text(cache, alloc_text("%s", text)) : NULL);
	}
}

int line_cache_save(struct line_cache *cache)
{
	struct stored_header *header;
	struct stored_answer *answers;
	size_t size, count = 0;
	int status;

	if (!cache->added || cache->frozen)
		return 0;
	add_stored(cache);
	size = sizeof(*header) + HASH_COUNT(cache->added) * sizeof(*answers) + cache->text_size;
	header = alloc_zeroed(1, size);
	answers = (struct stored_answer *)(header + 1);
	for (const struct line_answer *a = cache->added; a; a = a->hh.next)
		answers[count++] = a->stored;
	SORT(answers, count, compare_answers);
	for (const struct stored_text *stored = cache->texts; stored; stored = stored->hh.next)
		strcpy((char *)(answers + count) + stored->offset, stored->text);
	memcpy(header->magic, MAGIC, sizeof(header->magic));
	header->source = cache->source;
	header->count = count;
	header->text_size = cache->text_size;
	header->checksum = sum_of((const uint8_t *)header, size);
	status = cache_file_write(cache->name, header, size);
	free(header);
	return status;
}

void line_cache_close(struct line_cache *cache)
{
	struct line_answer *answer;
	struct stored_text *stored;

	HASH_FREE_ALL(cache->added, answer);
	HASH_FREE_ALL(cache->texts, stored, free(stored->text));
	free(cache->bytes);
	*cache = (struct line_cache){ 0 };
}
