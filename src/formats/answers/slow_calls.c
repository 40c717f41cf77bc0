/* SPDX-License-Identifier: MIT */
/* Follow calls, and keep the slowest ones. */
#include "src/formats/answers/slow_causes.h"

#include "base/tables/heap.h"

/* Entries of a log that are summed up. */
#define LOG_LEAST 4096
/* Entries of a list of costs that are summed up. */
#define LIST_LEAST 64
/* Entries of a nested call that are not summed up. */
#define NESTED_LEAST 8
/* Entries of a kept call that are a block for the calls around it. */
#define BLOCK_LEAST 16
/* Limits of parts with late slices, and of late slices in each: more are rather decoded twice. */
#define PARTS_MOST 16
#define LATE_MOST  64

/* The calls that ended in the open calls of a thread. */
struct slow_log {
	struct path_cost *costs; /* owned */
	size_t count, room, limit;
	size_t *blocks; /* owned: indexes of the entries that are blocks, ascending */
	size_t block_count, block_room;
	bool has_own; /* the last entry is a block with the costs of the call that ends */
	struct log_mark {
		size_t begin;      /* entries when the open call began */
		uint64_t site;     /* call site of the open call: see struct slow_call */
		uint64_t stopped;  /* the thread's stopped time when the open call began */
		uint32_t function; /* 1 + its index, if calls of it are kept; else 0: */
		uint32_t outer;    /* depth of the call of the function around it; 0: none */
		uint32_t stops;    /* open ones when the open call began */
		bool nested;       /* in the call around it, without a stop between both */
		bool has_apart;    /* it has nested calls that count on their own: */
		uint32_t stop;     /* path, if it is a stop; else 0 */
		uint64_t apart, apart_stops; /* their amount, and ns of their stops */
	} * marks;                           /* owned; by depth, from 1 */
	size_t mark_room;
	struct cost_list *apart; /* owned; by depth: costs of nested calls, as in the mark */
	size_t apart_room;
	struct open_function {
		uint32_t depth; /* depth of the innermost call; 0: none is open */
		uint64_t last;  /* ns: when the last call ended; 0: none did */
	} * open;               /* owned; by function, of kept ones */
	size_t open_room;
	uint32_t cut_at; /* path where the trace ended or was missing; 0: calls began since then */
	uint32_t outermost; /* path of the outermost caller that is not found yet; or 0 */
	size_t kept;        /* open calls of kept functions */
	size_t stops;       /* open ones */
	uint64_t stopped;   /* ns */
};

/* ---- Paths --------------------------------------------------------------- */

static uint32_t function_of(struct slow_calls *calls, const struct symbol *symbol)
{
	uint32_t function = function_table_find(&calls->table, symbol);
	bool is_function = symbol->kind < SYMBOL_SPECIAL && symbol->kind != SYMBOL_PLT;

	if (function >= calls->function_count)
		*ARRAY_ADD(calls->functions, calls->function_count, calls->function_room) =
			(struct slow_function){
				.symbol = symbol,
				.kept = is_function && function_choice_has(&calls->choice, symbol),
				.first_begin = UINT64_MAX,
			};
	return function;
}

/*
 * Set the paths of the functions on the way to a path.  Callers have lower numbers than their
 * callees, and threads mostly find new paths near the last one.
 */
static void go_to_path(struct slow_calls *calls, uint32_t to)
{
	uint32_t from = calls->last;

	calls->last = to;
	while (from != to) {
		uint32_t *lower = from > to ? &from : &to, node = *lower;
		uint32_t *path = &calls->functions[calls->paths[node].function].path;

		if (lower == &to)
			*path = node;
		else if (*path == node)
			*path = NODE_NONE;
		*lower = calls->tree.nodes[node].caller;
	}
}

/* Add a node of the tree; a function that is already open continues its own path. */
static __attribute__((noinline)) void add_path(struct slow_calls *calls, uint32_t node,
					       const struct symbol *symbol)
{
	uint32_t function = function_of(calls, symbol), open = calls->tree.nodes[node].caller;

	ARRAY_GROW(calls->paths, calls->path_room, (size_t)node + 1);
	ARRAY_GROW_ZEROED(calls->seen, calls->seen_room, (size_t)node + 1);
	calls->paths[node] = (struct slow_path){
		.function = function,
		.in_syscall = (open && calls->paths[open].in_syscall) || symbol_is_syscall(symbol),
	};
	if (symbol_is_stop(symbol) && !calls->paths[node].in_syscall) {
		calls->paths[node].stop = true;
		calls->paths[node].fold = node;
		return;
	}
	go_to_path(calls, open);
	calls->paths[node].fold = calls->functions[function].path ?: node;
}

