/* SPDX-License-Identifier: MIT */
/*
 * 200,000 random records of all kinds, written and read back.  The expected output is made from the
 * same numbers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reader/trace_print.h"
#include "tests/support/unit.h"
#include "tests/unit/writer/round_trip.h"

enum {
	RECORDS = 200000,
	NAMES = 100000,
	THREADS = 2000,
	LINE_MAX_BYTES = 60000,
};

static uint64_t state;

static uint64_t number(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static uint64_t below(uint64_t limit)
{
	return number() % limit;
}

/* Mostly from a few names, sometimes from all; 0 is the empty one. */
static uint32_t any_name(void)
{
	return (uint32_t)below(below(8) ? 200 : NAMES);
}

/* One name in a hundred is too long for a record of arguments. */
static void name_text(char *text, uint32_t index)
{
	int length = index ? sprintf(text, "name %u", index) : 0;

	if (index && index % 100 == 0) {
		memset(text + length, 'x', 200 + index % 1000);
		length += 200 + (int)(index % 1000);
	}
	text[length] = 0;
}

static struct ftf_name name_of(uint32_t index)
{
	char text[1400];

	name_text(text, index);
	return ftf_text(trace.writer, text);
}

struct made_arg {
	enum ftf_arg_type type;
	uint32_t name, string;
	uint64_t word;
};

struct made {
	unsigned kind; /* 0..10: events; then as in emit() */
	uint64_t time, id;
	uint32_t pid, tid, category, name;
	struct made_arg args[15];
	size_t arg_count;
};

static void make(struct made *made)
{
	made->kind = below(4) ? (unsigned)below(11) : 11 + (unsigned)below(5);
	made->tid = (uint32_t)below(THREADS);
	made->pid = made->tid / 10;
	made->time = number() >> 2;
	made->id = number() >> 1;
	made->category = any_name();
	made->name = any_name();
	made->arg_count = below(3) ? 0 : below(16);
	if (made->kind == FTF_COUNTER && !made->arg_count)
		made->arg_count = 1;
	for (size_t i = 0; i < made->arg_count; i++) {
		struct made_arg *arg = &made->args[i];

		arg->type = (enum ftf_arg_type)below(10);
		arg->name = any_name();
		arg->string = any_name();
		arg->word = number();
		if (made->kind == FTF_COUNTER)
			arg->type = (enum ftf_arg_type)(1 + below(4));
		if (arg->type == FTF_DOUBLE)
			arg->word = below(1 << 20);
	}
	if (made->kind == FTF_DURATION_COMPLETE)
		made->id = made->time + below(1000);
}

/* ---- Into the writer ----------------------------------------------------- */

static struct ftf_arg arg_of(const struct made_arg *made)
{
	struct ftf_name name = name_of(made->name);

	if (made->type == FTF_STRING)
		return ftf_arg_string(name, name_of(made->string));
	if (made->type == FTF_DOUBLE)
		return ftf_arg_double(name, (double)made->word / 4);
	if (made->type == FTF_INT32)
		return ftf_arg_int32(name, (int32_t)made->word);
	if (made->type == FTF_BOOL)
		return ftf_arg_word(name, FTF_BOOL, made->word & 1);
	return ftf_arg_word(name, made->type, made->word);
}

static void emit_event(const struct made *made, const struct ftf_event *event)
{
	static void (*const with_id[])(struct ftf_writer *, const struct ftf_event *, uint64_t) = {
		[FTF_COUNTER] = ftf_counter,         [FTF_DURATION_COMPLETE] = ftf_complete,
		[FTF_ASYNC_BEGIN] = ftf_async_begin, [FTF_ASYNC_INSTANT] = ftf_async_instant,
		[FTF_ASYNC_END] = ftf_async_end,     [FTF_FLOW_BEGIN] = ftf_flow_begin,
		[FTF_FLOW_STEP] = ftf_flow_step,     [FTF_FLOW_END] = ftf_flow_end,
	};

	if (made->kind == FTF_INSTANT)
		ftf_instant(trace.writer, event);
	else if (made->kind == FTF_DURATION_BEGIN)
		ftf_begin(trace.writer, event);
	else if (made->kind == FTF_DURATION_END)
		ftf_end(trace.writer, event);
	else
		with_id[made->kind](trace.writer, event, made->id);
}

static void emit_other(const struct made *made, struct ftf_thread thread,
		       const struct ftf_object *object)
{
	char text[1400];

	switch (made->kind) {
	case 11:
		ftf_context_switch(trace.writer,
				   &(struct ftf_switch){ made->time, (uint16_t)made->name,
							 FTF_STATE_DYING, made->pid, made->tid, 7,
							 -8 });
		return;
	case 12:
		ftf_thread_wakeup(trace.writer,
				  &(struct ftf_wakeup){ made->time, (uint16_t)made->name, made->tid,
							made->id, 0 });
		return;
	case 13:
		name_text(text, made->name);
		ftf_log(trace.writer, thread, made->time, text);
		return;
	case 14:
		name_text(text, made->category);
		ftf_blob(trace.writer,
			 &(struct ftf_blob){ FTF_BLOB_DATA, object->name, text, strlen(text) });
		return;
	default:
		ftf_kernel_object(trace.writer, 200, object);
	}
}

static void emit(const struct made *made)
{
	struct ftf_thread thread = ftf_thread(trace.writer, made->pid, made->tid);
	struct ftf_name category = name_of(made->category), name = name_of(made->name);
	struct ftf_arg args[15];

	for (size_t i = 0; i < made->arg_count; i++)
		args[i] = arg_of(&made->args[i]);
	if (made->kind <= FTF_FLOW_END)
		emit_event(made, &(struct ftf_event){ thread, category, name, made->time, args,
						      made->arg_count });
	else
		emit_other(made, thread,
			   &(struct ftf_object){ made->id, name, args, made->arg_count });
}

