/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbols/dso/dso.h"
#include "symbols/names/jit_dump.h"

struct debug_request dso_debug_request(const struct dso *dso)
{
	return (struct debug_request){ &dso->store->options.find, &dso->elf, dso->path, dso->file };
}

void dso_seek_debug_file(struct dso *dso)
{
	struct debug_request request = dso_debug_request(dso);
	char path[4096];

	if (dso->debug_sought)
		return;
	dso->debug_sought = true;
	if (debug_file_open(&request, &dso->debug, path, sizeof(path)))
		dso->debug_path = dso_keep_text(dso->store, path);
}

/* Returns the file that has the .symtab which the file of code lacks, NULL if none has. */
static const struct elf_file *seek_symbols(struct dso *dso)
{
	struct error err = { 0 };

	if (symbol_table_is_whole(&dso->elf))
		return NULL;
	dso_seek_debug_file(dso);
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

/*
 * Code that stands for a return or an indirect jump where processors must not
 * speculate (arch/x86/lib/retpoline.S in Linux; LLVM's thunks): it belongs to no
 * function of the program's own, like a linkage stub.
 */
static bool is_thunk(const char *name, size_t length)
{
	static const char *const begins[] = {
		"__x86_indirect_",     "__llvm_retpoline_",       "__x86_return_thunk",
		"srso_return_thunk",   "srso_alias_return_thunk", "srso_safe_ret",
		"srso_alias_safe_ret", "retbleed_return_thunk",   "call_depth_return_thunk",
		"its_return_thunk",
	};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		size_t size = strlen(begins[i]);

		if (length >= size && memcmp(name, begins[i], size) == 0)
			return true;
	}
	return false;
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
		linkage = ".plt";  /* perf's name for the header since Linux 6.3 */
	dso->known[index] = known; /* before the function is asked for: two may claim each other */
	known->symbol.start = entry->begin;
	known->symbol.size = entry->end - entry->begin;
	known->symbol.linkage = make_name(dso, linkage, stub);
	shown = demangler_demangle(&dso->store->demangler, linkage, dso->store->options.demangle);
	known->symbol.name = shown ? make_name(dso, shown, stub) : known->symbol.linkage;
	known->symbol.dso = dso;
	known->symbol.kind = is_thunk(linkage, strlen(linkage)) ? SYMBOL_PLT : entry->kind;
	known->symbol.binding = entry->binding;
	known->symbol.has_traps = dso_borrow_traps(dso) != NULL;
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
	known->symbol.kind = is_thunk(range->name, range->length) ? SYMBOL_PLT : SYMBOL_FUNCTION;
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
	dso_set_named(dso, &dso->dumped);
}

static bool look_up(struct dso *dso, uint64_t file_offset)
{
	const struct code_range *code = elf_file_code_at(&dso->elf, file_offset);

	dso->asked = true;
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

static const struct symbol *find_symbol(struct dso *dso, uint64_t file_offset, uint64_t *offset)
{
	const struct last_hit *hit = &dso->hit;

	*offset = 0;
	if (file_offset - hit->begin >= hit->end - hit->begin && !look_up(dso, file_offset))
		return &dso->whole.symbol;
	if (hit->symbol != &dso->whole.symbol)
		*offset = file_offset - hit->begin + hit->vaddr - hit->symbol->start;
	return hit->symbol;
}

static enum dso_names names_of(const struct dso *dso)
{
	if (dso->named)
		return dso->named->count ? DSO_NAMES_ALL : DSO_NAMES_NONE;
	if (!dso->table.count)
		return DSO_NAMES_NONE;
	if (symbol_table_is_whole(&dso->elf) || dso->mini.elf ||
	    (dso->debug.elf && symbol_table_is_whole(&dso->debug)))
		return DSO_NAMES_ALL;
	return DSO_NAMES_EXPORTED;
}

struct dso_findings dso_findings(const struct dso *dso)
{
	struct dso_findings findings;

	pthread_mutex_lock(&dso->store->lock);
	findings = (struct dso_findings){
		.asked = dso->asked,
		.names = names_of(dso),
		.symbols = dso->named ? dso->named->count : dso->table.count,
		.lines = dso->lines.dwarf != NULL,
		.debug_file = dso->debug_path,
		.refused = dso->refused,
	};
	pthread_mutex_unlock(&dso->store->lock);
	return findings;
}

const struct symbol *dso_borrow_symbol(struct dso *dso, uint64_t file_offset, uint64_t *offset)
{
	const struct symbol *symbol;

	pthread_mutex_lock(&dso->store->lock);
	symbol = find_symbol(dso, file_offset, offset);
	pthread_mutex_unlock(&dso->store->lock);
	return symbol;
}

const struct symbol *dso_borrow_range(struct dso *dso, uint64_t file_offset, uint64_t *begin,
				      uint64_t *end)
{
	const struct last_hit *hit = &dso->hit;
	const struct symbol *symbol;
	uint64_t offset;

	pthread_mutex_lock(&dso->store->lock);
	symbol = find_symbol(dso, file_offset, &offset);
	*begin = *end = file_offset;
	if (file_offset >= hit->begin && file_offset < hit->end) {
		*begin = hit->begin;
		*end = hit->end;
	}
	pthread_mutex_unlock(&dso->store->lock);
	return symbol;
}

const struct trap_table *dso_borrow_traps(const struct dso *dso)
{
	return dso->traps.count ? &dso->traps : NULL;
}
