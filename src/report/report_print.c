/* SPDX-License-Identifier: MIT */
/* Print the text of -v and -vv from the parts of the JSON. */

#include "src/formats/text/any_text.h"
#include "src/report/report.h"

/* Print `before` and a text, unless it is empty. */
static void print_text(const json_t *object, const char *key, const char *before, FILE *out)
{
	const char *text = json_value_text(object, key);

	if (!*text)
		return;
	printable_printf(out, "%s%s", before, text);
}

static void print_phases(const json_t *parts, FILE *out)
{
	size_t index;
	json_t *phase;

	fputs("phases:", out);
	json_array_foreach(json_object_get(parts, "phases"), index, phase)
		fprintf(out, "%s %s %.3f s", index ? "," : "", json_value_text(phase, "name"),
			json_real_value(json_object_get(phase, "seconds")));
	putc('\n', out);
}

static void print_streams(const json_t *parts, FILE *out)
{
	static const char *const counts[][2] = {
		{ "bytes_total", "bytes of trace, " },
		{ "bytes_decoded", "decoded, " },
		{ "bytes_skipped", "skipped, " },
		{ "bytes_lost", "lost, " },
		{ "bytes_missing", "missing, " },
		{ "bytes_repeated", "recorded twice; " },
		{ "events", "events\n" },
	};
	size_t index;
	json_t *stream;

	json_array_foreach(json_object_get(parts, "streams"), index, stream)
	{
		const char *key = json_is_null(json_object_get(stream, "cpu")) ? "tid" : "cpu";

		fprintf(out, "stream of %s %" JSON_INTEGER_FORMAT ": ", key,
			json_value_number(stream, key));
		for (size_t i = 0; i < COUNT_OF(counts); i++)
			fprintf(out, "%" JSON_INTEGER_FORMAT " %s",
				json_value_number(stream, counts[i][0]), counts[i][1]);
	}
}

static void print_file(const json_t *file, bool all, FILE *out)
{
	bool used = json_is_true(json_object_get(file, "used"));

	if (!used && !all)
		return;
	printable_printf(out, "file %s: %s", json_value_text(file, "path"),
			 json_value_text(file, "state"));
	if (strcmp(json_value_text(file, "file"), json_value_text(file, "path")) != 0)
		print_text(file, "file", " as ", out);
	if (used)
		fprintf(out, ", names: %s (%" JSON_INTEGER_FORMAT ")",
			json_value_text(file, "names"), json_value_number(file, "symbols"));
	else
		fputs(", not used", out);
	if (json_is_true(json_object_get(file, "lines")))
		fputs(", lines", out);
	print_text(file, "debug_file", ", debug file ", out);
	print_text(file, "build_id", ", build id ", out);
	print_text(file, "refused", ", refused: ", out);
	putc('\n', out);
}

static void print_threads(const json_t *parts, FILE *out)
{
	size_t index, at;
	json_t *thread, *name;

	json_array_foreach(json_object_get(parts, "threads"), index, thread)
	{
		fprintf(out, "thread %" JSON_INTEGER_FORMAT "/%" JSON_INTEGER_FORMAT ":",
			json_value_number(thread, "pid"), json_value_number(thread, "tid"));
		json_array_foreach(json_object_get(thread, "names"), at, name)
			printable_printf(out, " %s", json_string_value(name));
		putc('\n', out);
	}
}

static void print_recording(const json_t *recording, FILE *out)
{
	static const char *const keys[][2] = {
		{ "command_line", "recorded by: " },
		{ "hostname", "recorded on: " },
		{ "os_release", "kernel: " },
		{ "cpu", "cpu: " },
	};

	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		print_text(recording, keys[i][0], keys[i][1], out);
		if (*json_value_text(recording, keys[i][0]))
			putc('\n', out);
	}
}

void report_print(const struct report *report, FILE *out)
{
	const json_t *parts = report->parts;
	size_t index;
	json_t *file;

	if (!report->options->verbose)
		return;
	print_phases(parts, out);
	print_streams(parts, out);
	json_array_foreach(json_object_get(parts, "files"), index, file)
		print_file(file, report->options->verbose > 1, out);
	if (report->options->verbose == 1)
		return;
	print_threads(parts, out);
	print_recording(json_object_get(parts, "recording"), out);
}