/* ---- Costs --------------------------------------------------------------- */

const struct path_cost *cost_cursor_next(struct cost_cursor *cursor)
{
	for (;;) {
		const struct path_cost *cost = cursor->levels[cursor->depth].at;
		const struct path_cost *end = cursor->levels[cursor->depth].end;

		if (cost == end && cursor->depth-- == 0) {
			cursor->depth = 0;
			return NULL;
		}
		if (cost == end)
			continue;
		cursor->levels[cursor->depth].at++;
		if (cost->path != NODE_NONE)
			return cost;
		cursor->depth += cost + 1 < end;
		cursor->levels[cursor->depth].at = cost->block->costs;
		cursor->levels[cursor->depth].end = cost->block->costs + cost->block->count;
	}
}

/* Drop an owner of a block. The last block inside is the largest: the others nest seldom. */
static void drop_block(struct cost_block *block)
{
	while (block && --block->refs == 0) {
		struct cost_block *last = NULL;

		for (size_t i = 0; i < block->count; i++) {
			if (block->costs[i].path != NODE_NONE)
				continue;
			if (last)
				drop_block(last);
			last = block->costs[i].block;
		}
		free(block);
		block = last;
	}
}

static void drop_costs(const struct path_cost *costs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (costs[i].path == NODE_NONE)
			drop_block(costs[i].block);
}

/* Copy costs, and become an owner of their blocks. */
static void copy_costs(struct path_cost *to, const struct path_cost *costs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		to[i] = costs[i];
		if (costs[i].path == NODE_NONE)
			costs[i].block->refs++;
	}
}

/* Cut a log to `count` entries. */
static void cut_log(struct slow_log *log, size_t count)
{
	while (log->block_count && log->blocks[log->block_count - 1] >= count)
		drop_block(log->costs[log->blocks[--log->block_count]].block);
	log->count = count;
}

/* Add costs without blocks to a list, which has room; the costs may overlap its end.  Returns its
 * count. */
static size_t add_costs(struct slow_calls *calls, struct path_cost *to, size_t count,
			const struct path_cost *from, size_t from_count)
{
	for (const struct path_cost *cost = from; cost < from + from_count; cost++) {
		uint32_t at = calls->seen[cost->path];

		if (at < count && to[at].path == cost->path) {
			to[at].calls += cost->calls;
			call_tree_add(&to[at].own, &cost->own, true);
		} else {
			calls->seen[cost->path] = (uint32_t)count;
			to[count++] = *cost;
		}
	}
	return count;
}

/* Returns the number of costs with those of all blocks. */
static size_t count_all(const struct path_cost *costs, size_t count)
{
	size_t all = count;

	for (size_t i = 0; i < count; i++)
		all += costs[i].path == NODE_NONE ? costs[i].block->all - 1 : 0;
	return all;
}

/* Add costs with those of all blocks to a list, which has room.  Returns its count. */
static size_t add_all(struct slow_calls *calls, struct path_cost *to, size_t count,
		      const struct path_cost *costs, size_t cost_count)
{
	const struct path_cost *end = costs + cost_count, *plain = costs;

	for (const struct path_cost *cost = costs; cost < end;) {
		const struct cost_block *block = cost->block;

		if (cost++->path != NODE_NONE)
			continue;
		count = add_costs(calls, to, count, plain, (size_t)(cost - 1 - plain));
		plain = cost;
		if (cost < end) {
			count = add_all(calls, to, count, block->costs, block->count);
		} else {
			plain = cost = block->costs;
			end = cost + block->count;
		}
	}
	return add_costs(calls, to, count, plain, (size_t)(end - plain));
}

/*
 * Move the entries of a log from `begin` on, if blocks are in them, so that their costs have room
 * there.  Returns the entries; drop_moved() must follow.
 */
static const struct path_cost *move_blocks(struct slow_calls *calls, struct slow_log *log,
					   size_t begin)
{
	size_t count = log->count - begin;

	calls->moved = 0;
	if (!log->block_count || log->blocks[log->block_count - 1] < begin)
		return log->costs + begin;
	ARRAY_GROW(calls->merged, calls->merged_room, count);
	copy_costs(calls->merged, log->costs + begin, count);
	cut_log(log, begin);
	ARRAY_GROW(log->costs, log->room, begin + count_all(calls->merged, count));
	calls->moved = count;
	return calls->merged;
}

