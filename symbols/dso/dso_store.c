/* SPDX-License-Identifier: MIT */
/* Opens the store and makes its dsos: of files, of JIT compilers and of the kernel. */
#include "symbols/dso/dso_store.h"

#include <sys/stat.h>

#include "base/budget.h"
#include "symbols/files/unpack.h"

const char *dso_keep_text(struct dso_store *store, const char *text)
{
	return text ? arena_text(&store->arena, text, strlen(text)) : NULL;
}

struct dso_store *dso_store_open(const struct dso_store_options *options, struct name_table *names,
				 struct diag *diag)
{
	struct dso_store *store = alloc_zeroed(1, sizeof(*store));

	store->pool = DWARF_MEMORY_START;
	pthread_mutex_init(&store->lock, NULL);
	store->names = names;
	store->diag = diag;
	store->options = *options;
	store->options.kallsyms = dso_keep_text(store, options->kallsyms);
	store->options.core = dso_keep_text(store, options->core);
	return store;
}

void dso_store_use_workers(struct dso_store *store, struct workers *workers)
{
	store->workers = workers;
}

void dso_store_close(struct dso_store *store)
{
	struct landing_call *landing;
	struct dso *dso;

	if (!store)
		return;
	for (dso = store->dsos; dso; dso = dso->hh.next) {
		line_cache_close(&dso->cache);
		line_cache_close(&dso->statements);
		HASH_CLEAR(hh, dso->calls);
		inline_table_release(&dso->inlined);
		split_files_close(&dso->split_files);
		line_table_close(&dso->lines);
		symbol_table_release(&dso->table);
		name_ranges_release(&dso->map);
		trap_table_release(&dso->traps);
		free(dso->symbol_cache);
		free(dso->dump_lines);
		free(dso->members);
		code_starts_close(&dso->starts);
		HASH_FREE_ALL(dso->landing, landing);
		HASH_CLEAR(hh, dso->unnamed);
		elf_file_close(&dso->shared);
		elf_file_close(&dso->mini);
		elf_file_close(&dso->debug);
		elf_file_close(&dso->elf);
	}
	core_file_release(&store->core);
	HASH_CLEAR(by_file, store->files);
	HASH_CLEAR(hh, store->dsos);
	demangler_release(&store->demangler);
	pthread_mutex_destroy(&store->lock);
	arena_release(&store->arena);
	free(store);
}

/* "//anon", "[vdso]" and "/" are not files. */
static bool is_path(const char *path)
{
	size_t length = strlen(path);

	return length && path[0] != '[' && !starts_with(path, "//") && path[length - 1] != '/';
}

void dso_set_named(struct dso *dso)
{
	dso->named = true;
	dso->symbol_cache = alloc_zeroed(dso->map.count, sizeof(*dso->symbol_cache));
}

/* Returns the build id's size; 0 if it is all zeros, which perf writes without a build id. */
static size_t known_size(const uint8_t *build_id, size_t size)
{
	size = MIN(size, ELF_BUILD_ID_MAX);
	for (size_t i = 0; i < size; i++)
		if (build_id[i])
			return size;
	return 0;
}

/* Returns the dso of a key, which begins with its path.  A *new dso is DSO_NOT_A_FILE. */
static struct dso *borrow_dso(struct dso_store *store, const char *key, size_t key_size, bool *new)
{
	const size_t prefix = sizeof(DSO_CHANGED) - 1;
	struct dso *dso;
	char *text;
	const struct name *name;

	HASH_FIND(hh, store->dsos, key, key_size, dso);
	*new = !dso;
	if (dso)
		return dso;
	dso = store->spare ?: arena_alloc(&store->arena, sizeof(*dso));
	store->spare = NULL;
	dso->store = store;
	key = arena_text(&store->arena, key, key_size);
	dso->changed = starts_with(key, DSO_CHANGED);
	dso->path = key + (dso->changed ? prefix : 0);
	dso->state = DSO_NOT_A_FILE;
	text = dso_find_bracketed(dso->path);
	name = name_intern_text(dso->store->names, text);
	dso->file_symbol.symbol = (struct symbol){ .name = name,
						   .linkage = name,
						   .dso = dso,
						   .kind = SYMBOL_FILE,
						   .changed = dso->changed };
	dso->file_symbol.has_line = true;
	dso->short_name = is_path(dso->path)
				  ? name_intern(dso->store->names, name->text + 1, name->length - 2)
				  : name;
	free(text);
	HASH_ADD_KEYPTR(hh, store->dsos, key, key_size, dso);
	return dso;
}

