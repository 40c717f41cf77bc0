/* SPDX-License-Identifier: MIT */
/*
 * Counts calls, and their costs with and without callees.
 *
 * A call tree follows the slices of all threads, in program order, with a stack of open calls per
 * thread. A cost belongs to the innermost open call. When a call begins, the tree's reader (an
 * output format, the summary) chooses its node: a path (a function called by another path), or a
 * function, for any caller. Memory grows with the nodes, the threads and the depth of their stacks,
 * not with the trace.
 */
#pragma once

#include "base/tables/pair_table.h"
#include "src/slices/track.h"

/*
 * Numbers functions 0, 1, 2, ... in the order of their first calls. A function is an entry of a
 * file's symbol table; its inlined calls, each with a symbol of its own, are those of the same file
 * and linkage name whose declaration is the same, or in the entry's source file. Zeroed memory has
 * no functions.
 */
struct function_table {
	struct table_function {
		const struct symbol *symbol; /* borrowed: its first symbol */
		uint32_t next_named;         /* 1 + number of another function of this name; or 0 */
	} * functions;                       /* owned; by number */
	size_t count, room;
	struct named_function {
		const struct symbol *symbol; /* borrowed: the last one looked up */
		uint32_t number;             /* 1 + that of its function */
		uint32_t last;               /* 1 + number of the name's last function; or 0 */
	} * by_name;                         /* owned; by id of the name */
	size_t name_room;
};

/* Returns whether two symbols of one name are of one function. */
bool function_table_same(const struct symbol *a, const struct symbol *b);

/* Returns 1 + the number of a symbol's function; 0: not in the table. */
uint32_t function_table_look(const struct function_table *table, const struct symbol *symbol);

/* Returns 1 + the number of the function with this first, or last found, symbol; otherwise 0. */
static inline uint32_t function_table_known(const struct function_table *table,
					    const struct symbol *symbol)
{
	uint32_t id = symbol->name->id, at;

	if (id >= table->name_room)
		return 0;
	if (table->by_name[id].symbol == symbol)
		return table->by_name[id].number;
	at = table->by_name[id].last;
	while (at && table->functions[at - 1].symbol != symbol)
		at = table->functions[at - 1].next_named;
	return at;
}

/* Returns the number of a symbol's function; a new function gets table->count. */
uint32_t function_table_add(struct function_table *table, const struct symbol *symbol);

static inline uint32_t function_table_find(struct function_table *table,
					   const struct symbol *symbol)
{
	uint32_t known = function_table_known(table, symbol);

	return known ? known - 1 : function_table_add(table, symbol);
}

void function_table_release(struct function_table *table);

/* Number of the node for uncounted calls. */
#define NODE_NONE 0

#define TRUNCATED_NAME "[truncated]"

struct call_costs {
	uint64_t ns;
	uint64_t insns, cycles; /* 0: unknown, or not counted */
};

struct slowest_call {
	const struct track *track; /* borrowed; NULL: no call */
	uint64_t begin, duration;  /* ns */
	uint64_t rank;             /* the reader's order */
};

/* 64 bytes: a cache line. */
struct call_node {
	uint64_t calls;        /* begun calls, without those with SLICE_CONTEXT */
	struct call_costs own; /* costs of ended calls, without callees */
	union {
		struct {                         /* a path: */
			uint32_t caller;         /* number of a node; NODE_NONE: a thread's root */
			uint32_t key;            /* distinguishes the callees of a caller */
			const struct name *name; /* borrowed; NULL: unnamed */
			uint32_t last_callee, last_key; /* the last callee */
			bool late; /* in a part: calls that began late have it */
		};
		struct slowest_call slowest; /* a function's slowest call; set by the reader */
	};
};

struct open_call {
	uint32_t node;
	uint32_t pair;               /* if rules->recursion: call_tree_pair() */
	bool inferred;               /* its begin was not seen */
	bool context;                /* a caller of chosen calls; only these have the time in it */
	struct call_costs begin;     /* the thread's counters when it began */
	struct call_costs own;       /* own costs so far; with SUMS_OWN, its callees' costs */
	const struct symbol *symbol; /* borrowed: the callee; of paths, and with SUMS_NONE */
	uint64_t untraced;           /* with SUMS_NONE: the thread's `untraced` when it began */
};

