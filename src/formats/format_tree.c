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
 * The last line ends with a C comment. Slices without a function have no parentheses; instants and
 * uncertain facts are comments.
 */

#include "src/formats/slice_list.h"
#include "src/formats/text/any_text.h"

struct tree_output {
	struct slice_list list;           /* first */
	struct track *track;              /* of the last slice, or NULL */
	const struct listed_slice **open; /* owned: the last slice and its callers */
	size_t count, room;
	bool pending; /* the last slice is not printed yet */
};

/* Print the columns before a name, with the time of `ended` unless it is NULL. */
static void print_margin(const struct tree_output *tree, const struct listed_slice *ended,
			 uint32_t depth)
{
	static const char *const units[] = { "us", "ms", " s" };
	uint64_t whole = ended ? (ended->end - ended->begin) / 1000 : 0;
	uint64_t rest = ended ? (ended->end - ended->begin) % 1000 : 0;
	FILE *out = tree->list.output.text;
	int unit = 0;

	for (; whole >= 1000 && unit < 2; unit++) {
		rest = whole % 1000;
		whole /= 1000;
	}
	if (ended)
		fprintf(out, "%4" PRIu64 ".%03" PRIu64 " %s", whole, rest, units[unit]);
	else
		fprintf(out, "%11s", "");
	fprintf(out, " [%6d] | %*s", tree->track->tid, 2 * (int)depth, "");
}

static void print_tree_name(const struct listed_slice *slice, FILE *out)
{
	const struct name *name = listed_name(slice);

	escaped_text_print(name->text, name->length, out);
}

static void print_comment(const char *text, FILE *out)
{
	fprintf(out, " /* %s */", text);
}

static void print_call(const struct listed_slice *slice, const char *end, FILE *out)
{
	static const struct {
		enum slice_flags flag;
		enum slice_arg_key key;
	} marks[] = { { SLICE_INFERRED_START, SLICE_ARG_INFERRED },
		      { SLICE_UNCERTAIN_LEVEL, SLICE_ARG_UNCERTAIN },
		      { SLICE_ESTIMATED_TIME, SLICE_ARG_ESTIMATED } };

	print_tree_name(slice, out);
	if (slice->symbol->kind < SYMBOL_SPECIAL)
		fputs("()", out);
	fputs(end, out);
	for (size_t i = 0; i < COUNT_OF(marks); i++)
		if (slice->flags & marks[i].flag)
			print_comment(slice_arg_text(marks[i].key), out);
}

/* Print the pending slice, and the ends of slices that do not contain the next one. */
static void settle(struct tree_output *tree, uint32_t depth)
{
	const struct listed_slice *last = tree->count ? tree->open[tree->count - 1] : NULL;
	bool leaf = tree->pending && last->depth >= depth;
	FILE *out = tree->list.output.text;

	if (tree->pending) {
		print_margin(tree, leaf ? last : NULL, last->depth);
		print_call(last, leaf ? ";" : " {", out);
		if (leaf && last->cut)
			print_comment("cut", out);
		putc('\n', out);
	}
	tree->pending = false;
	tree->count -= leaf;
	while (tree->count && (last = tree->open[tree->count - 1])->depth >= depth) {
		print_margin(tree, last, last->depth);
		fputs("} /* ", out);
		print_tree_name(last, out);
		fputs(last->cut ? ", cut */\n" : " */\n", out);
		tree->count--;
	}
}

static void print_tree_slice(struct slice_list *list, struct track *track,
			     const struct listed_slice *slice, uint64_t number)
{
	struct tree_output *tree = (struct tree_output *)list;
	FILE *out = list->output.text;

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
		print_margin(tree, NULL, slice->depth);
		fputs("/* ", out);
		print_tree_name(slice, out);
		fputs(" */\n", out);
	}
}

static int print_tree(struct format_output *output, struct error *err)
{
	(void)err;
	slice_list_print((struct slice_list *)output, print_tree_slice);
	settle((struct tree_output *)output, 0);
	return 0;
}

static void release_tree(struct format_output *output)
{
	free(((struct tree_output *)output)->open);
	slice_list_release(output);
}

const struct output_format format_tree = {
	.name = "tree",
	.lines = true,
	.slices = SLICES_SORTED,
	.size = sizeof(struct tree_output),
	.open = slice_list_open,
	.finish = print_tree,
	.release = release_tree,
};
