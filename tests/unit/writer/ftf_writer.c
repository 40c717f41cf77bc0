/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/name.h"
#include "base/output.h"
#include "tests/support/ftf_reader.h"
#include "tests/support/unit.h"
#include "writer/ftf_writer.h"

/* A trace being written to a temporary file, then read back. */
struct trace {
	char path[40];
	struct output output;
	struct ftf_writer writer;
	struct name_table names;
	uint8_t *bytes;
	size_t size;
	char *slices, *thread_names;
	struct ftf_report report;
	int status;
};

static struct trace trace;
static const struct ftf_thread thread_1 = { 0, 10, 11 };

static const struct name *name(const char *text)
{
	return name_intern_text(&trace.names, text);
}

static void begin(void)
{
	int fd;

	memset(&trace, 0, sizeof(trace));
	strcpy(trace.path, "/tmp/ptrace2ftf-XXXXXX");
	fd = mkstemp(trace.path);
	ck_assert_int_ge(fd, 0);
	close(fd);
	name_table_init(&trace.names);
	ck_assert_int_eq(output_open(&trace.output, trace.path, NULL), 0);
	ftf_writer_init(&trace.writer, &trace.output);
}

static void load(void)
{
	FILE *file = fopen(trace.path, "rb");

	ck_assert_ptr_nonnull(file);
	fseek(file, 0, SEEK_END);
	trace.size = (size_t)ftell(file);
	rewind(file);
	trace.bytes = malloc(trace.size);
	ck_assert_uint_eq(fread(trace.bytes, 1, trace.size, file), trace.size);
	fclose(file);
}

/* Close the trace and read it strictly. */
static void finish(void)
{
	size_t slices_size, names_size;
	FILE *slices = open_memstream(&trace.slices, &slices_size);
	FILE *names = open_memstream(&trace.thread_names, &names_size);

	ftf_writer_release(&trace.writer);
	ck_assert_int_eq(output_close(&trace.output, NULL), 0);
	load();
	unlink(trace.path);
	trace.status = ftf_read(trace.bytes, trace.size, &trace.report, slices, names);
	fclose(slices);
	fclose(names);
	ck_assert_msg(trace.status == 0, "%s at 0x%llx", trace.report.error,
		      (unsigned long long)trace.report.offset);
}

/*
 * The bytes of one slice, made by hand from the specification ("Record
 * header", "Provider Info Metadata", "Initialization Record", "String
 * Record", "Thread Record", "Event Record").
 */
START_TEST(a_slice_has_the_bytes_that_the_specification_gives)
{
	static const uint64_t expected[] = {
		0x0016547846040010,                 /* magic */
		0x00a0000000110030,                 /* provider info, id 1, 10 bytes of name */
		0x6632656361727470, 0x6674,         /* "ptrace2f", "tf" */
		0x0000000000120010,                 /* provider section, id 1 */
		0x0000000000000021, 1000000000,     /* initialization */
		0x0000000000010033, 10, 11,         /* thread 1 */
		0x0000000100010022, 'f',            /* string 1, 1 byte */
		0x0001000001020024, 5,              /* duration begin on thread 1, name 1, at 5 */
		0x0000000001030024, 9,              /* duration end at 9 */
	};

	begin();
	ftf_duration_begin(&trace.writer, &thread_1, 5, NULL, name("f"), NULL, 0);
	ftf_duration_end(&trace.writer, &thread_1, 9);
	finish();
	ck_assert_uint_eq(trace.size, sizeof(expected));
	ck_assert_mem_eq(trace.bytes, expected, sizeof(expected));
}
END_TEST

