/* SPDX-License-Identifier: MIT */
/*
 * `--format=slices`: one line per finished slice,
 * `pid/tid depth begin_ns end_ns name key=value...`, in the order of slice_list.h.
 *
 * In names and values, control characters and backslashes become \xNN.
 */

#include "src/formats/slice_list.h"
#include "src/formats/text/any_text.h"

static void print_slice(struct slice_list *list, struct track *track,
			const struct listed_slice *slice, uint64_t number)
{
	const struct name *name = listed_name(slice);
	struct slice_args args;
	FILE *out = list->output.text;

	(void)number;
	fprintf(out, "%d/%d %" PRIu32 " %" PRIu64 " %" PRIu64 " ", track->pid, track->tid,
		slice->depth, slice->begin, slice->end);
	escaped_text_print(name->text, name->length, out);
	if (slice->symbol) {
		slice_list_args(list, slice, &args);
		for (size_t i = 0; i < args.count; i++) {
			fprintf(out, " %s=", slice_arg_text(args.list[i].key));
			slice_arg_print(&args.list[i], false, out);
		}
	}
	putc('\n', out);
}

static int print_slices(struct format_output *output, struct error *err)
{
	(void)err;
	slice_list_print((struct slice_list *)output, print_slice);
	return 0;
}

const struct output_format format_slices = {
	.name = "slices",
	.lines = true,
	.slices = SLICES_SORTED,
	.cpu_events = true,
	.size = sizeof(struct slice_list),
	.open = slice_list_open,
	.finish = print_slices,
	.release = slice_list_release,
};
