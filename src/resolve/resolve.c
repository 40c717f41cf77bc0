/* SPDX-License-Identifier: MIT */
/* Resolve addresses and branches to functions, and cache the results. */
#include "src/resolve/resolve.h"

#include <search.h>

#include "src/options/selection.h"

/* ---- Names of the kernel ------------------------------------------------- */

/*
 * Names of code that the kernel generated at run time: BPF programs, and trampolines of ftrace and
 * kprobes.
 *
 * They are in no file, and their addresses are reused, so each name is valid from its registration
 * by the kernel until it is unregistered or another one is registered at its address. A name that
 * replaces no other is valid from the start: times in the trace may be slightly older than
 * branches.
 */

/* Overlapping ranges compare equal, so that tfind() finds one of them. */
static int compare_ranges(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->start + a->size <= b->start)
		return -1;
	return a->start >= b->start + b->size;
}

static struct symbol *find_overlapping(const struct kernel_names *kernel,
				       const struct symbol *range)
{
	void *node = tfind(range, &kernel->tree, compare_ranges);

	return node ? *(struct symbol **)node : NULL;
}

static void insert_symbol(struct kernel_names *kernel, struct symbol *symbol)
{
	if (!tsearch(symbol, &kernel->tree, compare_ranges))
		alloc_fail(sizeof(*symbol));
}

static void keep_symbol(void *symbol)
{
	(void)symbol; /* it is an element of the array */
}

/* A symbol that is unregistered but never registered is valid from the start. */
void kernel_names_rewind(struct kernel_names *kernel)
{
	tdestroy(kernel->tree, keep_symbol);
	kernel->tree = NULL;
	kernel->next = 0;
	for (size_t i = 0; i < kernel->count; i++)
		if (!find_overlapping(kernel, &kernel->symbols[i]))
			insert_symbol(kernel, &kernel->symbols[i]);
}

/* Borrows `records` (by time) and `names`. */
static void kernel_names_init(struct kernel_names *kernel, const struct kernel_symbol *records,
			      size_t count, struct name_table *names)
{
	*kernel = (struct kernel_names){ .records = records, .count = count, .begin = UINT64_MAX };
	kernel->symbols = alloc_zeroed(count, sizeof(*kernel->symbols));
	for (size_t i = 0; i < count; i++) {
		struct symbol *symbol = &kernel->symbols[i];

		symbol->start = records[i].begin;
		symbol->size = records[i].end - records[i].begin;
		symbol->name = symbol->linkage = name_intern_text(names, records[i].name);
		symbol->binding = SYMBOL_GLOBAL;
		kernel->begin = MIN(kernel->begin, records[i].begin);
		kernel->end = MAX(kernel->end, records[i].end);
	}
	kernel_names_rewind(kernel);
}

void kernel_names_advance(struct kernel_names *kernel, uint64_t time)
{
	for (; kernel->next < kernel->count && kernel->records[kernel->next].time <= time;
	     kernel->next++) {
		struct symbol *symbol = &kernel->symbols[kernel->next], *old;
		bool gone = kernel->records[kernel->next].gone;

		while ((old = find_overlapping(kernel, symbol)) &&
		       (!gone || old->start == symbol->start)) {
			tdelete(old, &kernel->tree, compare_ranges);
			if (gone)
				break;
		}
		if (!gone)
			insert_symbol(kernel, symbol);
	}
}

/* Returns the current symbol at `ip`, valid until resolver_release(), or NULL. */
static const struct symbol *kernel_names_find(const struct kernel_names *kernel, uint64_t ip)
{
	struct symbol here = { .start = ip, .size = 1 };

	return kernel->tree && ip < UINT64_MAX ? find_overlapping(kernel, &here) : NULL;
}

void resolver_init(struct resolver *resolver, const struct timeline *timeline,
		   struct dso_store *store, struct name_table *names)
{
	const struct mapped_file *const *files = timeline->files.files;
	size_t count = timeline->files.count;
	int32_t *pids;

	resolver->store = store;
	resolver->dsos = alloc_zeroed(count, sizeof(struct dso *));
	for (size_t i = 0; i < count; i++) {
		const char *path = files[i]->path;

		/* The names of changed pages are those of their file. */
		if (starts_with(path, PERF_MMAP_PRIVATE))
			path = strchrnul(path + strlen(PERF_MMAP_PRIVATE), '/');
		resolver->dsos[files[i]->index] =
			dso_store_borrow(store, path, files[i]->build_id, files[i]->build_id_size);
	}
	/*
	 * The pid of each address space: if processes share a space, that of the first one, which
	 * forked the others.
	 */
	pids = alloc_zeroed(timeline->processes.space_count, sizeof(*pids));
	memset(pids, -1, timeline->processes.space_count * sizeof(*pids));
	for (size_t i = 0; i < timeline->threads.count; i++) {
		const struct process *process = timeline->threads.threads[i]->process;

		for (size_t e = 0; process && e < process->epoch_count; e++) {
			int32_t *pid = &pids[process->epochs[e].space->index];

			if (*pid < 0)
				*pid = process->pid;
		}
	}
	resolver->pids = pids;
	resolver->jits = alloc_zeroed(2 * timeline->processes.space_count, sizeof(struct dso *));
	direct_cache_init(&resolver->addresses, ADDRESS_CACHE_BITS, sizeof(struct cached_location));
	kernel_names_init(&resolver->kernel, timeline->symbols, timeline->symbol_count, names);
	_Static_assert(sizeof(struct known_branch) == CACHE_LINE, "one slot per cache line");
	direct_cache_init(&resolver->branches, BRANCH_CACHE_BITS, sizeof(struct known_branch));
}

