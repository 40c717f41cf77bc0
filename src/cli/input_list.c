/* SPDX-License-Identifier: MIT */
/* Reads the list of --files0-from. */
#include "src/cli/input_list.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/io/file_use.h"

/* Returns the rest of a file with a NUL behind it, owned by the caller. */
static char *read_all(FILE *in, size_t *size)
{
	char *text = NULL;
	size_t room = 0, count;

	*size = 0;
	do {
		text = alloc_grow(text, &room, *size + BUFSIZ + 1, 1);
		count = fread(text + *size, 1, BUFSIZ, in);
		*size += count;
	} while (count);
	text[*size] = 0;
	return text;
}

static void add_inputs(struct argp_state *state, struct options *options, size_t size)
{
	size_t room = (size_t)options->input_count, count = room;
	char **inputs = alloc_zeroed(room + 1, sizeof(*inputs));

	if (count)
		memcpy(inputs, options->inputs, count * sizeof(*inputs));
	for (char *name = options->list; name < options->list + size; name += strlen(name) + 1) {
		if (!*name)
			argp_error(state, "--files0-from: name %zu in '%s' is empty",
				   count - (size_t)options->input_count + 1, options->files_from);
		inputs = alloc_grow(inputs, &room, count + 1, sizeof(*inputs));
		inputs[count++] = name;
	}
	if (count > INT_MAX)
		argp_error(state, "--files0-from: too many names");
	if (!count)
		argp_error(state, "no input: '%s' is empty", options->files_from);
	options->inputs = options->listed = inputs;
	options->input_count = (int)count;
	options->input = inputs[0];
}

void input_list_read(struct argp_state *state, struct options *options)
{
	const char *path = options->files_from;
	FILE *in = file_use_open_stream(path);
	size_t size;

	if (!in)
		argp_failure(state, EXIT_USAGE, errno, "--files0-from: %s", path);
	options->list = read_all(in, &size);
	if (ferror(in))
		argp_failure(state, EXIT_USAGE, errno, "--files0-from: %s", path);
	fclose(in);
	add_inputs(state, options, size);
}
