/* SPDX-License-Identifier: MIT */
/*
 * --format=folded: the time that each distinct call stack had to itself, as
 * Brendan Gregg's FlameGraph takes it (stackcollapse): "thread;a;b;c NS", in the
 * order in which the stacks appeared, threads of one name together.
 *
 * Time in a slice is its own where no slice within it is open.  Memory grows
 * with the distinct stacks; those deeper than --max-stack are cut (deep_stack.h).  In names, ';'
 * and control characters become '?'.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/io/output.h"
#include "base/tables/name.h"
#include "src/formats/deep_stack.h"
#include "src/formats/output_format.h"
#include "src/options/options.h"
#include "src/slices/pair_table.h"
#include "src/slices/track.h"

struct stack_node {
	const struct name *name;
	uint32_t caller;
	uint64_t self; /* ns */
};

struct folded_track {
	uint32_t root;      /* the thread's name; 0: not yet */
	uint32_t node;      /* innermost open slice; `root` if none is */
	uint64_t last_time; /* ns; up to which time was counted */
	struct deep_stack open;
};

struct folded_output {
	struct format_output output; /* first */
	struct name_table *names;    /* borrowed */
	const struct output *file;   /* borrowed */
	struct pair_table
		stacks; /* of (node of the caller, id of name): the node's number less 1 */
	struct stack_node *nodes; /* owned; [0] is the root of all */
	size_t count, room;
	struct folded_track *tracks; /* owned; by index of the track */
	size_t track_room;
	uint64_t slices;
	uint64_t max_stack;
	const struct name *truncated;
};

/* Returns the node of a name that is called by another node's. */
static uint32_t node_of(struct folded_output *folded, uint32_t caller, const struct name *name)
{
	size_t node = (size_t)pair_table_find(&folded->stacks, caller, name->id) + 1;

	if (node < folded->count)
		return (uint32_t)node;
	folded->nodes = alloc_grow(folded->nodes, &folded->room, node + 1, sizeof(*folded->nodes));
	folded->nodes[node] = (struct stack_node){ .name = name, .caller = caller };
	folded->count = node + 1;
	return (uint32_t)node;
}

static struct folded_track *folded_track_of(struct folded_output *folded, const struct track *track)
{
	struct folded_track *found;

	folded->tracks = alloc_grow_zeroed(folded->tracks, &folded->track_room,
					   (size_t)track->index + 1, sizeof(*folded->tracks));
	found = &folded->tracks[track->index];
	if (!found->root) {
		const char *name = track->thread_name ? track->thread_name : "unknown";

		found->root = found->node =
			node_of(folded, 0, name_intern_text(folded->names, name));
	}
	return found;
}

/* What has passed is the innermost slice's. */
static void count_time(struct folded_output *folded, struct folded_track *track, uint64_t time)
{
	if (track->node != track->root)
		folded->nodes[track->node].self += time - track->last_time;
	track->last_time = time;
}

static void begin_frame(struct folded_output *folded, struct folded_track *track,
			const struct name *name)
{
	uint32_t caller = track->node;

	if (deep_stack_begin(&track->open, folded->max_stack, caller)) {
		if (track->open.count == 1)
			track->open.cut = node_of(folded, caller, folded->truncated);
		caller = track->open.cut;
		folded->output.truncated++;
	}
	track->node = node_of(folded, caller, name);
	folded->slices++;
}

static void count_event(struct folded_output *folded, struct folded_track *track,
			const struct slice_event *event)
{
	if (event->kind == SLICE_INSTANT)
		return;
	count_time(folded, track, event->time);
	if (event->kind == SLICE_BEGIN)
		begin_frame(folded, track, event->symbol->name);
	else if (track->node != track->root)
		track->node = deep_stack_end(&track->open, folded->nodes[track->node].caller);
}

static void count_events(const struct slice_sink *sink, void *track,
			 const struct slice_batch *batch)
{
	struct folded_output *folded = sink->context;

	for (size_t i = 0; i < batch->count; i++)
		count_event(folded, folded_track_of(folded, track), &batch->events[i]);
}

static struct format_output *open_folded(const struct format_request *request, struct error *err)
{
	struct folded_output *folded = alloc_zeroed(1, sizeof(*folded));

	(void)err;
	folded->names = request->names;
	folded->max_stack = options_max_stack(request->options);
	folded->truncated = name_intern_text(folded->names, TRUNCATED_NAME);
	folded->file = request->output;
	folded->count = 1;
	folded->nodes = alloc_grow(NULL, &folded->room, 1, sizeof(*folded->nodes));
	folded->nodes[0] = (struct stack_node){ 0 };
	folded->output.text = request->text;
	folded->output.slices = &folded->slices;
	folded->output.sink = (struct slice_sink){ .events = count_events, .context = folded };
	return &folded->output;
}

static void print_folded_name(const struct name *name, FILE *out)
{
	for (uint32_t i = 0; i < name->length; i++) {
		unsigned char c = (unsigned char)name->text[i];

		putc_unlocked(c < 0x20 || c == 0x7f || c == ';' ? '?' : c, out);
	}
}

/* Print from the thread's name to the node; `stack` has room for every node's callers. */
static void print_stack(const struct folded_output *folded, uint32_t node, uint32_t *stack,
			FILE *out)
{
	size_t depth = 0;
	uint64_t self = folded->nodes[node].self;

	for (; node; node = folded->nodes[node].caller)
		stack[depth++] = node;
	while (depth-- > 0) {
		print_folded_name(folded->nodes[stack[depth]].name, out);
		putc_unlocked(depth ? ';' : ' ', out);
	}
	fprintf(out, "%" PRIu64 "\n", self);
}

static int print_folded(struct format_output *output, struct error *err)
{
	const struct folded_output *folded = (struct folded_output *)output;
	uint32_t *stack = alloc_zeroed(folded->count, sizeof(*stack));

	(void)err;
	/* The lines of stacks 100,000 calls deep have no end: behind a limit none is made. */
	for (size_t i = 1; i < folded->count && !folded->file->cut; i++) {
		if (folded->nodes[i].self)
			print_stack(folded, (uint32_t)i, stack, output->text);
	}
	free(stack);
	return 0;
}

static void release_folded(struct format_output *output)
{
	struct folded_output *folded = (struct folded_output *)output;

	for (size_t i = 0; i < folded->track_room; i++)
		deep_stack_release(&folded->tracks[i].open);
	pair_table_release(&folded->stacks);
	free(folded->nodes);
	free(folded->tracks);
}

const struct output_format format_folded = {
	.name = "folded",
	.lines = true,
	.slices = SLICES_SORTED,
	.open = open_folded,
	.finish = print_folded,
	.release = release_folded,
};