void resolver_release(struct resolver *resolver)
{
	free(resolver->dsos);
	free(resolver->pids);
	free(resolver->jits);
	direct_cache_release(&resolver->addresses);
	direct_cache_release(&resolver->branches);
	tdestroy(resolver->kernel.tree, keep_symbol);
	free(resolver->kernel.symbols);
	resolver->kernel = (struct kernel_names){ 0 };
	*resolver = (struct resolver){ 0 };
}

/* Returns the dso that names code without a file, by its address, or NULL. */
static struct dso *borrow_namer(const struct resolver *resolver, const struct address_space *space,
				const struct mapped_file *file, uint64_t ip)
{
	bool changed = file && starts_with(file->path, DSO_CHANGED);
	struct dso **jit = space ? &resolver->jits[2 * space->index + changed] : NULL, *found;

	if (ip_is_kernel(ip))
		return dso_store_borrow_kernel(resolver->store);
	if (file && resolver->dsos[file->index]->state != DSO_NOT_A_FILE)
		return NULL;
	if (!jit || resolver->pids[space->index] < 0)
		return NULL;
	found = __atomic_load_n(jit, __ATOMIC_ACQUIRE);
	if (!found) {
		found = dso_store_borrow_jit(resolver->store, resolver->pids[space->index],
					     changed);
		__atomic_store_n(jit, found, __ATOMIC_RELEASE);
	}
	return found;
}

static struct location find_mapped(const struct resolver *resolver,
				   const struct address_space *space, uint64_t ip)
{
	const struct mapping *mapping = address_space_borrow_mapping(space, ip);
	struct location location = { .ip = ip }, named = { .ip = ip };
	struct dso *namer = NULL;
	bool found;

	if (mapping)
		location.symbol = dso_borrow_symbol(resolver->dsos[mapping->file->index],
						    ip - mapping->begin + mapping->file_offset,
						    &location.offset);
	found = location.symbol && location.symbol->kind != SYMBOL_FILE;
	/* JIT compilers know more of a file that is not ELF. */
	if (!found || !ip_is_kernel(ip))
		namer = borrow_namer(resolver, space, mapping ? mapping->file : NULL, ip);
	if (namer)
		named.symbol = dso_borrow_symbol(namer, ip, &named.offset);
	if (named.symbol && named.symbol->kind != SYMBOL_FILE)
		return named;
	named.symbol =
		mapping && !found && !ip_is_kernel(ip)
			? dso_borrow_page(resolver->dsos[mapping->file->index], ip, &named.offset)
			: NULL;
	return named.symbol ? named : location;
}

bool resolver_is_entry(const struct resolver *resolver, const struct address_space *space,
		       uint64_t ip)
{
	const struct mapping *mapping = address_space_borrow_mapping(space, ip);

	return mapping && dso_is_entry(resolver->dsos[mapping->file->index],
				       ip - mapping->begin + mapping->file_offset);
}

struct location resolver_find(struct resolver *resolver, const struct address_space *space,
			      uint64_t ip)
{
	struct cached_location *slots = resolver->addresses.slots, *cached;
	uint64_t key = ip ^ (uint64_t)(uintptr_t)space << 16;
	const struct symbol *symbol;

	if (!ip)
		return (struct location){ 0 };
	/* The names of code that the kernel generates at run time depend on time. */
	if (ip_is_kernel(ip) && (symbol = kernel_names_find(&resolver->kernel, ip)))
		return (struct location){ ip, symbol, ip - symbol->start };
	cached = &slots[direct_cache_index(&resolver->addresses, key)];
	if (cached->location.ip != ip || cached->space != space) {
		cached->location = find_mapped(resolver, space, ip);
		cached->space = space;
	}
	return cached->location;
}

/* Returns whether the name does not depend on time, and the file has no traps. */
static bool may_cache(const struct resolver *resolver, const struct location *location)
{
	return !(location->symbol && location->symbol->has_traps) &&
	       !kernel_names_may_have(&resolver->kernel, location->ip);
}

