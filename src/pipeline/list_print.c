/* SPDX-License-Identifier: MIT */
/* Print what a recording holds, as tables. */
#include "src/pipeline/list_print.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/printable.h"
#include "src/formats/text/json_value.h"
#include "src/formats/text/short_time.h"

static uint64_t get_count(const json_t *object, const char *key)
{
	return (uint64_t)json_value_number(object, key);
}

static bool is_known(const json_t *object, const char *key)
{
	return !json_is_null(json_object_get(object, key));
}

/* Print "1.5 MiB", with blanks before it up to a width. */
static void print_bytes(uint64_t bytes, int width, FILE *out)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double value = (double)bytes;
	size_t unit = 0;

	for (; value >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
		value /= 1024;
	width -= 1 + (int)strlen(units[unit]);
	fprintf(out, "%*.*f %s", width > 0 ? width : 0, unit > 0, value, units[unit]);
}

/* Print a time as --time takes it. */
static void print_moment(const json_t *object, const char *key, FILE *out)
{
	uint64_t ns = get_count(object, key);

	if (is_known(object, key))
		fprintf(out, " %8" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
	else
		fprintf(out, " %18s", "?");
}

static void print_span(uint64_t ns, FILE *out)
{
	char text[SHORT_TIME_SIZE];

	short_time(text, (int64_t)ns);
	fputs(text, out);
}

/* The state of a file, in the words of people. */
static const char *state_text(const json_t *file)
{
	const char *state = json_value_text(file, "state");

	return strcmp(state, "not-a-file") == 0 ? "no file" : state;
}

static void print_head(const json_t *list, const char *input, FILE *out)
{
	bool full = strcmp(json_value_text(list, "kind"), "full") == 0;
	bool both = strcmp(json_value_text(list, "mode"), "both") == 0;

	printable_print(input, out);
	fputs(": ", out);
	print_bytes(get_count(list, "trace_bytes"), 0, out);
	fprintf(out, " of %s of %s code", full ? "trace" : json_value_text(list, "kind"),
		both ? "user and kernel" : json_value_text(list, "mode"));
	if (is_known(list, "begin_ns")) {
		fputs(", recorded in ", out);
		print_span(get_count(list, "end_ns") - get_count(list, "begin_ns"), out);
	}
	if (is_known(list, "resolution_ns")) {
		fputs(", with timing packets, to ", out);
		print_span(get_count(list, "resolution_ns"), out);
	}
	putc('\n', out);
	if (*json_value_text(list, "command_line")) {
		fputs("recorded by: ", out);
		printable_print(json_value_text(list, "command_line"), out);
		putc('\n', out);
	}
}

static void print_share(uint64_t bytes, uint64_t all, FILE *out)
{
	print_bytes(bytes, 10, out);
	fprintf(out, " %5.1f%%", all ? 100 * (double)bytes / (double)all : 0);
}

static void print_threads(const json_t *list, FILE *out)
{
	uint64_t all = get_count(list, "trace_bytes"), unknown = get_count(list, "unknown_bytes");
	const json_t *thread, *names;
	size_t i, j;

	fprintf(out, "\n%10s %6s %18s %18s  %s\n", "trace", "share", "first", "last",
		"thread (names pid/tid)");
	json_array_foreach(json_object_get(list, "threads"), i, thread)
	{
		print_share(get_count(thread, "trace_bytes"), all, out);
		print_moment(thread, "first_ns", out);
		print_moment(thread, "last_ns", out);
		putc(' ', out);
		names = json_object_get(thread, "names");
		for (j = 0; j < json_array_size(names); j++) {
			fputs(j ? ", " : " ", out);
			printable_print(json_string_value(json_array_get(names, j)), out);
		}
		fprintf(out, " %" JSON_INTEGER_FORMAT "/%" JSON_INTEGER_FORMAT "\n",
			json_value_number(thread, "pid"), json_value_number(thread, "tid"));
	}
	if (unknown) {
		print_share(unknown, all, out);
		fprintf(out, " %18s %18s  of no known thread\n", "?", "?");
	}
	if (get_count(list, "other_threads"))
		fprintf(out, "%" PRIu64 " other threads ran on these CPUs, and were not recorded\n",
			get_count(list, "other_threads"));
}

/* Print ", 3 WORDS" unless there are none. */
static void print_count(const json_t *buffer, const char *key, const char *words, FILE *out)
{
	if (get_count(buffer, key))
		fprintf(out, ", %" PRIu64 " %s", get_count(buffer, key), words);
}

static void print_buffers(const json_t *list, FILE *out)
{
	uint64_t all = get_count(list, "trace_bytes");
	const json_t *buffer;
	size_t i;

	fprintf(out, "\n%10s %6s  %s\n", "trace", "share", "buffer, and what it lost");
	json_array_foreach(json_object_get(list, "buffers"), i, buffer)
	{
		const char *key = is_known(buffer, "cpu") ? "cpu" : "tid";

		print_share(get_count(buffer, "trace_bytes"), all, out);
		fprintf(out, "  %s %" PRIu64, *key == 'c' ? "CPU" : "thread",
			get_count(buffer, key));
		print_count(buffer, "gaps", "gaps", out);
		print_count(buffer, "truncated", "times truncated: the buffer was full", out);
		print_count(buffer, "partial", "times partial", out);
		print_count(buffer, "collisions", "collisions", out);
		print_count(buffer, "bytes_missing", "bytes missing", out);
		putc('\n', out);
	}
}

static void print_files(const json_t *list, FILE *out)
{
	const json_t *file;
	size_t i;

	fprintf(out, "\n%-11s %-9s %s\n", "code", "names", "file");
	json_array_foreach(json_object_get(list, "files"), i, file)
	{
		fprintf(out, "%-11s %-9s ", state_text(file),
			json_is_true(json_object_get(file, "code")) ? json_value_text(file, "names")
								    : "-");
		printable_print(json_value_text(file, "path"), out);
		if (*json_value_text(file, "refused")) {
			fputs(": ", out);
			printable_print(json_value_text(file, "refused"), out);
		}
		putc('\n', out);
	}
}

void list_print(const json_t *list, const char *input, FILE *out)
{
	print_head(list, input, out);
	print_threads(list, out);
	print_buffers(list, out);
	print_files(list, out);
}
