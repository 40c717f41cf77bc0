/* SPDX-License-Identifier: MIT */
/*
 * make-trace FILE: writes a trace with every kind of record and event that Perfetto reads or
 * silently ignores.
 */
#include <stdio.h>

#include "writer/ftf.h"

static struct ftf_writer *writer;

static struct ftf_name name(const char *text)
{
	return ftf_text(writer, text);
}

static void write_slices(struct ftf_event event, const struct ftf_arg *args, size_t count)
{
	struct ftf_event other = event;

	event.name = name("outer");
	event.time = 1000;
	event.args = args;
	event.arg_count = count;
	ftf_begin(writer, &event);
	event.arg_count = 0;
	event.name = name("to inner");
	event.time = 1100;
	ftf_flow_begin(writer, &event, 5);
	event.name = name("inner");
	event.time = 1200;
	ftf_complete(writer, &event, 1800);
	event.time = 2000;
	ftf_end(writer, &event);
	other.name = name("later");
	other.time = 3000;
	ftf_begin(writer, &other);
	ftf_flow_step(writer, &other, 5);
	ftf_flow_end(writer, &other, 5);
	other.time = 4000;
	ftf_end(writer, &other);
}

static void write_others(struct ftf_event event)
{
	const struct ftf_arg value = ftf_arg_double(name("value"), 1.5);

	event.name = name("mark");
	event.time = 5000;
	ftf_instant(writer, &event);
	event.name = name("request");
	ftf_async_begin(writer, &event, 77);
	event.time = 5100;
	ftf_async_instant(writer, &event, 77);
	event.time = 5200;
	ftf_async_end(writer, &event, 77);
	event.name = name("temperature");
	event.args = &value;
	event.arg_count = 1;
	ftf_counter(writer, &event, 1);
}

static void write_scheduling(void)
{
	ftf_context_switch(writer,
			   &(struct ftf_switch){ 900, 2, FTF_STATE_RUNNING, 1, 11, INT32_MIN, 1 });
	ftf_context_switch(writer,
			   &(struct ftf_switch){ 4500, 2, FTF_STATE_BLOCKED, 11, 1, 1, INT32_MIN });
	ftf_thread_wakeup(writer, &(struct ftf_wakeup){ 4600, 2, 11, 12, 0 });
}

/* Records that libftf does not write, by hand from the specification. */
static const uint64_t other_records[] = {
	0x0000008004000046, /* "Userspace Object Record": its name is inline */
	0x401000,
	10,
	0x65646f63,         /* "code" */
	0x0101000001030068, /* "Legacy Context Switch Record": ids are inline */
	4700,
	10,
	12,
	10,
	11,
	0x0000000000130010, /* "Provider Event Metadata": a buffer of provider 1 was full */
};

int main(int argc, char **argv)
{
	struct ftf_error err;
	struct ftf_event event = { .time = 0 };
	const struct ftf_options options = {
		.provider = "make-trace",
		.clock = { .has_base = true,
			   .base_ticks = 1000,
			   .base_time = UINT64_C(1700000000000000000) },
	};

	writer = argc == 2 ? ftf_open(argv[1], &options, &err) : NULL;
	if (!writer)
		return 1;
	ftf_set_strict(writer, true);
	const struct ftf_arg args[] = {
		ftf_arg_word(name("nothing"), FTF_NULL, 0),
		ftf_arg_int32(name("line"), 12),
		ftf_arg_word(name("unsigned"), FTF_UINT32, 4000000000),
		ftf_arg_int64(name("long"), -5000000000),
		ftf_arg_word(name("wide"), FTF_UINT64, 5000000000),
		ftf_arg_double(name("real"), 0.25),
		ftf_arg_string(name("file"), name("main.c")),
		ftf_arg_pointer(name("address"), 0x401000),
		ftf_arg_word(name("thread"), FTF_KOID, 11),
		ftf_arg_word(name("yes"), FTF_BOOL, 1),
	};

	event.thread = ftf_thread(writer, 10, 11);
	event.category = name("example");
	ftf_process_name(writer, 10, name("program"));
	ftf_thread_name(writer, event.thread, name("main"));
	ftf_thread_name(writer, ftf_thread(writer, 10, 12), name("worker"));
	write_slices(event, args, sizeof(args) / sizeof(args[0]));
	write_others(event);
	write_scheduling();
	ftf_log(writer, event.thread, 6000, "the end");
	ftf_blob(writer, &(struct ftf_blob){ FTF_BLOB_DATA, name("note"), "abc", 3 });
	ftf_low_records(ftf_low_borrow(writer), other_records, sizeof(other_records));
	return ftf_close(writer, &err) == 0 ? 0 : 1;
}
