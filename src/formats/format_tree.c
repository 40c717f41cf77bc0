/* SPDX-License-Identifier: MIT */
/*
 * --format=tree: the indented calls of each thread with their times, in the form of `uftrace
 * replay`, thread by thread:
 *
 * 	# DURATION     TID     FUNCTION
 * 	            [ 23275] | main() {
 * 	   1.639 us [ 23275] |   getpid();
 * 	  18.500 us [ 23275] | } // main
 *
 * The last line ends with a C comment. Slices without a function have no parentheses; instants,
 * uncertain facts and depths over DEPTH_INDENTED are comments. Other events follow the calls, as
 * comments in order of time:
 *
 * 	# EVENTS
 * 	21.000001234 s CPU 0: begin C-state 1 cstate=1 sub_cstate=0
 */

#include "src/formats/slice_list.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/event_text.h"
#include "src/formats/text/time_note.h"
#include "src/select/function_labels.h"

/* Deepest indentation: deeper calls print their depth, so that a line has a bounded length. */
#define DEPTH_INDENTED 64

struct tree_output {
	struct slice_list list;           /* first */
	struct track *track;              /* track of the last slice, or NULL */
	const struct listed_slice **open; /* owned: the last slice and its callers */
	size_t count, room;
	bool pending;             /* the last slice is not printed yet */
	struct slice_sink listed; /* the list's sink */
	struct function_table functions;
	struct function_labels labels;
};

static void take_slices(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	struct tree_output *tree = sink->context;

	for (size_t i = 0; i < batch->count; i++)
		if (batch->events[i].kind == SLICE_BEGIN)
			function_table_find(&tree->functions, batch->events[i].symbol);
	tree->listed.events(&tree->listed, track, batch);
}

static void open_tree(struct format_output *output, const struct format_request *request)
{
	struct tree_output *tree = (struct tree_output *)output;

	slice_list_open(output, request);
	slice_list_take_events(output, request);
	tree->listed = output->sink;
	output->sink.events = take_slices;
	output->sink.context = tree;
}

static const struct name *label_of(const struct tree_output *tree, const struct listed_slice *slice)
{
	return slice->symbol ? function_label(&tree->labels, slice->symbol) : slice->text;
}

/* Write the columns before a name, with the time of `ended` unless it is NULL. */
static char *put_margin(const struct tree_output *tree, struct line *line,
			const struct listed_slice *ended, uint32_t depth)
{
	static const char units[][5] = { " us ", " ms ", "  s " };
	uint64_t whole = ended ? (ended->end - ended->begin) / 1000 : 0;
	uint64_t rest = ended ? (ended->end - ended->begin) % 1000 : 0;
	char *at = line->text;
	int unit = 0;

	for (; whole >= 1000 && unit < 2; unit++) {
		rest = whole % 1000;
		whole /= 1000;
	}
	line->out = tree->list.output.text;
	if (ended && digits_work_unit()) {
		at = digits_right(at, digits_decimal(at, ended->end - ended->begin), 11);
		*at++ = ' ';
	} else if (ended) {
		at = digits_right(at, digits_decimal(at, whole), 4);
		*at++ = '.';
		at = stpcpy(digits_fixed(at, rest, 3), units[unit]);
	} else {
		at = stpcpy(at, "            ");
	}
	*at++ = '[';
	at = digits_right(at, digits_signed(at, tree->track->tid), 6);
	at = stpcpy(at, "] | ");
	at = digits_left(at, at, 2 * MIN(depth, DEPTH_INDENTED));
	if (depth > DEPTH_INDENTED)
		at = stpcpy(digits_decimal(stpcpy(at, "/* depth "), depth), " */ ");
	return at;
}

static char *put_call(const struct tree_output *tree, struct line *line, char *at,
		      const struct listed_slice *slice, const char *end)
{
	static const struct {
		enum slice_flags flag;
		enum slice_arg_key key;
	} marks[] = { { SLICE_INFERRED_START, SLICE_ARG_INFERRED },
		      { SLICE_UNCERTAIN_LEVEL, SLICE_ARG_UNCERTAIN },
		      { SLICE_TAIL_CALLED, SLICE_ARG_TAIL_CALL },
		      { SLICE_ESTIMATED_TIME, SLICE_ARG_ESTIMATED } };

	const struct name *label = label_of(tree, slice);
	bool is_plain = slice->symbol->kind < SYMBOL_SPECIAL && label == slice->symbol->name;

	at = line_name(line, at, label);
	at = stpcpy(at, is_plain ? "()" : "");
	at = stpcpy(at, end);
	for (size_t i = 0; i < COUNT_OF(marks); i++)
		if (slice->flags & marks[i].flag)
			at = stpcpy(stpcpy(stpcpy(at, " /* "), slice_arg_text(marks[i].key)),
				    " */");
	return at;
}

