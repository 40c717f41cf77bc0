/* SPDX-License-Identifier: MIT */
#include "symbols/inline_table.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/hash.h"

/* Blocks and inlined calls nest; compilers stay far below this. */
#define DEPTH_MAX 200

struct inline_unit {
	Dwarf_Off offset; /* of the unit's entry in .debug_info */
	Dwarf_Die die;	  /* of the unit that has the functions: a split unit's own */
	bool split;
	struct inline_function *functions; /* owned */
	size_t count, room;
	struct name_ranges ranges; /* of functions */
	uint32_t *functions_of_ranges; /* owned */
	size_t range_room;
	UT_hash_handle hh;
};

/* The walk over the entries below one. */
struct walk {
	struct inline_table *table;
	struct line_table *lines;
	struct inline_unit *unit;
	struct inline_function *function; /* NULL: functions are looked for */
};

static void release_unit(struct inline_unit *unit)
{
	for (size_t i = 0; i < unit->count; i++) {
		free(unit->functions[i].calls);
		free(unit->functions[i].calls_of_ranges);
		name_ranges_release(&unit->functions[i].ranges);
	}
	free(unit->functions);
	free(unit->functions_of_ranges);
	name_ranges_release(&unit->ranges);
	free(unit);
}

void inline_table_release(struct inline_table *table)
{
	struct inline_unit *unit, *next;

	HASH_ITER(hh, table->units, unit, next)
	{
		HASH_DEL(table->units, unit);
		release_unit(unit);
	}
	*table = (struct inline_table){ 0 };
}

/* ---- Entries ------------------------------------------------------------- */

/* Add the addresses of an entry; `owner` is what they belong to.  Returns false on damage. */
static bool add_ranges(struct walk *walk, Dwarf_Die *die, struct name_ranges *ranges,
		       uint32_t **owners, size_t *room, uint32_t owner)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t next = 0;

	while ((next = dwarf_ranges(die, next, &base, &begin, &end)) > 0) {
		struct named_range range = { .begin = begin, .end = end };

		if (!dwarf_guard_allows_range(&walk->lines->guard))
			return false;
		if (begin >= end)
			continue;
		*owners = alloc_grow(*owners, room, ranges->count + 1, sizeof(**owners));
		(*owners)[ranges->count] = owner;
		name_ranges_add(ranges, &range);
	}
	return next == 0;
}

static uint32_t number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) != 0 || value > UINT32_MAX)
		return 0;
	return (uint32_t)value;
}

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name;

	name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
	if (!name)
		name = dwarf_formstring(
			dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute));
	return name ? name : dwarf_diename(die);
}

static bool add_call(struct walk *walk, Dwarf_Die *die, uint32_t parent)
{
	struct inline_function *function = walk->function;
	struct inline_call call = { .name = name_of(die), .parent = parent };

	line_table_place(walk->lines, &walk->unit->die, number_of(die, DW_AT_call_file), &call.at);
	call.at.line = number_of(die, DW_AT_call_line);
	call.at.column = number_of(die, DW_AT_call_column);
	function->calls = alloc_grow(function->calls, &function->room, function->count + 1,
				     sizeof(call));
	function->calls[function->count++] = call;
	return add_ranges(walk, die, &function->ranges, &function->calls_of_ranges,
			  &function->range_room, (uint32_t)function->count - 1);
}

static bool add_function(struct walk *walk, Dwarf_Die *die)
{
	struct inline_unit *unit = walk->unit;

	unit->functions = alloc_grow(unit->functions, &unit->room, unit->count + 1,
				     sizeof(*unit->functions));
	unit->functions[unit->count++] = (struct inline_function){ .die = dwarf_dieoffset(die) };
	return add_ranges(walk, die, &unit->ranges, &unit->functions_of_ranges, &unit->range_room,
			  (uint32_t)unit->count - 1);
}

/* Entries that hold functions or blocks of code. */
static bool may_hold_code(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type: /* Rust's have methods */
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return true;
	default:
		return false;
	}
}

/*
 * Visit what is below an entry: all functions, or all inlined calls of one.
 * Returns false on damage.
 */