static void drop_moved(struct slow_calls *calls)
{
	drop_costs(calls->merged, calls->moved);
}

/* Sum up the entries between the beginnings of `depth` open calls. */
static void shorten(struct slow_calls *calls, struct slow_log *log, size_t depth)
{
	size_t from = 0, count = 0, all = log->count;
	const struct path_cost *costs = move_blocks(calls, log, 0);

	for (size_t i = 1; i <= depth + 1; i++) {
		size_t end = i <= depth ? log->marks[i].begin : all;

		count += add_all(calls, log->costs + count, 0, costs + from, end - from);
		if (i <= depth)
			log->marks[i].begin = count;
		from = end;
	}
	drop_moved(calls);
	log->count = count;
	log->limit = 2 * count > LOG_LEAST ? 2 * count : LOG_LEAST;
}

/* Sum up the entries from `begin` on. */
static void sum_up_log(struct slow_calls *calls, struct slow_log *log, size_t begin)
{
	size_t count = log->count - begin;
	const struct path_cost *costs = move_blocks(calls, log, begin);

	log->count = begin + add_all(calls, log->costs + begin, 0, costs, count);
	drop_moved(calls);
}

/* ---- Calls --------------------------------------------------------------- */

static bool is_faster(const struct slow_calls *unused, const struct slow_call *a,
		      const struct slow_call *b)
{
	(void)unused;
	return slow_call_compare(a, b) > 0;
}

HEAP_DEFINE(calls, struct slow_call, struct slow_calls, is_faster)

/* A call that ends, of a kept function.  By value: a pointer would force it into memory. */
struct call_end {
	struct slow_log *log;
	const struct log_mark *mark;
	const struct track *track;
	struct path_cost own;
	uint64_t begin, duration; /* ns */
	uint64_t amount, stopped; /* with nested calls; ns */
	bool begin_seen, end_seen;
};

/* Swap the largest block with the last one. */
static void order_blocks(struct path_cost *blocks, size_t count)
{
	for (size_t i = 0; i + 1 < count; i++) {
		const struct path_cost last = blocks[count - 1];

		if (blocks[i].block->all <= last.block->all)
			continue;
		blocks[count - 1] = blocks[i];
		blocks[i] = last;
	}
}

/*
 * Fill calls->sums with the costs of the paths in a call, with all nested calls or without those
 * that are apart; then blocks.  Returns their number.
 */
static size_t sum_up(struct slow_calls *calls, const struct call_end *end, bool whole)
{
	struct slow_log *log = end->log;
	size_t at = (size_t)(end->mark - log->marks), begin = end->mark->begin;
	size_t count = 0, blocks, first;

	if (!whole)
		sum_up_log(calls, log, begin);
	ARRAY_GROW(calls->sums, calls->sum_room, log->count - begin + 1);
	blocks = first = LOWER_BOUND(i, log->block_count, log->blocks[i] < begin);
	for (size_t from = begin, to; from <= log->count; from = to + 1) {
		to = blocks < log->block_count ? log->blocks[blocks++] : log->count;
		count = add_costs(calls, calls->sums, count, log->costs + from, to - from);
	}
	count = add_costs(calls, calls->sums, count, &end->own, 1);
	for (size_t i = first; i < log->block_count; i++)
		calls->sums[count++] = log->costs[log->blocks[i]];
	order_blocks(calls->sums + count - (log->block_count - first), log->block_count - first);
	for (size_t i = 0; !whole && i < log->apart[at].count; i++) {
		const struct path_cost *cost = &log->apart[at].costs[i];

		if (calls->seen[cost->path] < count)
			path_cost_subtract(&calls->sums[calls->seen[cost->path]], cost);
	}
	return count;
}

/* Add costs to a list, which is summed up when it is long. */
static void extend(struct slow_calls *calls, struct cost_list *list, const struct path_cost *costs,
		   size_t count)
{
	struct path_cost *all;
	size_t room;

	ARRAY_GROW(list->costs, list->room, list->count + count);
	copy_costs(list->costs + list->count, costs, count);
	list->count += count;
	if (list->count <= MAX(list->limit, (size_t)LIST_LEAST))
		return;
	room = count_all(list->costs, list->count);
	all = alloc_bytes(room * sizeof(*all));
	count = add_all(calls, all, 0, list->costs, list->count);
	drop_costs(list->costs, list->count);
	free(list->costs);
	*list = (struct cost_list){ all, count, room, 2 * count };
}

