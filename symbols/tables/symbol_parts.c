/* SPDX-License-Identifier: MIT */
/* Matches parts with functions, by their names and addresses. */
#include "symbols/tables/symbol_table.h"

#include "symbols/names/demangle.h"
#include "symbols/symbol.h"

/* Suffixes as in foo.isra.0.part.0.cold: compilers add at most this number. */
#define NESTED_MAX 8

/*
 * Many parts and many functions of one name would take the product of their
 * numbers: this many looks per entry are enough for every compiler's output.
 */
#define LOOKS_PER_ENTRY 64

/* Few functions have parts; the first bytes of their names reject most of the others. */
#define START_LENGTH 8
#define START_KEYS   4096

/* How certain it is that a function of the right name is the right one; two local ones: neither. */
enum rank { RANK_NONE = 0, RANK_LOCAL, RANK_AMBIGUOUS, RANK_GLOBAL, RANK_SAME_SOURCE };

struct part_search {
	const struct symbol_table *table; /* borrowed */
	/* A part while its function is looked for. */
	struct part_candidate {
		const char *name;
		size_t length;     /* bytes of the function's name, at the start of `name` */
		uint64_t part;     /* address */
		uint64_t function; /* address of the best function yet; `part`: unknown */
		uint32_t hash;     /* hash of the function's name */
		uint32_t source;   /* index of its source file */
		uint32_t order;    /* order of the best function */
		uint8_t rank;      /* rank of the best: enum rank */
	} * candidates;            /* owned; sorted by hash */
	size_t count, room;
	size_t looks_left;
	bool starts[START_KEYS]; /* first characters of the candidates */
};

static bool *find_start(struct part_search *search, const char *name, size_t length)
{
	return &search->starts[hash_bytes(name, MIN(length, START_LENGTH)) % START_KEYS];
}

/* Returns the number of source files that begin at or before the entry. */
static uint32_t source_of(const struct symbol_table *table, const struct symbol_entry *entry)
{
	return (uint32_t)LOWER_BOUND(i, table->source_count, table->sources[i] <= entry->order);
}

/* As demangle_part_of(), which takes longer than a search for the dot. */
static size_t part_length(const char *name)
{
	return strchr(name, '.') ? demangle_part_of(name) : 0;
}

static void add_candidate(struct part_search *search, const struct symbol_entry *entry)
{
	const char *name = symbol_table_name(search->table, entry);
	size_t length = part_length(name);

	if (!length)
		return;
	*find_start(search, name, length) = true;
	*ARRAY_ADD(search->candidates, search->count, search->room) =
		(struct part_candidate){ .name = name,
					 .length = length,
					 .hash = hash_bytes(name, length),
					 .part = entry->begin,
					 .function = entry->begin,
					 .source = source_of(search->table, entry) };
}

COMPARE_BY(compare_candidates, struct part_candidate, hash)

static enum rank rank_of(const struct part_search *search, const struct part_candidate *candidate,
			 const struct symbol_entry *entry)
{
	if (entry->binding != SYMBOL_LOCAL)
		return RANK_GLOBAL;
	return source_of(search->table, entry) == candidate->source ? RANK_SAME_SOURCE : RANK_LOCAL;
}

static void offer_function(const struct part_search *search, struct part_candidate *candidate,
			   const struct symbol_entry *entry)
{
	enum rank rank = rank_of(search, candidate, entry);

	/* The first of equals in the file. */
	if (rank > candidate->rank ||
	    (rank == candidate->rank && rank > RANK_LOCAL && entry->order < candidate->order)) {
		candidate->rank = (uint8_t)rank;
		candidate->order = entry->order;
		candidate->function = entry->begin;
	} else if (rank == candidate->rank && rank == RANK_LOCAL &&
		   candidate->function != entry->begin) {
		candidate->rank = RANK_AMBIGUOUS;
		candidate->function = candidate->part;
	}
}

static void offer_to_candidates(struct part_search *search, const struct symbol_entry *entry)
{
	const char *name = symbol_table_name(search->table, entry);
	size_t length = (size_t)(strchrnul(name, '@') - name), first;
	struct part_candidate *all = search->candidates;
	uint32_t hash;

	if (!*find_start(search, name, length))
		return;
	hash = hash_bytes(name, length);
	first = LOWER_BOUND(j, search->count, all[j].hash < hash);
	for (size_t i = first; i < search->count && all[i].hash == hash && search->looks_left;
	     i++) {
		search->looks_left--;
		if (all[i].length == length && memcmp(all[i].name, name, length) == 0)
			offer_function(search, &all[i], entry);
	}
}

