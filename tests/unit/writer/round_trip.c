/* SPDX-License-Identifier: MIT */
#include "tests/unit/writer/round_trip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reader/trace_print.h"
#include "tests/support/unit.h"

struct trace trace;

void trace_begin(const char *suffix)
{
	struct ftf_error err;
	int fd;

	free(trace.bytes);
	free(trace.records);
	free(trace.slices);
	free(trace.names);
	memset(&trace, 0, sizeof(trace));
	snprintf(trace.path, sizeof(trace.path), "/tmp/ptrace2ftf-XXXXXX%s", suffix);
	fd = mkstemps(trace.path, (int)strlen(suffix));
	ck_assert_int_ge(fd, 0);
	close(fd);
	trace.writer = ftf_open(trace.path, &(struct ftf_options){ .provider = "test" }, &err);
	ck_assert_ptr_nonnull(trace.writer);
	ftf_set_strict(trace.writer, true);
}

void trace_close(void)
{
	struct ftf_error err = { 0 };

	ck_assert_msg(ftf_close(trace.writer, &err) == 0, "%s", err.text);
	trace.writer = NULL;
}

void trace_load(void)
{
	FILE *file = fopen(trace.path, "rb");

	ck_assert_ptr_nonnull(file);
	fseek(file, 0, SEEK_END);
	trace.size = (size_t)ftell(file);
	rewind(file);
	trace.bytes = malloc(trace.size + 1);
	ck_assert_uint_eq(fread(trace.bytes, 1, trace.size, file), trace.size);
	fclose(file);
	unlink(trace.path);
}

/* Without the "0x%08x " before each line: byte offsets are not tested. */
static void print_record(FILE *out, const struct trace_record *record)
{
	char *line;
	size_t size;
	FILE *stream = open_memstream(&line, &size);

	trace_print_record(stream, record);
	fclose(stream);
	fputs(strchr(line, ' ') + 1, out);
	free(line);
}

static void take(const struct trace_record *record, FILE *records, FILE *names)
{
	switch (record->kind) {
	case TRACE_STRING:
		trace.strings++;
		return;
	case TRACE_THREAD:
		trace.threads++;
		return;
	case TRACE_PROVIDER_SECTION:
		trace.sections++;
		return;
	case TRACE_MAGIC:
	case TRACE_PROVIDER_INFO:
	case TRACE_INITIALIZATION:
		return;
	default:
		print_record(records, record);
		trace_print_name(names, record);
	}
}

/* The writer writes nothing that is wrong, unknown, or refused by Perfetto. */
static const char *trace_fault_of(const struct trace_record *record)
{
	if (record->problem[0])
		return record->problem;
	return record->refusal[0] ? record->refusal : record->unknown;
}

static void read_all(FILE *records, FILE *names, struct trace_slices *slices)
{
	static struct trace_record record;
	struct error err = { 0 };
	int status;

	ck_assert_int_eq(trace_reader_open(&trace.reader, trace.path, &err), 0);
	while ((status = trace_reader_next(&trace.reader, &record, &err)) == 1) {
		trace_slices_add(slices, &record);
		ck_assert_msg(!trace_fault_of(&record)[0], "%s at 0x%llx", trace_fault_of(&record),
			      (unsigned long long)record.offset);
		take(&record, records, names);
	}
	ck_assert_msg(status == 0, "%s", err.text);
	ck_assert_msg(trace_slices_finish(slices, &err) == 0, "%s", err.text);
	trace_reader_close(&trace.reader);
}

void trace_finish(void)
{
	struct trace_slices slices = { .keep = true };
	size_t size;
	FILE *records = open_memstream(&trace.records, &size);
	FILE *names = open_memstream(&trace.names, &size);
	FILE *out = open_memstream(&trace.slices, &size);

	trace_close();
	read_all(records, names, &slices);
	trace_load();
	trace_slices_print(&slices, out);
	trace_slices_release(&slices);
	fclose(records);
	fclose(names);
	fclose(out);
}

/* Unknown records are no errors: "?? " precedes them, and "?! " those that Perfetto refuses. */
static const char *unknown_mark(const struct trace_record *record)
{
	if (record->problem[0])
		return "";
	return record->refusal[0] ? "?! " : "?? ";
}

const char *trace_problem_of(const void *bytes, size_t size)
{
	static struct trace_record record;
	static struct error err;
	struct trace_slices slices = { 0 };
	char path[] = "/tmp/ptrace2ftf-XXXXXX";
	int fd = mkstemp(path), status;

	memset(&err, 0, sizeof(err));
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	close(fd);
	ck_assert_int_eq(trace_reader_open(&trace.reader, path, &err), 0);
	while ((status = trace_reader_next(&trace.reader, &record, &err)) == 1) {
		trace_slices_add(&slices, &record);
		if (trace_fault_of(&record)[0])
			error_set(&err, ERROR_FORMAT, "%s%s", unknown_mark(&record),
				  trace_fault_of(&record));
	}
	if (status == 0)
		trace_slices_finish(&slices, &err);
	trace_slices_release(&slices);
	trace_reader_close(&trace.reader);
	unlink(path);
	return err.text;
}
