/* SPDX-License-Identifier: MIT */
#include "symbols/dwarf/inline_table.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

/* Blocks and inlined calls nest; compilers stay far below this. */
#define DEPTH_MAX 200

struct inline_unit {
	Dwarf_Off offset;        /* of the unit's entry in .debug_info */
	Dwarf_Die skeleton;      /* the unit's entry */
	Dwarf_Die die;           /* of the unit that has the functions: the split unit's own */
	struct split_unit split; /* closed: all is here */
	struct error problem;    /* what is wrong with it, and whether that was told */
	bool told;
	struct inline_function *functions; /* owned */
	size_t count, room;
	struct name_ranges ranges;     /* of functions */
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
	split_unit_close(&unit->split);
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
	const struct split_unit *split = walk->unit->split.dwarf ? &walk->unit->split : NULL;
	Dwarf_Addr base, bounds[2];
	ptrdiff_t next = 0;

	while ((next = split ? split_unit_ranges(split, die, next, &base, bounds)
			     : dwarf_ranges(die, next, &base, &bounds[0], &bounds[1])) > 0) {
		struct named_range range = { .begin = bounds[0], .end = bounds[1] };

		if (!dwarf_guard_allows_range(split ? split->guard : &walk->lines->guard))
			return false;
		if (range.begin >= range.end)
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

	line_table_place(walk->lines, &walk->unit->skeleton, number_of(die, DW_AT_call_file),
			 &call.at);
	call.at.line = number_of(die, DW_AT_call_line);
	call.at.column = number_of(die, DW_AT_call_column);
	function->calls =
		alloc_grow(function->calls, &function->room, function->count + 1, sizeof(call));
	function->calls[function->count++] = call;
	return add_ranges(walk, die, &function->ranges, &function->calls_of_ranges,
			  &function->range_room, (uint32_t)function->count - 1);
}

static bool add_function(struct walk *walk, Dwarf_Die *die)
{
	struct inline_unit *unit = walk->unit;

	unit->functions =
		alloc_grow(unit->functions, &unit->room, unit->count + 1, sizeof(*unit->functions));
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

/*
 * The functions of a skeleton unit are in a file of their own (DWARF 5, 3.1.2).
 * Clang leaves the inlined calls in the skeleton, too, if it is asked to.
 */
static void enter_split_unit(struct inline_table *table, struct inline_unit *unit)
{
	if (table->split_files && split_unit_open(&unit->split, table->split_files, &unit->skeleton,
						  &unit->problem) == 1) {
		unit->die = unit->split.die;
		table->entries_left += unit->split.sections[SPLIT_INFO].size;
	}
}

static void set_damaged(struct inline_unit *unit)
{
	error_set(&unit->problem, ERROR_FORMAT, "debug information is damaged");
}

static struct inline_unit *borrow_unit(struct inline_table *table, struct line_table *lines,
				       Dwarf_Die *die)
{
	struct walk walk = { .table = table, .lines = lines };
	Dwarf_Off offset = dwarf_dieoffset(die);
	struct inline_unit *unit;

	HASH_FIND(hh, table->units, &offset, sizeof(offset), unit);
	if (unit)
		return unit;
	unit = alloc_zeroed(1, sizeof(*unit));
	unit->offset = offset;
	unit->die = unit->skeleton = *die;
	HASH_ADD(hh, table->units, offset, sizeof(offset), unit);
	enter_split_unit(table, unit);
	walk.unit = unit;
	if (!walk_below(&walk, &unit->die, NAME_RANGE_NONE, 0))
		set_damaged(unit);
	name_ranges_finish(&unit->ranges, 0);
	return unit;
}

static void read_function(struct walk *walk)
{
	struct inline_function *function = walk->function;
	Dwarf_Die die;

	function->read = true;
	if (!dwarf_offdie(dwarf_cu_getdwarf(walk->unit->die.cu), function->die, &die) ||
	    !walk_below(walk, &die, NAME_RANGE_NONE, 0))
		set_damaged(walk->unit);
	name_ranges_finish(&function->ranges, 0);
}

/* Returns whether a function is there. */
static bool find_hit(struct walk *walk, uint64_t vaddr, struct inline_hit *hit)
{
	struct inline_unit *unit = walk->unit;
	uint64_t begin, end;
	uint32_t range = name_ranges_find(&unit->ranges, vaddr, &begin, &end);

	if (range == NAME_RANGE_NONE)
		return false;
	hit->function = walk->function = &unit->functions[unit->functions_of_ranges[range]];
	if (!hit->function->read)
		read_function(walk);
	range = name_ranges_find(&hit->function->ranges, vaddr, &hit->begin, &hit->end);
	hit->call = range == NAME_RANGE_NONE ? range : hit->function->calls_of_ranges[range];
	if (hit->begin < begin)
		hit->begin = begin;
	if (hit->end > end)
		hit->end = end;
	return true;
}

int inline_table_find(struct inline_table *table, struct line_table *lines, uint64_t vaddr,
		      struct inline_hit *hit, struct error *err)
{
	struct walk walk = { .table = table, .lines = lines };
	Dwarf_Die die;
	bool found;

	if (!table->begun && lines->guard.info)
		table->entries_left = lines->guard.info->d_size;
	table->begun = true;
	if (!line_table_unit(lines, vaddr, &die))
		return 0;
	walk.unit = borrow_unit(table, lines, &die);
	found = find_hit(&walk, vaddr, hit);
	if (!err || walk.unit->told || walk.unit->problem.kind == ERROR_NONE)
		return found;
	walk.unit->told = true;
	*err = walk.unit->problem;
	return -1;
}
