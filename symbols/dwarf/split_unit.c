/* SPDX-License-Identifier: MIT */
/* Finds the other parts of units and presents their sections to libdw as an ELF file. */
#include "symbols/dwarf/split_unit.h"

#include <dwarf.h>
#include <elf.h>

/* ---- Files --------------------------------------------------------------- */

static void open_package(struct split_files *files)
{
	files->package_looked_up = true;
	if (!debug_file_open_package(&files->request, files->debug_path, &files->package))
		return;
	if (dwarf_guard_is_bomb(&files->package)) {
		elf_file_close(&files->package);
		return;
	}
	dwarf_guard_init(&files->guard, &files->package, files->pool);
	debug_sections_read(&files->sections, &files->package, true);
	files->bytes_left = files->sections.views[DEBUG_INFO].size;
}

void split_files_close(struct split_files *files)
{
	struct split_file *dwo;

	HASH_FREE_ALL(files->dwos, dwo, dwarf_guard_release(&dwo->guard);
		      debug_sections_release(&dwo->sections); elf_file_close(&dwo->file));
	dwarf_guard_release(&files->guard);
	debug_sections_release(&files->sections);
	elf_file_close(&files->package);
	*files = (struct split_files){ 0 };
}

/* ---- The unit's entry in the program ------------------------------------- */

struct skeleton {
	struct split_unit *unit; /* its other part, which is opened */
	struct split_files *files;
	struct split_name name; /* its file is NULL if there is no other part */
	uint64_t id;
	Dwarf_Addr base;
	struct byte_view addresses, ranges;
	struct elf_file file; /* that was just opened */
};

static Dwarf_Word number_of(Dwarf_Die *die, unsigned name, unsigned gnu_name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) == 0 ||
	    dwarf_formudata(dwarf_attr(die, gnu_name, &attribute), &value) == 0)
		return value;
	return 0;
}

/* Returns a section of the program, starting at an offset. */
static struct byte_view find_section(Elf *elf, enum debug_section section, uint64_t from)
{
	Elf_Data *data = dwarf_image_data(elf, section);

	if (!data || from > data->d_size)
		return (struct byte_view){ 0 };
	return (struct byte_view){ (const uint8_t *)data->d_buf + from, data->d_size - from };
}

static struct skeleton read_skeleton(Dwarf_Die *die)
{
	struct skeleton skeleton = { 0 };
	Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(die->cu));
	Dwarf_Attribute attribute;

	skeleton.name.file = dwarf_formstring(dwarf_attr(die, DW_AT_dwo_name, &attribute));
	if (!skeleton.name.file)
		skeleton.name.file =
			dwarf_formstring(dwarf_attr(die, DW_AT_GNU_dwo_name, &attribute));
	if (!skeleton.name.file ||
	    dwarf_cu_info(die->cu, NULL, NULL, NULL, NULL, &skeleton.id, NULL, NULL) != 0)
		return (struct skeleton){ 0 };
	skeleton.name.directory = dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attribute));
	if (dwarf_lowpc(die, &skeleton.base) != 0)
		skeleton.base = 0;
	skeleton.addresses =
		find_section(elf, DEBUG_ADDR, number_of(die, DW_AT_addr_base, DW_AT_GNU_addr_base));
	skeleton.ranges = find_section(
		elf, DEBUG_RANGES, number_of(die, DW_AT_GNU_ranges_base, DW_AT_GNU_ranges_base));
	return skeleton;
}

/* ---- The unit as a file of its own --------------------------------------- */

/* A .dwo may hold several units, of types for example. */
static bool find_die(struct split_unit *unit, uint64_t id)
{
	Dwarf_Off offset = 0, next, abbrevs;
	uint64_t found;
	uint8_t type;
	size_t header;

	while (dwarf_next_unit(unit->image.dwarf, offset, &next, &header, NULL, &abbrevs, NULL,
			       NULL, NULL, NULL) == 0) {
		if (!dwarf_guard_allows_unit(unit->guard, abbrevs))
			return false;
		if (dwarf_offdie(unit->image.dwarf, offset + header, &unit->die) &&
		    dwarf_cu_info(unit->die.cu, NULL, &type, NULL, NULL, &found, NULL, NULL) == 0 &&
		    type == DW_UT_split_compile && found == id) {
			unit->size = next - offset;
			return true;
		}
		offset = next;
	}
	return false;
}