/* Returns a block of costs whose blocks are the last ones; it has one owner, the caller. */
static struct cost_block *make_block(struct slow_calls *calls, const struct path_cost *costs,
				     size_t count)
{
	const struct path_cost *last = &costs[count - 1];
	struct cost_block *block, made = { .refs = 1, .count = count, .paths = BLOCK_LEAST };

	made.all = count_all(costs, count);
	if (last->path == NODE_NONE)
		made.paths = last->block->paths;
	if (made.all > 2 * made.paths) {
		ARRAY_GROW(calls->merged, calls->merged_room, made.all);
		made.count = add_all(calls, calls->merged, 0, costs, count);
		made.all = made.count;
		made.paths = MAX(made.count, (size_t)BLOCK_LEAST);
		costs = calls->merged;
	}
	block = alloc_bytes(sizeof(*block) + made.count * sizeof(*costs));
	*block = made;
	copy_costs(block->costs, costs, made.count);
	return block;
}

/* Returns a call that ended, without its costs. */
static struct slow_call make_call(const struct slow_function *function, const struct call_end *end,
				  uint64_t amount)
{
	uint64_t last = end->log->open[end->mark->function - 1].last;

	return (struct slow_call){ .amount = amount,
				   .begin = end->begin,
				   .duration = end->duration,
				   .stopped = end->stopped,
				   .number = function->durations.count + function->bounds.count - 1,
				   .track = end->track,
				   .begin_seen = end->begin_seen,
				   .end_seen = end->end_seen,
				   .path = end->own.path,
				   .site = end->begin_seen ? end->mark->site : 0,
				   .since = last ? end->begin - MIN(last, end->begin) : 0,
				   .at = end->end_seen ? 0 : end->log->cut_at };
}

/* Add a call to the sample; of a full one, one of each two calls stays. */
static __attribute__((noinline)) void sample_call(struct slow_function *function,
						  struct call_end end, uint64_t amount)
{
	struct slow_call call = make_call(function, &end, amount);
	uint32_t step = 1u << function->sample_bits, hash = (uint32_t)call.number * 2654435769u;

	*ARRAY_ADD(function->samples, function->sample_count, function->sample_room) = call;
	/* A random call of the next step ones: they may be of two kinds in turn. */
	function->sample_next = (call.number & -(uint64_t)step) + step + (hash >> 8 & (step - 1));
	if (function->sample_count < SAMPLES_MOST)
		return;
	for (size_t i = 0; i < SAMPLES_MOST / 2; i++)
		function->samples[i] = function->samples[2 * i + (i * 2654435769u >> 31 & 1)];
	function->sample_count /= 2;
	function->sample_bits++;
}

static void keep_call(struct slow_calls *calls, struct slow_function *function,
		      struct slow_heap *heap, size_t most, struct slow_call call)
{
	struct slow_call *slow;

	ARRAY_GROW(heap->calls, heap->room, heap->count + 1);
	slow = heap->calls;
	call.costs = alloc_bytes(call.count * sizeof(*call.costs));
	copy_costs(call.costs, calls->sums, call.count);
	if (heap->count < most) {
		calls_push(calls, slow, heap->count++, &call);
	} else {
		if (slow_call_is_cut(slow))
			extend(calls, &function->lost, slow->costs, slow->count);
		drop_costs(slow->costs, slow->count);
		free(slow->costs);
		*slow = call;
		calls_sift_down(calls, slow, heap->count, 0);
	}
	heap->least = heap->count == most ? slow->amount : 0;
}

static bool heap_takes(const struct slow_calls *calls, const struct slow_heap *heap, size_t most,
		       const struct slow_call *call)
{
	return heap->count < most || is_faster(calls, &heap->calls[0], call);
}

/* Keep a call, or its costs, which are not those of usual calls. */
static __attribute__((noinline)) void keep_or_lose(struct slow_calls *calls,
						   struct slow_function *function,
						   struct call_end end, uint64_t amount, bool whole)
{
	struct slow_call call = make_call(function, &end, amount);
	struct slow_call stretched = call;
	bool outer = calls->bound && end.amount > calls->bound && amount <= calls->bound;
	bool kept = !outer && heap_takes(calls, &function->slow, calls->most, &call), kept_stops;

