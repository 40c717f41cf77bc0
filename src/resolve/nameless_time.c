/* SPDX-License-Identifier: MIT */
/* Samples branches, and counts the time up to the next for the file at the target. */
#include "src/resolve/nameless_time.h"

#include <stdlib.h>

#include "base/alloc.h"

/* All of so many are sampled, for small traces; then one of a prime number, as loops have none. */
#define SAMPLED_FIRST 4096u
#define SAMPLED_EVERY 61u

void nameless_time_init(struct nameless_time *nameless, size_t file_count)
{
	*nameless = (struct nameless_time){ .ns = alloc_zeroed(file_count + 1, sizeof(uint64_t)) };
}

/* Returns the file of code without a name; NULL: the code has a name, or no file. */
static const struct mapped_file *nameless_file(struct resolver *resolver,
					       const struct branch_event *event)
{
	/* The call stacks have just looked it up. */
	const struct location_pair *places = resolver_get_known(resolver, event);
	const struct symbol *symbol =
		places ? places->to.symbol
		       : resolver_find(resolver, event->space, event->to).symbol;
	const struct mapping *mapping;

	if (!symbol || symbol->kind == SYMBOL_FUNCTION || symbol->kind == SYMBOL_PLT ||
	    symbol->kind >= SYMBOL_SPECIAL)
		return NULL;
	mapping = address_space_borrow_mapping(event->space, event->to);
	return mapping ? mapping->file : NULL;
}

static void end_sample(struct nameless_time *nameless, const struct branch_event *event)
{
	uint64_t spent = (event->time - nameless->time) * nameless->weight;

	nameless->open = false;
	if (event->thread != nameless->thread || event->time < nameless->time)
		return;
	nameless->total += spent;
	if (nameless->file)
		nameless->ns[nameless->file->index] += spent;
}

static void begin_sample(struct nameless_time *nameless, struct resolver *resolver,
			 const struct branch_event *event)
{
	nameless->weight = nameless->seen < SAMPLED_FIRST ? 1 : SAMPLED_EVERY;
	nameless->next += nameless->weight;
	if (!event->to || event->kind == BRANCH_GAP)
		return;
	nameless->open = true;
	nameless->time = event->time;
	nameless->thread = event->thread;
	nameless->file = nameless_file(resolver, event);
}

void nameless_time_add(struct nameless_time *nameless, struct resolver *resolver,
		       const struct branch_event *events, size_t count)
{
	uint64_t first = nameless->seen, end = first + count;

	if (nameless->open)
		end_sample(nameless, events);
	while (nameless->next < end) {
		size_t index = (size_t)(nameless->next - first);

		nameless->seen = nameless->next;
		begin_sample(nameless, resolver, &events[index]);
		if (nameless->open && index + 1 < count)
			end_sample(nameless, &events[index + 1]);
	}
	nameless->seen = end;
}

unsigned nameless_time_percent(const struct nameless_time *nameless, const struct mapped_file *file)
{
	if (!nameless->total)
		return 0;
	return (unsigned)(100.0 * (double)nameless->ns[file->index] / (double)nameless->total +
			  0.5);
}

void nameless_time_release(struct nameless_time *nameless)
{
	free(nameless->ns);
	*nameless = (struct nameless_time){ 0 };
}
