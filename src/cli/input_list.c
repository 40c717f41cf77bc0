/* SPDX-License-Identifier: MIT */
/* Read the list of --files0-from. */
#include "src/cli/command_line.h"

#include "src/cli/commands.h"

/* Limit of a list: a million names of 64 bytes. */
#define LIST_MOST ((size_t)64 << 20)

struct list {
	const char *path; /* borrowed */
	char *text;       /* owned */
	size_t size, room;
	size_t name, count; /* start of the last name, number of names before it */
};

/* Check new input at once: a list may be any file, and endless. */
static void check_names(struct list *list, size_t from)
{
	for (size_t i = from; i < list->size; i++) {
		if (list->text[i] && i - list->name < PATH_MAX)
			continue;
		if (list->text[i])
			usage_error("--files0-from: the name %zu in '%s' has more than %d bytes",
				    list->count + 1, list->path, PATH_MAX);
		if (i == list->name)
			usage_error("--files0-from: the name %zu in '%s' is empty", list->count + 1,
				    list->path);
		list->name = i + 1;
		list->count++;
	}
	if (list->size > LIST_MOST)
		usage_error("--files0-from: '%s' has more than %zu MiB; name fewer files",
			    list->path, LIST_MOST >> 20);
}

/* Read the rest of a file and append a NUL. */
static void read_all(struct list *list, FILE *in)
{
	size_t count;

	do {
		list->text = alloc_grow(list->text, &list->room, list->size + BUFSIZ + 1, 1);
		count = fread(list->text + list->size, 1, BUFSIZ, in);
		list->size += count;
		check_names(list, list->size - count);
	} while (count);
	list->text[list->size] = 0;
}

static void add_inputs(struct options *options, size_t size)
{
	size_t room = (size_t)options->input_count, count = room;
	char **inputs = alloc_zeroed(room + 1, sizeof(*inputs));

	if (count)
		memcpy(inputs, options->inputs, count * sizeof(*inputs));
	for (char *name = options->list; name < options->list + size; name += strlen(name) + 1) {
		inputs = alloc_grow(inputs, &room, count + 1, sizeof(*inputs));
		inputs[count++] = name;
	}
	if (count > INT_MAX)
		usage_error("--files0-from: too many names");
	if (!count)
		usage_error("no input: '%s' is empty", options->files_from);
	options->inputs = options->listed = inputs;
	options->input_count = (int)count;
	options->input = inputs[0];
}

void input_list_read(struct options *options)
{
	const char *path = options->files_from;
	FILE *in = file_use_open_stream(path);
	struct list list = { .path = path };

	if (!in)
		usage_error("--files0-from: %s: %s", path, strerror(errno));
	read_all(&list, in);
	options->list = list.text;
	if (ferror(in))
		usage_error("--files0-from: %s: %s", path, strerror(errno));
	fclose(in);
	add_inputs(options, list.size);
}