/* Returns the page of saved code around a location, or nothing if that is of a function. */
static struct function_code made_code(const struct resolver *resolver,
				      const struct address_space *space,
				      const struct location *from)
{
	struct function_code code = { 0 };
	const struct mapping *mapping;
	uint64_t begin = from->ip - from->offset, at;
	const struct elf_file *elf;

	if (!space || !from->symbol || from->symbol->kind != SYMBOL_PART)
		return code;
	mapping = address_space_borrow_mapping(space, from->ip);
	if (!mapping || begin < mapping->begin ||
	    resolver->dsos[mapping->file->index]->state != DSO_NOT_A_FILE)
		return code;
	elf = &resolver->dsos[mapping->file->index]->elf;
	at = begin - mapping->begin + mapping->file_offset;
	if (!elf->bytes || at >= elf->size)
		return code;
	code.bytes = elf->bytes + at;
	code.size = MIN(elf->size - at, from->symbol->size);
	return code;
}

/* Returns location_pair_of(), with the effect of functions of --switch-function. */
static struct location_pair find_pair(const struct resolver *resolver, const struct location *from,
				      const struct location *to, const struct function_code *made)
{
	struct location_pair pair = location_pair_of(from, to, made);

	if (resolver->switches && symbol_is_function(from->symbol) &&
	    pattern_list_matches(resolver->switches, from->symbol->name->text))
		location_pair_switch(&pair);
	return pair;
}

/* Make the pair in `uncached`.  Returns whether it may be cached. */
static bool make_pair(struct resolver *resolver, const struct address_space *space,
		      const struct location *from, const struct location *to)
{
	const struct function_code made = made_code(resolver, space, from);

	resolver->uncached = find_pair(resolver, from, to, &made);
	return may_cache(resolver, from) && may_cache(resolver, to);
}

const struct location_pair *branch_cache_put(struct resolver *resolver,
					     const struct address_space *space,
					     const struct location *from, const struct location *to)
{
	struct known_branch *slot = branch_cache_slot(resolver, space, from->ip, to->ip);

	if (!make_pair(resolver, space, from, to))
		return &resolver->uncached;
	*slot = (struct known_branch){ space, resolver->uncached };
	return &slot->locations;
}

/* Claim a branch if it is free. Returns the state before. */
static enum known_naming claim(struct known_branch *known, enum known_naming naming)
{
	uint8_t before = NAMING_FREE;

	__atomic_compare_exchange_n(&known->locations.naming, &before, (uint8_t)naming, false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return before;
}

/* Store the names in the branch. The effect comes last, because jobs read them concurrently. */
static const struct location_pair *keep_names(struct known_branch *known,
					      const struct location_pair *locations)
{
	known->locations.from.symbol = locations->from.symbol;
	known->locations.from.offset = locations->from.offset;
	known->locations.to.symbol = locations->to.symbol;
	known->locations.to.offset = locations->to.offset;
	known->locations.offset = locations->offset;
	known->locations.to_stub = locations->to_stub;
	known->locations.plain = locations->plain;
	__atomic_store_n(&known->locations.call, locations->call, __ATOMIC_RELEASE);
	return &known->locations;
}

const struct location_pair *resolver_find_event(struct resolver *resolver,
						const struct branch_event *event)
{
	struct known_branch *known = event->kind <= BRANCH_GAP ? event->known : NULL;
	struct location ends[2];

	if (!known)
		return resolver_find_branch(resolver, event->space, event->from, event->to);
	if (known->locations.reached)
		return &known->locations;
	ends[0] = resolver_find(resolver, event->space, event->from);
	ends[1] = resolver_find(resolver, event->space, event->to);
	if (known_branch_is_named(known)) {
		known->locations.reached = true;
		return &known->locations;
	}
	/* A pair that may not be cached is valid only now. */
	if (!make_pair(resolver, event->space, &ends[0], &ends[1]) ||
	    claim(known, NAMING_CLAIMED) == NAMING_CLAIMED)
		return &resolver->uncached;
	known->locations.reached = true;
	return keep_names(known, &resolver->uncached);
}

/* Find a file's function at `location->ip`. Returns false unless its name is permanent. */
static bool find_ahead(const struct resolver *resolver, const struct address_space *space,
		       struct location *location)
{
	const struct mapping *mapping = address_space_borrow_mapping(space, location->ip);

	if (!location->ip || !mapping)
		return false;
	location->symbol = dso_find_symbol(resolver->dsos[mapping->file->index],
					   location->ip - mapping->begin + mapping->file_offset,
					   &location->offset);
	return symbol_is_function(location->symbol) && may_cache(resolver, location) &&
	       resolver->dsos[mapping->file->index]->state == DSO_FOUND;
}

const struct location_pair *resolver_find_ahead(const struct resolver *resolver,
						struct known_branch *known)
{
	struct location from = { .ip = known->locations.from.ip };
	struct location to = { .ip = known->locations.to.ip };
	struct location_pair locations;

	if (__atomic_load_n(&known->locations.naming, __ATOMIC_RELAXED) != NAMING_FREE)
		return NULL;
	if (!find_ahead(resolver, known->space, &from) ||
	    !find_ahead(resolver, known->space, &to)) {
		claim(known, NAMING_LEFT_TO_READER);
		return NULL;
	}
	locations = find_pair(resolver, &from, &to, NULL);
	return claim(known, NAMING_CLAIMED) == NAMING_FREE ? keep_names(known, &locations) : NULL;
}
