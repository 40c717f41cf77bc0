/* SPDX-License-Identifier: MIT */
/*
 * `--format=slices`: one line per finished slice,
 * `pid/tid depth begin_ns end_ns name key=value...`, in the order of slice_list.h.
 *
 * In names and values, control characters and backslashes become \xNN.
 */

#include "src/formats/slice_list.h"

static void print_slice(struct slice_list *list, struct track *track,
			const struct listed_slice *slice, uint64_t number)
{
	struct line line;
	char *at = digits_signed(line.text, track->pid);

	(void)number;
	line.out = list->output.text;
	*at++ = '/';
	at = digits_signed(at, track->tid);
	*at++ = ' ';
	at = digits_decimal(at, slice->depth);
	*at++ = ' ';
	at = digits_decimal(at, slice->begin);
	*at++ = ' ';
	at = digits_decimal(at, slice->end);
	*at++ = ' ';
	at = line_name(&line, at, listed_name(slice));
	if (slice->symbol)
		at = slice_list_args(list, slice, &line, at, false);
	*at++ = '\n';
	line_end(&line, at);
}

static void print_slices(struct format_output *output)
{
	slice_list_print((struct slice_list *)output, print_slice);
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
