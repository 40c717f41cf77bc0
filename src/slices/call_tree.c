/* SPDX-License-Identifier: MIT */
/* The nodes and threads of a call tree. */
#include "src/slices/call_tree.h"

#include "src/slices/slice_args.h"
#include "symbols/dso/dso_store.h"

void call_tree_init(struct call_tree *tree, struct name_table *names, uint64_t max_stack)
{
	*tree = (struct call_tree){ .names = names, .max_stack = max_stack };
	call_tree_add_nodes(tree, NODE_NONE);
}

void call_tree_release(struct call_tree *tree)
{
	for (size_t i = 0; i < tree->thread_room; i++) {
		free(tree->threads[i].open);
		free(tree->threads[i].paths.nodes);
		pair_table_release(&tree->threads[i].paths.paths);
	}
	pair_table_release(&tree->paths);
	pair_table_release(&tree->pairs);
	free(tree->pair_states);
	free(tree->threads);
	free(tree->nodes);
	free(tree->totals);
	*tree = (struct call_tree){ 0 };
}

/* ---- Nodes --------------------------------------------------------------- */

void call_tree_add_nodes(struct call_tree *tree, uint32_t node)
{
	ARRAY_GROW_ZEROED(tree->nodes, tree->room, (size_t)node + 1);
	if (!tree->names)
		ARRAY_GROW_ZEROED(tree->totals, tree->total_room, (size_t)node + 1);
	if (tree->count <= node)
		tree->count = (size_t)node + 1;
}

uint32_t call_tree_find_child(struct call_tree *tree, uint32_t caller, uint32_t key,
			      const struct name *name)
{
	uint32_t node = pair_table_find(&tree->paths, caller, key) + 1;

	if (node >= tree->count) {
		call_tree_add_nodes(tree, node);
		tree->nodes[node].caller = caller;
		tree->nodes[node].key = key;
		tree->nodes[node].name = name;
	}
	tree->nodes[caller].last_callee = node;
	tree->nodes[caller].last_key = key;
	return node;
}

uint32_t call_tree_cut(struct call_tree *tree, struct call_thread *thread)
{
	if (call_thread_depth(thread) == tree->max_stack)
		thread->cut = call_tree_child(tree, thread->top->node, tree->truncated_key,
					      name_intern_text(tree->names, TRUNCATED_NAME));
	tree->cut_slices++;
	return thread->cut;
}

struct call_costs call_tree_sum(const struct call_tree *tree)
{
	struct call_costs sum = { 0 };

	for (size_t i = NODE_NONE + 1; i < tree->count; i++)
		call_tree_add(&sum, &tree->nodes[i].own, true);
	return sum;
}

void call_tree_add_up(struct call_tree *tree)
{
	tree->totals = alloc_zeroed(tree->count, sizeof(*tree->totals));
	for (size_t i = tree->count - 1; i > NODE_NONE; i--) {
		call_tree_add(&tree->totals[i].costs, &tree->nodes[i].own, true);
		call_tree_add(&tree->totals[tree->nodes[i].caller].costs, &tree->totals[i].costs,
			      true);
	}
}

/* ---- Functions ----------------------------------------------------------- */

/* Other code may have been at a symbol's address: the file has a second symbol for it. */
bool function_table_same(const struct symbol *a, const struct symbol *b)
{
	const struct symbol *inlined = a->inlined ? a : b, *other = a->inlined ? b : a;
	const struct source_line *at;

	if (a == b || a->linkage != b->linkage)
		return a == b;
	if (!inlined->inlined)
		return a->changed != b->changed && a->start == b->start;
	if (a->dso != b->dso)
		return false;
	at = &inlined->inlined->declared;
	if (other->inlined)
		return at->file == other->inlined->declared.file &&
		       at->line == other->inlined->declared.line;
	return at->file && at->file == slice_source_line(other).file;
}

uint32_t function_table_look(const struct function_table *table, const struct symbol *symbol)
{
	uint32_t id = symbol->name->id, at = function_table_known(table, symbol);

	if (at || id >= table->name_room)
		return at;
	at = table->by_name[id].last;
	while (at && !function_table_same(table->functions[at - 1].symbol, symbol))
		at = table->functions[at - 1].next_named;
	return at;
}

uint32_t function_table_add(struct function_table *table, const struct symbol *symbol)
{
	uint32_t id = symbol->name->id, at = function_table_look(table, symbol);

	if (!at) {
		ARRAY_GROW_ZEROED(table->by_name, table->name_room, (size_t)id + 1);
		*ARRAY_ADD(table->functions, table->count, table->room) =
			(struct table_function){ symbol, table->by_name[id].last };
		at = table->by_name[id].last = (uint32_t)table->count;
	}
	table->by_name[id].symbol = symbol;
	table->by_name[id].number = at;
	return at - 1;
}

