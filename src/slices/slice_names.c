/* SPDX-License-Identifier: MIT */
/* Put words behind the names of slices. */
#include "src/slices/slice_names.h"

void slice_names_init(struct slice_names *names, struct name_table *table,
		      enum stack_machine stacks)
{
	*names = (struct slice_names){ .table = stacks == STACKS_MAGIC_TRACE ? table : NULL };
}

void slice_names_release(struct slice_names *names)
{
	free(names->inferred);
	*names = (struct slice_names){ 0 };
}

static const struct name *with_words(struct name_table *table, const struct name *name)
{
	static const char words[] = SLICE_INFERRED_WORDS;
	char *text = alloc_zeroed(name->length + sizeof(words), 1);
	const struct name *made;

	memcpy(text, name->text, name->length);
	memcpy(text + name->length, words, sizeof(words));
	made = name_intern(table, text, name->length + sizeof(words) - 1);
	free(text);
	return made;
}

const struct name *slice_names_find(struct slice_names *names, const struct symbol *symbol,
				    unsigned flags)
{
	const struct name *name = symbol->name;

	if (!names->table || !(flags & SLICE_INFERRED_START))
		return name;
	names->inferred = alloc_grow_zeroed(names->inferred, &names->room, (size_t)name->id + 1,
					    sizeof(*names->inferred));
	if (!names->inferred[name->id])
		names->inferred[name->id] = with_words(names->table, name);
	return names->inferred[name->id];
}
