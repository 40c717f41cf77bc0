/* SPDX-License-Identifier: MIT */
#include "symbols/tables/symbol_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbols/names/demangle.h"
#include "symbols/symbol.h"

/* foo.isra.0.part.0.cold: more than this is made by no compiler. */
#define NESTED_MAX 8

/*
 * Many parts and many functions of one name would take the product of their
 * numbers: this many looks per entry are enough for every compiler's output.
 */
#define LOOKS_PER_ENTRY 64

/* A part while its function is looked for. */
struct candidate {
	const char *name;
	size_t length;   /* of the function's name, at the start of `name` */
	uint64_t part;   /* address */
	uint64_t whole;  /* address of the best function yet */
	uint32_t source; /* index of its source file */
	uint8_t rank;    /* of the best: enum rank */
};

/* How sure it is that a function of the right name is the right one. */
enum rank { RANK_NONE = 0, RANK_AMBIGUOUS, RANK_LOCAL, RANK_GLOBAL, RANK_SAME_SOURCE };

struct finding {
	const struct symbol_table *table; /* borrowed, as are the sources */
	const uint32_t *sources;
	size_t source_count;
	struct candidate *candidates; /* owned; sorted by name */
	size_t count, room;
	size_t looks_left;
};

/* Returns how many source files begin at or before the entry. */
static uint32_t source_of(const struct finding *finding, const struct symbol_entry *entry)
{
	size_t low = 0, high = finding->source_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (finding->sources[middle] <= entry->order)
			low = middle + 1;
		else
			high = middle;
	}
	return (uint32_t)low;
}

static void add_candidate(struct finding *finding, const struct symbol_entry *entry)
{
	const char *name = symbol_table_name(finding->table, entry);
	size_t length = strchr(name, '.') ? demangle_part_of(name) : 0;

	if (!length)
		return;
	finding->candidates = alloc_grow(finding->candidates, &finding->room, finding->count + 1,
					 sizeof(*finding->candidates));
	finding->candidates[finding->count++] =
		(struct candidate){ .name = name,
				    .length = length,
				    .part = entry->begin,
				    .source = source_of(finding, entry) };
}

static int compare_texts(const char *a, size_t a_length, const char *b, size_t b_length)
{
	int order = memcmp(a, b, a_length < b_length ? a_length : b_length);

	return order ? order : (a_length > b_length) - (a_length < b_length);
}

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return compare_texts(x->name, x->length, y->name, y->length);
}

static enum rank rank_of(const struct finding *finding, const struct candidate *candidate,
			 const struct symbol_entry *entry)
{
	if (entry->binding != SYMBOL_LOCAL)
		return RANK_GLOBAL;
	return source_of(finding, entry) == candidate->source ? RANK_SAME_SOURCE : RANK_LOCAL;
}

static void offer(const struct finding *finding, struct candidate *candidate,
		  const struct symbol_entry *entry)
{
	enum rank rank = rank_of(finding, candidate, entry);

	if (rank > candidate->rank) {
		candidate->rank = (uint8_t)rank;
		candidate->whole = entry->begin;
	} else if (rank == candidate->rank && rank == RANK_LOCAL &&
		   candidate->whole != entry->begin) {
		candidate->rank = RANK_AMBIGUOUS;
	}
}

/* Returns the index of the first candidate that is not before a function's name. */
static size_t first_candidate(const struct finding *finding, const char *name, size_t length)
{
	size_t low = 0, high = finding->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct candidate *candidate = &finding->candidates[middle];

		if (compare_texts(candidate->name, candidate->length, name, length) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void offer_to_all(struct finding *finding, const struct symbol_entry *entry)
{
	const char *name = symbol_table_name(finding->table, entry);
	size_t length = strcspn(name, "@");

	for (size_t i = first_candidate(finding, name, length); i < finding->count; i++) {
		struct candidate *candidate = &finding->candidates[i];

		if (compare_texts(candidate->name, candidate->length, name, length) != 0 ||
		    !finding->looks_left)
			break;
		finding->looks_left--;
		offer(finding, candidate, entry);
	}
}

static int compare_parts(const void *a, const void *b)
{
	const struct symbol_part *x = a, *y = b;

	return (x->part > y->part) - (x->part < y->part);
}

static void keep_found(struct symbol_table *table, const struct finding *finding)
{
	table->parts = alloc_zeroed(finding->count, sizeof(*table->parts));
	for (size_t i = 0; i < finding->count; i++) {
		const struct candidate *found = &finding->candidates[i];

		if (found->rank > RANK_AMBIGUOUS && found->whole != found->part)
			table->parts[table->part_count++] =
				(struct symbol_part){ found->part, found->whole };
	}
	if (table->part_count)
		qsort(table->parts, table->part_count, sizeof(*table->parts), compare_parts);
}

void symbol_parts_find(struct symbol_table *table, const uint32_t *sources, size_t source_count)
{
	struct finding finding = {
		table, sources, source_count, NULL, 0, 0, table->count * LOOKS_PER_ENTRY
	};

	for (size_t i = 0; i < table->count; i++)
		add_candidate(&finding, &table->entries[i]);
	if (!finding.count)
		return;
	qsort(finding.candidates, finding.count, sizeof(*finding.candidates), compare_candidates);
	for (size_t i = 0; i < table->count; i++)
		offer_to_all(&finding, &table->entries[i]);
	keep_found(table, &finding);
	free(finding.candidates);
}

bool symbol_parts_whole(const struct symbol_table *table, uint64_t part, uint64_t *whole)
{
	struct symbol_part key = { .part = part };
	const struct symbol_part *found = NULL;

	for (unsigned i = 0; i < NESTED_MAX && table->part_count; i++) {
		const struct symbol_part *next =
			bsearch(&key, table->parts, table->part_count, sizeof(key), compare_parts);

		if (!next)
			break;
		found = next;
		key.part = next->whole;
	}
	if (found)
		*whole = found->whole;
	return found;
}