static void print_comment(const struct tree_output *tree, struct line *line, char *at,
			  const struct listed_slice *slice)
{
	at = line_name(line, stpcpy(at, "/* "), label_of(tree, slice));
	line_end(line, stpcpy(at, slice->cut ? ", cut */\n" : " */\n"));
}

/* Print the pending slice, and the ends of slices that do not contain the next one. */
static void settle(struct tree_output *tree, uint32_t depth)
{
	const struct listed_slice *last = tree->count ? tree->open[tree->count - 1] : NULL;
	bool leaf = tree->pending && last->depth >= depth;
	struct line line;
	char *at;

	if (tree->pending) {
		at = put_margin(tree, &line, leaf ? last : NULL, last->depth);
		at = put_call(tree, &line, at, last, leaf ? ";" : " {");
		line_end(&line, stpcpy(at, leaf && last->cut ? " /* cut */\n" : "\n"));
	}
	tree->pending = false;
	tree->count -= leaf;
	while (tree->count && (last = tree->open[tree->count - 1])->depth >= depth) {
		at = put_margin(tree, &line, last, last->depth);
		print_comment(tree, &line, stpcpy(at, "} "), last);
		tree->count--;
	}
}

static void print_tree_slice(struct slice_list *list, struct track *track,
			     const struct listed_slice *slice, uint64_t number)
{
	struct tree_output *tree = (struct tree_output *)list;
	FILE *out = list->output.text;
	struct line line;

	if (!number)
		fputs("# DURATION     TID     FUNCTION\n", out);
	settle(tree, tree->track == track ? slice->depth : 0);
	if (tree->track && tree->track != track)
		putc('\n', out);
	tree->track = track;
	if (slice->symbol) {
		*ARRAY_ADD(tree->open, tree->count, tree->room) = slice;
		tree->pending = true;
	} else {
		print_comment(tree, &line, put_margin(tree, &line, NULL, slice->depth), slice);
	}
}

/* ---- Other events ---------------------------------------------------------- */

static void print_tree_event(struct slice_list *list, const struct track_event *event)
{
	static const char *const kinds[TRACK_EVENT_KINDS] = {
		[TRACK_BEGIN] = "begin ",
		[TRACK_END] = "end",
		[TRACK_ASYNC_BEGIN] = "begin ",
		[TRACK_ASYNC_END] = "end ",
	};
	const struct stored_track *track = event_store_track(&list->events, event->track);
	FILE *out = list->output.text;

	fprintf(out, "/* %s s ", moment_text(event->time).text);
	if (track->name && track->name->length)
		name_print(track->name, out);
	else
		fprintf(out, "%" PRIu64 "/%" PRIu64, event->track.pid, event->track.tid);
	fprintf(out, ": %s", kinds[event->kind] ?: "");
	escaped_text_print(event->name.at, event->name.length, out);
	if (list->level != OPTION_ARGS_NONE || event->kind == TRACK_COUNTER)
		event_args_print(event, false, out);
	fputs(" */\n", out);
}

static void print_tree(struct format_output *output)
{
	struct tree_output *tree = (struct tree_output *)output;

	function_labels_make(&tree->labels, &tree->functions, tree->list.sites.names);
	slice_list_print(&tree->list, print_tree_slice);
	settle(tree, 0);
	event_store_sort(&tree->list.events);
	if (tree->list.events.count)
		fputs("\n# EVENTS\n", output->text);
	slice_list_print_events(&tree->list, print_tree_event);
}

static void release_tree(struct format_output *output)
{
	struct tree_output *tree = (struct tree_output *)output;

	free(tree->open);
	function_table_release(&tree->functions);
	function_labels_release(&tree->labels);
	slice_list_release(output);
}

const struct output_format format_tree = {
	.name = "tree",
	.lines = true,
	.slices = SLICES_SORTED,
	.cpu_events = true,
	.size = sizeof(struct tree_output),
	.open = open_tree,
	.finish = print_tree,
	.release = release_tree,
};