/*
 * Returns the new dso; if its files have few bytes (`size`) and many such dsos exist, the dso that
 * represents all of these.
 */
static struct dso *settle(struct dso *dso, uint64_t size)
{
	struct dso_store *store = dso->store;
	bool file = dso->state != DSO_NOT_A_FILE, new;
	const char *key = file ? DSO_CHANGED "[other files]" : DSO_CHANGED "[other memory]";

	if (size >= sizeof(*dso) || dso->known || store->small++ < DSO_SMALL_MOST)
		return dso->known ? dso->known : dso;
	diag_warn(store->diag, "too-many-files", "%s: only %d missing files have their own name",
		  dso->path, DSO_SMALL_MOST);
	key += dso->changed ? 0 : sizeof(DSO_CHANGED) - 1;
	HASH_DELETE(hh, store->dsos, dso);
	elf_file_close(&dso->elf);
	name_ranges_release(&dso->map);
	free(dso->symbol_cache);
	*dso = (struct dso){ 0 };
	store->spare = dso;
	dso = borrow_dso(store, key, strlen(key), &new);
	dso->state = file ? DSO_MISSING : DSO_NOT_A_FILE;
	return dso;
}

/*
 * Load a file with many names once, and show the first name.  Otherwise 100 bytes of a recording,
 * one more name, would cost the file's size.
 */
static void join_known_file(struct dso *dso)
{
	struct dso_store *store = dso->store;
	struct dso *known;

	if (!dso->elf.identity.inode || dso->changed)
		return;
	HASH_FIND(by_file, store->files, &dso->elf.identity, sizeof(dso->elf.identity), known);
	if (known) {
		elf_file_close(&dso->elf);
		dso->known = known;
	} else {
		HASH_ADD(by_file, store->files, elf.identity, sizeof(dso->elf.identity), dso);
	}
}

struct dso *dso_store_borrow(struct dso_store *store, const char *path, const uint8_t *build_id,
			     size_t build_id_size)
{
	size_t path_size = strlen(path) + 1, size = known_size(build_id, build_id_size);
	char *key = alloc_zeroed(path_size + size, 1);
	struct dso *dso;
	bool new;
	HOLD_LOCK(&store->lock);

	memcpy(key, path, path_size);
	if (size)
		memcpy(key + path_size, build_id, size);
	dso = borrow_dso(store, key, path_size + size, &new);
	if (new) {
		memcpy(dso->build_id, key + path_size, size);
		dso->build_id_size = size;
		dso_search(dso);
		if (dso_find_shape(path) == DSO_SHAPE_VSYSCALL) {
			static const char *const names[] = { "vgettimeofday", "vtime", "vgetcpu" };
			const uint64_t distance = 0x400;

			/* 1 KiB apart (arch/x86/entry/vsyscall/vsyscall_emu_64.S) */
			for (size_t i = 0; i < COUNT_OF(names); i++) {
				struct named_range range = { i * distance, (i + 1) * distance,
							     names[i], (uint32_t)strlen(names[i]) };

				name_ranges_add(&dso->map, &range);
			}
			name_ranges_finish(&dso->map, 0);
			dso_set_named(dso);
		}
		join_known_file(dso);
	}
	free(key);
	return settle(dso, !new || dso->elf.bytes ? SIZE_MAX : 0);
}

/* ---- Files in archives --------------------------------------------------- */

/* Open a file of an archive under the path of Android's tools: "base.apk!/lib/libfoo.so". */
static struct dso *open_member(struct dso *dso, const struct zip_entry *entry)
{
	const uint8_t *content = dso->elf.bytes + entry->begin;
	uint64_t size = entry->end - entry->begin;
	struct dso *member;
	uint8_t *bytes;
	char *path;
	bool new;

	/* Entries of a hostile archive overlap. */
	if (size < SELFMAG || memcmp(content, ELFMAG, SELFMAG) != 0)
		return NULL;
	if (size > dso->elf.size - dso->member_bytes) {
		diag_warn(dso->store->diag, "symbols-damaged",
			  "%s: its files overlap; some have no names", dso->path);
		return NULL;
	}
	dso->member_bytes += size;
	path = alloc_text("%s!/%.*s", dso->path, (int)entry->name_size, entry->name);
	member = borrow_dso(dso->store, path, strlen(path) + 1, &new);
	free(path);
	bytes = new ? alloc_zeroed(size, 1) : NULL;
	if (!bytes)
		return member;
	memcpy(bytes, content, size);
	if (elf_file_open_bytes(&member->elf, bytes, size, NULL) == 0)
		member->state = DSO_FOUND;
	member->file = dso->file;
	return settle(member, size);
}

