/* SPDX-License-Identifier: MIT */
/* Interns texts. */
#include "base/tables/name.h"

#include "base/utf8.h"

void name_table_init(struct name_table *table)
{
	*table = (struct name_table){ .lock = PTHREAD_MUTEX_INITIALIZER };
}

void name_table_release(struct name_table *table)
{
	id_index_release(&table->index);
	free(table->names);
	table->names = NULL;
	arena_release(&table->arena);
	table->count = table->room = 0;
}

static bool is_plain(const char *text, size_t length)
{
	size_t size;

	for (const char *end = text + length; text < end; text += size) {
		size = utf8_character(text, (size_t)(end - text));
		if (!size || utf8_control(text, size) || *text == '\\' || *text == '"')
			return false;
	}
	return true;
}

const struct name *name_intern(struct name_table *table, const char *text, size_t size)
{
	uint32_t length = (uint32_t)utf8_cut(text, size, NAME_LENGTH_MAX);
	uint32_t hash = hash_bytes(text, length), id;
	struct id_probe probe = id_index_probe(hash);
	struct name *added;
	HOLD_LOCK(&table->lock);

	while ((id = id_index_next(&table->index, &probe))) {
		const struct name *name = table->names[id - 1];

		if (name->length == length && memcmp(name->text, text, length) == 0)
			return name;
	}
	added = arena_alloc(&table->arena, sizeof(*added) + length + 1);
	added->id = (uint32_t)table->count;
	added->length = (uint16_t)length;
	added->plain = is_plain(text, length);
	memcpy(added->text, text, length);
	*ARRAY_ADD(table->names, table->count, table->room) = added;
	id_index_add(&table->index, hash, (uint32_t)table->count);
	return added;
}

const struct name *name_intern_text(struct name_table *table, const char *text)
{
	return name_intern(table, text, strlen(text));
}
