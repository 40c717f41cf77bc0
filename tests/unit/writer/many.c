/* SPDX-License-Identifier: MIT */
/* More names and threads than any table holds; takes about 1 GB of memory and 10 seconds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/unit.h"
#include "tests/unit/writer/round_trip.h"

enum { NAMES = 1000000, THREADS = 100000, AGAIN = 100000 };

static int into_pipe(void *context, const void *bytes, size_t size)
{
	const char *at = bytes;

	for (ssize_t done; size; at += done, size -= (size_t)done) {
		done = write(*(int *)context, at, size);
		if (done <= 0)
			return 1;
	}
	return 0;
}

/* The name and thread of event `i`: all names in turn, then some again. */
static void choose(uint32_t i, uint32_t *name, uint32_t *thread)
{
	*name = i < NAMES ? i : (uint32_t)((uint64_t)(i - NAMES) * 2654435761 % NAMES);
	*thread = i % 7 ? i % THREADS : 3;
}

static int name_text(char *text, uint32_t name)
{
	memcpy(text, "function ", 9);
	for (int i = 0; i < 8; i++, name /= 10)
		text[9 + i] = (char)('0' + name % 10);
	return 17;
}

static void write_all(int fd)
{
	const struct ftf_destination to = { into_pipe, &fd };
	struct ftf_writer *writer =
		ftf_open_destination(&to, &(struct ftf_options){ .provider = "many" }, NULL);
	struct ftf_event event = { .time = 0 };
	uint32_t name, thread;
	char text[20];

	for (uint32_t i = 0; i < NAMES + AGAIN; i++) {
		choose(i, &name, &thread);
		event.time = i;
		event.name = ftf_name(writer, text, (size_t)name_text(text, name));
		event.thread = ftf_thread(writer, thread / 10, thread);
		ftf_instant(writer, &event);
	}
	_exit(ftf_close(writer, NULL) == 0 ? 0 : 1);
}

static void check(const struct trace_record *record, uint32_t i)
{
	uint32_t name, thread;
	char text[20];

	choose(i, &name, &thread);
	name_text(text, name);
	if (record->problem[0] || record->time != i || record->thread.tid != thread ||
	    record->thread.pid != thread / 10 || record->name.length != 17 ||
	    memcmp(record->name.at, text, 17) != 0)
		ck_abort_msg("event %u: %s", i, record->problem);
}

START_TEST(a_million_names_and_100000_threads_read_back)
{
	static struct trace_record record;
	struct error err = { 0 };
	int ends[2], status;
	char path[32];
	uint32_t count = 0;
	pid_t child;

	ck_assert_int_eq(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		close(ends[0]);
		write_all(ends[1]);
	}
	close(ends[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	ck_assert_int_eq(trace_reader_open(&trace.reader, path, &err), 0);
	while ((status = trace_reader_next(&trace.reader, &record, &err)) == 1) {
		if (record.kind == TRACE_EVENT)
			check(&record, count++);
	}
	ck_assert_msg(status == 0, "%s", err.text);
	ck_assert_uint_eq(count, NAMES + AGAIN);
	trace_reader_close(&trace.reader);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("many");
	TCase *all = tcase_create("many");

	tcase_add_test(all, a_million_names_and_100000_threads_read_back);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