START_TEST(arguments_of_every_type_read_back)
{
	begin();
	const struct ftf_arg args[] = {
		{ name("a"), FTF_NULL, { 0 } },
		{ name("b"), FTF_INT32, { .integer = -7 } },
		{ name("c"), FTF_UINT32, { .word = 4000000000 } },
		{ name("d"), FTF_INT64, { .integer = -8000000000 } },
		{ name("e"), FTF_UINT64, { .word = UINT64_MAX } },
		{ name("f"), FTF_DOUBLE, { .real = 0.5 } },
		{ name("g"), FTF_STRING, { .string = name("with blank") } },
		{ name("h"), FTF_POINTER, { .word = 0x401000 } },
		{ name("i"), FTF_KOID, { .word = 77 } },
		{ name("j"), FTF_BOOL, { .word = 1 } },
	};

	ftf_duration_begin(&trace.writer, &thread_1, 1, name("category"), name("x\ty"), args, 10);
	ftf_duration_end(&trace.writer, &thread_1, 2);
	finish();
	ck_assert_str_eq(trace.slices,
			 "10/11 0 1 2 x\\x09y a=null b=-7 c=4000000000 d=-8000000000 "
			 "e=18446744073709551615 f=0.5 g=with blank h=0x401000 i=77 j=true\n");
}
END_TEST

START_TEST(processes_and_threads_are_named)
{
	begin();
	ftf_process_name(&trace.writer, 10, name("prog"));
	ftf_thread_name(&trace.writer, &thread_1, name("worker"), name("process"));
	finish();
	ck_assert_str_eq(trace.thread_names, "process 10 prog\nthread 11 worker process=10\n");
}
END_TEST

/* Three times as many names as there are numbers, in an order that takes numbers back. */
START_TEST(a_hundred_thousand_names_pass_through_32767_numbers)
{
	enum { NAMES = 100000 };
	char text[40], *line;

	begin();
	for (int i = 0; i < NAMES; i++) {
		struct ftf_arg arg = { name("key"), FTF_STRING, { .string = name("hot value") } };

		snprintf(text, sizeof(text), "function %d", i);
		ftf_duration_begin(&trace.writer, &thread_1, (uint64_t)i, NULL, name(text), &arg, 1);
		ftf_duration_end(&trace.writer, &thread_1, (uint64_t)i);
	}
	finish();
	line = trace.slices;
	for (int i = 0; i < NAMES; i++) {
		int length = snprintf(text, sizeof(text), "10/11 0 %d %d function %d key=", i, i, i);

		ck_assert_int_eq(strncmp(line, text, (size_t)length), 0);
		ck_assert_int_eq(strncmp(line + length, "hot value\n", 10), 0);
		line += length + 10;
	}
	/* What is used all the time keeps its number: few more definitions than names. */
	ck_assert_uint_lt(trace.report.strings, NAMES + 100);
}
END_TEST

START_TEST(a_thousand_threads_pass_through_255_numbers)
{
	begin();
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 1000; i++) {
			struct ftf_thread thread = { i, 1, 100 + i };

			if (round == 0)
				ftf_duration_begin(&trace.writer, &thread, i, NULL, name("f"), NULL, 0);
			else
				ftf_duration_end(&trace.writer, &thread, 5000 + i);
		}
	}
	finish();
	ck_assert_uint_eq(trace.report.slices, 1000);
	ck_assert_ptr_nonnull(strstr(trace.slices, "1/1099 0 999 5999 f\n"));
}
END_TEST

/* "ä" is two bytes: an odd start puts one across the limit. */
START_TEST(a_long_name_is_cut_between_characters)
{
	static char text[40001];
	char *end;

	begin();
	text[0] = 'x';
	for (size_t i = 1; i + 1 < sizeof(text); i += 2)
		memcpy(text + i, "\xc3\xa4", 2);
	text[sizeof(text) - 1] = 0;
	ftf_duration_begin(&trace.writer, &thread_1, 0, NULL, name(text), NULL, 0);
	ftf_duration_end(&trace.writer, &thread_1, 0);
	finish();
	end = strchr(trace.slices, '\n');
	ck_assert_uint_eq((size_t)(end - trace.slices) - strlen("10/11 0 0 0 "), 31999);
	ck_assert_mem_eq(end - 2, "\xc3\xa4", 2);
}
END_TEST

