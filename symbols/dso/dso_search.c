/* SPDX-License-Identifier: MIT */
/* Finds the recorded file of a dso by its path and build id. */
#include <stdarg.h>

#include "symbols/dso/dso_store.h"
#include "symbols/files/unpack.h"
#include "symbols/names/jit_dump.h"

/*
 * Returns true if the file is the one recorded.  Old recordings pad short build
 * ids with zeros to 20 bytes (perf.data's header: struct build_id_event).
 */
static bool build_id_agrees(const struct dso *dso, const struct elf_file *elf)
{
	size_t size = elf->build_id_size;

	if (!dso->build_id_size)
		return true;
	if (!size || size > dso->build_id_size || memcmp(dso->build_id, elf->build_id, size) != 0)
		return false;
	for (size_t i = size; i < dso->build_id_size; i++)
		if (dso->build_id[i])
			return false;
	return true;
}

/*
 * Store the reason why a file is not used, which the user sees only if no better file is
 * found.  The first reason is for the most likely path.
 */
static void __attribute__((format(printf, 3, 4)))
refuse_file(struct dso *dso, enum dso_state state, const char *format, ...)
{
	char text[1000];
	va_list args;

	if (dso->refused)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	dso->refused = dso_keep_text(dso->store, text);
	dso->state = state;
}

static void refuse_mismatch(struct dso *dso, const char *path, const struct elf_file *elf)
{
	char recorded[2 * ELF_BUILD_ID_MAX + 1], found[2 * ELF_BUILD_ID_MAX + 1];

	elf_file_print_id(recorded, dso->build_id, dso->build_id_size);
	elf_file_print_id(found, elf->build_id, elf->build_id_size);
	refuse_file(dso, DSO_MISMATCHED,
		    "%s is not the file that was recorded: its build id is %s, recorded is %s",
		    path, elf->build_id_size ? found : "absent", recorded);
}

/* One kernel has a vdso for each class; --vdso names one of them, and so does this process. */
static bool class_agrees(const struct dso *dso, const struct elf_file *elf)
{
	enum dso_shape shape = dso_find_shape(dso->path);

	if (shape != DSO_SHAPE_VDSO && shape != DSO_SHAPE_VDSO32)
		return true;
	return elf_file_is_wide(elf) == (shape == DSO_SHAPE_VDSO);
}

/* Use an open file if it is the recorded one, else close it.  Returns true if it is used. */
static bool use_file(struct dso *dso, struct elf_file *elf, const char *path, bool needs_build_id)
{
	bool agrees = build_id_agrees(dso, elf);

	if (!class_agrees(dso, elf)) {
		elf_file_close(elf);
		return false;
	}
	if (!agrees && !needs_build_id)
		refuse_mismatch(dso, path, elf);
	if (needs_build_id ? !dso->build_id_size || !agrees : !agrees && !dso->forced) {
		elf_file_close(elf);
		return false;
	}
	dso->elf = *elf;
	dso->file = dso_keep_text(dso->store, path);
	dso->state = DSO_FOUND;
	return true;
}

/*
 * Use the bytes of a file that is not ELF, like a .dll, or the image of a Lisp system: its mapped
 * parts are code.  The dso stays memory, which JIT compilers name, or exports of a .dll.
 */
static bool use_bytes(struct dso *dso, const char *path)
{
	struct elf_file file;

	if (dso->build_id_size || ends_with(dso->path, ".ko") ||
	    elf_file_map(&file, path, NULL) < 0)
		return false;
	if ((file.size >= SELFMAG && memcmp(file.bytes, ELFMAG, SELFMAG) == 0) ||
	    unpack_is_packed(file.bytes, file.size)) {
		elf_file_close(&file);
		return false;
	}
	dso->elf = file;
	dso->file = dso_keep_text(dso->store, path);
	dso->state = DSO_NOT_A_FILE;
	return true;
}

/* Use the file at a path if it is the recorded one; `needs_build_id`: an equal one shows it. */
static bool try_file(struct dso *dso, const char *path, bool needs_build_id)
{
	struct error err = { 0 };
	struct elf_file elf;

	if ((jit_dump_is_path(dso->path) ? elf_file_map : elf_file_open)(&elf, path, &err) == 0)
		return use_file(dso, &elf, path, needs_build_id);
	if (err.kind == ERROR_FORMAT && !needs_build_id && use_bytes(dso, path))
		return true;
	if (err.kind == ERROR_FORMAT && !needs_build_id)
		refuse_file(dso, DSO_UNREADABLE, "cannot read %s: %s", path, err.text);
	return false;
}

/*
 * Try the build-id caches, where .build-id/xx/rest is a directory that holds "elf" or
 * "vdso", or (before Linux 4.11) the file itself.
 */
static bool search_cache(struct dso *dso)
{
	static const char *const names[] = { "/elf", "/vdso", "" };
	const struct byte_view id = { dso->build_id, dso->build_id_size };
	char path[BENEATH_PATH];

	for (size_t i = 0; i < COUNT_OF(names) * DSO_FIND_CACHES; i++)
		if (dso_find_cached(&dso->store->options.find, &id, (int)(i / COUNT_OF(names)),
				    names[i % COUNT_OF(names)], path) &&
		    try_file(dso, path, true))
			return true;
	return false;
}

/*
 * Returns a path of another mount namespace as seen inside of that namespace: the part after
 * "/proc/PID/root" (proc(5)); the path itself if it does not begin so.
 */
