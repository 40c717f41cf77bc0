/* SPDX-License-Identifier: MIT */
/* Read the list of --files0-from. */
#include "src/cli/command_line.h"

#include "src/cli/commands.h"

/* Limit of a list: a million names of 64 bytes. */
#define LIST_MOST ((size_t)64 << 20)

/*
 * Read all names into options->list.  Returns its bytes.  Each byte is checked as it is read: a
 * list may be any file, and endless.
 */
static size_t read_names(struct options *options, FILE *in)
{
	const char *path = options->files_from;
	size_t size = 0, room = 0, name = 0, count = 1;

	for (int c = getc(in); c != EOF || size > name; c = getc(in)) {
		*ARRAY_ADD(options->list, size, room) = c == EOF ? 0 : (char)c;
		if (options->list[size - 1] && size - name > PATH_MAX)
			usage_error("--files0-from: the name %zu in '%s' has more than %d bytes",
				    count, path, PATH_MAX);
		if (size > LIST_MOST)
			usage_error("--files0-from: '%s' has more than %zu MiB; name fewer files",
				    path, LIST_MOST >> 20);
		if (options->list[size - 1])
			continue;
		if (size - name == 1)
			usage_error("--files0-from: the name %zu in '%s' is empty", count, path);
		name = size;
		count++;
	}
	return size;
}

void input_list_read(struct options *options)
{
	const char *path = options->files_from;
	FILE *in = file_use_open_stream(path);
	size_t size;
	size_t room, count;
	char **inputs;

	if (!in)
		usage_error("--files0-from: %s: %s", path, strerror(errno));
	size = read_names(options, in);
	if (ferror(in))
		usage_error("--files0-from: %s: %s", path, strerror(errno));
	fclose(in);
	room = (size_t)options->input_count;
	count = room;
	if (!count && !size)
		usage_error("no input: '%s' is empty", options->files_from);
	inputs = alloc_zeroed(room + 1, sizeof(*inputs));
	if (count)
		memcpy(inputs, options->inputs, count * sizeof(*inputs));
	for (char *name = options->list; name < options->list + size; name += strlen(name) + 1) {
		*ARRAY_ADD(inputs, count, room) = name;
	}
	options->inputs = options->listed = inputs;
	options->input_count = (int)count;
	options->input = inputs[0];
}
