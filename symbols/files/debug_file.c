/* SPDX-License-Identifier: MIT */
#include "symbols/files/debug_file.h"

#include <elfutils/libdwelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/io/path_in_root.h"
#include "symbols/files/debuginfod.h"
#include "symbols/files/dso_find.h"
#include "symbols/files/unpack.h"

/* A table of symbols is smaller than its file; what unpacks to more than this is none. */
#define UNPACK_FACTOR 16

/* One search: what is wanted, and what was found. */
struct search {
	const struct debug_request *request;
	const uint8_t *id; /* build id of what is looked for */
	size_t id_size;
	bool any; /* what is found is told apart by its contents, later */
	bool has_crc;
	GElf_Word crc; /* of .gnu_debuglink */
	struct elf_file *found;
	char *path; /* owned by the caller, `room` bytes */
	size_t room;
};

static bool same_id(const struct search *search, const struct elf_file *file)
{
	return search->id_size && search->id_size == file->build_id_size &&
	       memcmp(search->id, file->build_id, search->id_size) == 0;
}

/* A file without build ids is known by the checksum of all its bytes. */
static bool is_wanted(const struct search *search, const struct elf_file *file)
{
	if (search->id_size && file->build_id_size)
		return same_id(search, file);
	return search->has_crc &&
	       (GElf_Word)crc32_z(crc32_z(0, NULL, 0), file->bytes, file->size) == search->crc;
}