COMPARE_BY(compare_parts, struct symbol_part, part)

/* Find the parts by their names. */
static void find_named(struct symbol_table *table)
{
	struct part_search search = { .table = table,
				      .looks_left = table->count * LOOKS_PER_ENTRY };

	for (size_t i = 0; i < table->count; i++)
		if (table->entries[i].section)
			add_candidate(&search, &table->entries[i]);
	if (!search.count)
		return;
	SORT(search.candidates, search.count, compare_candidates);
	for (size_t i = 0; i < table->count; i++)
		if (table->entries[i].section)
			offer_to_candidates(&search, &table->entries[i]);
	table->parts = alloc_zeroed(search.count, sizeof(*table->parts));
	for (size_t i = 0; i < search.count; i++) {
		const struct part_candidate *found = &search.candidates[i];

		if (found->function != found->part)
			table->parts[table->part_count++] =
				(struct symbol_part){ found->part, found->function };
	}
	SORT(table->parts, table->part_count, compare_parts);
	free(search.candidates);
}

/* Returns the part that begins at an address, among the first `count`, or NULL. */
static const struct symbol_part *find_part(const struct symbol_table *table, size_t count,
					   uint64_t address)
{
	struct symbol_part key = { .part = address };

	return count ? bsearch(&key, table->parts, count, sizeof(key), compare_parts) : NULL;
}

/* Returns whether a label is inside the function before it, whose size is unknown. */
static bool is_inside(const struct symbol_table *table, const struct symbol_entry *function,
		      const struct symbol_entry *label)
{
	const char *name = symbol_table_name(table, function);
	const char *longer = symbol_table_name(table, label);
	size_t length; /* bytes of `name`, which is read only up to the label's length */

	if (function->section != label->section || function->sized)
		return false;
	if (!label->hidden || !function->untyped)
		return label->hidden;
	length = strnlen(name, strlen(longer));
	return strncmp(name, longer, length) == 0 && longer[length] == '.';
}

/*
 * Add the labels that are inside functions to table->parts.
 *
 * A label after a function without a size is inside that function
 * - if it is hidden, and that is typed but without size: musl's __cp_end;
 * - if its name is that function's, a dot and more (NASM manual, "Local Labels"): foo.loop.
 * All others may be functions whose authors left out the directives for type and size.
 */
static void add_labels(struct symbol_table *table)
{
	const struct symbol_entry *function = NULL;
	size_t known = table->part_count, room = known;

	for (size_t i = 0; i < table->count; i++) {
		const struct symbol_entry *entry = &table->entries[i];

		/* Another name, a linkage stub, or a function of Go. */
		if (!symbol_table_shows(table, i) || !entry->section)
			continue;
		if (!function || !symbol_entry_is_label(entry) ||
		    !is_inside(table, function, entry))
			function = entry;
		else if (!find_part(table, known, entry->begin))
			*ARRAY_ADD(table->parts, table->part_count, room) =
				(struct symbol_part){ entry->begin, function->begin };
	}
	if (table->part_count > known)
		SORT(table->parts, table->part_count, compare_parts);
}

/* Returns whether an entry is a label, or one of the names at its address is a part's. */
static bool may_be_part(const struct symbol_table *table, const struct symbol_entry *entry)
{
	const struct symbol_entry *other = entry;

	for (; entry->section && other >= table->entries && other->begin == entry->begin; other--)
		if (part_length(symbol_table_name(table, other)))
			return true;
	return symbol_entry_is_label(entry);
}

bool symbol_parts_function(struct symbol_table *table, const struct symbol_entry *entry,
			   uint64_t *function)
{
	const struct symbol_part *found;

	if (!table->parts_found && may_be_part(table, entry)) {
		table->parts_found = true;
		find_named(table);
		add_labels(table);
	}
	found = find_part(table, table->part_count, entry->begin);
	if (!found)
		return false;
	for (unsigned i = 0; i < NESTED_MAX && found; i++) {
		*function = found->function;
		found = find_part(table, table->part_count, *function);
	}
	return true;
}