/* One word of a sound trace at a time is replaced by something else. */
static int read_changed(size_t word_index, uint64_t value)
{
	struct ftf_report report;
	uint8_t *copy = malloc(trace.size);
	int status;

	memcpy(copy, trace.bytes, trace.size);
	memcpy(copy + word_index * 8, &value, 8);
	status = ftf_read(copy, trace.size, &report, NULL, NULL);
	free(copy);
	return status;
}

START_TEST(the_strict_reader_refuses_what_is_wrong)
{
	struct ftf_report report;

	begin();
	ftf_duration_begin(&trace.writer, &thread_1, 5, NULL, name("f"), NULL, 0);
	ftf_duration_end(&trace.writer, &thread_1, 9);
	finish();
	ck_assert_int_eq(read_changed(13, 5), 0);
	ck_assert_int_eq(read_changed(0, 0), -1);                  /* no magic */
	ck_assert_int_eq(read_changed(6, 1000), -1);               /* other ticks */
	ck_assert_int_eq(read_changed(12, 0x0002000001020024), -1); /* undefined string */
	ck_assert_int_eq(read_changed(12, 0x0001000002020024), -1); /* undefined thread */
	ck_assert_int_eq(read_changed(12, 0x0001000001030024), -1); /* end without begin */
	ck_assert_int_eq(read_changed(14, 0x0000000001020024), -1); /* begin without end */
	ck_assert_int_eq(read_changed(15, 4), -1);                 /* time goes back */
	ck_assert_int_eq(read_changed(12, 0x0001000001020004), -1); /* size 0 */
	ck_assert_int_eq(ftf_read(trace.bytes, trace.size - 8, &report, NULL, NULL), -1);
	ck_assert_int_eq(ftf_read(trace.bytes, trace.size - 3, &report, NULL, NULL), -1);
}
END_TEST

START_TEST(a_full_disk_shows_when_the_output_is_closed)
{
	struct error err = { 0 };

	begin();
	output_abandon(&trace.output);
	unlink(trace.path);
	ck_assert_int_eq(output_open(&trace.output, "/dev/full", &err), 0);
	for (uint64_t i = 0; i < 200000; i++) {
		ftf_duration_begin(&trace.writer, &thread_1, i, NULL, name("f"), NULL, 0);
		ftf_duration_end(&trace.writer, &thread_1, i);
	}
	ck_assert(output_failed(&trace.output));
	ck_assert_int_eq(output_close(&trace.output, &err), -1);
	ck_assert_str_eq(err.text, "/dev/full: cannot write: No space left on device");
	ftf_writer_release(&trace.writer);
}
END_TEST

START_TEST(an_abandoned_output_leaves_the_old_file_and_nothing_else)
{
	char found[64];
	FILE *list;

	begin(); /* the empty file that mkstemp() made is the old one */
	output_write(&trace.output, "new", 3);
	output_abandon(&trace.output);
	snprintf(found, sizeof(found), "ls %s*", trace.path);
	list = popen(found, "r");
	ck_assert_ptr_nonnull(fgets(found, sizeof(found), list));
	ck_assert_int_eq(strncmp(found, trace.path, strlen(trace.path)), 0);
	ck_assert_int_eq(found[strlen(trace.path)], '\n');
	ck_assert_ptr_null(fgets(found, sizeof(found), list));
	pclose(list);
	unlink(trace.path);
	ftf_writer_release(&trace.writer);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ftf_writer");
	TCase *all = tcase_create("ftf_writer");

	tcase_set_timeout(all, 60);
	tcase_add_test(all, a_slice_has_the_bytes_that_the_specification_gives);
	tcase_add_test(all, arguments_of_every_type_read_back);
	tcase_add_test(all, processes_and_threads_are_named);
	tcase_add_test(all, a_hundred_thousand_names_pass_through_32767_numbers);
	tcase_add_test(all, a_thousand_threads_pass_through_255_numbers);
	tcase_add_test(all, a_long_name_is_cut_between_characters);
	tcase_add_test(all, the_strict_reader_refuses_what_is_wrong);
	tcase_add_test(all, a_full_disk_shows_when_the_output_is_closed);
	tcase_add_test(all, an_abandoned_output_leaves_the_old_file_and_nothing_else);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
