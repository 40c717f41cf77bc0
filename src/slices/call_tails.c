/* SPDX-License-Identifier: MIT */
/* Count the few long calls of each function. */
#include "src/slices/call_tails.h"

/* Stops of a thread that are remembered; a call with more does not count. */
#define STOPS_KEPT 16

/* The least calls of a function that has a tail.  At most TAIL_FEW of them, and one in TAIL_RARE,
 * are long. */
#define TAIL_CALLS 50
#define TAIL_FEW   2
#define TAIL_RARE  20

struct track_stops {
	struct {
		uint64_t begin, duration; /* ns */
	} last[STOPS_KEPT];
	size_t count;
};

void call_tails_add_stop(struct call_tails *tails, const struct slowest_call *stop)
{
	uint32_t index = stop->track->index;
	struct track_stops *stops;

	tails->stops = alloc_grow_zeroed(tails->stops, &tails->stop_room, (size_t)index + 1,
					 sizeof(*tails->stops));
	stops = &tails->stops[index];
	stops->last[stops->count % STOPS_KEPT].begin = stop->begin;
	stops->last[stops->count++ % STOPS_KEPT].duration = stop->duration;
}

/* Returns the ns of the stops in a call; UINT64_MAX: unknown. */
static uint64_t stopped_in(const struct call_tails *tails, uint32_t index, uint64_t begin)
{
	const struct track_stops *stops = &tails->stops[index];
	uint64_t sum = 0;

	if (index >= tails->stop_room)
		return 0;
	for (size_t i = 1; i <= stops->count; i++) {
		size_t at = (stops->count - i) % STOPS_KEPT;

		if (i > STOPS_KEPT)
			return UINT64_MAX;
		if (stops->last[at].begin < begin)
			break;
		sum += stops->last[at].duration;
	}
	return sum;
}

static bool is_recursive(const struct call_thread *thread, uint32_t node)
{
	for (const struct open_call *call = thread->open + 1; call <= thread->top; call++)
		if (call->node == node)
			return true;
	return false;
}

/* The median and the 95th percentile of the first calls are at (count - 1) / 2 and 30. */
static void add_first(struct call_tail *tail, uint64_t ns)
{
	uint32_t at = tail->first_count++;

	for (; at && tail->first[at - 1] > ns; at--)
		tail->first[at] = tail->first[at - 1];
	tail->first[at] = ns;
	if (tail->first_count == TAIL_FIRST)
		tail->bound = 2 * tail->first[TAIL_FIRST - 2];
}

static void add_long(struct call_tail *tail, uint64_t calls, uint64_t ns)
{
	tail->count++;
	tail->sum += ns;
	if (tail->count <= TAIL_FEW + (calls - tail->since) / TAIL_RARE)
		return;
	tail->bound *= 2;
	tail->since = calls;
	tail->count = tail->sum = 0;
}

void call_tails_add(struct call_tails *tails, const struct call_tree *tree,
		    const struct call_thread *thread, uint32_t node,
		    const struct slowest_call *call)
{
	struct slowest_call *slowest = &tree->nodes[node].slowest;
	uint64_t stopped = stopped_in(tails, call->track->index, call->begin);
	uint64_t ns = stopped > call->duration ? 0 : call->duration - stopped;
	struct call_tail *tail;

	tails->tails = alloc_grow_zeroed(tails->tails, &tails->room, (size_t)node + 1,
					 sizeof(*tails->tails));
	if (!tails->tails[node])
		tails->tails[node] = alloc_zeroed(1, sizeof(struct call_tail));
	tail = tails->tails[node];
	tail->given_up |= is_recursive(thread, node);
	if (tail->first_count < TAIL_FIRST)
		add_first(tail, ns);
	else if (ns > tail->bound)
		add_long(tail, tree->nodes[node].calls, ns);
	slowest->rank = tail->given_up ? slowest->duration : MIN(tail->bound, slowest->duration);
}

const struct call_tail *call_tails_borrow(const struct call_tails *tails,
					  const struct call_tree *tree, uint32_t node)
{
	const struct call_tail *tail = node < tails->room ? tails->tails[node] : NULL;

	return tail && tail->count && !tail->given_up && tree->nodes[node].calls >= TAIL_CALLS
		       ? tail
		       : NULL;
}

void call_tails_release(struct call_tails *tails)
{
	for (size_t i = 0; i < tails->room; i++)
		free(tails->tails[i]);
	free(tails->tails);
	free(tails->stops);
	*tails = (struct call_tails){ 0 };
}