struct dso *dso_find_member(struct dso *dso, uint64_t *file_offset)
{
	static const uint8_t magic[] = { 'P', 'K', 3, 4 };
	const uint64_t page = 4096;
	const struct elf_file *archive = &dso->elf;
	struct dso_member *member = dso->members, *end = member + dso->member_count;
	struct zip_entry entry;

	if (archive->elf || archive->size < sizeof(magic) ||
	    memcmp(archive->bytes, magic, sizeof(magic)) != 0)
		return NULL;
	while (member < end && (*file_offset < member->begin || *file_offset >= member->end))
		member++;
	if (member == end) {
		member = ARRAY_ADD(dso->members, dso->member_count, dso->member_room);
		*member = (struct dso_member){ .begin = *file_offset & ~(page - 1),
					       .end = *file_offset | (page - 1) };
		if (zip_file_find(archive->bytes, archive->size, *file_offset, &entry))
			*member = (struct dso_member){ entry.begin, entry.end,
						       open_member(dso, &entry) };
	}
	*file_offset -= member->dso ? member->begin : 0;
	return member->dso;
}

int dso_compare(const struct dso *a, const struct dso *b)
{
	if (a == b)
		return 0;
	return memcmp(a->hh.key, b->hh.key, MIN(a->hh.keylen, b->hh.keylen))
		       ?: COMPARE(a->hh.keylen, b->hh.keylen);
}

/* ---- Copies of files of processes ---------------------------------------- */

void dso_store_use_core(struct dso_store *store, const struct core_file *core)
{
	store->core = *core;
}

/*
 * Returns the copy of a process's file, or of its perf map for path NULL, of any process for pid 0;
 * NULL: there is none.
 */
static const struct core_copy *find_copy(const struct dso_store *store, int32_t pid,
					 const char *path)
{
	for (size_t i = 0; i < store->core.copy_count; i++) {
		const struct core_copy *copy = &store->core.copies[i];

		if ((!pid || copy->pid == pid) &&
		    (path ? strcmp(copy->path, path) == 0 : ends_with(copy->path, ".map")))
			return copy;
	}
	return NULL;
}

/* Returns the bytes of a copy, and one more, owned by the caller. */
static uint8_t *copy_bytes(const struct core_copy *copy)
{
	uint8_t *bytes = alloc_zeroed(copy->bytes.size + 1, 1);

	memcpy(bytes, copy->bytes.bytes, copy->bytes.size);
	return bytes;
}

struct dso *dso_store_borrow_dump(struct dso_store *store, int32_t pid, const char *path)
{
	const struct core_copy *copy = find_copy(store, pid, path) ?: find_copy(store, 0, path);
	struct dso *dso;
	char *key;
	bool new;

	if (!copy)
		return dso_store_borrow(store, path, NULL, 0);
	key = alloc_text("/proc/%d/root%s", copy->pid, path);
	HOLD_LOCK(&store->lock);
	dso = borrow_dso(store, key, strlen(key) + 1, &new);
	free(key);
	if (!new)
		return dso;
	dso->elf = (struct elf_file){ .bytes = copy_bytes(copy), .size = copy->bytes.size };
	dso->file = store->options.core;
	dso->state = DSO_FOUND;
	return settle(dso, copy->bytes.size);
}

/* ---- Names without files of code: the keys have no NUL, unlike files' keys. ---- */

const struct name *dso_store_changed(const struct dso_store *store, uint64_t *count)
{
	*count = store->changed_count;
	return store->first_changed ? store->first_changed->name : NULL;
}

void dso_mark_changed(struct dso *dso, struct symbol *symbol)
{
	struct dso_store *store = dso->store;
	const struct symbol *first = store->first_changed;

	if (!dso->changed)
		return;
	symbol->changed = true;
	store->changed_count++;
	if (!first || symbol->start < first->start ||
	    (symbol->start == first->start && dso_compare(dso, first->dso) < 0))
		store->first_changed = symbol;
}

struct dso *dso_store_borrow_jit(struct dso_store *store, int32_t pid, bool changed)
{
	const struct dso_store_options *options = &store->options;
	const char *symfs = options->find.symfs;
	char key[sizeof(DSO_CHANGED) + BENEATH_PATH] = DSO_CHANGED;
	char *path = key + sizeof(DSO_CHANGED) - 1;
	const struct core_copy *copy = options->perf_map_dir ? NULL : find_copy(store, pid, NULL);
	struct stat status;
	struct dso *dso;
	size_t small = 0;
	uint8_t *text;
	bool new;
	HOLD_LOCK(&store->lock);