static bool walk_below(struct walk *walk, Dwarf_Die *above, uint32_t parent, unsigned depth)
{
	Dwarf_Die die;
	int status = dwarf_child(above, &die);
	bool sound = true;

	for (; status == 0 && sound; status = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);
		uint32_t inner = parent;

		if (!walk->table->entries_left || depth == DEPTH_MAX)
			return false;
		walk->table->entries_left--;
		if (tag == DW_TAG_subprogram && !walk->function) {
			sound = add_function(walk, &die);
		} else if (tag == DW_TAG_inlined_subroutine && walk->function) {
			sound = add_call(walk, &die, parent);
			inner = (uint32_t)walk->function->count - 1;
		} else if (!may_hold_code(tag)) {
			continue;
		}
		sound = sound && walk_below(walk, &die, inner, depth + 1);
	}
	return sound && status >= 0;
}

/* ---- Units --------------------------------------------------------------- */

/* Whether the file with the other part of a unit may be opened: a fifo would wait for ever. */
static bool has_split_file(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	const char *name = dwarf_formstring(dwarf_attr(unit, DW_AT_dwo_name, &attribute));
	const char *directory;
	struct stat status;
	char path[4096];
	int length;

	if (!name)
		name = dwarf_formstring(dwarf_attr(unit, DW_AT_GNU_dwo_name, &attribute));
	if (!name)
		return false;
	directory = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	length = name[0] == '/' || !directory
			 ? snprintf(path, sizeof(path), "%s", name)
			 : snprintf(path, sizeof(path), "%s/%s", directory, name);
	return length > 0 && (size_t)length < sizeof(path) && stat(path, &status) == 0 &&
	       S_ISREG(status.st_mode);
}

/* The functions of a skeleton unit are in a file of their own (DWARF 5, 3.1.2). */
static void enter_split_unit(struct inline_unit *unit)
{
	Dwarf_Die split;
	uint8_t type;

	memset(&split, 0, sizeof(split));
	if (has_split_file(&unit->die) &&
	    dwarf_cu_info(unit->die.cu, NULL, &type, NULL, &split, NULL, NULL, NULL) == 0 &&
	    split.addr) {
		unit->die = split;
		unit->split = true;
	}
}

static struct inline_unit *borrow_unit(struct inline_table *table, struct line_table *lines,
				       Dwarf_Die *die, bool *sound)
{
	struct walk walk = { .table = table, .lines = lines };
	Dwarf_Off offset = dwarf_dieoffset(die);
	struct inline_unit *unit;

	*sound = true;
	HASH_FIND(hh, table->units, &offset, sizeof(offset), unit);
	if (unit)
		return unit;
	unit = alloc_zeroed(1, sizeof(*unit));
	unit->offset = offset;
	unit->die = *die;
	HASH_ADD(hh, table->units, offset, sizeof(offset), unit);
	enter_split_unit(unit);
	walk.unit = unit;
	*sound = walk_below(&walk, &unit->die, NAME_RANGE_NONE, 0);
	name_ranges_finish(&unit->ranges, 0);
	return unit;
}

/* Returns false on damage. */
static bool read_function(struct walk *walk)
{
	struct inline_function *function = walk->function;
	Dwarf_Die die;
	bool sound;

	function->read = true;
	sound = dwarf_offdie(dwarf_cu_getdwarf(walk->unit->die.cu), function->die, &die) &&
		walk_below(walk, &die, NAME_RANGE_NONE, 0);
	name_ranges_finish(&function->ranges, 0);
	return sound;
}

int inline_table_find(struct inline_table *table, struct line_table *lines, uint64_t vaddr,
		      struct inline_hit *hit, struct error *err)
{
	struct walk walk = { .table = table, .lines = lines };
	uint64_t begin, end;
	uint32_t range;
	Dwarf_Die die;
	bool sound;

	if (!table->begun && lines->guard.info)
		table->entries_left = lines->guard.info->d_size;
	table->begun = true;
	if (!line_table_unit(lines, vaddr, &die))
		return 0;
	walk.unit = borrow_unit(table, lines, &die, &sound);
	range = name_ranges_find(&walk.unit->ranges, vaddr, &begin, &end);
	if (range == NAME_RANGE_NONE)
		return sound ? 0 : error_set(err, ERROR_FORMAT, "debug information is damaged");
	walk.function = &walk.unit->functions[walk.unit->functions_of_ranges[range]];
	if (!walk.function->read)
		sound = read_function(&walk) && sound;
	hit->function = walk.function;
	range = name_ranges_find(&walk.function->ranges, vaddr, &hit->begin, &hit->end);
	hit->call = range == NAME_RANGE_NONE ? range : walk.function->calls_of_ranges[range];
	if (hit->begin < begin)
		hit->begin = begin;
	if (hit->end > end)
		hit->end = end;
	return sound ? 1 : error_set(err, ERROR_FORMAT, "debug information is damaged");
}