/* The paths of a part with late slices, below a root that gets callers when these return. */
struct call_part {
	struct call_node *nodes; /* owned; NULL: no part */
	size_t count, room;
	struct pair_table paths;
};

struct call_thread {
	const struct track *track; /* borrowed; NULL: no slice yet */
	struct open_call *open;    /* owned; [0] is the thread */
	struct open_call *top;     /* the innermost one */
	struct open_call *end;     /* end of the array */
	size_t room, deepest;
	struct call_costs now; /* counters at the last event; they never decrease */
	uint32_t cut;          /* path of calls deeper than max_stack, if any */
	/* For the reader: begun slices, observed calls, and ns outside traced code. */
	uint64_t slices, calls, untraced;
	/*
	 * A part with late slices: the time of their begin, ns of callees before others, the
	 * counters at its begin, and its number.
	 */
	uint64_t since, passed;
	struct call_costs since_now;
	uint32_t part;      /* 0: no part */
	uint64_t inherited; /* ns: `since` if late slices may be inside of others; or UINT64_MAX */
	struct call_part paths; /* a part's, or the tree's while the thread's events are followed */
};

struct call_tree {
	struct call_node *nodes; /* owned; [NODE_NONE] is for uncounted calls */
	size_t count, room;      /* including NODE_NONE */
	/*
	 * Owned; by node. A recursion has the costs of its outermost call. Paths have totals only
	 * after call_tree_add_up().
	 */
	struct call_total {
		struct call_costs costs;        /* costs of ended calls, with callees */
		uint32_t last_track, last_pair; /* 1 + a track's index; call_tree_pair() */
	} * totals;
	size_t total_room;
	struct pair_table paths;     /* number of the node less 1, by (caller, key) */
	struct call_thread *threads; /* owned; by index of the track */
	size_t thread_room;
	struct pair_table pairs; /* pairs of (index of the track, node) */
	struct call_pair {
		uint32_t open;           /* open calls of the function */
		uint32_t part;           /* the thread's part of `costs` */
		struct call_costs costs; /* costs of outermost calls in the part */
	} * pair_states;                 /* owned; by pair */
	size_t pair_room;
	uint32_t parts;           /* with late slices, so far */
	uint64_t slices;          /* begun */
	struct name_table *names; /* borrowed; NULL: nodes are functions, not paths */
	/*
	 * --max-stack: reduce a deeper stack to the outermost `max_stack` calls, TRUNCATED_NAME and
	 * the innermost call. This limits the length of paths; a path's own costs stay exact, and
	 * the outermost calls include all callees.
	 */
	uint64_t max_stack;
	uint32_t truncated_key;
	uint64_t cut_slices; /* deeper than max_stack */
};

struct ended_call {
	const struct open_call *call;
	struct call_costs all; /* with callees */
	bool outermost;        /* no other open call of its node in the thread */
	bool cut;              /* its return was not seen */
};

enum call_sums {
	SUMS_ALL = 0,
	SUMS_OWN,  /* own times, and instructions, only: with fewer instructions */
	SUMS_NONE, /* no sums; calls of NODE_NONE are skipped */
};

/* Choices of a reader: constants, for which call_tree_follow() is specialized. */
struct call_rules {
	enum call_sums sums;
	bool costs;     /* also count instructions and cycles; if SUMS_NONE, no cycles */
	bool lean;      /* with SUMS_ALL and `costs`: sums have instructions only */
	bool no_cycles; /* the same: sums have no cycles */
	bool recursion; /* nodes are functions, which can be open several times in a thread */
	/* Returns the node of a call that begins in thread->top; a late one is a SLICE_LATE. */
	uint32_t (*enter)(struct call_tree *tree, struct call_thread *thread,
			  const struct slice_event *event, const struct slice_detail *detail);
	/* A call ended, possibly of NODE_NONE; thread->top is its caller. May be NULL. */
	void (*ended)(struct call_tree *tree, struct call_thread *thread,
		      const struct ended_call *end);
	/* Paths without `names`: a part began (thread->part) or ended; NULL: nodes are functions.
	 */
	void (*part)(struct call_tree *tree, struct call_thread *thread);
};

