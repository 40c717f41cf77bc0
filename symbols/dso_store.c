/* SPDX-License-Identifier: MIT */
#include "symbols/dso_store.h"

#include <elfutils/libdwelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "symbols/debug_file.h"
#include "symbols/debuginfod.h"
#include "symbols/demangle.h"
#include "symbols/dso_find.h"
#include "symbols/elf_file.h"
#include "symbols/inline_table.h"
#include "symbols/jit_dump.h"
#include "symbols/line_table.h"
#include "symbols/symbol_table.h"
#include "symbols/text_map.h"
#include "symbols/trap_table.h"

/* What is known about a symbol beyond what is shown to others. */
struct known_symbol {
	struct symbol symbol; /* first: a symbol's address is its known_symbol's */
	bool line_known;
	struct source_line line;
};

/* The range of file offsets of the last answer: calls come in bunches. */
struct last_hit {
	uint64_t begin, end;	     /* bytes from the start of the file */
	uint64_t vaddr;		     /* of `begin` */
	const struct symbol *symbol; /* borrowed */
};

struct dso {
	struct dso_store *store;	    /* borrowed */
	const char *path;		    /* of the arena: as recorded */
	const char *file;		    /* of the arena; NULL: none */
	uint8_t build_id[ELF_BUILD_ID_MAX]; /* as recorded */
	size_t build_id_size;
	enum dso_state state;
	const char *
		refused; /* of the arena: why a file at the path is not used; NULL: none is there */
	struct elf_file elf; /* closed unless DSO_FOUND */
	bool forced; /* a file with another build id will do */
	bool debug_sought, symbols_read, lines_read;
	struct elf_file debug; /* with the tables that `elf` lacks; closed: none */
	struct elf_file mini;  /* with a .symtab that neither has; closed: none */
	struct elf_file shared; /* that the debug information shares; closed: none */
	const char *debug_path; /* of the arena */
	struct symbol_table table;
	struct text_map map;         /* of a JIT compiler or the kernel */
	struct name_ranges dumped;   /* of a jitdump */
	const struct name_ranges *named; /* one of the two, if names come from it; else NULL */
	struct trap_table traps;
	struct known_symbol **known; /* owned: by entry of the table, or of `named`; made when asked for */
	struct line_table lines;
	struct inline_table inlined;
	struct known_symbol whole; /* the SYMBOL_FILE symbol */
	struct last_hit hit;
	UT_hash_handle hh; /* by path and build id */
};

struct dso_store {
	struct dso_store_options options; /* its texts are of the arena */
	struct name_table *names;	  /* borrowed */
	struct diag *diag;		  /* borrowed */
	struct arena arena;
	struct dso *dsos; /* hash; its members are of the arena */
	struct demangler demangler;
};

static const char *keep_text(struct dso_store *store, const char *text)
{
	return text ? arena_text(&store->arena, text, strlen(text)) : NULL;
}

struct dso_store *dso_store_open(const struct dso_store_options *options, struct name_table *names,
				 struct diag *diag)
{
	struct dso_store *store = alloc_zeroed(1, sizeof(*store));

	arena_init(&store->arena);
	store->names = names;
	store->diag = diag;
	store->options = *options;
	store->options.symfs = keep_text(store, options->symfs);
	store->options.strip_prefix = keep_text(store, options->strip_prefix);
	store->options.perf_map_dir = keep_text(store, options->perf_map_dir);
	store->options.kallsyms = keep_text(store, options->kallsyms);
	store->options.debug_dir = keep_text(store, options->debug_dir);
	store->options.vdso = keep_text(store, options->vdso);
	store->options.build_id_cache = keep_text(store, options->build_id_cache);
	return store;
}

