/* SPDX-License-Identifier: MIT */
/* Properties of the options as a whole. */
#include "src/options/options.h"

#include "base/io/output_path.h"

static bool output_is_directory(const struct options *options)
{
	return options->output && options->output != options->beside &&
	       output_path_is_directory(options->output);
}

bool options_caches(const struct options *options)
{
	return !options->no_cache && !options->symfs;
}

bool options_trace_slow(const struct options *options)
{
	return options->input && options->slow.listed && output_is_directory(options);
}

uint64_t options_max_stack(const struct options *options)
{
	return options->max_stack ? options->max_stack : MAX_STACK_DEFAULT;
}

bool options_is_batch(const struct options *options)
{
	return options->input && !options_trace_slow(options) &&
	       (options->output_pattern || options->files_from || options->apart ||
		output_is_directory(options));
}

bool clock_offsets_read(struct clock_offsets *offsets, const char *text)
{
	bool mono = starts_with(text, "mono="), negative;
	uint64_t ns;

	if (!mono && !starts_with(text, "real="))
		return false;
	text += 5;
	negative = *text == '-';
	if (!selection_duration(text + (*text == '-' || *text == '+'), &ns))
		return false;
	*(mono ? &offsets->has_mono : &offsets->has_real) = true;
	*(mono ? &offsets->mono : &offsets->real) = negative ? -(int64_t)ns : (int64_t)ns;
	return true;
}

void options_release(struct options *options)
{
	selection_release(&options->select);
	free(options->fail_if.patterns);
	for (int i = 0; i < options->word_count; i++)
		free(options->words[i]);
	free(options->words);
	free(options->beside);
	free(options->overlays);
	free(options->list);
	free(options->listed);
	free(options->side_words);
	for (int i = 0; i < 3; i++)
		free(options->settings[i]);
	*options = (struct options){ 0 };
}
