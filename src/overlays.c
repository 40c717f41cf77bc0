/* SPDX-License-Identifier: MIT */
#include "overlays.h"

#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/output.h"
#include "overlay_dump.h"

int overlays_open(struct overlays *overlays, const struct options *options, struct diag *diag,
		  struct error *err)
{
	*overlays = (struct overlays){ .count = options->overlay_count };
	overlays->inputs = alloc_zeroed(options->overlay_count, sizeof(*overlays->inputs));
	for (size_t i = 0; i < options->overlay_count; i++)
		if (overlay_input_open(&overlays->inputs[i], &options->overlays[i], diag, err) < 0)
			return -1;
	return 0;
}

void overlays_close(struct overlays *overlays)
{
	for (size_t i = 0; i < overlays->count; i++)
		overlay_input_close(&overlays->inputs[i]);
	free(overlays->inputs);
	*overlays = (struct overlays){ 0 };
}

static int dump_all(struct overlays *overlays, const char *path, struct error *err)
{
	struct output output;
	FILE *text;

	if (output_open(&output, path ? path : "-", err) < 0)
		return -1;
	text = output_stream(&output);
	if (!text) {
		output_abandon(&output);
		return error_set_system(err, errno, "cannot open a stream");
	}
	for (size_t i = 0; i < overlays->count; i++) {
		if (overlays->count > 1)
			fprintf(text, "%s# %s\n", i ? "\n" : "", overlays->inputs[i].path);
		overlay_dump(&overlays->inputs[i], text);
	}
	fclose(text); /* what fails here shows in the output */
	return output_close(&output, err);
}

int overlays_convert(const struct options *options, struct name_table *names, struct diag *diag,
		     struct error *err)
{
	struct overlays overlays;
	int status = overlays_open(&overlays, options, diag, err);

	(void)names;
	if (status == 0 && options->format != FORMAT_EVENTS)
		status = error_set(err, ERROR_UNSUPPORTED,
				   "overlays alone have no branches: use --format=events");
	if (status == 0)
		status = dump_all(&overlays, options->output, err);
	overlays_close(&overlays);
	return status;
}
