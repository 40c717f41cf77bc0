/* SPDX-License-Identifier: MIT */
/* Writes a line for each slow call: a table with tabs, and JSON. */
#include "src/batch/slow_index.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/io/output.h"
#include "src/batch/batch_line.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/json_value.h"

#define QUERY_SIZE 200

static const char *name_of(const struct slow_trace *trace)
{
	return strrchr(trace->path, '/') + 1;
}

/*
 * What Perfetto's page takes behind "#!/?url=...&" to show the call and select its slice (its
 * docs/visualization/deep-linking-to-perfetto-ui.md).
 */
static void make_query(char query[QUERY_SIZE], const struct slow_trace *trace)
{
	snprintf(query, QUERY_SIZE,
		 "visStart=%" PRIu64 "&visEnd=%" PRIu64 "&ts=%" PRIu64 "&dur=%" PRIu64
		 "&pid=%" PRId64 "&tid=%" PRId64,
		 trace->view_from, trace->view_to, trace->begin, trace->duration,
		 (int64_t)json_value_number(trace->call, "pid"),
		 (int64_t)json_value_number(trace->call, "tid"));
}

/* ---- index.tsv ------------------------------------------------------------ */

static void print_field(const struct slow_trace *trace, const char *key, FILE *out)
{
	const json_t *value = json_object_get(trace->call, key);

	if (json_is_string(value))
		escaped_text_print(json_string_value(value), json_string_length(value), out);
	else if (json_is_integer(value))
		fprintf(out, "%" PRId64, (int64_t)json_integer_value(value));
	else if (json_is_boolean(value))
		fputs(json_is_true(value) ? "yes" : "no", out);
	putc('\t', out);
}

static void print_table(const struct slow_trace *traces, size_t count, FILE *out)
{
	static const char *const keys[] = { "function",    "process",    "thread",      "pid",
					    "tid",         "begin_ns",   "duration_ns", "insns",
					    "untraced_ns", "begin_seen", "end_seen" };
	char query[QUERY_SIZE];

	fputs("rank\tfile\t", out);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		fprintf(out, "%s\t", keys[i]);
	fputs("status\tquery\n", out);
	for (size_t n = 0; n < count; n++) {
		fprintf(out, "%zu\t%s\t", n + 1, name_of(&traces[n]));
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			print_field(&traces[n], keys[i], out);
		make_query(query, &traces[n]);
		fprintf(out, "%d\t%s\n", traces[n].status, query);
	}
}

/* ---- index.jsonl ---------------------------------------------------------- */

static void print_line(const struct slow_trace *trace, size_t rank, FILE *out)
{
	json_t *line = json_object();
	char query[QUERY_SIZE];

	make_query(query, trace);
	json_object_set_new(line, "rank", json_integer((json_int_t)rank));
	json_object_set_new(line, "file", batch_line_text(name_of(trace)));
	json_object_update(line, (json_t *)trace->call);
	json_object_set_new(line, "status", json_integer(trace->status));
	json_object_set_new(line, "error",
			    trace->error ? batch_line_text(trace->error) : json_null());
	json_object_set_new(line, "vis_start", json_integer((json_int_t)trace->view_from));
	json_object_set_new(line, "vis_end", json_integer((json_int_t)trace->view_to));
	json_object_set_new(line, "query", json_string(query));
	json_dumpf(line, out, JSON_COMPACT | JSON_PRESERVE_ORDER);
	putc('\n', out);
	json_decref(line);
}

static void print_lines(const struct slow_trace *traces, size_t count, FILE *out)
{
	for (size_t i = 0; i < count; i++)
		print_line(&traces[i], i + 1, out);
}

/* ---- Both ----------------------------------------------------------------- */

static int write_one(const struct slow_trace *traces, size_t count, const char *path,
		     void (*print)(const struct slow_trace *, size_t, FILE *), struct error *err)
{
	struct output output;
	FILE *out;

	out = output_open_text(&output, path, 0, err);
	if (!out)
		return -1;
	print(traces, count, out);
	fclose(out); /* a write error shows in the output */
	return output_close(&output, err);
}

int slow_index_write(const struct slow_trace *traces, size_t count, const char *tsv,
		     const char *jsonl, struct error *err)
{
	if (write_one(traces, count, tsv, print_table, err) < 0)
		return -1;
	return write_one(traces, count, jsonl, print_lines, err);
}
