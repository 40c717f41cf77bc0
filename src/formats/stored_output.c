/* SPDX-License-Identifier: MIT */
/* The output of formats that store all slices before they print. */
#include "src/formats/stored_output.h"

#include "src/options/options.h"

struct format_output *stored_output_open(const struct format_request *request, struct error *err)
{
	struct stored_output *stored = alloc_zeroed(1, sizeof(*stored));

	if (slice_store_init(&stored->store, request->names, err) < 0) {
		free(stored);
		return NULL;
	}
	stored->input = request->options->input;
	stored->file = request->output;
	stored->output.text = request->text;
	stored->output.sink = slice_store_sink(&stored->store, false, false);
	stored->output.slices = &stored->store.slices;
	return &stored->output;
}

void stored_output_release(struct format_output *output)
{
	slice_store_release(&((struct stored_output *)output)->store);
}
