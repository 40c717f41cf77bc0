/* SPDX-License-Identifier: MIT */
/* Follow the branches of calls, and sum up costs by code. */
#include "src/formats/answers/slow_causes.h"

#include "decoder/history.h"

struct code_part *code_counts_part(struct code_counts *counts, const struct code_key *key)
{
	struct code_part *part;

	HASH_FIND_OR_ADD(counts->parts, key, key, part);
	return part;
}

void code_counts_add(struct code_counts *counts, const struct code_counts *added)
{
	for (const struct code_part *from = added->parts; from; from = from->hh.next) {
		struct code_part *part = code_counts_part(counts, &from->key);

		part->count += from->count;
		part->insns += from->insns;
		part->ns += from->ns;
		part->all += from->all;
	}
	counts->calls++;
	counts->insns += added->insns;
}

void code_counts_release(struct code_counts *counts)
{
	struct code_part *part;

	HASH_FREE_ALL(counts->parts, part);
	*counts = (struct code_counts){ 0 };
}

/* ---- Time ---------------------------------------------------------------- */

/* Add time to a part, and to the enclosing calls, once for a recursion. */
static void add_time(struct code_trail *trail, struct code_part *part, uint32_t node, double ns)
{
	trail->stamp++;
	for (; part; node = trail->nodes[node].parent) {
		if (part->stamp != trail->stamp)
			part->all += ns;
		part->stamp = trail->stamp;
		part = trail->nodes[node].site;
	}
}

/* Divide the time since the last timestamp among the parts since then. */
static void spend(struct code_trail *trail, double ns)
{
	for (size_t i = 0; i < trail->pending_count && ns > 0; i++) {
		const struct trail_pending *pending = &trail->pending[i];
		double share = trail->pending_insns > 0 ? pending->insns / trail->pending_insns
							: 1 / (double)trail->pending_count;

		pending->part->ns += ns * share;
		add_time(trail, pending->part, pending->node, ns * share);
	}
	trail->pending_count = 0;
	trail->pending_insns = 0;
}

/* Add the time up to an event. */
static void pass_time(struct code_trail *trail, const struct branch_event *event)
{
	uint64_t ns = event->time > trail->end ? event->time - trail->end : 0;
	bool paused = event->flags & BRANCH_TRACE_ON;

	if (!ns)
		return;
	trail->end = event->time;
	if (!paused) {
		spend(trail, (double)ns);
		return;
	}
	trail->waited += trail->in_syscall ? ns : 0;
	if (trail->in_syscall && ns > trail->wait) {
		trail->wait = ns;
		trail->wait_end = event->time;
	}
	if (!trail->in_syscall)
		trail->stopped += ns;
	else if (trail->pending_count)
		add_time(trail, trail->pending[trail->pending_count - 1].part, trail->top,
			 (double)ns);
	spend(trail, 0);
}

/* ---- Code ---------------------------------------------------------------- */

/* Count the straight code that ends at an event, and the jump back.  Returns the straight code. */
static struct code_part *count_code(struct code_trail *trail, const struct branch_event *event,
				    const struct location_pair *places)
{
	const struct location *from = &places->from, *to = &places->to;
	struct code_key key = { .symbol = from->symbol,
				.begin = from->offset,
				.last = from->offset };
	struct code_part *part;

	if (!from->symbol)
		return NULL;
	if (trail->at.symbol == from->symbol && trail->at.offset <= from->offset)
		key.begin = trail->at.offset;
	part = code_counts_part(&trail->now, &key);
	part->count++;
	part->insns += event->insns;
	trail->now.insns += event->insns;
	*ARRAY_ADD(trail->pending, trail->pending_count, trail->pending_room) =
		(struct trail_pending){ part, trail->top, event->insns };
	trail->pending_insns += event->insns;
	key.begin = from->offset;
	if (event->kind == BRANCH_INTERRUPT || event->flags & BRANCH_ASYNC) {
		key.kind = CODE_STOP;
	} else if ((event->kind == BRANCH_COND || event->kind == BRANCH_JUMP) &&
		   !(event->flags & BRANCH_INDIRECT) && to->symbol == from->symbol &&
		   to->offset <= from->offset) {
		key.kind = CODE_BACK;
		key.begin = to->offset;
	}
	if (key.kind)
		code_counts_part(&trail->now, &key)->count++;
	return part;
}