/* libdw reads this many bytes of a header before it checks the section's end. */
#define HEADER_MAX 20

static bool open_sections(struct split_unit *unit, const struct skeleton *skeleton,
			  struct byte_view sections[DEBUG_SECTIONS])
{
	static const enum debug_section with_header[] = { DEBUG_STR_OFFSETS, DEBUG_RNGLISTS };

	sections[DEBUG_ADDR] = skeleton->addresses;
	sections[DEBUG_RANGES] = skeleton->ranges;
	unit->base = skeleton->base;
	for (int i = 0; i < 2; i++)
		if (sections[with_header[i]].size < HEADER_MAX)
			sections[with_header[i]] = (struct byte_view){ 0 };
	memcpy(unit->sections, sections, sizeof(unit->sections));
	if (!dwarf_image_open(&unit->image, unit->sections))
		return false;
	dwarf_guard_find_sections(unit->guard, unit->image.elf);
	return find_die(unit, skeleton->id);
}

/* Returns false if a part is beyond the end of its section. */
static bool cut(struct byte_view *section, struct dwp_range part)
{
	if (part.offset > section->size || part.size > section->size - part.offset)
		return false;
	if (section->bytes)
		section->bytes += part.offset;
	section->size = part.size;
	return true;
}

/*
 * Open the unit in the package.  Returns 1 if it is open, 0 if the package does not have
 * it, -1 if it is damaged.
 */
static int open_packed(struct split_unit *unit, struct split_files *files,
		       const struct skeleton *skeleton)
{
	static const enum debug_section cut_by[DWP_PARTS] = {
		[DWP_INFO] = DEBUG_INFO,
		[DWP_ABBREV] = DEBUG_ABBREV,
		[DWP_STR_OFFSETS] = DEBUG_STR_OFFSETS,
		[DWP_RNGLISTS] = DEBUG_RNGLISTS,
	};
	struct byte_view sections[DEBUG_SECTIONS];
	struct dwp_range parts[DWP_PARTS];
	int found;

	if (!files->package_looked_up)
		open_package(files);
	if (!files->package.elf)
		return 0;
	found = dwp_index_find(files->sections.views[DEBUG_CU_INDEX].bytes,
			       files->sections.views[DEBUG_CU_INDEX].size, skeleton->id, parts);
	if (found <= 0)
		return found;
	memcpy(sections, files->sections.views, sizeof(sections));
	for (int i = 0; i < DWP_PARTS; i++)
		if (!cut(&sections[cut_by[i]], parts[i]))
			return -1;
	/* Units of the package do not overlap. */
	if (sections[DEBUG_INFO].size > files->bytes_left)
		return -1;
	files->bytes_left -= sections[DEBUG_INFO].size;
	unit->guard = &files->guard;
	return open_sections(unit, skeleton, sections) ? 1 : -1;
}

/* Returns the file that was just opened; if it is known, closes it and returns the known one. */
static struct split_file *borrow_file(struct skeleton *skeleton)
{
	const struct file_identity *identity = &skeleton->file.identity;
	struct split_file *dwo;

	HASH_FIND(hh, skeleton->files->dwos, identity, sizeof(*identity), dwo);
	if (dwo) {
		elf_file_close(&skeleton->file);
		return dwo;
	}
	dwo = alloc_zeroed(1, sizeof(*dwo));
	dwo->file = skeleton->file;
	skeleton->file = (struct elf_file){ 0 };
	HASH_ADD(hh, skeleton->files->dwos, file.identity, sizeof(*identity), dwo);
	if (dwarf_guard_is_bomb(&dwo->file))
		return dwo;
	dwarf_guard_init(&dwo->guard, &dwo->file, skeleton->files->pool);
	debug_sections_read(&dwo->sections, &dwo->file, true);
	dwo->bytes_left = dwo->sections.views[DEBUG_INFO].size;
	return dwo;
}

