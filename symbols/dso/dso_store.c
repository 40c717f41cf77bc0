/* SPDX-License-Identifier: MIT */
#include "symbols/dso/dso_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/io/path_in_root.h"
#include "symbols/dso/dso.h"
#include "symbols/files/dso_find.h"

const char *dso_keep_text(struct dso_store *store, const char *text)
{
	return text ? arena_text(&store->arena, text, strlen(text)) : NULL;
}

void dso_print_hex(char *text, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	text[2 * size] = 0;
}

struct dso_store *dso_store_open(const struct dso_store_options *options, struct name_table *names,
				 struct diag *diag)
{
	struct dso_store *store = alloc_zeroed(1, sizeof(*store));

	arena_init(&store->arena);
	pthread_mutex_init(&store->lock, NULL);
	store->names = names;
	store->diag = diag;
	store->options = *options;
	store->options.find.symfs = dso_keep_text(store, options->find.symfs);
	store->options.strip_prefix = dso_keep_text(store, options->strip_prefix);
	store->options.perf_map_dir = dso_keep_text(store, options->perf_map_dir);
	store->options.kallsyms = dso_keep_text(store, options->kallsyms);
	store->options.find.debug_dir = dso_keep_text(store, options->find.debug_dir);
	store->options.vdso = dso_keep_text(store, options->vdso);
	store->options.find.build_id_cache = dso_keep_text(store, options->find.build_id_cache);
	return store;
}

void dso_store_close(struct dso_store *store)
{
	struct dso *dso;

	if (!store)
		return;
	for (dso = store->dsos; dso; dso = dso->hh.next) {
		inline_table_release(&dso->inlined);
		split_files_close(&dso->split_files);
		line_table_close(&dso->lines);
		symbol_table_release(&dso->table);
		text_map_release(&dso->map);
		name_ranges_release(&dso->dumped);
		trap_table_release(&dso->traps);
		free(dso->known);
		elf_file_close(&dso->shared);
		elf_file_close(&dso->mini);
		elf_file_close(&dso->debug);
		elf_file_close(&dso->elf);
	}
	HASH_CLEAR(hh, store->dsos);
	demangler_release(&store->demangler);
	pthread_mutex_destroy(&store->lock);
	arena_release(&store->arena);
	free(store);
}

static void make_whole(struct dso *dso)
{
	char *text = dso_find_bracketed(dso->path);
	const struct name *name = name_intern_text(dso->store->names, text);

	dso->whole.symbol =
		(struct symbol){ .name = name, .linkage = name, .dso = dso, .kind = SYMBOL_FILE };
	dso->whole.line_known = true;
	free(text);
}

void dso_set_named(struct dso *dso, const struct name_ranges *named)
{
	dso->named = named;
	dso->known = alloc_zeroed(named->count, sizeof(*dso->known));
}

/* The page has three functions, 1 KiB apart (arch/x86/entry/vsyscall/vsyscall_emu_64.S). */
static void name_vsyscalls(struct dso *dso)
{
	static const char *const names[] = { "vgettimeofday", "vtime", "vgetcpu" };
	const uint64_t distance = 0x400;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct named_range range = { i * distance, (i + 1) * distance, names[i],
					     (uint32_t)strlen(names[i]) };

		name_ranges_add(&dso->dumped, &range);
	}
	name_ranges_finish(&dso->dumped, 0);
	dso_set_named(dso, &dso->dumped);
}

static struct dso *new_dso(struct dso_store *store, const char *path)
{
	struct dso *dso = arena_alloc(&store->arena, sizeof(*dso));

	dso->store = store;
	dso->path = dso_keep_text(store, path);
	make_whole(dso);
	return dso;
}

static struct dso *make_dso(struct dso_store *store, const char *path, const uint8_t *build_id,
			    size_t build_id_size)
{
	struct dso *dso = new_dso(store, path);

	if (build_id_size)
		memcpy(dso->build_id, build_id, build_id_size);
	dso->build_id_size = build_id_size;
	dso->state = DSO_MISSING;
	dso_search(dso);
	if (dso_find_shape(path) == DSO_SHAPE_VSYSCALL)
		name_vsyscalls(dso);
	return dso;
}

/* An id of zeros only is perf's way to say that it had none. */
static size_t known_size(const uint8_t *build_id, size_t size)
{
	if (size > ELF_BUILD_ID_MAX)
		size = ELF_BUILD_ID_MAX;
	for (size_t i = 0; i < size; i++)
		if (build_id[i])
			return size;
	return 0;
}