/* Start without calls. `names` is borrowed until release; NULL: nodes are functions, not paths. */
void call_tree_init(struct call_tree *tree, struct name_table *names, uint64_t max_stack);

void call_tree_release(struct call_tree *tree);

/* Make room for nodes up to `node`; new ones are zero. */
void call_tree_add_nodes(struct call_tree *tree, uint32_t node);

uint32_t call_tree_find_child(struct call_tree *tree, uint32_t caller, uint32_t key,
			      const struct name *name);

/* Returns the path of callee `key` of a path. A new one gets `name`, which may be NULL. */
static inline uint32_t call_tree_child(struct call_tree *tree, uint32_t caller, uint32_t key,
				       const struct name *name)
{
	const struct call_node *node = &tree->nodes[caller];

	if (node->last_key == key && node->last_callee)
		return node->last_callee;
	return call_tree_find_child(tree, caller, key, name);
}

static inline size_t call_thread_depth(const struct call_thread *thread)
{
	return (size_t)(thread->top - thread->open);
}

uint32_t call_tree_cut(struct call_tree *tree, struct call_thread *thread);

/* Returns the path of the caller of a new call; TRUNCATED_NAME's if the stack is too deep. */
static inline uint32_t call_tree_caller(struct call_tree *tree, struct call_thread *thread)
{
	return call_thread_depth(thread) < tree->max_stack ? thread->top->node
							   : call_tree_cut(tree, thread);
}

/* Returns the sum of the own costs of all nodes. */
struct call_costs call_tree_sum(const struct call_tree *tree);

/* Compute the totals of paths, after all calls have ended. */
void call_tree_add_up(struct call_tree *tree);

/* Store the times (ns) of the first and last begin or end. Returns false without events. */
bool call_tree_times(const struct call_tree *tree, uint64_t *first, uint64_t *last);

/* For call_tree_follow(): start a thread at its first events. Returns false if all are instants. */
bool call_tree_start(struct call_tree *tree, struct call_thread *thread, const struct track *track,
		     const struct slice_batch *batch);

uint32_t call_tree_find_pair(struct call_tree *tree, uint32_t track, uint32_t node);

/* Returns the number of a (track, node) pair. */
static inline uint32_t call_tree_pair(struct call_tree *tree, uint32_t track, uint32_t node)
{
	const struct call_total *found = &tree->totals[node];

	return found->last_track == track + 1 ? found->last_pair
					      : call_tree_find_pair(tree, track, node);
}

/* For call_tree_follow(): a part with late slices begins or ends; see struct slice_sink. */
void call_tree_part(struct call_tree *tree, struct call_thread *thread,
		    const struct slice_event *event, const struct call_rules *rules);

/*
 * For call_tree_follow(): a slice ends whose begin comes late. Begin it around all slices since
 * then; its begin counts it.
 */
void call_tree_begin_late(struct call_tree *tree, struct call_thread *thread,
			  const struct slice_event *end, const struct call_rules *rules);

/* For call_tree_follow(), around the events of a part: exchange its paths and the tree's. */
void call_tree_exchange(struct call_tree *tree, struct call_thread *thread);

/* For call_tree_follow(): make room for thread->top, and return it. */
struct open_call *call_thread_grow(struct call_thread *thread);

/* ---- Follow slices ------------------------------------------------------- */

#define CALL_TREE_INLINE static inline __attribute__((always_inline))

/* Ignores unknown counters, and counters that decreased after a gap. */
CALL_TREE_INLINE void call_tree_advance(uint64_t *now, uint64_t *own, uint64_t to)
{
	uint64_t by = to > *now ? to - *now : 0;

	*now += by;
	*own += by;
}

CALL_TREE_INLINE void call_tree_add(struct call_costs *to, const struct call_costs *costs, bool all)
{
	to->ns += costs->ns;
	if (!all)
		return;
	to->insns += costs->insns;
	to->cycles += costs->cycles;
}