	call.with_stops = calls->with_stops;
	stretched.with_stops = true;
	stretched.amount += end.stopped;
	kept_stops =
		end.stopped && !calls->with_stops && !slow_call_is_cut(&call) &&
		heap_takes(calls, &function->stopped->slow, slow_stops_most(calls), &stretched);
	function->outer[slow_call_is_cut(&call)] += outer;
	if (!kept && !kept_stops && !outer && !slow_call_is_cut(&call))
		return;
	call.count = sum_up(calls, &end, whole);
	if (end.log->kept && !function->recursive &&
	    end.log->count - end.mark->begin >= BLOCK_LEAST) {
		struct slow_log *log = end.log;
		struct cost_block *block = make_block(calls, calls->sums, call.count);

		/* The calls around a call, which also may be kept, share its costs: calls->sums. */
		cut_log(log, end.mark->begin);
		*ARRAY_ADD(log->blocks, log->block_count, log->block_room) = log->count;
		log->costs[log->count++] = (struct path_cost){ .path = NODE_NONE, .block = block };
		log->has_own = true;
		calls->sums[0] = log->costs[log->count - 1];
		call.count = 1;
	}
	stretched.count = call.count;
	if (kept_stops)
		keep_call(calls, function, &function->stopped->slow, slow_stops_most(calls),
			  stretched);
	if (kept)
		keep_call(calls, function, &function->slow, calls->most, call);
	else if (!kept_stops)
		extend(calls, &function->lost, calls->sums, call.count);
}

/* Count a call that was stopped, without and with its stops. */
static __attribute__((noinline)) void count_stopped(const struct slow_calls *calls,
						    struct slow_function *function, uint64_t amount,
						    uint64_t stopped)
{
	if (!function->stopped)
		function->stopped = alloc_zeroed(1, sizeof(*function->stopped));
	durations_add(&function->stopped->without, amount);
	durations_add(&function->stopped->with, amount + (calls->with_stops ? 0 : stopped));
	function->stopped->longest = MAX(stopped, function->stopped->longest);
}

/* Count a call of a function. `whole`: its nested calls are part of it, also those kept apart. */
CALL_TREE_INLINE void count_call(struct slow_calls *calls, struct slow_function *function,
				 struct call_end end, bool whole)
{
	uint64_t amount = end.amount - (whole ? 0 : end.mark->apart);
	uint64_t count = function->durations.count + 1;
	bool cut = !end.begin_seen || !end.end_seen;

	end.stopped -= whole ? 0 : end.mark->apart_stops;

	durations_add(cut ? &function->bounds : &function->durations,
		      calls->bound ? end.amount : amount);
	if (!cut) {
		if (count + function->bounds.count > function->sample_next)
			sample_call(function, end, calls->bound ? end.amount : amount);
		if (end.stopped)
			count_stopped(calls, function, amount, end.stopped);
		function->first_begin = MIN(end.begin, function->first_begin);
	}
	if (cut || end.stopped || (!whole && calls->bound) ||
	    (amount >= function->slow.least &&
	     (amount > function->slow.least || function->slow.count < calls->most ||
	      function->slow.calls[0].begin >= end.begin)))
		keep_or_lose(calls, function, end, amount, whole);
}

/*
 * Log the costs of a nested call that ended, and keep them apart from the call around it. A long
 * log is summed up, so that a deep recursion takes as long as a wide one.
 */
static void end_nested(struct slow_calls *calls, const struct call_end *end)
{
	struct slow_log *log = end->log;
	struct slow_function *function = &calls->functions[end->mark->function - 1];
	struct log_mark *outer = &log->marks[end->mark->outer];
	struct cost_list *list = &log->apart[end->mark->outer];
	size_t begin = end->mark->begin;

	function->nested++;
	*ARRAY_ADD(log->costs, log->count, log->room) = end->own;
	if (log->count - begin > NESTED_LEAST || log->block_count)
		sum_up_log(calls, log, begin);
	if (calls->bound && end->amount <= calls->bound) {
		function->absorbed += end->begin_seen && end->end_seen;
		return;
	}
	if (!outer->has_apart)
		outer->apart = outer->apart_stops = list->count = 0;
	outer->has_apart = true;
	outer->apart += end->amount;
	outer->apart_stops += end->stopped;
	extend(calls, list, log->costs + begin, log->count - begin);
}

