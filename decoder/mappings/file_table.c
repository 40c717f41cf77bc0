/* SPDX-License-Identifier: MIT */
/* Mapped files by path and build id. */
#include "decoder/mappings/space_builder.h"

#include "base/tables/hash.h"
#include "decoder/perf_data/perf_file.h"

struct file_entry {
	struct mapped_file file;
	UT_hash_handle hh;
	char key[]; /* a byte with the build id's size, the build id, the path, a NUL */
};

struct known_build_id {
	const char *path;
	const uint8_t *id;
	size_t size;
	UT_hash_handle hh;
};

void file_table_init(struct file_table *table, struct arena *arena, const struct perf_file *file)
{
	struct perf_build_id entry = { 0 };
	struct known_build_id *known;

	*table = (struct file_table){ .arena = arena };
	while (perf_features_next_build_id(file, &entry)) {
		HASH_FIND_STR(table->build_ids, entry.path, known);
		if (known)
			continue;
		known = arena_alloc(arena, sizeof(*known));
		known->path = entry.path;
		known->id = entry.id;
		known->size = entry.id_size;
		HASH_ADD_KEYPTR(hh, table->build_ids, known->path, strlen(known->path), known);
	}
}

void file_table_release(struct file_table *table)
{
	HASH_CLEAR(hh, table->by_key);
	HASH_CLEAR(hh, table->build_ids);
	free(table->files);
	free(table->scratch);
	*table = (struct file_table){ 0 };
}

/* BUILD_ID names the kernel "[kernel.kallsyms]"; its mapping is "[kernel.kallsyms]_text". */
static struct known_build_id *find_build_id(const struct file_table *table, const char *path)
{
	static const char kernel[] = "[kernel.kallsyms]";
	struct known_build_id *known;

	if (starts_with(path, kernel))
		path = kernel;
	HASH_FIND_STR(table->build_ids, path, known);
	return known;
}

const struct mapped_file *file_table_borrow(struct file_table *table, const char *path,
					    const uint8_t *id, size_t id_size)
{
	struct known_build_id *known = id_size ? NULL : find_build_id(table, path);
	struct file_entry *wanted, *entry;
	size_t length = strlen(path), key_size;

	if (known) {
		id = known->id;
		id_size = known->size;
	}
	key_size = 1 + id_size + length;
	table->scratch =
		alloc_grow(table->scratch, &table->scratch_room, sizeof(*wanted) + key_size + 1, 1);
	wanted = table->scratch;
	memset(wanted, 0, sizeof(*wanted));
	wanted->file.build_id_size = (uint8_t)id_size;
	wanted->key[0] = (char)id_size;
	if (id_size) {
		memcpy(wanted->file.build_id, id, id_size);
		memcpy(wanted->key + 1, id, id_size);
	}
	memcpy(wanted->key + 1 + id_size, path, length + 1);
	HASH_FIND(hh, table->by_key, wanted->key, key_size, entry);
	if (!entry) {
		entry = arena_copy(table->arena, wanted, sizeof(*wanted) + key_size + 1);
		entry->file.path = entry->key + 1 + id_size;
		entry->file.index = (uint32_t)table->count;
		HASH_ADD_KEYPTR(hh, table->by_key, entry->key, key_size, entry);
		*ARRAY_ADD(table->files, table->count, table->room) = &entry->file;
	}
	return &entry->file;
}
