/* SPDX-License-Identifier: MIT */
/* Choose the format by the name of the output. */
#include "src/cli/command_line.h"

#include <ctype.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/io/output_path.h"
#include "src/cli/commands.h"
#include "src/formats/output_format.h"

/* Additional suffixes of formats. Without --format, the first match is chosen. */
static const struct {
	const char *suffix;
	const struct output_format *format;
} aliases[] = {
	{ "json", &format_speedscope }, { "speedscope", &format_speedscope },
	{ "fxt", &format_ftf },         { "sqlite", &format_sqlite },
	{ "pb", &format_pprof },        { "pprof", &format_pprof },
	{ "lcov", &format_lcov },
};

/* Suffixes of formats that are not written. */
static const struct {
	const char *suffix, *advice;
} foreign[] = {
	{ "xz", "unknown compression; choose .gz or .zst" },
	{ "bz2", "unknown compression; choose .gz or .zst" },
	{ "lz4", "unknown compression; choose .gz or .zst" },
	{ "zip", "unknown compression; choose .gz or .zst" },
	{ "7z", "unknown compression; choose .gz or .zst" },
	{ "perfetto-trace", "Perfetto opens Fuchsia traces, too; choose a name in .ftf" },
	{ "pftrace", "Perfetto opens Fuchsia traces, too; choose a name in .ftf" },
	{ "profdata", "llvm-profdata writes it; choose a name in .prof" },
	{ "afdo", "clang reads text, too; choose a name in .prof" },
	{ "fdata", "perf2bolt writes it; choose a name in .bolt" },
	{ "data", "it is the suffix of recordings; choose a name in .ftf" },
	{ "pdf", "the picture is a page; choose a name in .html" },
	{ "png", "the picture is a page; choose a name in .html" },
	{ "svg", "the picture is a page, which browsers show; choose a name in .html" },
};

static bool has_suffix(struct text_view name, const char *suffix)
{
	size_t length = strlen(suffix);

	return name.length > length + 1 && name.at[name.length - length - 1] == '.' &&
	       strncasecmp(name.at + name.length - length, suffix, length) == 0;
}

/* Returns the last part of the path without .gz or .zst; of length 0 for a directory or "-". */
static struct text_view read_name(const char *path)
{
	struct text_view name = { path ? base_name(path) : NULL, 0 };

	if (!path || strcmp(path, "-") == 0 || output_path_is_directory(path))
		return name;
	name.length = strlen(name.at);
	if (has_suffix(name, "gz"))
		name.length -= sizeof("gz");
	else if (has_suffix(name, "zst"))
		name.length -= sizeof("zst");
	return name;
}

/* Returns whether a format's own tools choose or look for a name. */
static bool is_own_name(const struct output_format *format, struct text_view name)
{
	static const char callgrind[] = "callgrind.out";

	if (format->default_output == DEFAULT_NONE)
		return false;
	return has_suffix(name, output_format_suffix(format)) ||
	       (format == &format_callgrind && name.length >= sizeof(callgrind) - 1 &&
		memcmp(name.at, callgrind, sizeof(callgrind) - 1) == 0);
}

static bool is_named(const struct output_format *format, struct text_view name)
{
	if (is_own_name(format, name))
		return true;
	for (size_t i = 0; i < COUNT_OF(aliases); i++) {
		if (aliases[i].format == format && has_suffix(name, aliases[i].suffix))
			return true;
	}
	return false;
}

/* Returns the format that a name asks for; NULL: any. */
static const struct output_format *find_named(struct text_view name)
{
	const struct output_format *found = NULL;

	for (int i = 0; output_formats[i]; i++) {
		if (is_own_name(output_formats[i], name) &&
		    (!found || strlen(output_format_suffix(output_formats[i])) >
				       strlen(output_format_suffix(found))))
			found = output_formats[i];
	}
	if (found)
		return found;
	for (size_t i = 0; i < COUNT_OF(aliases); i++) {
		if (has_suffix(name, aliases[i].suffix))
			return aliases[i].format;
	}
	return NULL;
}

