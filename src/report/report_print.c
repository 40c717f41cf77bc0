/* SPDX-License-Identifier: MIT */
/* Print the text of -v and -vv from the parts of the JSON. */

#include "src/formats/text/any_text.h"
#include "src/formats/text/json_print.h"
#include "src/report/report.h"

static void print_file(const json_t *file, bool all, FILE *out)
{
	bool used = json_is_true(json_object_get(file, "used"));

	if (!used && !all)
		return;
	json_print(out, file, 0, "file {path}: {state}");
	if (strcmp(json_value_text(file, "file"), json_value_text(file, "path")) != 0)
		json_print(out, file, 0, "{file?} as {file}");
	json_print(out, file, 0, used ? ", names: {names} ({symbols})" : ", not used");
	json_print(out, file, 0,
		   "{lines?}, lines{debug_file?}, debug file {debug_file}{build_id?}, build id "
		   "{build_id}{refused?}, refused: {refused}{?}\n");
}

static void print_threads(const json_t *parts, FILE *out)
{
	size_t index, at;
	json_t *thread, *name;

	json_array_foreach(json_object_get(parts, "threads"), index, thread)
	{
		json_print(out, thread, 0, "thread {pid}/{tid}:");
		json_array_foreach(json_object_get(thread, "names"), at, name)
			printable_printf(out, " %s", json_string_value(name));
		putc('\n', out);
	}
}

void report_print(const struct report *report, FILE *out)
{
	const json_t *parts = report->parts;
	size_t index;
	json_t *file;
	json_t *phase;
	json_t *stream;

	if (!report->options->verbose)
		return;
	fputs("phases:", out);
	json_array_foreach(json_object_get(parts, "phases"), index, phase)
		fprintf(out, "%s %s %.3f s", index ? "," : "", json_value_text(phase, "name"),
			json_real_value(json_object_get(phase, "seconds")));
	putc('\n', out);
	json_array_foreach(json_object_get(parts, "streams"), index, stream)
	{
		json_print(out, stream, 0,
			   json_is_null(json_object_get(stream, "cpu")) ? "stream of tid {tid}: "
									: "stream of cpu {cpu}: ");
		json_print(out, stream, 0,
			   "{bytes_total} bytes of trace, {bytes_decoded} decoded, {bytes_skipped} "
			   "skipped, {bytes_lost} lost, {bytes_missing} missing, {bytes_repeated} "
			   "recorded twice; {events} events\n");
	}
	json_array_foreach(json_object_get(parts, "files"), index, file)
		print_file(file, report->options->verbose > 1, out);
	if (report->options->verbose == 1)
		return;
	print_threads(parts, out);
	json_print(
		out, json_object_get(parts, "recording"), 0,
		"{command_line?}recorded by: {command_line}\n{hostname?}recorded on: {hostname}\n"
		"{os_release?}kernel: {os_release}\n{cpu?}cpu: {cpu}\n");
}