/* Add the costs that the rules count. */
CALL_TREE_INLINE void call_tree_sum_up(struct call_costs *to, const struct call_costs *costs,
				       const struct call_rules *rules)
{
	if (!rules->lean)
		call_tree_add(to, costs, rules->costs && !rules->no_cycles);
	if (rules->lean || rules->no_cycles)
		to->insns += costs->insns;
}

CALL_TREE_INLINE void call_tree_begin(struct call_tree *tree, struct call_thread *thread,
				      const struct slice_event *event,
				      const struct slice_detail *detail,
				      const struct call_rules *rules)
{
	uint32_t node = rules->enter(tree, thread, event, detail);
	struct open_call *call;

	call = ++thread->top;
	if (call == thread->end)
		call = call_thread_grow(thread);
	call->node = node;
	if (rules->sums == SUMS_NONE) {
		tree->slices++;
		if (node == NODE_NONE)
			return;
	}
	if (rules->lean || rules->no_cycles)
		call->begin.insns = thread->now.insns;
	else if (rules->costs)
		call->begin = thread->now;
	call->begin.ns = event->time;
	if (rules->lean)
		call->own.insns = 0;
	else if (rules->costs)
		call->own = (struct call_costs){ 0 };
	else
		call->own.ns = 0;
	if (rules->sums == SUMS_OWN)
		return;
	call->inferred = event->flags & SLICE_INFERRED_START;
	call->context = event->flags & SLICE_CONTEXT;
	if (rules->recursion && node != NODE_NONE) {
		call->pair = call_tree_pair(tree, thread->track->index, node);
		tree->pair_states[call->pair].open++;
	}
	if (rules->sums == SUMS_NONE || !rules->recursion)
		call->symbol = event->symbol;
	if (rules->sums == SUMS_NONE) {
		call->untraced = thread->untraced;
		return;
	}
	tree->slices++;
	tree->nodes[node].calls += !(event->flags & SLICE_CONTEXT);
	if (call_thread_depth(thread) > thread->deepest)
		thread->deepest = call_thread_depth(thread);
}

/* An outermost call ended in a part. */
CALL_TREE_INLINE void call_tree_add_to_part(struct call_tree *tree,
					    const struct call_thread *thread,
					    const struct ended_call *end,
					    const struct call_rules *rules)
{
	struct call_pair *pair = &tree->pair_states[end->call->pair];

	if (pair->part != thread->part) {
		pair->part = thread->part;
		pair->costs = (struct call_costs){ 0 };
	}
	call_tree_sum_up(&pair->costs, &end->all, rules);
}

/*
 * Returns whether the slice that ends begins late: it is in no other one or, after a fork, in a
 * slice of the parent's stack, which has the same begin.
 */
CALL_TREE_INLINE bool call_tree_is_late(struct call_tree *tree, struct call_thread *thread,
					const struct slice_event *end,
					const struct call_rules *rules)
{
	if (thread->top == thread->open)
		return end->order == SLICE_ORDER_DEFERRED && end->symbol;
	return thread->top->begin.ns == thread->inherited && end->symbol &&
	       (tree->names || rules->part
			? !function_table_same(end->symbol, thread->top->symbol)
			: rules->enter(tree, thread, end, NULL) != thread->top->node);
}

/* Count a call, which is no longer thread->top, up to the event of its end. */
CALL_TREE_INLINE void call_tree_count(struct call_tree *tree, struct call_thread *thread,
				      const struct open_call *call, const struct slice_event *event,
				      const struct call_rules *rules)
{
	struct call_node *node = &tree->nodes[call->node];
	struct ended_call end = { .call = call,
				  .all.ns = event->time - call->begin.ns,
				  .outermost = true,
				  .cut = event->flags & SLICE_CUT };

	if (rules->sums == SUMS_NONE && call->node == NODE_NONE)
		return;
	if (rules->costs) {
		end.all.insns = thread->now.insns - call->begin.insns;
		if (!rules->lean && !rules->no_cycles)
			end.all.cycles = thread->now.cycles - call->begin.cycles;
	}
	if (rules->recursion && call->node != NODE_NONE)
		end.outermost = --tree->pair_states[call->pair].open == 0;
	if (rules->recursion && rules->sums == SUMS_ALL && thread->part && end.outermost)
		call_tree_add_to_part(tree, thread, &end, rules);
	if (rules->sums == SUMS_OWN) {
		node->own.ns += end.all.ns - call->own.ns;
		thread->top->own.ns += end.all.ns;
		if (rules->costs) {
			node->own.insns += end.all.insns - call->own.insns;
			thread->top->own.insns += end.all.insns;
		}
	} else if (rules->sums == SUMS_ALL) {
		if (!call->context)
			call_tree_sum_up(&node->own, &call->own, rules);
		if (rules->recursion && end.outermost)
			call_tree_sum_up(&tree->totals[call->node].costs, &end.all, rules);
	}
	if (rules->ended)
		rules->ended(tree, thread, &end);
}