/* Returns whether the output is an answer that can be printed as JSON. */
static bool is_answer(const struct options *options)
{
	const struct output_format *format = options->format;

	if (options->command == COMMAND_DIFF)
		return !format || format == &format_ftf;
	return format && (format->answer || format->sideband) && !options_trace_slow(options);
}

/* Choose JSON for an answer by --json without FILE, or by the name. */
static bool choose_json(struct options *options, struct text_view name)
{
	bool to_stdout = options->json && strcmp(options->json, "-") == 0;

	if (!is_answer(options) || !(to_stdout || has_suffix(name, "json")))
		return false;
	options->json_answer = true;
	if (to_stdout)
		options->json = NULL;
	return has_suffix(name, "json");
}

/* Choose rows of CSV or JSON for a table by the name. */
static bool choose_rows(struct options *options, struct text_view name)
{
	if (options->format && options->format->rows && !options->json_answer)
		options->rows_as = has_suffix(name, "csv")     ? &format_csv
				   : has_suffix(name, "jsonl") ? &format_jsonl
							       : NULL;
	return options->rows_as;
}

/* Returns whether --format has a name for it. */
static bool is_choice(const struct output_format *format)
{
	for (int i = 0; output_formats[i]; i++)
		if (output_formats[i] == format)
			return true;
	return false;
}

void output_suffix_choose(struct options *options)
{
	const char *path = options->output ? options->output : options->output_pattern;
	struct text_view name = read_name(path);
	const struct output_format *named = find_named(name);

	if (options->command == COMMAND_PACK) /* any name, as a recording's */
		return;
	for (size_t i = 0; i < COUNT_OF(foreign); i++) {
		if (has_suffix(name, foreign[i].suffix))
			usage_error("cannot write '%.*s' as .%s: %s", (int)name.length, name.at,
				    foreign[i].suffix, foreign[i].advice);
	}
	if (options->input_count > 1) {
		const char *last = options->inputs[options->input_count - 1];

		/* As for cp, the last of several names may be meant as the output. */
		if (!options->output && access(last, F_OK) < 0 &&
		    (find_named(read_name(last)) || output_path_is_directory(last)))
			usage_error("there is no recording '%s'; did you mean '-o %s'?", last,
				    last);
	}
	if (choose_json(options, name) || choose_rows(options, name))
		named = NULL;
	if (!options->format && !named && options->command != COMMAND_DIFF) {
		const char *dot = name.length ? memrchr(name.at, '.', name.length) : NULL;
		size_t length = dot ? (size_t)(name.at + name.length - dot) : 0, used = 0;
		char known[1024];
		struct stat status;

		/* A suffix begins with a letter: trace.1 has none. Pipes may have any name. */
		if (dot && dot != name.at && isalpha((unsigned char)dot[1]) &&
		    (stat(path, &status) != 0 || S_ISREG(status.st_mode))) {
			for (int i = 0; output_formats[i]; i++)
				if (output_formats[i]->default_output != DEFAULT_NONE &&
				    output_formats[i] != &format_magic_trace)
					used += (size_t)snprintf(
						known + used, sizeof(known) - used, "%s.%s",
						i ? ", " : "",
						output_format_suffix(output_formats[i]));
			usage_error("cannot choose a format for '%.*s': %.*s does not name one; "
				    "choose it with -f, as in `-f functions`, or a name in %s",
				    (int)name.length, name.at, (int)length, dot, known);
		}
	}
	/* The table of a command, which --format does not choose. */
	if (named &&
	    (options->format ? !is_choice(options->format) &&
				       options->format->default_output != DEFAULT_FILE &&
				       !is_named(options->format, name)
			     : options->command == COMMAND_DIFF && named != &format_folded))
		usage_error("cannot write a table to '%.*s': the suffix is that of --format=%s; "
			    "change it",
			    (int)name.length, name.at, named->name);
	if (!options->format)
		options->format = named ? named : output_formats[0];
	else if (named && options->format->default_output != DEFAULT_NONE &&
		 !is_named(options->format, name))
		usage_error(
			"cannot write --format=%s to '%.*s': the suffix is that of --format=%s; "
			"change one of them",
			options->format->name, (int)name.length, name.at, named->name);
}
