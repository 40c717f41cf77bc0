/* SPDX-License-Identifier: MIT */
/* Copy a thread's stack at its system calls, and find the call that created a child. */
#include "src/callstack/fork_pauses.h"

/* A stack of at most this depth is always copied. */
#define SHALLOW 1024

/* Returns the pause to replace: the oldest of this ip if it has many, else the oldest of all. */
static size_t oldest(const struct fork_pauses *pauses, uint64_t ip)
{
	size_t same = 0, first = 0;

	for (size_t i = pauses->count; i-- > 0;) {
		if (pauses->pauses[i].resume_ip == ip) {
			first = i;
			same++;
		}
	}
	if (same >= FORK_PAUSES_SAME)
		return first;
	return pauses->count < FORK_PAUSES_MOST ? pauses->count : 0;
}

/* Returns a new last pause, with the copy of the replaced one. */
static struct fork_pause *next_pause(struct fork_pauses *pauses, uint64_t ip)
{
	size_t index = oldest(pauses, ip);
	struct fork_pause *list = pauses->pauses, used = list[index];

	if (index == pauses->count)
		pauses->count++;
	memmove(&list[index], &list[index + 1], (pauses->count - index - 1) * sizeof(*list));
	list[pauses->count - 1] = used;
	return &list[pauses->count - 1];
}

void fork_pauses_add(struct fork_pauses *pauses, const struct callstack *stack,
		     const struct branch_event *event)
{
	bool gap = event->kind == BRANCH_GAP;
	uint64_t ip = gap ? 0 : event->from + event->from_length;
	struct fork_pause *pause = next_pause(pauses, ip);
	uint64_t most = gap ? 0 : pauses->credit + SHALLOW;
	bool copied;

	pause->number = ++pauses->last_number;
	pause->time = event->time;
	pause->resume_ip = ip;
	pause->space = event->space;
	if (!stack)
		return;
	if (!pause->stack)
		pause->stack = callstack_open(stack->machine, NULL);
	copied = callstack_copy(pause->stack, stack, &most);
	pause->left_out = !gap && !copied;
	pauses->credit = MIN(pauses->credit, most);
}

/* Returns whether a pause can contain a fork: the thread's next pause is not certainly earlier. */
static bool is_possible(const struct fork_pauses *pauses, size_t index,
			const struct fork_query *query, uint64_t fork)
{
	const struct fork_pause *pause = &pauses->pauses[index];

	if (!fork_pause_resumes_at(pause, query->ip) || pause->number <= query->after ||
	    pause->time > fork)
		return false;
	return index + 1 == pauses->count || !query->resolution ||
	       pause[1].time + query->resolution >= fork;
}

/* Returns the first pause at or after an index that can contain a fork, or the count. */
static size_t first_possible(const struct fork_pauses *pauses, size_t index,
			     const struct fork_query *query, uint64_t fork)
{
	while (index < pauses->count && !is_possible(pauses, index, query, fork))
		index++;
	return index;
}

/* Returns the last pause at or after an index that can contain the fork, or the count. */
static size_t last_possible(const struct fork_pauses *pauses, size_t index,
			    const struct fork_query *query)
{
	for (size_t i = pauses->count; i-- > index;) {
		if (is_possible(pauses, i, query, query->time))
			return i;
	}
	return pauses->count;
}

const struct fork_pause *fork_pauses_find(const struct fork_pauses *pauses,
					  const struct fork_query *query)
{
	const struct fork_pause *list = pauses->pauses;
	size_t count = pauses->count, index, last;

	while (count && list[count - 1].time > query->time)
		count--;
	/* A gap may hide system calls: search after it. */
	for (index = count; index && list[index - 1].resume_ip;)
		index--;
	last = last_possible(pauses, index, query);
	if (!query->ip || last == pauses->count)
		return count ? &list[count - 1] : NULL;
	for (size_t i = 0; i < query->earlier_count; i++) {
		size_t taken = first_possible(pauses, index, query, query->earlier[i]);

		if (taken < last)
			index = taken + 1;
	}
	return &list[first_possible(pauses, index, query, query->time)];
}

bool fork_pauses_have(const struct fork_pauses *pauses, const struct fork_query *query)
{
	size_t i = 0;

	/* Only right after the call: a later address may be in any function. */
	while (i < pauses->count && (pauses->pauses[i].resume_ip != query->ip ||
				     !is_possible(pauses, i, query, query->time)))
		i++;
	return i < pauses->count;
}

void fork_pauses_release(struct fork_pauses *pauses)
{
	for (size_t i = 0; i < pauses->count; i++)
		callstack_close(pauses->pauses[i].stack);
	*pauses = (struct fork_pauses){ 0 };
}