void dso_store_close(struct dso_store *store)
{
	struct dso *dso;

	if (!store)
		return;
	for (dso = store->dsos; dso; dso = dso->hh.next) {
		inline_table_release(&dso->inlined);
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
	arena_release(&store->arena);
	free(store);
}

static void print_hex(char *text, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	text[2 * size] = 0;
}

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
 * Remember why a file is not used: the user need not know if a better one is
 * found.  The first reason is that of the most likely place.
 */
static void refuse(struct dso *dso, enum dso_state state, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void refuse(struct dso *dso, enum dso_state state, const char *format, ...)
{
	char text[1000];
	va_list args;

	if (dso->refused)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	dso->refused = keep_text(dso->store, text);
	dso->state = state;
}

static void refuse_mismatch(struct dso *dso, const char *path, const struct elf_file *elf)
{
	char recorded[2 * ELF_BUILD_ID_MAX + 1], found[2 * ELF_BUILD_ID_MAX + 1];

	print_hex(recorded, dso->build_id, dso->build_id_size);
	print_hex(found, elf->build_id, elf->build_id_size);
	refuse(dso, DSO_MISMATCHED,
	       "%s is not the file that was recorded: its build id is %s, recorded is %s", path,
	       elf->build_id_size ? found : "absent", recorded);
}

static void warn_if_refused(const struct dso *dso)
{
	if (dso->state == DSO_MISMATCHED)
		diag_warn(dso->store->diag, "build-id-mismatch", "%s", dso->refused);
	if (dso->state == DSO_UNREADABLE)
		diag_warn(dso->store->diag, "elf-unreadable", "%s", dso->refused);
}

/* Take an open file if it is the recorded one; closes it otherwise.  Returns true if taken. */
static bool take_file(struct dso *dso, struct elf_file *elf, const char *path, bool needs_build_id)
{
	if (needs_build_id && (!dso->build_id_size || !build_id_agrees(dso, elf))) {
		elf_file_close(elf);
		return false;
	}
	if (!build_id_agrees(dso, elf)) {
		refuse_mismatch(dso, path, elf);
		if (!dso->forced) {
			elf_file_close(elf);
			return false;
		}
	}
	dso->elf = *elf;
	dso->file = keep_text(dso->store, path);
	dso->state = DSO_FOUND;
	return true;
}

static bool try_file(struct dso *dso, const char *path, bool needs_build_id)
{
	struct error err = { 0 };
	struct elf_file elf;

	if ((jit_dump_is_path(dso->path) ? elf_file_map : elf_file_open)(&elf, path, &err) == 0)
		return take_file(dso, &elf, path, needs_build_id);
	if (err.kind == ERROR_FORMAT && !needs_build_id)
		refuse(dso, DSO_UNREADABLE, "cannot read %s: %s", path, err.text);
	return false;
}

static bool search_cache(struct dso *dso)
{
	const struct dso_store_options *options = &dso->store->options;
	struct dso_candidate candidate;
	int status;

	if (options->symfs || !dso->build_id_size)
		return false;
	for (unsigned i = 0; (status = dso_find_cached(options, dso->build_id, dso->build_id_size,
						       i, &candidate)) >= 0;
	     i++)
		if (status && try_file(dso, candidate.path, candidate.needs_build_id))
			return true;
	return false;
}

static bool search_paths(struct dso *dso)
{
	const struct dso_store_options *options = &dso->store->options;
	struct dso_candidate candidate;
	int status;

	for (unsigned i = 0; (status = dso_find_candidate(options, dso->path, i, &candidate)) >= 0;
	     i++)
		if (status && try_file(dso, candidate.path, candidate.needs_build_id))
			return true;
	return false;
}

static bool search_servers(struct dso *dso)
{
	bool found = false;
	char *path = NULL;

	if (dso->store->options.debuginfod)
		path = debuginfod_fetch(DEBUGINFOD_EXECUTABLE, dso->build_id, dso->build_id_size);
	if (path)
		found = try_file(dso, path, true);
	free(path);
	return found;
}

static void search_file(struct dso *dso)
{
	if (search_paths(dso) || search_cache(dso) || search_servers(dso))
		return;
	dso->forced = dso->store->options.force;
	if (dso->forced && search_paths(dso))
		diag_warn(dso->store->diag, "build-id-mismatch", "%s; used all the same",
			  dso->refused);
}

static void search_vdso(struct dso *dso)
{
	const struct dso_store_options *options = &dso->store->options;
	struct elf_file elf;
	uint8_t *bytes;
	size_t size;

	if (options->vdso && try_file(dso, options->vdso, false))
		return;
	if (search_cache(dso) || !options->running_kernel)
		return;
	bytes = dso_find_own_vdso(&size);
	if (bytes && elf_file_open_bytes(&elf, bytes, size, NULL) == 0)
		take_file(dso, &elf, dso->path, false);
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

static void set_named(struct dso *dso, const struct name_ranges *named)
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
	set_named(dso, &dso->dumped);
}

static struct dso *new_dso(struct dso_store *store, const char *path)
{
	struct dso *dso = arena_alloc(&store->arena, sizeof(*dso));

	dso->store = store;
	dso->path = keep_text(store, path);
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
	switch (dso_find_shape(path)) {
	case DSO_SHAPE_FILE:
		search_file(dso);
		break;
	case DSO_SHAPE_VDSO:
		search_vdso(dso);
		break;
	case DSO_SHAPE_NO_FILE:
		/* Memory may hold a program that some file holds, too (memfd_create(2)). */
		if (!search_cache(dso))
			dso->state = DSO_NOT_A_FILE;
		break;
	case DSO_SHAPE_VSYSCALL:
		dso->state = DSO_NOT_A_FILE;
		name_vsyscalls(dso);
		break;
	}
	warn_if_refused(dso);
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
	HASH_FIND(hh, store->dsos, key, key_size, dso);
	if (!dso) {
		const char *kept = arena_copy(&store->arena, key, key_size);

		dso = make_dso(store, path, build_id, size);
		HASH_ADD_KEYPTR(hh, store->dsos, kept, key_size, dso);
	}
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
	char path[4200];
	struct dso *dso;
	bool made;

	if (options->perf_map_dir)
		snprintf(path, sizeof(path), "%s/perf-%d.map", options->perf_map_dir, pid);
	else
		snprintf(path, sizeof(path), "%s/tmp/perf-%d.map",
			 options->symfs ? options->symfs : "", pid);
	dso = borrow_named(store, path, &made);
	if (made && text_map_read_perf(&dso->map, path))
		set_named(dso, &dso->map.names);
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
	if (build_id_size > 1 && dso_find_cache(options, cache, sizeof(cache))) {
		print_hex(hex, build_id, build_id_size);
		if (asprintf(&path, "%s/.build-id/%.2s/%s/kallsyms", cache, hex, hex + 2) < 0)
			alloc_fail(sizeof(cache));
		done = text_map_read_kallsyms(&dso->map, path);
		free(path);
		if (done)
			return true;
	}
	return options->running_kernel && text_map_read_kallsyms(&dso->map, "/proc/kallsyms");
}

struct dso *dso_store_borrow_kernel(struct dso_store *store, const uint8_t *build_id,
				    size_t build_id_size)
{
	bool made;
	struct dso *dso = borrow_named(store, "[kernel.kallsyms]", &made);

	if (made && read_kallsyms(dso, build_id, known_size(build_id, build_id_size)))
		set_named(dso, &dso->map.names);
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

const uint8_t *dso_borrow_bytes(struct dso *dso, size_t *size)
{
	*size = dso->elf.size;
	return dso->elf.bytes;
}

static struct debug_request request_of(const struct dso *dso)
{
	return (struct debug_request){ &dso->store->options, &dso->elf, dso->path, dso->file };
}

/* Open the debug file if a table is wanted that the file itself lacks. */
static void seek_debug_file(struct dso *dso)
{
	struct debug_request request = request_of(dso);
	char path[4096];

	if (dso->debug_sought)
		return;
	dso->debug_sought = true;
	if (debug_file_open(&request, &dso->debug, path, sizeof(path)))
		dso->debug_path = keep_text(dso->store, path);
}

/* Returns the file that has the .symtab which the file of code lacks, NULL if none has. */
static const struct elf_file *seek_symbols(struct dso *dso)
{
	struct error err = { 0 };

	if (symbol_table_is_whole(&dso->elf))
		return NULL;
	seek_debug_file(dso);
	if (dso->debug.elf && symbol_table_is_whole(&dso->debug))
		return &dso->debug;
	if (debug_file_open_mini(&dso->elf, &dso->mini, &err) < 0)
		diag_warn(dso->store->diag, "symbols-damaged", "%s: %s", dso->path, err.text);
	return dso->mini.elf ? &dso->mini : NULL;
}

static void read_symbols(struct dso *dso)
{
	struct error err = { 0 };

	dso->symbols_read = true;
	trap_table_open(&dso->traps, &dso->elf);
	if (symbol_table_load(&dso->table, &dso->elf, seek_symbols(dso), &err) != 0)
		diag_warn(dso->store->diag, "symbols-damaged", "%s: %s", dso->path, err.text);
	dso->known = alloc_zeroed(dso->table.count, sizeof(*dso->known));
}

/* Returns `text` + "@plt" for a linkage stub, `text` as a name for others. */
static const struct name *make_name(struct dso *dso, const char *text, bool stub)
{
	size_t length = strlen(text), tail = sizeof("@plt") - 1;
	const struct name *name;
	char *whole;

	if (!stub)
		return name_intern(dso->store->names, text, length);
	whole = alloc_zeroed(length + tail + 1, 1);
	memcpy(whole, text, length);
	memcpy(whole + length, "@plt", tail);
	name = name_intern(dso->store->names, whole, length + tail);
	free(whole);
	return name;
}

static const struct symbol *symbol_of_entry(struct dso *dso, uint32_t index);

static void make_symbol(struct dso *dso, uint32_t index)
{
	const struct symbol_entry *entry = &dso->table.entries[index];
	uint32_t whole = symbol_table_whole(&dso->table, index);
	struct known_symbol *known = arena_alloc(&dso->store->arena, sizeof(*known));
	const char *linkage = symbol_table_name(&dso->table, entry);
	bool stub = entry->kind == SYMBOL_PLT && linkage;
	const char *shown;

	if (!linkage)
		linkage = ".plt"; /* perf's name for the header since Linux 6.3 */
	dso->known[index] = known; /* before the function is asked for: two may claim each other */
	known->symbol.start = entry->begin;
	known->symbol.size = entry->end - entry->begin;
	known->symbol.linkage = make_name(dso, linkage, stub);
	shown = demangler_demangle(&dso->store->demangler, linkage,
				   dso->store->options.demangle);
	known->symbol.name = shown ? make_name(dso, shown, stub) : known->symbol.linkage;
	known->symbol.dso = dso;
	known->symbol.kind = entry->kind;
	known->symbol.binding = entry->binding;
	if (whole != SYMBOL_ENTRY_NONE && whole != index)
		known->symbol.function = symbol_function(symbol_of_entry(dso, whole));
	known->line_known = entry->kind != SYMBOL_FUNCTION;
}

static void make_named_symbol(struct dso *dso, uint32_t index)
{
	struct known_symbol *known = arena_alloc(&dso->store->arena, sizeof(*known));
	const struct named_range *range = &dso->named->ranges[index];

	known->symbol.start = range->begin;
	known->symbol.size = range->end - range->begin;
	known->symbol.name = name_intern(dso->store->names, range->name, range->length);
	known->symbol.linkage = known->symbol.name;
	known->symbol.dso = dso;
	known->symbol.binding = SYMBOL_GLOBAL;
	known->line_known = true;
	dso->known[index] = known;
}

static const struct symbol *symbol_of_range(struct dso *dso, uint32_t range)
{
	if (range == NAME_RANGE_NONE)
		return &dso->whole.symbol;
	if (!dso->known[range])
		make_named_symbol(dso, range);
	return &dso->known[range]->symbol;
}

static const struct symbol *symbol_of_entry(struct dso *dso, uint32_t entry)
{
	if (entry == SYMBOL_ENTRY_NONE)
		return &dso->whole.symbol;
	if (!dso->known[entry])
		make_symbol(dso, entry);
	return &dso->known[entry]->symbol;
}

/* The table's range around a place in the code, cut to the code range, as file offsets. */
static struct last_hit find_hit(struct dso *dso, const struct code_range *code, uint64_t vaddr)
{
	const struct symbol_table *table = &dso->table;
	uint32_t index = symbol_table_find(table, vaddr);
	uint64_t begin = code->vaddr, end = code->vaddr + code->size;
	uint32_t entry = SYMBOL_ENTRY_NONE, next = 0;

	if (index != SYMBOL_ENTRY_NONE) {
		entry = table->ranges[index].entry;
		if (table->ranges[index].begin > begin)
			begin = table->ranges[index].begin;
		next = index + 1;
	}
	if (next < table->range_count && table->ranges[next].begin < end)
		end = table->ranges[next].begin;
	return (struct last_hit){ begin - code->vaddr + code->offset,
				  end - code->vaddr + code->offset, begin,
				  symbol_of_entry(dso, entry) };
}

static struct last_hit find_named(struct dso *dso, uint64_t address)
{
	struct last_hit hit;
	uint32_t range = name_ranges_find(dso->named, address, &hit.begin, &hit.end);

	hit.vaddr = hit.begin;
	hit.symbol = symbol_of_range(dso, range);
	return hit;
}

/* What a jitdump says: the names of its own bytes. */
static void read_dump(struct dso *dso)
{
	struct jit_dump dump;
	struct jit_code code;

	dso->symbols_read = true;
	if (!jit_dump_init(&dump, dso->elf.bytes, dso->elf.size))
		return;
	while (jit_dump_next(&dump, &code)) {
		struct named_range range = { code.offset, code.offset + code.size, code.name,
					     (uint32_t)strlen(code.name) };

		if (!code.moved)
			name_ranges_add(&dso->dumped, &range);
	}
	jit_dump_release(&dump);
	name_ranges_finish(&dso->dumped, 0);
	set_named(dso, &dso->dumped);
}

static bool look_up(struct dso *dso, uint64_t file_offset)
{
	const struct code_range *code = elf_file_code_at(&dso->elf, file_offset);

	if (dso->elf.bytes && !dso->elf.elf && !dso->symbols_read)
		read_dump(dso);
	if (dso->named) {
		dso->hit = find_named(dso, file_offset);
		return true;
	}
	if (!code)
		return false;
	if (!dso->symbols_read)
		read_symbols(dso);
	dso->hit = find_hit(dso, code, file_offset - code->offset + code->vaddr);
	return true;
}

const struct symbol *dso_borrow_symbol(struct dso *dso, uint64_t file_offset, uint64_t *offset)
{
	const struct last_hit *hit = &dso->hit;

	*offset = 0;
	if (file_offset - hit->begin >= hit->end - hit->begin && !look_up(dso, file_offset))
		return &dso->whole.symbol;
	if (hit->symbol != &dso->whole.symbol)
		*offset = file_offset - hit->begin + hit->vaddr - hit->symbol->start;
	return hit->symbol;
}

const struct trap_table *dso_borrow_traps(const struct dso *dso)
{
	return dso->traps.count ? &dso->traps : NULL;
}

/* Returns the name of a source path, relative to options.strip_prefix if it is below that. */
static const struct name *name_path(struct dso *dso, const char *path)
{
	const char *prefix = dso->store->options.strip_prefix;
	size_t length = prefix ? strlen(prefix) : 0;

	while (length && prefix[length - 1] == '/')
		length--;
	if (length && strncmp(path, prefix, length) == 0 && path[length] == '/')
		path += length + strspn(path + length, "/");
	return name_intern_text(dso->store->names, path);
}

static const struct name *name_source(struct dso *dso, const struct line_row *row)
{
	const struct name *name;
	char *path;

	if (!row->file || !row->directory)
		return row->file ? name_path(dso, row->file) : NULL;
	if (asprintf(&path, "%s/%s", row->directory, row->file) < 0)
		alloc_fail(strlen(row->directory) + strlen(row->file) + 2);
	name = name_path(dso, path);
	free(path);
	return name;
}

/* Let the debug information at `path` see what it shares with that of other files. */
static void share_lines(struct dso *dso, const char *path)
{
	struct debug_request request = request_of(dso);
	const char *name;
	const void *id;
	ssize_t size = dwelf_dwarf_gnu_debugaltlink(dso->lines.dwarf, &name, &id);

	if (size > 0 &&
	    debug_file_open_shared(&request, path, name, id, (size_t)size, &dso->shared))
		line_table_share(&dso->lines, &dso->shared);
}

static void read_lines(struct dso *dso)
{
	const struct elf_file *file = &dso->elf;
	struct error err = { 0 };

	dso->lines_read = true;
	if (!line_table_is_in(file)) {
		seek_debug_file(dso);
		file = &dso->debug;
	}
	if (file->elf && line_table_open(&dso->lines, file, &err) != 0)
		diag_warn(dso->store->diag, "lines-damaged", "%s: %s", dso->path, err.text);
	if (dso->lines.dwarf)
		share_lines(dso, file == &dso->elf ? dso->file : dso->debug_path);
}

static struct source_line make_line(struct dso *dso, const struct line_row *row)
{
	return (struct source_line){ name_source(dso, row), row->line, row->column };
}

static struct source_line find_line(struct dso *dso, uint64_t vaddr, enum line_choice choice)
{
	struct source_line line = { 0 };
	struct error err = { 0 };
	struct line_row row;

	if (!dso->lines_read)
		read_lines(dso);
	switch (line_table_find(&dso->lines, vaddr, choice, &row, &err)) {
	case 1:
		line = make_line(dso, &row);
		break;
	case -1:
		diag_warn(dso->store->diag, "lines-damaged", "%s: %s", dso->path, err.text);
		break;
	}
	return line;
}

struct source_line dso_line(const struct symbol *symbol, uint64_t offset)
{
	if (!symbol->dso || symbol->kind != SYMBOL_FUNCTION)
		return (struct source_line){ 0 };
	return find_line(symbol->dso, symbol->start + offset, LINE_OF_CODE);
}

struct source_line dso_symbol_line(const struct symbol *symbol)
{
	/* Only this file makes symbols that have a dso, each inside a known_symbol. */
	struct known_symbol *known = (struct known_symbol *)symbol;

	if (!symbol->dso)
		return (struct source_line){ 0 };
	if (!known->line_known) {
		known->line_known = true;
		known->line = find_line(symbol->dso, symbol->start, LINE_OF_FUNCTION);
	}
	return known->line;
}

/* ---- Inlined calls ------------------------------------------------------- */

static const struct symbol *make_inlined_symbol(struct dso *dso, const struct inline_call *call,
						const struct inlined_call *inlined)
{
	struct known_symbol *known = arena_alloc(&dso->store->arena, sizeof(*known));
	const char *linkage = call->name ? call->name : "[unknown]";
	const char *shown = demangler_demangle(&dso->store->demangler, linkage,
					       dso->store->options.demangle);

	known->symbol.linkage = name_intern_text(dso->store->names, linkage);
	known->symbol.name = shown ? name_intern_text(dso->store->names, shown)
				   : known->symbol.linkage;
	known->symbol.inlined = inlined;
	known->symbol.dso = dso;
	known->line = make_line(dso, &call->at);
	known->line_known = true;
	return &known->symbol;
}

/* Returns the call with all that it is in; they are made at first use, outermost first. */
static const struct inlined_call *make_call(struct dso *dso, struct inline_function *function,
					    uint32_t index)
{
	struct inlined_call *inner = NULL, *first = NULL;

	for (; index != NAME_RANGE_NONE; index = function->calls[index].parent) {
		struct inline_call *call = &function->calls[index];
		struct inlined_call *known = call->data;

		if (!known) {
			known = arena_alloc(&dso->store->arena, sizeof(*known));
			known->symbol = make_inlined_symbol(dso, call, known);
			call->data = known;
		}
		if (inner)
			inner->parent = known;
		first = first ? first : known;
		inner = known;
	}
	return first;
}

bool dso_find_inlined(struct dso *dso, uint64_t file_offset, struct inlined_code *code)
{
	const struct code_range *range = elf_file_code_at(&dso->elf, file_offset);
	struct error err = { 0 };
	struct inline_hit hit;
	uint64_t vaddr;
	int status;

	if (!range)
		return false;
	if (!dso->lines_read)
		read_lines(dso);
	vaddr = file_offset - range->offset + range->vaddr;
	status = inline_table_find(&dso->inlined, &dso->lines, vaddr, &hit, &err);
	if (status < 0)
		diag_warn(dso->store->diag, "lines-damaged", "%s: %s", dso->path, err.text);
	if (status <= 0)
		return false;
	if (hit.begin < range->vaddr)
		hit.begin = range->vaddr;
	if (hit.end > range->vaddr + range->size)
		hit.end = range->vaddr + range->size;
	code->begin = hit.begin - range->vaddr + range->offset;
	code->end = hit.end - range->vaddr + range->offset;
	code->innermost = make_call(dso, hit.function, hit.call);
	return true;
}