static bool open_file(void *context)
{
	struct skeleton *skeleton = context;
	struct split_unit *unit = skeleton->unit;
	struct split_file *dwo = borrow_file(skeleton);
	struct byte_view sections[DEBUG_SECTIONS];

	memcpy(sections, dwo->sections.views, sizeof(sections));
	unit->guard = &dwo->guard;
	if (open_sections(unit, skeleton, sections) && unit->size <= dwo->bytes_left) {
		dwo->bytes_left -= unit->size;
		return true;
	}
	split_unit_close(unit);
	return false;
}

int split_unit_open(struct split_unit *unit, struct split_files *files, Dwarf_Die *die,
		    struct error *err)
{
	struct skeleton skeleton = read_skeleton(die);
	int packed;

	*unit = (struct split_unit){ 0 };
	if (!skeleton.name.file)
		return 0;
	skeleton.unit = unit;
	skeleton.files = files;
	packed = open_packed(unit, files, &skeleton);
	if (packed == 1)
		return 1;
	split_unit_close(unit);
	if (debug_file_open_split(&files->request, &skeleton.name, &skeleton.file, open_file,
				  &skeleton))
		return 1;
	if (packed < 0)
		return error_set(err, ERROR_FORMAT, "the package of debug information is damaged");
	return error_set(err, ERROR_SYSTEM, "%s is missing, and in no .dwp file",
			 skeleton.name.file);
}

void split_unit_close(struct split_unit *unit)
{
	dwarf_image_close(&unit->image);
	*unit = (struct split_unit){ 0 };
}

/* ---- Ranges -------------------------------------------------------------- */

/* Returns the offset of a list in .debug_rnglists, by its number; 0 on damage. */
static uint64_t list_offset(const struct byte_view *lists, uint64_t number)
{
	struct cursor c = cursor_over(lists->bytes, lists->size);
	size_t width = 4;
	uint64_t begin;

	/* DWARF 5, 7.28: length, version, sizes of addresses and segments, count of lists. */
	if (cursor_u32(&c) == UINT32_MAX) {
		cursor_u64(&c);
		width = 8;
	}
	cursor_u32(&c);
	if (number >= cursor_u32(&c))
		return 0;
	begin = lists->size - cursor_left(&c);
	cursor_take(&c, number * width);
	begin += cursor_number(&c, width);
	return c.short_ ? 0 : begin;
}

/* DWARF 4, 2.17.3: pairs of addresses; a pair of zeros ends them, one of -1 sets the base. */
static ptrdiff_t next_pair(const struct byte_view *pairs, ptrdiff_t next, Dwarf_Addr *base,
			   Dwarf_Addr range[2])
{
	struct cursor c = cursor_over(pairs->bytes, pairs->size);

	cursor_take(&c, (size_t)next);
	for (;;) {
		Dwarf_Addr begin = cursor_u64(&c), end = cursor_u64(&c);

		if (c.short_)
			return -1;
		if (!begin && !end)
			return 0;
		if (begin != UINT64_MAX) {
			range[0] = *base + begin;
			range[1] = *base + end;
			return (ptrdiff_t)(pairs->size - cursor_left(&c));
		}
		*base = end;
	}
}

ptrdiff_t split_unit_ranges(const struct split_unit *unit, Dwarf_Die *die, ptrdiff_t next,
			    Dwarf_Addr *base, Dwarf_Addr range[2])
{
	Dwarf_Attribute attribute;
	Dwarf_Word offset = (Dwarf_Word)next;
	Dwarf_Half version = 0;

	/* One range is no list, and 1 is what libdw returns after it. */
	if (next == 1 || !dwarf_attr(die, DW_AT_ranges, &attribute))
		return dwarf_ranges(die, next, base, &range[0], &range[1]);
	dwarf_cu_info(die->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL);
	if (!next) {
		*base = unit->base;
		if (dwarf_formudata(&attribute, &offset) != 0)
			return -1;
	}
	if (version < 5)
		return next_pair(&unit->sections[DEBUG_RANGES], (ptrdiff_t)offset, base, range);
	if (!next && dwarf_whatform(&attribute) == DW_FORM_rnglistx)
		offset = list_offset(&unit->sections[DEBUG_RNGLISTS], offset);
	/* After an offset, libdw counts from the base that it gets. */
	return offset > 1 && offset < PTRDIFF_MAX
		       ? dwarf_ranges(die, (ptrdiff_t)offset, base, &range[0], &range[1])
		       : -1;
}
