/* SPDX-License-Identifier: MIT */
#include "src/formats/slice_output.h"

#include "src/formats/format_speedscope.h"
#include "src/formats/format_svg.h"

bool slice_output_is(enum output_format format)
{
	return format == FORMAT_CHROME || format == FORMAT_FOLDED || format == FORMAT_FUNCTIONS ||
	       format == FORMAT_SPEEDSCOPE || format == FORMAT_SVG;
}

int slice_output_init(struct slice_output *output, const struct options *options, FILE *out,
		      struct name_table *names, struct slice_sink *tail, struct error *err)
{
	*output = (struct slice_output){ .options = options, .out = out };
	switch (options->format) {
	case FORMAT_CHROME:
		format_chrome_init(&output->chrome, out, options->args);
		*tail = format_chrome_sink(&output->chrome);
		break;
	case FORMAT_FOLDED:
		format_folded_init(&output->folded, names);
		*tail = format_folded_sink(&output->folded);
		break;
	case FORMAT_FUNCTIONS:
		*tail = format_functions_sink(&output->functions);
		break;
	case FORMAT_SPEEDSCOPE:
	case FORMAT_SVG:
		if (slice_store_init(&output->spool, names, err) < 0)
			return -1;
		*tail = slice_store_sink(&output->spool, false);
		break;
	default:
		break;
	}
	return 0;
}

static enum output_format format_of(const struct slice_output *output)
{
	return output->options ? output->options->format : FORMAT_NONE;
}

uint64_t slice_output_slices(const struct slice_output *output)
{
	switch (format_of(output)) {
	case FORMAT_CHROME:
		return output->chrome.slices;
	case FORMAT_FOLDED:
		return output->folded.slices;
	case FORMAT_FUNCTIONS:
		return output->functions.slices;
	case FORMAT_SPEEDSCOPE:
	case FORMAT_SVG:
		return output->spool.slices;
	default:
		return 0;
	}
}

int slice_output_finish(struct slice_output *output, struct error *err)
{
	switch (format_of(output)) {
	case FORMAT_CHROME:
		format_chrome_finish(&output->chrome);
		break;
	case FORMAT_FOLDED:
		format_folded_print(&output->folded, output->out);
		break;
	case FORMAT_FUNCTIONS:
		format_functions_print(&output->functions, output->options->select.order,
				       output->out);
		break;
	case FORMAT_SPEEDSCOPE:
		if (slice_store_end(&output->spool, err) < 0)
			return -1;
		format_speedscope_print(&output->spool, output->options->input, output->out);
		break;
	case FORMAT_SVG:
		if (slice_store_end(&output->spool, err) < 0)
			return -1;
		format_svg_print(&output->spool, output->out);
		break;
	default:
		break;
	}
	return 0;
}

void slice_output_release(struct slice_output *output)
{
	switch (format_of(output)) {
	case FORMAT_FOLDED:
		format_folded_release(&output->folded);
		break;
	case FORMAT_FUNCTIONS:
		format_functions_release(&output->functions);
		break;
	case FORMAT_SPEEDSCOPE:
	case FORMAT_SVG:
		slice_store_release(&output->spool);
		break;
	default:
		break;
	}
	*output = (struct slice_output){ 0 };
}
