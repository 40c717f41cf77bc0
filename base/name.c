/* SPDX-License-Identifier: MIT */
#include "base/name.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

struct name_entry {
	UT_hash_handle hh;
	struct name name;
};

void name_table_init(struct name_table *table)
{
	*table = (struct name_table){ .lock = PTHREAD_MUTEX_INITIALIZER };
}

void name_table_release(struct name_table *table)
{
	HASH_CLEAR(hh, table->by_text);
	arena_release(&table->arena);
	table->count = 0;
}

static const struct name *intern(struct name_table *table, const char *text, size_t length)
{
	struct name_entry *entry;
	unsigned hash;

	HASH_VALUE(text, length, hash);
	HASH_FIND_BYHASHVALUE(hh, table->by_text, text, length, hash, entry);
	if (entry)
		return &entry->name;
	entry = arena_alloc(&table->arena, sizeof(*entry) + length + 1);
	entry->name.id = table->count++;
	entry->name.length = length;
	memcpy(entry->name.text, text, length);
	HASH_ADD_KEYPTR_BYHASHVALUE(hh, table->by_text, entry->name.text, length, hash, entry);
	return &entry->name;
}

const struct name *name_intern(struct name_table *table, const char *text, size_t length)
{
	const struct name *name;

	if (length > UINT32_MAX - 1)
		length = UINT32_MAX - 1;
	pthread_mutex_lock(&table->lock);
	name = intern(table, text, length);
	pthread_mutex_unlock(&table->lock);
	return name;
}

const struct name *name_intern_text(struct name_table *table, const char *text)
{
	return name_intern(table, text, strlen(text));
}