/* Count the events of a track, by constant rules. */
CALL_TREE_INLINE void call_tree_follow(struct call_tree *tree, const struct track *track,
				       const struct slice_batch *batch,
				       const struct call_rules *rules)
{
	const struct slice_batch from = *batch; /* in registers: stores do not change it */
	/* NULL if the end after a begin may be that of a late slice (call_tree_is_late()). */
	const struct slice_event *last = batch->events + batch->count, *leaves;
	struct call_thread *thread;

	ARRAY_GROW_ZEROED(tree->threads, tree->thread_room, (size_t)track->index + 1);
	thread = &tree->threads[track->index];
	if (!thread->track && !call_tree_start(tree, thread, track, batch))
		return;
	if (thread->paths.nodes)
		call_tree_exchange(tree, thread);
	leaves = thread->inherited == UINT64_MAX ? last : NULL;
	for (const struct slice_event *event = batch->events; event < last; event++) {
		const struct slice_detail *detail = slice_batch_detail(&from, event);
		struct call_costs unused = { 0 }, *own = &thread->top->own;

		if (rules->sums != SUMS_ALL)
			own = &unused;

		if (event->kind >= SLICE_INSTANT) {
			if (event->kind == SLICE_LATE)
				call_tree_part(tree, thread, event, rules);
			leaves = thread->inherited == UINT64_MAX ? last : NULL;
			continue;
		}
		/* At the end of a part, late begins have earlier times. */
		if (rules->sums == SUMS_ALL && (event->time > thread->now.ns || !thread->part)) {
			if (!rules->lean)
				own->ns += event->time - thread->now.ns;
			thread->now.ns = event->time;
		}
		if (rules->costs && detail) {
			call_tree_advance(&thread->now.insns, &own->insns, detail->insns);
			if (rules->sums == SUMS_ALL && !rules->lean && !rules->no_cycles)
				call_tree_advance(&thread->now.cycles, &own->cycles,
						  detail->cycles);
		}
		if (rules->sums != SUMS_NONE && event->kind == SLICE_END &&
		    call_tree_is_late(tree, thread, event, rules))
			call_tree_begin_late(tree, thread, event, rules);
		if (event->kind == SLICE_BEGIN && rules->sums == SUMS_OWN && event + 1 < leaves &&
		    event[1].kind == SLICE_END) {
			/* The call has no callees, as most have none. */
			struct open_call call = { .node = rules->enter(tree, thread, event, detail),
						  .begin = { event->time, thread->now.insns } };

			detail = slice_batch_detail(&from, ++event);
			if (rules->costs && detail)
				call_tree_advance(&thread->now.insns, &own->insns, detail->insns);
			call_tree_count(tree, thread, &call, event, rules);
		} else if (event->kind == SLICE_BEGIN) {
			call_tree_begin(tree, thread, event, detail, rules);
		} else if (thread->top != thread->open) {
			call_tree_count(tree, thread, thread->top--, event, rules);
		}
	}
	if (thread->paths.nodes)
		call_tree_exchange(tree, thread);
}

/*
 * Define events() of a sink whose context is a tree, or a struct that begins with one. `rules`: a
 * constant.
 */
#define CALL_TREE_EVENTS(name, rules)                                                              \
	static void name(const struct slice_sink *sink, void *track,                               \
			 const struct slice_batch *batch)                                          \
	{                                                                                          \
		call_tree_follow(sink->context, track, batch, &(rules));                           \
	}
