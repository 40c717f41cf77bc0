/* SPDX-License-Identifier: MIT */
/* Stores all slices, for formats that print one thread after another. */
#ifndef SRC_FORMATS_STORED_OUTPUT_H
#define SRC_FORMATS_STORED_OUTPUT_H

#include "src/formats/output_format.h"
#include "src/slices/slice_store.h"

struct stored_output {
	struct format_output output; /* first */
	struct slice_store store;
	const char *input;   /* borrowed: the recording's path */
	struct output *file; /* borrowed */
};

/* `open` of struct output_format: the output is a struct stored_output. */
struct format_output *stored_output_open(const struct format_request *request, struct error *err);

/* `release` of struct output_format. */
void stored_output_release(struct format_output *output);

#endif
