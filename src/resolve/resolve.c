/* SPDX-License-Identifier: MIT */
#include "src/resolve/resolve.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* The processes of address spaces: of those that share one, the first, which the others came from.
 */
static int32_t *list_pids(const struct timeline *timeline)
{
	size_t thread_count, space_count = timeline_space_count(timeline);
	const struct thread *const *threads = timeline_threads(timeline, &thread_count);
	int32_t *pids = alloc_zeroed(space_count, sizeof(*pids));

	memset(pids, -1, space_count * sizeof(*pids));
	for (size_t i = 0; i < thread_count; i++) {
		const struct process *process = threads[i]->process;

		for (size_t e = 0; process && e < process->epoch_count; e++) {
			int32_t *pid = &pids[process->epochs[e].space->index];

			if (*pid < 0)
				*pid = process->pid;
		}
	}
	return pids;
}

/* An array of lines of the cache begins at one. */
static void begin_branches(struct resolver *resolver)
{
	const size_t line = sizeof(struct resolve_branch), count = (size_t)1 << RESOLVE_BRANCH_BITS;
	uintptr_t memory;

	_Static_assert(sizeof(struct resolve_branch) == 64, "a line of the cache");
	resolver->branch_memory = alloc_zeroed(count + 1, line);
	memory = (uintptr_t)resolver->branch_memory;
	resolver->branches = (struct resolve_branch *)((memory + line - 1) & ~(line - 1));
}

void resolver_init(struct resolver *resolver, const struct timeline *timeline,
		   struct dso_store *store, struct name_table *names)
{
	const struct kernel_symbol *symbols;
	const struct mapped_file *const *files;
	size_t count;

	files = timeline_files(timeline, &count);
	resolver->store = store;
	resolver->dsos = alloc_zeroed(count, sizeof(struct dso *));
	for (size_t i = 0; i < count; i++)
		resolver->dsos[files[i]->index] = dso_store_borrow(
			store, files[i]->path, files[i]->build_id, files[i]->build_id_size);
	resolver->pids = list_pids(timeline);
	resolver->jits = alloc_zeroed(timeline_space_count(timeline), sizeof(struct dso *));
	for (int end = 0; end < RESOLVE_ENDS; end++)
		resolver->slots[end] =
			alloc_zeroed((size_t)1 << RESOLVE_SLOT_BITS, sizeof(struct resolve_slot));
	symbols = timeline_kernel_symbols(timeline, &count);
	kernel_names_init(&resolver->kernel, symbols, count, names);
	begin_branches(resolver);
}

void resolver_release(struct resolver *resolver)
{
	free(resolver->dsos);
	free(resolver->pids);
	free(resolver->jits);
	for (int end = 0; end < RESOLVE_ENDS; end++)
		free(resolver->slots[end]);
	free(resolver->branch_memory);
	kernel_names_release(&resolver->kernel);
	*resolver = (struct resolver){ 0 };
}

struct dso *resolver_borrow_dso(const struct resolver *resolver, const struct mapped_file *file)
{
	return resolver->dsos[file->index];
}

/* Addresses of the kernel have their top bit set (Documentation/arch/x86/x86_64/mm.rst). */
static bool is_kernel(uint64_t ip)
{
	return ip >> 63;
}

/* Returns who names code that is in no file, by its address; NULL: nobody. */
static struct dso *borrow_namer(const struct resolver *resolver, const struct address_space *space,
				const struct mapped_file *file, uint64_t ip)
{
	struct dso **jit = space ? &resolver->jits[space->index] : NULL;

	if (is_kernel(ip))
		return dso_store_borrow_kernel(resolver->store, file ? file->build_id : NULL,
					       file ? file->build_id_size : 0);
	if (file && dso_state(resolver->dsos[file->index]) != DSO_NOT_A_FILE)
		return NULL;
	if (jit && !*jit && resolver->pids[space->index] >= 0)
		*jit = dso_store_borrow_jit(resolver->store, resolver->pids[space->index]);
	return jit ? *jit : NULL;
}

static void name_code_without_file(const struct resolver *resolver,
				   const struct address_space *space,
				   const struct mapped_file *file, struct location *location)
{
	struct dso *namer = borrow_namer(resolver, space, file, location->ip);
	const struct symbol *symbol;
	uint64_t offset;

	if (!namer)
		return;
	symbol = dso_borrow_symbol(namer, location->ip, &offset);
	if (symbol->kind == SYMBOL_FILE)
		return;
	location->symbol = symbol;
	location->offset = offset;
}

static struct location find_mapped(const struct resolver *resolver,
				   const struct address_space *space, uint64_t ip)
{
	const struct mapping *mapping = address_space_borrow_mapping(space, ip);
	struct location location = { .ip = ip };

	if (mapping)
		location.symbol = dso_borrow_symbol(resolver->dsos[mapping->file->index],
						    ip - mapping->begin + mapping->file_offset,
						    &location.offset);
	if (!location.symbol || location.symbol->kind == SYMBOL_FILE)
		name_code_without_file(resolver, space, mapping ? mapping->file : NULL, &location);
	return location;
}

bool resolver_is_entry(const struct resolver *resolver, const struct address_space *space,
		       uint64_t ip)
{
	const struct mapping *mapping = address_space_borrow_mapping(space, ip);

	return mapping && dso_is_entry(resolver->dsos[mapping->file->index],
				       ip - mapping->begin + mapping->file_offset);
}

const struct location *resolver_look_up(struct resolver *resolver, enum resolve_end end,
					const struct address_space *space, uint64_t ip)
{
	struct resolve_slot *slot = resolver_slot(resolver, end, space, ip);
	struct location *told = &resolver->told[end];
	const struct symbol *symbol;

	*told = (struct location){ 0 };
	if (!ip)
		return told;
	if (is_kernel(ip) && (symbol = kernel_names_find(&resolver->kernel, ip))) {
		*told = (struct location){ ip, symbol, ip - symbol->start };
		return told;
	}
	if (!resolve_slot_is(slot, space, ip)) {
		slot->location = find_mapped(resolver, space, ip);
		slot->space = space;
	}
	return &slot->location;
}

/* Whether it means the same at any time, and no handler of OCaml is near. */
static bool is_plain(const struct resolver *resolver, const struct location *location)
{
	return !(location->symbol && location->symbol->has_traps) &&
	       !kernel_names_may_have(&resolver->kernel, location->ip);
}

void resolver_keep(struct resolver *resolver, const struct address_space *space,
		   const struct location *from, const struct location *to)
{
	if (is_plain(resolver, from) && is_plain(resolver, to))
		*resolver_branch(resolver, space, from->ip, to->ip) =
			(struct resolve_branch){ space, location_pair_of(from, to) };
}