struct dso *dso_store_borrow(struct dso_store *store, const char *path, const uint8_t *build_id,
			     size_t build_id_size)
{
	size_t path_size = strlen(path) + 1, size = known_size(build_id, build_id_size);
	size_t key_size = path_size + size;
	char *key = alloc_zeroed(key_size, 1);
	struct dso *dso;

	memcpy(key, path, path_size);
	if (size)
		memcpy(key + path_size, build_id, size);
	pthread_mutex_lock(&store->lock);
	HASH_FIND(hh, store->dsos, key, key_size, dso);
	if (!dso) {
		const char *kept = arena_copy(&store->arena, key, key_size);

		dso = make_dso(store, path, build_id, size);
		HASH_ADD_KEYPTR(hh, store->dsos, kept, key_size, dso);
	}
	pthread_mutex_unlock(&store->lock);
	free(key);
	return dso;
}

/* ---- Names without files of code ----------------------------------------- */

/* Returns the dso of a key, or makes one without names: *made tells. */
static struct dso *borrow_named(struct dso_store *store, const char *key, bool *made)
{
	struct dso *dso;

	HASH_FIND(hh, store->dsos, key, strlen(key), dso);
	*made = !dso;
	if (dso)
		return dso;
	dso = new_dso(store, key);
	dso->state = DSO_NOT_A_FILE;
	HASH_ADD_KEYPTR(hh, store->dsos, dso->path, strlen(dso->path), dso);
	return dso;
}

struct dso *dso_store_borrow_jit(struct dso_store *store, int32_t pid)
{
	const struct dso_store_options *options = &store->options;
	char path[BENEATH_PATH];
	struct dso *dso;
	bool made;

	if (options->perf_map_dir)
		snprintf(path, sizeof(path), "%s/perf-%d.map", options->perf_map_dir, pid);
	else
		snprintf(path, sizeof(path), "%s/tmp/perf-%d.map",
			 options->find.symfs ? options->find.symfs : "", pid);
	pthread_mutex_lock(&store->lock);
	dso = borrow_named(store, path, &made);
	if (made && (!options->find.symfs || path_in_root_resolve(options->find.symfs, path)) &&
	    text_map_read_perf(&dso->map, path))
		dso_set_named(dso, &dso->map.names);
	pthread_mutex_unlock(&store->lock);
	return dso;
}

/* Returns whether kallsyms was read. */
static bool read_kallsyms(struct dso *dso, const uint8_t *build_id, size_t build_id_size)
{
	const struct dso_store_options *options = &dso->store->options;
	char cache[4096], hex[2 * ELF_BUILD_ID_MAX + 1];
	char *path;
	bool done;

	if (options->kallsyms)
		return text_map_read_kallsyms(&dso->map, options->kallsyms);
	if (build_id_size > 1 && dso_find_cache(&options->find, cache, sizeof(cache))) {
		dso_print_hex(hex, build_id, build_id_size);
		if (asprintf(&path, "%s/.build-id/%.2s/%s/kallsyms", cache, hex, hex + 2) < 0)
			alloc_fail(sizeof(cache));
		done = text_map_read_kallsyms(&dso->map, path);
		free(path);
		if (done)
			return true;
	}
	return options->running_kernel && text_map_read_kallsyms(&dso->map, "/proc/kallsyms");
}

void dso_store_offer_kallsyms(struct dso_store *store, const char *path)
{
	if (!store->options.kallsyms && path)
		store->options.kallsyms = dso_keep_text(store, path);
}

struct dso *dso_store_borrow_kernel(struct dso_store *store, const uint8_t *build_id,
				    size_t build_id_size)
{
	struct dso *dso;
	bool made;

	pthread_mutex_lock(&store->lock);
	dso = borrow_named(store, "[kernel.kallsyms]", &made);
	if (made && read_kallsyms(dso, build_id, known_size(build_id, build_id_size)))
		dso_set_named(dso, &dso->map.names);
	pthread_mutex_unlock(&store->lock);
	return dso;
}

enum dso_state dso_state(const struct dso *dso)
{
	return dso->state;
}

const char *dso_path(const struct dso *dso)
{
	return dso->path;
}

const char *dso_file(const struct dso *dso)
{
	return dso->file;
}

const uint8_t *dso_build_id(const struct dso *dso, size_t *size)
{
	*size = dso->build_id_size ? dso->build_id_size : dso->elf.build_id_size;
	return dso->build_id_size ? dso->build_id : dso->elf.build_id;
}

bool dso_is_entry(const struct dso *dso, uint64_t file_offset)
{
	const struct code_range *range = elf_file_code_at(&dso->elf, file_offset);
	GElf_Ehdr header;

	return range && dso->elf.elf && gelf_getehdr(dso->elf.elf, &header) &&
	       header.e_entry == range->vaddr + (file_offset - range->offset);
}

const uint8_t *dso_borrow_bytes(struct dso *dso, size_t *size)
{
	*size = dso->elf.size;
	return dso->elf.bytes;
}