/* A call of a recursive function has ended. */
static __attribute__((noinline)) void end_recursive(struct slow_calls *calls,
						    struct slow_function *function,
						    struct call_end end)
{
	count_call(calls, function, end, !end.mark->has_apart);
	if (end.mark->nested)
		end_nested(calls, &end);
	else if (function->whole)
		count_call(calls, function->whole, end, true);
}

static void *copy_array(const void *array, size_t count, size_t size)
{
	void *copy = alloc_zeroed(count + 1, size);

	return count ? memcpy(copy, array, count * size) : copy;
}

/* Give a copy of a heap its own calls. */
static void copy_heap(struct slow_heap *heap)
{
	heap->calls = copy_array(heap->calls, heap->count, sizeof(*heap->calls));
	heap->room = heap->count + 1;
	for (size_t i = 0; i < heap->count; i++) {
		struct slow_call *call = &heap->calls[i];
		const struct path_cost *costs = call->costs;

		call->costs = alloc_bytes(call->count * sizeof(*call->costs));
		copy_costs(call->costs, costs, call->count);
	}
}

/* A function is found to be recursive: so far its calls were outermost ones without nested ones. */
static void add_whole(struct slow_function *function)
{
	struct slow_function *whole = copy_array(function, 1, sizeof(*function));

	durations_copy(&whole->durations, &function->durations);
	durations_copy(&whole->bounds, &function->bounds);
	whole->lost.costs = alloc_bytes((whole->lost.count + 1) * sizeof(*whole->lost.costs));
	copy_costs(whole->lost.costs, function->lost.costs, whole->lost.count);
	whole->lost.room = whole->lost.count + 1;
	copy_heap(&whole->slow);
	whole->samples = copy_array(whole->samples, whole->sample_count, sizeof(*whole->samples));
	whole->sample_room = whole->sample_count + 1;
	if (function->stopped) {
		whole->stopped = copy_array(function->stopped, 1, sizeof(*function->stopped));
		durations_copy(&whole->stopped->without, &function->stopped->without);
		durations_copy(&whole->stopped->with, &function->stopped->with);
		copy_heap(&whole->stopped->slow);
	}
	function->whole = whole;
}

static __attribute__((noinline)) void begin_nested(struct slow_calls *calls, struct slow_log *log,
						   struct log_mark *mark, size_t depth)
{
	struct slow_function *function = &calls->functions[mark->function - 1];

	mark->nested = log->marks[mark->outer].stops == mark->stops;
	function->recursive |= mark->nested;
	ARRAY_GROW_ZEROED(log->apart, log->apart_room, depth + 1);
	if (mark->nested && !calls->bound && !function->whole)
		add_whole(function);
}

/* Calls that have counted are nested in a late one of their function: convert again. */
static void give_up(struct slow_calls *calls)
{
	error_set(calls->sink.again, ERROR_MORE_SLICES, "late slices are nested in others");
}

/* A late caller, around all calls of the part, gets the innermost path without a function. */
static uint32_t enter_late(struct slow_calls *calls, struct call_thread *thread,
			   struct slow_log *log, const struct slice_event *event)
{
	uint32_t path = thread->open->node, function = function_of(calls, event->symbol);
	bool again = thread->top != thread->open || path == log->outermost ||
		     symbol_is_stop(event->symbol) || symbol_is_syscall(event->symbol);

	log->outermost = event->kind == SLICE_LATE ? log->outermost : 0;
	if (!log->outermost)
		return NODE_NONE;
	for (uint32_t i = log->outermost; i < calls->tree.count; i++) {
		uint32_t at = calls->paths[i].function == function ? i : NODE_NONE;

		while (at > log->outermost)
			at = calls->tree.nodes[at].caller;
		again |= at == log->outermost;
	}
	if (again)
		give_up(calls);
	go_to_path(calls, NODE_NONE);
	calls->paths[path].function = function;
	calls->tree.nodes[path].calls++;
	thread->open->node = calls->tree.nodes[path].caller;
	log->marks[1].begin = 0;
	return path;
}

/* A part begins or ends. Its paths begin with those of callers that may be found late. */
static void change_part(struct call_tree *tree, struct call_thread *thread)
{
	struct slow_calls *calls = (struct slow_calls *)tree;
	struct slow_log *log;
	uint32_t path = NODE_NONE, key = UINT32_MAX - thread->part;

	ARRAY_GROW_ZEROED(calls->logs, calls->log_room, (size_t)thread->track->index + 1);
	log = &calls->logs[thread->track->index];
	for (size_t i = 0; i < LATE_MOST && thread->part; i++) {
		path = call_tree_find_child(tree, path, key, NULL);
		add_path(calls, path, &calls->unseen);
		calls->paths[path].fold = path;
	}
	log->outermost = path ? path - LATE_MOST + 1 : 0;
	if (thread->part > PARTS_MOST)
		give_up(calls);
	ARRAY_GROW(log->marks, log->mark_room, 2);
	log->marks[0] = (struct log_mark){ .stopped = log->stopped };
	log->kept = thread->part != 0;
	thread->open->node = path;
}

