/* SPDX-License-Identifier: MIT */
/* Lists the functions of units and their inlined calls, by libdw. */
#include "symbols/dwarf/inline_table.h"

#include <dwarf.h>

/* Blocks and inlined calls nest; compilers stay far below this. */
#define DEPTH_MAX 200

/* Number of the first inlined call of split units, above all offsets in a file. */
#define SPLIT_CALLS (UINT64_C(1) << 63)

/* DW_AT_GNU_discriminator of LLVM's Dwarf.def, which elfutils 0.188 lacks. */
#define AT_GNU_DISCRIMINATOR 0x2136

/* A traversal of the entries of a unit. */
struct inline_reader {
	struct inline_table *table;
	struct line_table *lines;
	struct inline_unit {
		Dwarf_Off offset;   /* offset of the unit's entry in .debug_info */
		Dwarf_Die skeleton; /* the unit's entry */
		Dwarf_Die die; /* the entry above the functions: the split unit's own if there is
				  one */
		struct split_unit split;           /* closed: the program has all of the unit */
		struct error problem;              /* problem of the unit, or ERROR_NONE */
		bool c;                            /* its language */
		bool reported;                     /* the problem was returned */
		struct inline_function *functions; /* owned */
		size_t count, room;
		struct inline_ranges ranges; /* ranges of functions */
		UT_hash_handle hh;
	} * unit;
	struct inline_function *function; /* NULL: functions are listed, else its calls */
};

static void release_ranges(struct inline_ranges *ranges)
{
	free(ranges->ranges);
	range_map_release(&ranges->map);
}

static void release_unit(struct inline_unit *unit)
{
	for (size_t i = 0; i < unit->count; i++) {
		free(unit->functions[i].calls);
		release_ranges(&unit->functions[i].ranges);
	}
	split_unit_close(&unit->split);
	free(unit->functions);
	release_ranges(&unit->ranges);
}

void inline_table_release(struct inline_table *table)
{
	struct inline_unit *unit;

	HASH_FREE_ALL(table->units, unit, release_unit(unit));
	*table = (struct inline_table){ 0 };
}

/* ---- Entries ------------------------------------------------------------- */

/* Returns the limits for the memory of the unit's entries. */
static struct dwarf_guard *guard_of(const struct inline_reader *reader)
{
	const struct split_unit *split = &reader->unit->split;

	return split->image.dwarf ? split->guard : &reader->lines->guard;
}

/* Add the addresses of an entry for its owner.  Returns false on damage. */
static bool add_ranges(struct inline_reader *reader, Dwarf_Die *die, struct inline_ranges *ranges,
		       uint32_t owner)
{
	const struct split_unit *split =
		reader->unit->split.image.dwarf ? &reader->unit->split : NULL;
	Dwarf_Addr base, bounds[2];
	ptrdiff_t next = 0;

	while ((next = split ? split_unit_ranges(split, die, next, &base, bounds)
			     : dwarf_ranges(die, next, &base, &bounds[0], &bounds[1])) > 0) {
		if (!dwarf_guard_allows_memory(guard_of(reader), DWARF_RANGE_MEMORY))
			return false;
		if (bounds[0] >= bounds[1] || ranges->count == RANGE_NONE)
			continue;
		*ARRAY_ADD(ranges->ranges, ranges->count, ranges->room) =
			(struct inline_range){ bounds[0], bounds[1], owner };
	}
	return next == 0;
}

static void finish_ranges(struct inline_ranges *ranges)
{
	range_map_build(&ranges->map, ranges->ranges, sizeof(*ranges->ranges), ranges->count);
}

/* Returns the owner of an address, or RANGE_NONE. */
static uint32_t find_owner(const struct inline_ranges *ranges, uint64_t vaddr, uint64_t *begin,
			   uint64_t *end)
{
	uint32_t range = range_map_find(&ranges->map, vaddr, begin, end);

	return range == RANGE_NONE ? RANGE_NONE : ranges->ranges[range].owner;
}

/* The attribute may be at the entry's declaration. */
static uint32_t number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (dwarf_formudata(dwarf_attr_integrate(die, name, &attribute), &value) != 0 ||
	    value > UINT32_MAX)
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

static bool add_call(struct inline_reader *reader, Dwarf_Die *die, uint32_t parent)
{
	struct inline_function *function = reader->function;
	struct inline_call call = { .name = name_of(die), .parent = parent };

	if (!dwarf_guard_allows_memory(guard_of(reader), DWARF_ENTRY_MEMORY))
		return false;
	line_table_file(reader->lines, &reader->unit->skeleton, number_of(die, DW_AT_call_file),
			&call.at);
	call.at.line = number_of(die, DW_AT_call_line);
	call.at.column = number_of(die, DW_AT_call_column);
	call.at.discriminator = number_of(die, AT_GNU_DISCRIMINATOR);
	line_table_file(reader->lines, &reader->unit->skeleton, number_of(die, DW_AT_decl_file),
			&call.declared);
	call.declared.line = number_of(die, DW_AT_decl_line);
	/* Split files have entries with equal offsets. */
	call.id = reader->unit->split.image.dwarf ? SPLIT_CALLS + reader->table->split_calls++
						  : dwarf_dieoffset(die);
	*ARRAY_ADD(function->calls, function->count, function->room) = call;
	return add_ranges(reader, die, &function->ranges, (uint32_t)function->count - 1);
}

