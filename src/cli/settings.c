/* SPDX-License-Identifier: MIT */
/* Read options from the user's configuration file and from a string. */
#include "src/cli/command_line.h"

#define FILE_MOST 65536

static const char blanks[] = " \t\r\n";

static char *find_config(void)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	bool own = config && *config == '/';

	if (!own && (!home || !*home))
		return NULL;
	return alloc_text("%s%s/ptrace2ftf/config", own ? config : home, own ? "" : "/.config");
}

static void fail(const char *path, const char *reason)
{
	message_print_error("cannot read '%s': %s\n", path, reason);
	exit(EXIT_FAILED);
}

char *settings_read_file(char **path)
{
	char *text = alloc_bytes(FILE_MOST + 1);
	size_t size;
	FILE *in;

	text[0] = 0;
	*path = find_config();
	in = *path ? file_use_open_stream(*path) : NULL;
	if (!in && *path && errno != ENOENT && errno != ENOTDIR)
		fail(*path, strerror(errno));
	if (!in)
		return text;
	size = fread(text, 1, FILE_MOST, in);
	if (size == FILE_MOST)
		fail(*path, "it is not a configuration file");
	text[size] = 0;
	if (ferror(in))
		fail(*path, strerror(errno));
	fclose(in);
	return text;
}

/* Remove blanks at both ends. */
static char *trim(char *text)
{
	size_t length;

	text += strspn(text, blanks);
	length = strlen(text);
	while (length && strchr(blanks, text[length - 1]))
		text[--length] = 0;
	return text;
}

void settings_parse(char *text, bool lines, const char *source, settings_fn *take, void *context)
{
	char *rest = text, *piece, *argument;

	while ((piece = strsep(&rest, lines ? "\n" : blanks))) {
		piece = trim(piece);
		if (!*piece || (lines && *piece == '#'))
			continue;
		argument = strchr(piece, '=');
		if (argument)
			*argument++ = 0;
		if (!lines && starts_with(piece, "--"))
			piece += 2;
		take(context, trim(piece), argument ? trim(argument) : NULL, source);
	}
}