/* 17 digits distinguish all doubles; fewer suffice if they read back the same. */
static void print_quarters(FILE *out, uint64_t word)
{
	double value = (double)word / 4;
	int digits = 15;
	char text[400];

	do
		snprintf(text, sizeof(text), "%.*g", digits++, value);
	while (strtod(text, NULL) < value || strtod(text, NULL) > value);
	fputs(text, out);
}

/* ---- As text ------------------------------------------------------------- */

static void say_args(FILE *out, const struct made *made)
{
	char text[1400];

	for (size_t i = 0; i < made->arg_count; i++) {
		const struct made_arg *arg = &made->args[i];

		name_text(text, arg->name);
		fprintf(out, " %s=", text);
		name_text(text, arg->string);
		if (arg->type == FTF_NULL)
			fprintf(out, "null");
		else if (arg->type == FTF_STRING)
			fprintf(out, "%s", text);
		else if (arg->type == FTF_DOUBLE)
			print_quarters(out, arg->word);
		else if (arg->type == FTF_INT32)
			fprintf(out, "%" PRId32, (int32_t)arg->word);
		else if (arg->type == FTF_UINT32)
			fprintf(out, "%" PRIu32, (uint32_t)arg->word);
		else if (arg->type == FTF_INT64)
			fprintf(out, "%" PRId64, (int64_t)arg->word);
		else if (arg->type == FTF_POINTER)
			fprintf(out, "0x%" PRIx64, arg->word);
		else if (arg->type == FTF_BOOL)
			fprintf(out, arg->word & 1 ? "true" : "false");
		else
			fprintf(out, "%" PRIu64, arg->word);
	}
}

static void say_event(FILE *out, const struct made *made)
{
	static const char *const words[] = { "instant",       "counter",   "begin",
					     "end",           "complete",  "async-begin",
					     "async-instant", "async-end", "flow-begin",
					     "flow-step",     "flow-end" };
	char text[1400];

	fprintf(out, "%s %u/%u %" PRIu64 " ", words[made->kind], made->pid, made->tid, made->time);
	if (made->kind == FTF_DURATION_COMPLETE)
		fprintf(out, "%" PRIu64 " ", made->id);
	name_text(text, made->name);
	fprintf(out, "\"%s\"", text);
	name_text(text, made->category);
	if (made->category)
		fprintf(out, " category \"%s\"", text);
	if (made->kind == FTF_COUNTER || made->kind > FTF_DURATION_COMPLETE)
		fprintf(out, " id %" PRIu64, made->id);
	say_args(out, made);
}

static void say_other(FILE *out, const struct made *made)
{
	char name[1400], category[1400];

	name_text(name, made->name);
	name_text(category, made->category);
	switch (made->kind) {
	case 11:
		fprintf(out,
			"context-switch cpu %u %" PRIu64 " from %u state 4 to %u "
			"incoming_weight=-8 outgoing_weight=7",
			(uint16_t)made->name, made->time, made->pid, made->tid);
		return;
	case 12:
		fprintf(out, "wakeup cpu %u %" PRIu64 " thread %u waker=%" PRIu64,
			(uint16_t)made->name, made->time, made->tid, made->id);
		return;
	case 13:
		fprintf(out, "log %u/%u %" PRIu64 " \"%s\"", made->pid, made->tid, made->time,
			name);
		return;
	case 14:
		fprintf(out, "blob type 1 \"%s\" %zu bytes", name, strlen(category));
		return;
	default:
		fprintf(out, "kernel-object type 200 id %" PRIu64 " \"%s\"", made->id, name);
	}
	say_args(out, made);
}

static bool is_structure(enum trace_kind kind)
{
	return kind <= TRACE_THREAD;
}

/* Compare the next printed record with the generated one. */
static void check_next(const struct made *made, char *expected, char *got)
{
	static struct trace_record record;
	struct error err = { 0 };
	FILE *out;

	do {
		ck_assert_msg(trace_reader_next(&trace.reader, &record, &err) == 1, "%s", err.text);
		ck_assert_msg(!record.problem[0], "%s", record.problem);
	} while (is_structure(record.kind));
	out = fmemopen(got, LINE_MAX_BYTES, "w");
	trace_print_record(out, &record);
	fclose(out);
	out = fmemopen(expected, LINE_MAX_BYTES, "w");
	if (made->kind <= FTF_FLOW_END)
		say_event(out, made);
	else
		say_other(out, made);
	fputc('\n', out);
	fclose(out);
	ck_assert_str_eq(strchr(got, ' ') + 1, expected);
}

START_TEST(many_records_of_all_kinds_read_back)
{
	static char expected[LINE_MAX_BYTES], got[LINE_MAX_BYTES];
	static struct trace_record record;
	struct error err = { 0 };
	struct made made;

	trace_begin(".zst");
	state = 88172645463325252;
	for (int i = 0; i < RECORDS; i++) {
		make(&made);
		emit(&made);
	}
	trace_close();
	ck_assert_int_eq(trace_reader_open(&trace.reader, trace.path, &err), 0);
	state = 88172645463325252;
	for (int i = 0; i < RECORDS; i++) {
		make(&made);
		check_next(&made, expected, got);
	}
	while (trace_reader_next(&trace.reader, &record, &err) == 1)
		ck_assert(is_structure(record.kind));
	ck_assert_int_eq(err.kind, ERROR_NONE);
	trace_reader_close(&trace.reader);
	unlink(trace.path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("generated");
	TCase *all = tcase_create("generated");

	tcase_add_test(all, many_records_of_all_kinds_read_back);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