static const char *inside_container(const char *path)
{
	static const char proc[] = "/proc/", root[] = "/root/";
	const char *at = path + sizeof(proc) - 1;

	if (!starts_with(path, proc))
		return path;
	at += strspn(at, "0123456789");
	return starts_with(at, root) ? at + sizeof(root) - 2 : path;
}

/*
 * Try a path, below symfs if that is given, first as recorded, then without "
 * (deleted)": the path may now lead to another file.
 */
static bool try_as_recorded(struct dso *dso, const char *path, bool needs_build_id)
{
	const char *symfs = dso->store->options.find.symfs;
	const size_t lengths[] = { strlen(path), dso_find_length(path) };
	char found[BENEATH_PATH];

	if (symfs ? dso_find_climbs(path) : path[0] != '/')
		return false;
	for (int i = 0; i < 1 + (lengths[1] < lengths[0]); i++)
		if (dso_find_path(symfs, found, "%s%s%.*s", symfs ? symfs : "", symfs ? "/" : "",
				  (int)lengths[i], path) &&
		    try_file(dso, found, i || needs_build_id))
			return true;
	return false;
}

/*
 * The candidates: the path, then the path inside of its container (outside, it may be another
 * file), then the last component (symfs only).
 */
static bool search_paths(struct dso *dso)
{
	const char *symfs = dso->store->options.find.symfs, *path = dso->path;
	const char *inside = inside_container(path);

	return try_as_recorded(dso, path, false) ||
	       (inside != path && try_as_recorded(dso, inside, !symfs)) ||
	       (symfs && try_as_recorded(dso, base_name(path), false));
}

static bool search_servers(struct dso *dso)
{
	bool found = false;
	char *path = NULL;

	if (dso->store->options.find.debuginfod)
		path = debuginfod_fetch(DEBUGINFOD_EXECUTABLE, dso->build_id, dso->build_id_size);
	if (path)
		found = try_file(dso, path, true);
	free(path);
	return found;
}

static void search_file(struct dso *dso)
{
	dso->state = DSO_MISSING;
	if (search_paths(dso) || search_cache(dso) || search_servers(dso))
		return;
	dso->forced = dso->store->options.force;
	if (dso->forced && search_paths(dso))
		diag_warn(dso->store->diag, "build-id-mismatch", "%s; used anyway", dso->refused);
}

static void search_vdso(struct dso *dso)
{
	const struct dso_store_options *options = &dso->store->options;
	struct elf_file elf;
	uint8_t *bytes;
	size_t size;

	dso->state = DSO_MISSING;
	if (options->vdso && try_file(dso, options->vdso, false))
		return;
	if (search_cache(dso))
		return;
	bytes = dso_find_own_vdso(&size);
	if (bytes && elf_file_open_bytes(&elf, bytes, size, NULL) == 0 &&
	    use_file(dso, &elf, dso->path, dso->store->running == RUNNING_OTHER))
		dso->file = NULL; /* the bytes are in memory only */
}

/* Files of a packed recording that a search looks at: hostile ones have any number. */
#define PACKED_MOST 4096

uint8_t *dso_unpack(const struct dso_store *store, const char *path, size_t *size)
{
	const struct byte_view *packed = &store->options.packed;
	struct cursor c = cursor_over(packed->bytes, packed->size);
	const char *name;
	const uint8_t *bytes;
	size_t count = 0;

	do {
		name = cursor_text(&c);
		*size = cursor_u64(&c);
		bytes = cursor_take(&c, *size);
	} while (!c.short_ && strcmp(name, path) != 0 && ++count < PACKED_MOST);
	return c.short_ || !*size || count == PACKED_MOST
		       ? NULL
		       : memcpy(alloc_zeroed(*size + 1, 1), bytes, *size);
}

/* Use the file in a packed recording. */
static bool search_packed(struct dso *dso)
{
	size_t size;
	uint8_t *bytes = dso_unpack(dso->store, dso->path, &size);
	struct elf_file elf;

	if (!bytes)
		return false;
	if (strcmp(dso->path, DSO_SAVED_CODE) == 0 || jit_dump_is_path(dso->path) ||
	    size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0) {
		dso->elf = (struct elf_file){ .bytes = bytes, .size = size };
		dso->state = jit_dump_is_path(dso->path) ? DSO_FOUND : DSO_NOT_A_FILE;
		return true;
	}
	if (elf_file_open_bytes(&elf, bytes, size, NULL) < 0 ||
	    !use_file(dso, &elf, dso->path, false))
		return false;
	dso->file = NULL; /* the bytes are in memory only */
	return true;
}

void dso_search(struct dso *dso)
{
	const char *core = dso->store->options.core;

	if (search_packed(dso))
		return;
	switch (dso_find_shape(dso->path)) {
	case DSO_SHAPE_FILE:
		search_file(dso);
		break;
	case DSO_SHAPE_VDSO:
	case DSO_SHAPE_VDSO32:
		search_vdso(dso);
		break;
	case DSO_SHAPE_NO_FILE:
		/* Memory may hold a program that is also in a file (memfd_create(2)). */
		if (!search_cache(dso) && strcmp(dso->path, DSO_SAVED_CODE) == 0 && core &&
		    elf_file_map(&dso->elf, core, NULL) == 0)
			dso->file = core; /* the dso stays without a file of its own */
		break;
	case DSO_SHAPE_VSYSCALL:
		break;
	}
	if (dso->state == DSO_MISMATCHED)
		diag_warn(dso->store->diag, "build-id-mismatch", "%s", dso->refused);
	if (dso->state == DSO_UNREADABLE)
		diag_warn(dso->store->diag, "elf-unreadable", "%s", dso->refused);
}