/* ---- Calls --------------------------------------------------------------- */

bool code_trail_end(struct code_trail *trail)
{
	bool open = trail->top;

	trail->top = 0;
	return open;
}

static void push(struct code_trail *trail, const struct branch_event *event, struct code_part *site,
		 const struct symbol *symbol)
{
	bool near = event->kind == BRANCH_CALL || event->kind == BRANCH_SYSCALL;

	*ARRAY_ADD(trail->nodes, trail->node_count, trail->node_room) =
		(struct trail_node){ trail->top, site,
				     near                         ? event->from + event->from_length
				     : event->kind == BRANCH_JUMP ? 0
								  : event->from,
				     symbol };
	trail->top = (uint32_t)trail->node_count - 1;
}

/* The call of a function begins. */
static void begin(struct code_trail *trail, const struct branch_event *event,
		  const struct location_pair *places)
{
	code_counts_release(&trail->now);
	trail->pending_count = 0;
	trail->pending_insns = 0;
	trail->node_count = 0;
	trail->top = 0;
	push(trail, event, NULL, NULL);
	push(trail, event, NULL, places->to.symbol);
	trail->nodes[1].parent = 0;
	trail->begin = trail->end = event->time;
	trail->number = trail->at_time;
	trail->stopped = trail->waited = trail->wait = 0;
	trail->in_syscall = false;
}

/* A return to an address, or the code after it that a call passes over (PLT, retpolines). */
static void pop(struct code_trail *trail, const struct location *to)
{
	uint32_t node = trail->top;

	while (node && trail->nodes[node].return_ip != to->ip)
		node = trail->nodes[node].parent;
	if (node)
		trail->top = trail->nodes[node].parent;
	else if (!location_is_entry(to))
		trail->top = trail->nodes[trail->top].parent;
}

static void follow(struct code_trail *trail, const struct branch_event *event,
		   struct code_part *site, const struct location_pair *places)
{
	const struct location *from = &places->from, *to = &places->to;

	switch (event->kind) {
	case BRANCH_CALL:
	case BRANCH_SYSCALL:
	case BRANCH_SOFTINT:
	case BRANCH_INTERRUPT:
		if (to->symbol && !(event->flags & BRANCH_TRACE_OFF))
			push(trail, event, site, to->symbol);
		break;
	case BRANCH_RETURN:
	case BRANCH_SYSRET:
	case BRANCH_IRET:
		pop(trail, to);
		break;
	case BRANCH_JUMP:
		if (!to->symbol || to->symbol == from->symbol)
			break;
		if (to->offset && event->flags & BRANCH_INDIRECT &&
		    symbol_function(to->symbol) != symbol_function(from->symbol)) {
			uint32_t node = trail->top;

			/* longjmp() or an exception leads to an open call, or out of all. */
			while (node && trail->nodes[node].symbol != to->symbol)
				node = trail->nodes[node].parent;
			trail->top = node;
		} else if (!to->offset) {
			trail->nodes[trail->top].symbol = to->symbol; /* a tail call */
		}
		break;
	default:
		break;
	}
}

bool code_trail_follow(struct code_trail *trail, const struct branch_event *event,
		       const struct location_pair *places)
{
	const struct location *to = &places->to;
	bool open = trail->top;
	struct code_part *site;

	if (!event->thread || event->thread->tid != trail->tid)
		return false;
	trail->at_time = event->time == trail->time ? trail->at_time + 1 : 1;
	trail->time = event->time;
	if (event->kind == BRANCH_GAP) {
		trail->top = 0;
		return false;
	}
	if (open) {
		pass_time(trail, event);
		site = event->flags & BRANCH_TRACE_ON ? NULL : count_code(trail, event, places);
		if (event->flags & BRANCH_TRACE_OFF)
			trail->in_syscall = event->kind == BRANCH_SYSCALL;
		follow(trail, event, site, places);
	} else if (location_is_entry(to) && function_table_same(to->symbol, trail->function) &&
		   (event->kind == BRANCH_CALL || event->kind == BRANCH_JUMP)) {
		begin(trail, event, places);
	}
	trail->at = *to;
	return open && !trail->top;
}

void code_trail_release(struct code_trail *trail)
{
	code_counts_release(&trail->now);
	free(trail->nodes);
	free(trail->pending);
	*trail = (struct code_trail){ 0 };
}
