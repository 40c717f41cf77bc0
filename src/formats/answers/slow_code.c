/* SPDX-License-Identifier: MIT */
/* Follow the branches of calls, and sum up costs by code. */
#include "src/formats/answers/slow_code.h"

#include "decoder/timeline/timeline_types.h"

static bool is_part(const struct code_part *a, const struct code_part *b)
{
	return a->symbol == b->symbol && a->begin == b->begin && a->last == b->last &&
	       a->back == b->back && a->stop == b->stop;
}

struct code_part *code_counts_part(struct code_counts *counts, const struct code_part *key)
{
	uint64_t hash = hash_u64((uint64_t)(uintptr_t)key->symbol ^ key->begin << 40 ^
				 key->last << 16 ^ (uint64_t)key->back << 1 ^ key->stop);
	struct id_probe probe = id_index_probe(hash);
	uint32_t id;

	while ((id = id_index_next(&counts->index, &probe)) &&
	       !is_part(&counts->parts[id - 1], key))
		;
	if (id)
		return &counts->parts[id - 1];
	*ARRAY_ADD(counts->parts, counts->count, counts->room) =
		(struct code_part){ .symbol = key->symbol,
				    .begin = key->begin,
				    .last = key->last,
				    .back = key->back,
				    .stop = key->stop };
	id_index_add(&counts->index, hash, (uint32_t)counts->count);
	return &counts->parts[counts->count - 1];
}

void code_counts_add(struct code_counts *counts, const struct code_counts *added)
{
	for (size_t i = 0; i < added->count; i++) {
		struct code_part *part = code_counts_part(counts, &added->parts[i]);

		part->count += added->parts[i].count;
		part->insns += added->parts[i].insns;
		part->ns += added->parts[i].ns;
		part->all += added->parts[i].all;
	}
	counts->calls++;
	counts->insns += added->insns;
}

void code_counts_release(struct code_counts *counts)
{
	free(counts->parts);
	id_index_release(&counts->index);
	*counts = (struct code_counts){ 0 };
}

/* ---- Time ---------------------------------------------------------------- */

/* Add time to a part, and to the calls around it, of a recursion once. */
static void add_time(struct code_trail *trail, uint32_t index, uint32_t node, double ns, bool own)
{
	struct code_part *parts = trail->now.parts;

	trail->stamp++;
	for (uint32_t site = index + 1; site; node = trail->nodes[node].parent) {
		struct code_part *part = &parts[site - 1];

		if (part->stamp != trail->stamp)
			part->all += ns;
		part->stamp = trail->stamp;
		part->ns += site == index + 1 && own ? ns : 0;
		own = false;
		site = trail->nodes[node].site;
	}
}

/* Divide the time since the last timestamp among the parts since then. */
static void spend(struct code_trail *trail, double ns)
{
	for (size_t i = 0; i < trail->pending_count && ns > 0; i++) {
		const struct trail_pending *pending = &trail->pending[i];
		double share = trail->pending_insns > 0 ? pending->insns / trail->pending_insns
							: 1 / (double)trail->pending_count;

		add_time(trail, pending->part, pending->node, ns * share, true);
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
			 (double)ns, false);
	spend(trail, 0);
}

/* ---- Code ---------------------------------------------------------------- */

/* Count the straight code that ends at an event, and the jump back.  Returns 1 + its index. */
static uint32_t count_code(struct code_trail *trail, const struct branch_event *event,
			   const struct location_pair *places)
{
	const struct location *from = &places->from, *to = &places->to;
	struct code_part key = { .symbol = from->symbol,
				 .begin = from->offset,
				 .last = from->offset };
	struct code_part *part;
	uint32_t index;

	if (!from->symbol)
		return 0;
	if (trail->at.symbol == from->symbol && trail->at.offset <= from->offset)
		key.begin = trail->at.offset;
	part = code_counts_part(&trail->now, &key);
	index = (uint32_t)(part - trail->now.parts);
	part->count++;
	part->insns += event->insns;
	trail->now.insns += event->insns;
	*ARRAY_ADD(trail->pending, trail->pending_count, trail->pending_room) =
		(struct trail_pending){ index, trail->top, event->insns };
	trail->pending_insns += event->insns;
	key = (struct code_part){ .symbol = from->symbol,
				  .begin = to->offset,
				  .last = from->offset };
	key.back = (event->kind == BRANCH_COND || event->kind == BRANCH_JUMP) &&
		   !(event->flags & BRANCH_INDIRECT) && to->symbol == from->symbol &&
		   to->offset <= from->offset;
	key.stop = event->kind == BRANCH_INTERRUPT || event->flags & BRANCH_ASYNC;
	if (key.stop)
		key.begin = from->offset;
	if (key.back || key.stop)
		code_counts_part(&trail->now, &key)->count++;
	return index + 1;
}

/* ---- Calls --------------------------------------------------------------- */

void code_trail_end(struct code_trail *trail)
{
	if (!trail->top)
		return;
	trail->ended(trail->context, trail);
	code_counts_release(&trail->now);
	trail->pending_count = 0;
	trail->pending_insns = 0;
	trail->top = 0;
}

static void push(struct code_trail *trail, const struct branch_event *event, uint32_t site,
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
	trail->node_count = 0;
	trail->top = 0;
	push(trail, event, 0, NULL);
	push(trail, event, 0, places->to.symbol);
	trail->nodes[1].parent = 0;
	trail->begin = trail->end = event->time;
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

/* A jump by longjmp() or an exception leads to an open call, or out of all. */
static void unwind(struct code_trail *trail, const struct location *to)
{
	uint32_t node = trail->top;

	while (node && trail->nodes[node].symbol != to->symbol)
		node = trail->nodes[node].parent;
	trail->top = node;
}

static void follow(struct code_trail *trail, const struct branch_event *event, uint32_t site,
		   const struct location_pair *places)
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
		    symbol_function(to->symbol) != symbol_function(from->symbol))
			unwind(trail, to);
		else if (!to->offset)
			trail->nodes[trail->top].symbol = to->symbol; /* a tail call */
		break;
	default:
		break;
	}
}

void code_trail_follow(struct code_trail *trail, const struct branch_event *event,
		       const struct location_pair *places)
{
	const struct location *to = &places->to;
	uint32_t site;

	if (!event->thread || event->thread->tid != trail->tid)
		return;
	if (event->kind == BRANCH_GAP) {
		trail->top = 0;
		trail->pending_count = 0;
		code_counts_release(&trail->now);
		return;
	}
	if (trail->top) {
		pass_time(trail, event);
		site = event->flags & BRANCH_TRACE_ON ? 0 : count_code(trail, event, places);
		if (event->flags & BRANCH_TRACE_OFF)
			trail->in_syscall = event->kind == BRANCH_SYSCALL;
		follow(trail, event, site, places);
		if (!trail->top) {
			trail->top = 1;
			code_trail_end(trail);
		}
	}
	if (!trail->top && location_is_entry(to) && to->symbol->name == trail->function &&
	    (event->kind == BRANCH_CALL || event->kind == BRANCH_JUMP))
		begin(trail, event, places);
	trail->at = *to;
}

void code_trail_release(struct code_trail *trail)
{
	code_counts_release(&trail->now);
	free(trail->nodes);
	free(trail->pending);
	*trail = (struct code_trail){ 0 };
}
