/* SPDX-License-Identifier: MIT */
/* Resolve the address of an event. */
#include "src/events/event_place.h"

/* Returns the address space of a thread at a time; NULL: unknown. */
static const struct address_space *space_of(const struct thread *thread, uint64_t time)
{
	const struct process *process = thread ? thread->process : NULL;
	size_t after =
		process ? LOWER_BOUND(i, process->epoch_count, process->epochs[i].begin <= time)
			: 0;

	return after ? process->epochs[after - 1].space : NULL;
}

struct location event_place_find(struct resolver *resolver, const struct thread *thread,
				 uint64_t time, uint64_t ip)
{
	return resolver_find(resolver, space_of(thread, time), ip);
}

void event_place_add(struct event_record *record, struct resolver *resolver,
		     const struct thread *thread, uint64_t ip)
{
	struct location at = event_place_find(resolver, thread, record->event.time, ip);

	event_record_add_address(record, "address", ip);
	if (at.symbol)
		event_record_add(record,
				 ftf_arg_string(ftf_text(record->writer, "function"),
						ftf_name(record->writer, at.symbol->name->text,
							 at.symbol->name->length)));
}