/* A function without addresses is a declaration, or all its code is inlined. */
static bool add_function(struct inline_reader *reader, Dwarf_Die *die)
{
	struct inline_unit *unit = reader->unit;
	struct inline_function *function;
	size_t before = unit->ranges.count;
	bool sound = add_ranges(reader, die, &unit->ranges, (uint32_t)unit->count);

	if (unit->ranges.count == before)
		return sound;
	function = ARRAY_ADD(unit->functions, unit->count, unit->room);
	*function = (struct inline_function){ .die = dwarf_dieoffset(die) };
	line_table_file(reader->lines, &unit->skeleton, number_of(die, DW_AT_decl_file),
			&function->at);
	function->at.line = number_of(die, DW_AT_decl_line);
	return sound && dwarf_guard_allows_memory(guard_of(reader), DWARF_ENTRY_MEMORY);
}

/* Returns whether entries with a tag contain functions or blocks of code. */
static bool may_contain_code(int tag, bool c)
{
	switch (tag) {
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type: /* Rust's have methods */
		return !c;
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return true;
	default:
		return false;
	}
}

/*
 * Read all functions below an entry, or all inlined calls below a function's entry.
 * Returns false on damage.
 */
static bool read_below(struct inline_reader *reader, Dwarf_Die *above, uint32_t parent,
		       unsigned depth)
{
	Dwarf_Die die;
	int status = dwarf_child(above, &die);
	bool sound = true;

	for (; status == 0 && sound; status = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);
		uint32_t inner = parent;

		if (!reader->table->entries_left || depth == DEPTH_MAX)
			return false;
		reader->table->entries_left--;
		if (tag == DW_TAG_subprogram && !reader->function) {
			/* Neither the entry nor those below have code. Classes have many such. */
			if (dwarf_hasattr(&die, DW_AT_declaration) &&
			    !dwarf_hasattr(&die, DW_AT_low_pc) &&
			    !dwarf_hasattr(&die, DW_AT_ranges))
				continue;
			sound = add_function(reader, &die);
		} else if (tag == DW_TAG_inlined_subroutine && reader->function) {
			sound = add_call(reader, &die, parent);
			inner = (uint32_t)reader->function->count - 1;
		} else if (!may_contain_code(tag, reader->unit->c)) {
			continue;
		}
		sound = sound && read_below(reader, &die, inner, depth + 1);
	}
	return sound && status >= 0;
}

/* ---- Units --------------------------------------------------------------- */

/*
 * The functions of a skeleton unit are in a separate file (DWARF 5, 3.1.2).  Clang can leave the
 * inlined calls in the skeleton, too.
 */
static void enter_split_unit(struct inline_table *table, struct inline_unit *unit)
{
	int status;

	if (!table->split_files)
		return;
	errno = 0;
	status = split_unit_open(&unit->split, table->split_files, &unit->skeleton, &unit->problem);
	if (status < 0)
		alloc_check();
	table->unsure |= status != 0;
	if (status != 1)
		return;
	unit->die = unit->split.die;
	table->entries_left += unit->split.size;
}

static void set_damaged(struct inline_reader *reader)
{
	alloc_check();
	reader->table->unsure = true;
	error_set(&reader->unit->problem, ERROR_FORMAT, "debug information is damaged");
}

static struct inline_unit *borrow_unit(struct inline_reader *reader, Dwarf_Die *die)
{
	struct inline_table *table = reader->table;
	Dwarf_Off offset = dwarf_dieoffset(die);
	struct inline_unit *unit;
	int language;

	HASH_FIND(hh, table->units, &offset, sizeof(offset), unit);
	reader->unit = unit;
	if (unit)
		return unit;
	reader->unit = unit = alloc_zeroed(1, sizeof(*unit));
	unit->offset = offset;
	unit->die = unit->skeleton = *die;
	HASH_ADD(hh, table->units, offset, sizeof(offset), unit);
	enter_split_unit(table, unit);
	/* Types of C have no functions. */
	language = dwarf_srclang(&unit->die);
	unit->c = language == DW_LANG_C89 || language == DW_LANG_C || language == DW_LANG_C99 ||
		  language == DW_LANG_C11;
	errno = 0;
	if (!read_below(reader, &unit->die, RANGE_NONE, 0))
		set_damaged(reader);
	finish_ranges(&unit->ranges);
	return unit;
}

/* Returns whether a function covers the address. */
static bool find_hit(struct inline_reader *reader, uint64_t vaddr, struct inline_hit *hit)
{
	struct inline_unit *unit = reader->unit;
	uint64_t begin, end;
	uint32_t owner = find_owner(&unit->ranges, vaddr, &begin, &end);

	if (owner == RANGE_NONE)
		return false;
	hit->function = reader->function = &unit->functions[owner];
	if (!hit->function->read) {
		struct inline_function *function = reader->function;
		Dwarf_Die die;

		function->read = true;
		errno = 0;
		if (!dwarf_offdie(dwarf_cu_getdwarf(reader->unit->die.cu), function->die, &die) ||
		    !read_below(reader, &die, RANGE_NONE, 0))
			set_damaged(reader);
		finish_ranges(&function->ranges);
	}
	hit->call = find_owner(&hit->function->ranges, vaddr, &hit->begin, &hit->end);
	hit->begin = MAX(hit->begin, begin);
	hit->end = MIN(hit->end, end);
	return true;
}

int inline_table_find(struct inline_table *table, struct line_table *lines, uint64_t vaddr,
		      struct inline_hit *hit, struct error *err)
{
	struct inline_reader reader = { .table = table, .lines = lines };
	struct inline_unit *unit;
	Dwarf_Die die;
	bool found;

	if (!table->counts_entries && lines->guard.info)
		table->entries_left = lines->guard.info->d_size;
	table->counts_entries = true;
	if (!line_table_unit(lines, vaddr, &die))
		return 0;
	unit = borrow_unit(&reader, &die);
	found = find_hit(&reader, vaddr, hit);
	if (!err || unit->reported || unit->problem.kind == ERROR_NONE)
		return found;
	unit->reported = true;
	*err = unit->problem;
	return -1;
}