	snprintf(path, BENEATH_PATH, "%s%s/perf-%d.map",
		 options->perf_map_dir ? options->perf_map_dir
		 : symfs               ? symfs
				       : "",
		 options->perf_map_dir ? "" : "/tmp", pid);
	dso = borrow_dso(store, changed ? key : path, strlen(changed ? key : path), &new);
	text = new ? dso_unpack(store, base_name(path), &small) : NULL;
	if (new && !text && copy) {
		text = copy_bytes(copy);
		small = copy->bytes.size;
	}
	if (text) {
		name_ranges_parse_perf(&dso->map, (char *)text, small);
		dso_set_named(dso);
	} else if (new && (!symfs || path_in_root_resolve(symfs, path)) &&
		   stat(path, &status) == 0) {
		dso->elf.identity = (struct file_identity){ status.st_dev, status.st_ino };
		join_known_file(dso);
		if (!dso->known && name_ranges_read_perf(&dso->map, path))
			dso_set_named(dso);
	}
	return settle(dso, new && !dso->elf.identity.inode ? small : SIZE_MAX);
}

static bool read_kallsyms(struct dso *dso)
{
	const struct dso_store_options *options = &dso->store->options;
	char path[BENEATH_PATH], *offered = dso->store->kallsyms;

	if (options->kallsyms)
		return name_ranges_read_kallsyms(&dso->map, options->kallsyms);
	if (offered && *offered)
		return name_ranges_parse_kallsyms(&dso->map, offered, strlen(offered));
	for (int i = 0; i < DSO_FIND_CACHES; i++)
		if (dso_find_cached(&options->find, &dso->store->kernel_id, i, "/kallsyms", path) &&
		    name_ranges_read_kallsyms(&dso->map, path))
			return true;
	return (dso->store->running == RUNNING_BOOT &&
		name_ranges_read_kallsyms(&dso->map, "/proc/kallsyms"));
}

void dso_store_set_kernel(struct dso_store *store, const uint8_t *build_id, size_t build_id_size,
			  enum running_kernel running)
{
	store->kernel_id = (struct byte_view){ build_id, known_size(build_id, build_id_size) };
	store->running = running;
}

void dso_store_offer_kallsyms(struct dso_store *store, char *text)
{
	store->kallsyms = text;
}

struct dso *dso_store_borrow_kernel(struct dso_store *store)
{
	static const char path[] = "[kernel.kallsyms]";
	struct dso *dso;
	bool new;
	HOLD_LOCK(&store->lock);

	dso = borrow_dso(store, path, strlen(path), &new);
	if (new &&read_kallsyms(dso))
		dso_set_named(dso);
	return dso;
}

const uint8_t *dso_build_id(const struct dso *dso, size_t *size)
{
	*size = dso->build_id_size ? dso->build_id_size : dso->elf.build_id_size;
	return dso->build_id_size ? dso->build_id : dso->elf.build_id;
}

const struct name *dso_build_id_name(const struct dso *dso, struct name_table *names)
{
	char text[2 * ELF_BUILD_ID_MAX + 1];
	size_t size;
	const uint8_t *id = dso_build_id(dso, &size);

	elf_file_print_id(text, id, size);
	return size ? name_intern_text(names, text) : NULL;
}

bool dso_is_entry(const struct dso *dso, uint64_t file_offset)
{
	const struct code_range *range = elf_file_code_at(&dso->elf, file_offset);

	return range && dso->elf.header.e_entry == range->vaddr + (file_offset - range->offset);
}

static const uint8_t *borrow_code_of(const struct dso *dso, GElf_Half machine, uint64_t vaddr,
				     size_t *size)
{
	const struct code_range *range = elf_file_code_at_vaddr(&dso->elf, vaddr);

	*size = 0;
	if (!range || dso->elf.header.e_machine != machine)
		return NULL;
	*size = range->size - (vaddr - range->vaddr);
	return dso->elf.bytes + range->offset + (vaddr - range->vaddr);
}

const uint8_t *dso_borrow_code(const struct dso *dso, uint64_t vaddr, size_t *size)
{
	return borrow_code_of(dso, EM_X86_64, vaddr, size);
}

const uint8_t *dso_borrow_code_32(const struct dso *dso, uint64_t vaddr, size_t *size)
{
	return borrow_code_of(dso, EM_386, vaddr, size);
}