/* ---- Slices -------------------------------------------------------------- */

/* Returns the path of a callee, mostly from the cache. */
static inline uint32_t enter_path(struct slow_calls *calls, uint32_t caller,
				  const struct symbol *symbol)
{
	uint64_t key = (uint64_t)(uintptr_t)symbol + ((uint64_t)caller << 32);
	struct path_step *step = &calls->steps[key * FIBONACCI_FACTOR >> (64 - STEP_BITS)];
	size_t known = calls->tree.count;

	if (step->symbol == symbol && step->caller == caller)
		return step->path;
	*step = (struct path_step){ symbol, caller, 0 };
	step->path = call_tree_child(&calls->tree, caller,
				     function_table_find(&calls->table, symbol), symbol->name);
	if (step->path >= known)
		add_path(calls, step->path, symbol);
	return step->path;
}

static inline uint32_t enter_slice(struct call_tree *tree, struct call_thread *thread,
				   const struct slice_event *event,
				   const struct slice_detail *detail)
{
	struct slow_calls *calls = (struct slow_calls *)tree;
	uint32_t index = thread->track->index, node, fold;
	size_t depth = call_thread_depth(thread) + 1;
	struct slow_log *log;
	uint32_t function;
	struct log_mark *mark;
	bool late;

	(void)detail;
	ARRAY_GROW_ZEROED(calls->logs, calls->log_room, (size_t)index + 1);
	log = &calls->logs[index];
	ARRAY_GROW(log->marks, log->mark_room, depth + 1);
	mark = &log->marks[depth];
	mark->begin = log->count;
	mark->function = 0;
	mark->nested = mark->has_apart = false;
	mark->stop = 0;
	if (event->flags & SLICE_CONTEXT)
		return NODE_NONE;
	late = event->kind != SLICE_BEGIN || event->order != SLICE_ORDER_PLAIN;
	node = late ? enter_late(calls, thread, log, event)
		    : enter_path(calls, thread->top->node, event->symbol);
	if (node == NODE_NONE)
		return NODE_NONE;
	fold = calls->paths[node].fold;
	function = calls->paths[node].function;
	if (calls->functions[function].kept) {
		ARRAY_GROW_ZEROED(log->open, log->open_room, (size_t)function + 1);
		mark->function = function + 1;
		mark->stopped = late ? log->marks[0].stopped : log->stopped;
		mark->stops = (uint32_t)log->stops;
		mark->site = event->ip;
		mark->outer = log->open[function].depth;
		log->open[function].depth = (uint32_t)depth;
		if (mark->outer)
			begin_nested(calls, log, mark, depth);
		log->kept += !mark->nested;
	}
	mark->stop = calls->paths[node].stop ? node : 0;
	log->stops += mark->stop != 0;
	log->cut_at = late ? log->cut_at : 0;
	return mark->stop ? NODE_NONE : fold; /* its callees are in no path */
}