void function_table_release(struct function_table *table)
{
	free(table->functions);
	free(table->by_name);
	*table = (struct function_table){ 0 };
}

/* ---- Threads ------------------------------------------------------------- */

static uint32_t thread_root(struct call_tree *tree, const struct track *track)
{
	const char *text = track->thread_name ? track->thread_name : "unknown";
	const struct name *name = name_intern_text(tree->names, text);

	return call_tree_child(tree, NODE_NONE, name->id, name);
}

bool call_tree_start(struct call_tree *tree, struct call_thread *thread, const struct track *track,
		     const struct slice_batch *batch)
{
	size_t first = 0;

	while (first < batch->count && batch->events[first].kind == SLICE_INSTANT)
		first++;
	if (first == batch->count)
		return false;
	thread->track = track;
	thread->open = alloc_grow(NULL, &thread->room, 1, sizeof(*thread->open));
	thread->top = thread->open;
	thread->end = thread->open + thread->room;
	thread->now.ns = batch->events[first].time;
	thread->inherited = UINT64_MAX;
	thread->open[0] = (struct open_call){ .begin = thread->now };
	if (tree->names)
		thread->open[0].node = thread_root(tree, track);
	return true;
}

/* ---- Late slices --------------------------------------------------------- */

void call_tree_exchange(struct call_tree *tree, struct call_thread *thread)
{
	const struct call_part paths = { tree->nodes, tree->count, tree->room, tree->paths };

	tree->nodes = thread->paths.nodes;
	tree->count = thread->paths.count;
	tree->room = thread->paths.room;
	tree->paths = thread->paths.paths;
	thread->paths = paths;
}

/* The place of a part's path in the tree. */
struct path_place {
	uint32_t node, cut; /* cut: TRUNCATED_NAME's, if its callees have it as their caller */
	uint64_t depth;
};

/* Find the place of a path whose caller has one. */
static struct path_place find_place(struct call_tree *tree, const struct path_place *caller,
				    const struct call_node *path)
{
	struct path_place place = { .cut = caller->cut, .depth = caller->depth + 1 };

	if (!place.cut && caller->depth >= tree->max_stack)
		place.cut = call_tree_child(tree, caller->node, tree->truncated_key,
					    name_intern_text(tree->names, TRUNCATED_NAME));
	place.node = path->key == tree->truncated_key
			     ? place.cut
			     : call_tree_child(tree, place.cut ? place.cut : caller->node,
					       path->key, path->name);
	return place;
}

/* The thread's part has ended: add its paths to the tree, late callers before other ones. */
static void add_part(struct call_tree *tree, struct call_thread *thread)
{
	const struct call_part *part = &thread->paths;
	struct path_place *places = alloc_zeroed(part->count, sizeof(*places));
	uint32_t *stack = alloc_zeroed(part->count, sizeof(*stack));

	places[thread->open->node].node = thread_root(tree, thread->track);
	for (uint32_t i = NODE_NONE + 1; i < part->count; i++) {
		const struct call_node *path = &part->nodes[i];
		size_t depth = 0;

		if (!path->calls && !path->late)
			continue;
		for (uint32_t at = i; !places[at].node; at = part->nodes[at].caller)
			stack[depth++] = at;
		while (depth-- > 0) {
			const struct call_node *node = &part->nodes[stack[depth]];

			places[stack[depth]] = find_place(tree, &places[node->caller], node);
		}
		tree->nodes[places[i].node].calls += path->calls;
		call_tree_add(&tree->nodes[places[i].node].own, &path->own, true);
		if (places[i].cut && part->nodes[path->caller].key != tree->truncated_key)
			tree->cut_slices += path->calls;
	}
	free(places);
	free(stack);
}

/* Begin or end a part, whose paths have a root of their own. */
static void change_paths(struct call_tree *tree, struct call_thread *thread)
{
	bool ends = thread->part;

	call_tree_exchange(tree, thread);
	if (ends) {
		add_part(tree, thread);
		free(thread->paths.nodes);
		pair_table_release(&thread->paths.paths);
		thread->paths = (struct call_part){ 0 };
		thread->open->node = thread_root(tree, thread->track);
	} else {
		call_tree_add_nodes(tree, NODE_NONE);
		thread->open->node = call_tree_child(tree, NODE_NONE, UINT32_MAX, NULL);
	}
}

/*
 * Insert a path that begins late between thread->top's path and its callees. The late path takes
 * the number of thread->top's path, so that the callees stay as they are; thread->top's path gets
 * the number from `enter`, unless that path has calls already.
 */