static bool try_path(struct search *search, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static bool try_path(struct search *search, const char *format, ...)
{
	const char *symfs = search->request->options->symfs;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(search->path, search->room, format, args);
	va_end(args);
	if (length <= 0 || (size_t)length >= search->room || search->room < BENEATH_PATH)
		return false;
	/* debug_dir and the servers' files are the user's own, wherever they lie. */
	if (symfs && !path_in_root_resolve(symfs, search->path))
		return false;
	if (elf_file_open(search->found, search->path, NULL) != 0)
		return false;
	if (search->any || is_wanted(search, search->found))
		return true;
	elf_file_close(search->found);
	return false;
}

/*
 * The directories that mirror the file system with debug files, the best first.
 * Returns how many there are; texts are written into `symfs`.
 */
static size_t list_roots(const struct dso_find_options *options, const char *roots[2],
			 char symfs[4096])
{
	size_t count = 0;
	int length;

	if (options->debug_dir)
		roots[count++] = options->debug_dir;
	length = snprintf(symfs, 4096, "%s/usr/lib/debug", options->symfs ? options->symfs : "");
	if (length > 0 && length < 4096)
		roots[count++] = symfs;
	return count;
}

static void print_id(char hex[2 * ELF_BUILD_ID_MAX + 1], const struct search *search)
{
	hex[0] = 0;
	for (size_t i = 0; i < search->id_size; i++)
		snprintf(hex + 2 * i, 3, "%02x", search->id[i]);
}

static bool try_build_id(struct search *search)
{
	const struct dso_find_options *options = search->request->options;
	char hex[2 * ELF_BUILD_ID_MAX + 1], symfs[4096];
	const char *roots[2];
	size_t count = list_roots(options, roots, symfs);

	if (search->id_size < 2)
		return false;
	print_id(hex, search);
	for (size_t i = 0; i < count; i++)
		if (try_path(search, "%s/.build-id/%.2s/%s.debug", roots[i], hex, hex + 2))
			return true;
	if (options->symfs || !dso_find_cache(options, symfs, sizeof(symfs)))
		return false;
	return try_path(search, "%s/.build-id/%.2s/%s/debug", symfs, hex, hex + 2);
}

static int directory_length(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && slash - path < 4096 ? (int)(slash - path) : 0;
}

/* GDB manual, "Separate Debug Files": beside the file, in .debug, and under each root. */
static bool try_link(struct search *search)
{
	const struct debug_request *request = search->request;
	const char *name = dwelf_elf_gnu_debuglink(request->code->elf, &search->crc), *roots[2];
	int found = directory_length(request->found),
	    recorded = directory_length(request->recorded);
	char symfs[4096];
	size_t count = list_roots(request->options, roots, symfs);

	if (!name || !name[0] || strchr(name, '/'))
		return false;
	search->has_crc = true;
	if (request->found && (try_path(search, "%.*s/%s", found, request->found, name) ||
			       try_path(search, "%.*s/.debug/%s", found, request->found, name)))
		return true;
	for (size_t i = 0; i < count; i++)
		if (!dso_find_climbs(request->recorded) &&
		    try_path(search, "%s/%.*s/%s", roots[i], recorded, request->recorded, name))
			return true;
	return false;
}

static bool try_servers(struct search *search)
{
	bool found = false;
	char *path = NULL;

	if (search->request->options->debuginfod)
		path = debuginfod_fetch(DEBUGINFOD_DEBUGINFO, search->id, search->id_size);
	if (path)
		found = try_path(search, "%s", path);
	free(path);
	return found;
}

bool debug_file_open(const struct debug_request *request, struct elf_file *debug, char *path,
		     size_t size)
{
	struct search search = { .request = request,
				 .id = request->code->build_id,
				 .id_size = request->code->build_id_size,
				 .found = debug,
				 .path = path,
				 .room = size };

	return try_build_id(&search) || try_link(&search) || try_servers(&search);
}

bool debug_file_open_shared(const struct debug_request *request, const char *path, const char *name,
			    const uint8_t *id, size_t id_size, struct elf_file *shared)
{
	char place[4096];
	struct search search = { .request = request,
				 .id = id,
				 .id_size = id_size,
				 .found = shared,
				 .path = place,
				 .room = sizeof(place) };

	if (id_size > ELF_BUILD_ID_MAX)
		return false;
	if (try_build_id(&search))
		return true;
	if (name[0] == '/')
		return !request->options->symfs && try_path(&search, "%s", name);
	/* Relative names climb: "../../.dwz/foo.debug".  The build id must be the right one. */
	return !request->options->symfs &&
	       try_path(&search, "%.*s/%s", directory_length(path), path, name);
}

/* ---- Split DWARF ---------------------------------------------------------- */

/* Below each root: by build id, and where the program is. */
static bool try_package_roots(struct search *search)
{
	const struct debug_request *request = search->request;
	char hex[2 * ELF_BUILD_ID_MAX + 1], symfs[4096];
	const char *roots[2], *recorded = request->recorded;
	size_t count = list_roots(request->options, roots, symfs);

	print_id(hex, search);
	for (size_t i = 0; i < count; i++)
		if ((search->id_size > 1 &&
		     try_path(search, "%s/.build-id/%.2s/%s.dwp", roots[i], hex, hex + 2)) ||
		    (recorded[0] == '/' && !dso_find_climbs(recorded) &&
		     try_path(search, "%s%s.dwp", roots[i], recorded)))
			return true;
	return false;
}

bool debug_file_open_package(const struct debug_request *request, const char *debug_path,
			     struct elf_file *package)
{
	char place[BENEATH_PATH];
	struct search search = { .request = request,
				 .id = request->code->build_id,
				 .id_size = request->code->build_id_size,
				 .any = true,
				 .found = package,
				 .path = place,
				 .room = sizeof(place) };

	return (request->found && try_path(&search, "%s.dwp", request->found)) ||
	       (debug_path && try_path(&search, "%s.dwp", debug_path)) ||
	       try_package_roots(&search);
}

int debug_file_open_split(const struct debug_request *request, const struct split_name *name,
			  unsigned index, struct elf_file *split)
{
	const char *symfs = request->options->symfs ? request->options->symfs : "";
	const char *root = request->options->debug_dir, *file = name->file;
	const char *directory = name->directory ? name->directory : "", *slash = strrchr(file, '/');
	int beside = directory_length(request->found);
	bool absolute = file[0] == '/';
	char place[BENEATH_PATH];
	struct search search = { .request = request,
				 .any = true,
				 .found = split,
				 .path = place,
				 .room = sizeof(place) };

	switch (index) {
	case 0: /* where the compiler put it */
		return absolute ? try_path(&search, "%s%s", symfs, file)
				: directory[0] == '/' &&
					  try_path(&search, "%s%s/%s", symfs, directory, file);
	case 1: /* from the program, if paths were made relative */
		return !absolute && directory[0] != '/' && request->found &&
		       try_path(&search, "%.*s/%s/%s", beside, request->found, directory, file);
	case 2:
		return !absolute && request->found &&
		       try_path(&search, "%.*s/%s", beside, request->found, file);
	case 3:
		return slash && request->found &&
		       try_path(&search, "%.*s%s", beside, request->found, slash);
	case 4:
		return root && (absolute ? try_path(&search, "%s%s", root, file)
					 : try_path(&search, "%s%s/%s", root, directory, file));
	default:
		return -1;
	}
}

/* ---- .gnu_debugdata ------------------------------------------------------ */

static const uint8_t *find_packed(const struct elf_file *code, size_t *size)
{
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;

	while ((section = elf_nextscn(code->elf, section))) {
		if (!gelf_getshdr(section, &shdr) ||
		    strcmp(elf_file_section_name(code, &shdr), ".gnu_debugdata") != 0)
			continue;
		*size = shdr.sh_size;
		return elf_file_section_bytes(code, &shdr);
	}
	return NULL;
}

int debug_file_open_mini(const struct elf_file *code, struct elf_file *mini, struct error *err)
{
	size_t packed_size, size;
	const uint8_t *packed = find_packed(code, &packed_size);
	uint8_t *bytes;

	if (!packed)
		return 0;
	bytes = unpack_bytes(packed, packed_size, code->size * UNPACK_FACTOR, &size);
	if (!bytes)
		return error_set(err, ERROR_FORMAT, ".gnu_debugdata cannot be unpacked");
	return elf_file_open_bytes(mini, bytes, size, err) == 0 ? 1 : -1;
}