static inline void leave_slice(struct call_tree *tree, struct call_thread *thread,
			       const struct ended_call *end)
{
	struct slow_calls *calls = (struct slow_calls *)tree;
	struct slow_log *log = &calls->logs[thread->track->index];
	struct path_cost own = { .path = end->call->node, .calls = 1, .own = end->call->own };
	size_t depth = call_thread_depth(thread);
	const struct log_mark *mark = &log->marks[depth + 1];
	struct slow_function *function;
	struct call_end ended;
	uint64_t stopped;

	if (mark->stop && --log->stops == 0) {
		log->stopped += end->all.ns;
		calls->stopped += end->all.ns;
		calls->stops++;
		cut_log(log, mark->begin); /* its callees are not part of the enclosing call */
		own.path = mark->stop;
		own.own = (struct call_costs){ .ns = end->all.ns };
		tree->nodes[own.path].calls++;
		call_tree_add(&tree->nodes[own.path].own, &own.own, true);
	} else if (end->cut && !log->cut_at && own.path != NODE_NONE &&
		   !symbol_is_stop(calls->functions[calls->paths[own.path].function].symbol)) {
		log->cut_at = own.path;
	}
	if (mark->function) {
		log->open[mark->function - 1].depth = mark->outer;
		stopped = calls->by_insns ? 0 : log->stopped - mark->stopped;
		log->kept -= !mark->nested;
		ended = (struct call_end){ .log = log,
					   .mark = mark,
					   .track = thread->track,
					   .own = own,
					   .begin = end->call->begin.ns,
					   .duration = end->all.ns,
					   .amount = calls->by_insns     ? end->all.insns
						     : calls->with_stops ? end->all.ns
									 : end->all.ns - stopped,
					   .stopped = stopped,
					   .begin_seen = !end->call->inferred,
					   .end_seen = !end->cut };
		function = &calls->functions[mark->function - 1];
		if (!function->recursive)
			count_call(calls, function, ended, true);
		else
			end_recursive(calls, function, ended);
		log->open[mark->function - 1].last = end->call->begin.ns + end->all.ns;
		if (mark->nested) {
			if (log->count >= log->limit)
				shorten(calls, log, depth);
			return;
		}
	}
	if (!log->kept) {
		cut_log(log, 0);
		return;
	}
	if (log->has_own || own.path == NODE_NONE) {
		if (thread->part && !log->outermost)
			give_up(calls); /* a slice without length */
		log->has_own = false;
		return;
	}
	if (log->count > log->marks[depth].begin && log->costs[log->count - 1].path == own.path) {
		log->costs[log->count - 1].calls++;
		call_tree_add(&log->costs[log->count - 1].own, &own.own, true);
		return;
	}
	if (log->count >= log->limit)
		shorten(calls, log, depth);
	*ARRAY_ADD(log->costs, log->count, log->room) = own;
}

static const struct call_rules rules = { .costs = true,
					 .no_cycles = true,
					 .enter = enter_slice,
					 .ended = leave_slice,
					 .part = change_part };

CALL_TREE_EVENTS(follow_events, rules)

void slow_calls_init(struct slow_calls *calls, const struct options *options,
		     const struct trace_facts *facts, size_t most)
{
	bool bound = options->slow.has_bound && !options->slow.percentile;

	*calls = (struct slow_calls){
		.sink = { .events = follow_events, .context = calls, .details = facts->by_insns },
		.choice.selection = &options->select,
		.program = facts->program,
		.by_insns = facts->by_insns && !bound,
		.with_stops = options->slow.has_bound,
		.bound = bound ? options->slow.longer : 0,
		.most = most,
	};
	call_tree_init(&calls->tree, NULL, UINT64_MAX);
}

static void release_heap(struct slow_heap *heap)
{
	for (size_t i = 0; i < heap->count; i++) {
		drop_costs(heap->calls[i].costs, heap->calls[i].count);
		free(heap->calls[i].costs);
	}
	free(heap->calls);
}

static void release_function(struct slow_function *function)
{
	release_heap(&function->slow);
	free(function->samples);
	if (function->stopped) {
		release_heap(&function->stopped->slow);
		durations_release(&function->stopped->without);
		durations_release(&function->stopped->with);
		free(function->stopped);
	}
	drop_costs(function->lost.costs, function->lost.count);
	free(function->lost.costs);
	durations_release(&function->durations);
	durations_release(&function->bounds);
}

void slow_calls_release(struct slow_calls *calls)
{
	for (size_t i = 0; i < calls->log_room; i++) {
		for (size_t j = 0; j < calls->logs[i].apart_room; j++)
			free(calls->logs[i].apart[j].costs);
		free(calls->logs[i].apart);
		cut_log(&calls->logs[i], 0);
		free(calls->logs[i].blocks);
		free(calls->logs[i].costs);
		free(calls->logs[i].marks);
		free(calls->logs[i].open);
	}
	for (size_t i = 0; i < calls->function_count; i++) {
		if (calls->functions[i].whole)
			release_function(calls->functions[i].whole);
		free(calls->functions[i].whole);
		release_function(&calls->functions[i]);
	}
	call_tree_release(&calls->tree);
	function_choice_release(&calls->choice);
	free(calls->functions);
	free(calls->paths);
	function_table_release(&calls->table);
	function_labels_release(&calls->labels);
	free(calls->seen);
	free(calls->sums);
	free(calls->merged);
	free(calls->logs);
	*calls = (struct slow_calls){ 0 };
}