static void insert_path(struct call_tree *tree, struct call_thread *thread,
			const struct slice_event *begin, const struct call_rules *rules)
{
	size_t known = tree->count;
	uint32_t inner = thread->top->node, outer = rules->enter(tree, thread, begin, NULL);
	const struct call_node path = tree->nodes[inner], late = tree->nodes[outer];

	if (outer < known)
		outer = call_tree_find_child(tree, NODE_NONE, UINT32_MAX - 1, NULL);
	pair_table_change(&tree->paths, inner - 1, outer, late.key);
	pair_table_change(&tree->paths, outer - 1, path.caller, path.key);
	tree->nodes[path.caller].last_callee = NODE_NONE;
	tree->nodes[outer] = path;
	tree->nodes[outer].last_callee = NODE_NONE;
	tree->nodes[inner] = (struct call_node){
		.caller = outer, .key = late.key, .name = late.name, .late = true
	};
	thread->top->node = outer;
}

void call_tree_part(struct call_tree *tree, struct call_thread *thread,
		    const struct slice_event *event, const struct call_rules *rules)
{
	/* The begins of late slices, which have ended. */
	for (; thread->top > thread->open; thread->top--)
		if (rules->recursion && thread->top->node != NODE_NONE)
			tree->pair_states[thread->top->pair].open--;
	thread->open->own = (struct call_costs){ 0 };
	thread->now.ns = MAX(event->time, thread->now.ns);
	thread->since = event->time;
	thread->passed = event->ip;
	thread->since_now = thread->now;
	if (tree->names)
		change_paths(tree, thread);
	thread->part = thread->part ? 0 : ++tree->parts;
	thread->inherited = thread->part && event->flags ? event->time : UINT64_MAX;
	if (rules->part)
		rules->part(tree, thread);
}

/* A late outermost call encloses the part's others of its function, which are in the totals. */
static void leave_out_part(struct call_tree *tree, const struct call_thread *thread)
{
	struct call_costs *total = &tree->totals[thread->top->node].costs;
	struct call_pair *pair = &tree->pair_states[thread->top->pair];

	if (thread->top->node == NODE_NONE || pair->open > 1 || pair->part != thread->part)
		return;
	total->ns -= pair->costs.ns;
	total->insns -= pair->costs.insns;
	total->cycles -= pair->costs.cycles;
	pair->costs = (struct call_costs){ 0 };
}

void call_tree_begin_late(struct call_tree *tree, struct call_thread *thread,
			  const struct slice_event *end, const struct call_rules *rules)
{
	bool inside = thread->top != thread->open;
	const struct slice_event begin = { .time = inside ? thread->since : end->ip,
					   .symbol = end->symbol,
					   .flags = end->flags & SLICE_INFERRED_START,
					   .kind = SLICE_LATE };
	struct call_costs own = thread->top->own;

	if (begin.time == thread->since) {
		own.ns += thread->passed;
		thread->passed = 0;
	}
	if (tree->names)
		insert_path(tree, thread, &begin, rules);
	call_tree_begin(tree, thread, &begin, NULL, rules);
	if (rules->sums == SUMS_ALL) {
		tree->slices--;
		tree->nodes[thread->top->node].calls--;
	}
	if (rules->sums == SUMS_ALL && rules->recursion)
		leave_out_part(tree, thread);
	if (rules->costs) {
		thread->top->begin = thread->since_now;
		thread->top->begin.ns = begin.time;
	}
	thread->top->own = own;
	thread->top[-1].own = (struct call_costs){ 0 };
}

struct open_call *call_thread_grow(struct call_thread *thread)
{
	size_t depth = call_thread_depth(thread);

	ARRAY_GROW(thread->open, thread->room, depth + 1);
	thread->top = thread->open + depth;
	thread->end = thread->open + thread->room;
	return thread->top;
}

bool call_tree_times(const struct call_tree *tree, uint64_t *first, uint64_t *last)
{
	*first = UINT64_MAX;
	*last = 0;
	for (size_t i = 0; i < tree->thread_room; i++) {
		const struct call_thread *thread = &tree->threads[i];

		if (!thread->track)
			continue;
		*first = thread->open[0].begin.ns < *first ? thread->open[0].begin.ns : *first;
		*last = thread->now.ns > *last ? thread->now.ns : *last;
	}
	return *first <= *last;
}

uint32_t call_tree_find_pair(struct call_tree *tree, uint32_t track, uint32_t node)
{
	struct call_total *found = &tree->totals[node];

	found->last_track = track + 1;
	found->last_pair = pair_table_find(&tree->pairs, track, node);
	ARRAY_GROW_ZEROED(tree->pair_states, tree->pair_room, (size_t)found->last_pair + 1);
	return found->last_pair;
}
