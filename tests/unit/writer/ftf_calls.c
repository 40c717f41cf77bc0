/* SPDX-License-Identifier: MIT */
/*
 * Possible uses of libftf by any program: running out of memory at any allocation, and calls in any
 * order, also with wrong arguments.  The result is a sound trace or an error, without a leak.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/unit.h"
#include "tests/unit/writer/round_trip.h"

enum { SEQUENCES = 3000, CALLS = 40 };

/* ---- Allocations that fail, and a destination in memory ---------------------- */

static struct {
	size_t calls, blocks; /* allocation requests; blocks in use */
	size_t fail_from, fail_to;
	bool counted; /* from here on the next functions count and fail */
} heap;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __wrap_free(void *memory);

/* Counts a request for a block.  Returns whether it fails. */
static bool fails(const void *old)
{
	if (!heap.counted)
		return false;
	heap.calls++;
	if (heap.calls >= heap.fail_from && heap.calls <= heap.fail_to)
		return true;
	heap.blocks += old == NULL;
	return false;
}

/* The compiler calls it for realloc(NULL, size). */
void *__wrap_malloc(size_t size)
{
	return fails(NULL) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails(NULL) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
	return fails(memory) ? NULL : __real_realloc(memory, size);
}

void __wrap_free(void *memory)
{
	heap.blocks -= heap.counted && memory;
	__real_free(memory);
}

static void fail_calls(size_t from, size_t to)
{
	memset(&heap, 0, sizeof(heap));
	heap.fail_from = from;
	heap.fail_to = to;
	heap.counted = true;
}

static struct {
	uint8_t *bytes;
	size_t size, room;
} kept;

static int keep(void *context, const void *bytes, size_t size)
{
	(void)context;
	if (kept.room < kept.size + size) {
		kept.room = 2 * (kept.size + size);
		kept.bytes = __real_realloc(kept.bytes, kept.room);
	}
	memcpy(kept.bytes + kept.size, bytes, size);
	kept.size += size;
	return 0;
}

static const struct ftf_destination to = { keep, NULL };

static void must_be_sound(void)
{
	if (kept.size)
		ck_assert_str_eq(trace_problem_of(kept.bytes, kept.size), "");
}

/* ---- Memory -------------------------------------------------------------- */

static struct ftf_writer *open_writer(struct ftf_error *err)
{
	const struct ftf_options options = { .provider = "calls" };

	kept.size = 0;
	return ftf_open_destination(&to, &options, err);
}

/* More kinds of names, threads and events than the initial size of any table. */
static void write_all(struct ftf_writer *writer)
{
	char text[800];

	for (unsigned i = 1; i < 400; i++) {
		int length = snprintf(text, sizeof(text), "%0*u", i % 5 ? 10 : 700, i);
		struct ftf_name name = ftf_name(writer, text, (size_t)length);
		const struct ftf_arg args[] = { ftf_arg_int32(name, 7),
						ftf_arg_string(name, name) };
		const struct ftf_event event = { .thread = ftf_thread(writer, 1, i),
						 .name = name,
						 .time = i,
						 .args = args,
						 .arg_count = 2 };

		ftf_thread_name(writer, event.thread, name);
		ftf_complete(writer, &event, i + 10);
		ftf_log(writer, event.thread, i, text);
	}
}

/* Returns whether an allocation failed. */
static bool run(size_t from, size_t to_call)
{
	struct ftf_error err = { 0 };
	struct ftf_writer *writer;
	int status = -1;

	fail_calls(from, to_call);
	writer = open_writer(&err);
	if (writer) {
		write_all(writer);
		status = ftf_close(writer, &err);
	}
	heap.counted = false;
	ck_assert_uint_eq(heap.blocks, 0);
	must_be_sound();
	if (heap.calls < from) {
		ck_assert_int_eq(status, 0);
		return false;
	}
	ck_assert_int_eq(status, -1);
	ck_assert_int_eq(err.system, ENOMEM);
	ck_assert_str_eq(err.text, "out of memory");
	return true;
}

START_TEST(a_lack_of_memory_is_an_error_whichever_allocation_fails)
{
	size_t number = 1;

	while (run(number, number) && run(number, SIZE_MAX))
		number++;
	ck_assert_uint_gt(number, 20);
}
END_TEST

START_TEST(a_lack_of_memory_in_the_low_face_is_an_error)
{
	struct ftf_error err = { 0 };
	struct ftf_low low;

	kept.size = 0;
	fail_calls(1, 1);
	ck_assert_int_eq(ftf_low_init(&low, &to, false), -1);
	heap.counted = false;
	for (unsigned i = 0; i < 100000; i++)
		ftf_low_string(&low, 2, "text", 4);
	ck_assert_int_eq(ftf_low_close(&low, &err), -1);
	ck_assert_int_eq(err.system, ENOMEM);
	ck_assert_uint_eq(kept.size, 0);
}
END_TEST

/* ---- Random calls -------------------------------------------------------- */

static uint64_t state, now;

static uint64_t below(uint64_t limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % limit;
}

/* Mostly the writer's, sometimes an invalid one. */
static struct ftf_name any_name(void)
{
	return (struct ftf_name){ (uint32_t)(below(400) ? below(12) : below(1000)) };
}

static struct ftf_thread any_thread(void)
{
	return (struct ftf_thread){ (uint32_t)(below(400) ? below(2) : below(1000)) };
}

static struct ftf_event any_event(struct ftf_arg args[20])
{
	struct ftf_event event = { any_thread(), any_name(), any_name(), now += 10, args, 0 };

	event.arg_count = below(100) ? below(4) : below(20);
	for (size_t i = 0; i < event.arg_count; i++) {
		args[i] = ftf_arg_word(any_name(), (enum ftf_arg_type)below(below(300) ? 10 : 40),
				       below(1000));
		if (args[i].type == FTF_STRING)
			args[i].value.string = any_name();
	}
	if (!below(200))
		event.args = NULL;
	return event;
}

static void any_record(struct ftf_writer *writer)
{
	static const uint8_t zeros[40000];
	struct ftf_arg args[20];
	struct ftf_event event = any_event(args);
	struct ftf_template made;
	const uint64_t own[FTF_OWN_WORDS] = { ftf_arg_head(writer, FTF_INT32, any_name()) };
	const struct ftf_templated templated[] = { { .from = &made, .time = now + 5 },
						   { .time = now + 7 } };
	const struct ftf_own_args more[] = { { own, 0, 0 }, { own, own[0] != 0, own[0] != 0 } };

	switch (below(14)) {
	case 0:
		ftf_instant(writer, &event);
		break;
	case 1:
		if (below(300)) {
			args[0] = ftf_arg_int32(any_name(), 1);
			event.args = args;
			event.arg_count = 1;
		}
		ftf_counter(writer, &event, 3);
		break;
	case 2:
		ftf_begin(writer, &event);
		ftf_end(writer, &event);
		break;
	case 4:
		ftf_complete(writer, &event, event.time + (below(400) ? 5 : (uint64_t)-5));
		break;
	case 5:
		ftf_async_begin(writer, &event, 1);
		break;
	case 6:
		ftf_flow_step(writer, &event, 1);
		break;
	case 7:
		ftf_thread_name(writer, event.thread, event.name);
		break;
	case 8:
		ftf_log(writer, event.thread, event.time, "text");
		break;
	case 9:
		ftf_blob(writer, &(struct ftf_blob){ FTF_BLOB_DATA, event.name, zeros,
						     below(300) ? below(100) : below(40000) });
		break;
	case 10:
		ftf_kernel_object(
			writer, 9,
			&(struct ftf_object){ 1, event.name, event.args, event.arg_count });
		break;
	case 11:
		ftf_context_switch(writer, &(struct ftf_switch){ .time = now, .out_tid = 2 });
		break;
	case 12:
		ftf_make_template(writer, &event, event.time + 1 + below(3), 0, &made);
		if (made.count)
			ftf_write_templates(writer, event.thread, templated, below(2) ? more : NULL,
					    2);
		break;
	default:
		ftf_process_new(writer, event.name);
		break;
	}
}

/* The steps of a record of the low-level interface, in order or not. */
static void any_step(struct ftf_low *low)
{
	const uint64_t shape = ftf_shape_add(0, FTF_INT64);
	const struct ftf_low_event event = {
		.type = FTF_INSTANT, .thread = 7, .name = 5, .shape = below(2) ? shape : 0
	};
	const struct ftf_low_arg arg = { .type = (enum ftf_arg_type)below(below(9) ? 5 : 40),
					 .name = 5 };

	switch (below(9)) {
	case 0:
		ftf_low_string(low, 5, "five", 4);
		break;
	case 1:
		ftf_low_thread(low, below(40) ? 7 : 0, 1, 2);
		break;
	case 2:
		ftf_low_start(low, ftf_low_event_header(&event), event.shape);
		break;
	case 3:
		ftf_low_word(low, 1);
		break;
	case 4:
		ftf_low_arg(low, &arg);
		break;
	case 5:
		ftf_low_finish(low);
		break;
	case 6:
		ftf_low_text(low, "some text", below(10));
		break;
	case 7:
		for (uint64_t left = below(2) * 40000; left; left--)
			ftf_low_pair(low, 4 | 2 << 4 | UINT64_C(7) << 24 | UINT64_C(5) << 48, now);
		break;
	default:
		ftf_low_records(low, "\x10\0\x12\0\0\0\0\0", below(30) ? 0 : below(9));
		break;
	}
}

static void any_call(struct ftf_writer *writer)
{
	char text[400];

	memset(text, 'a' + (int)below(26), sizeof(text));
	switch (below(20)) {
	case 0:
		ftf_name(writer, text, below(400));
		break;
	case 1:
		ftf_thread(writer, below(3), below(3));
		break;
	case 2:
		ftf_flush(writer);
		break;
	case 3:
		ftf_set_destination(writer, &to);
		break;
	default:
		any_record(writer);
		break;
	}
}

/* The objects that the calls refer to. */
static void prepare(struct ftf_writer *writer)
{
	static const char letters[] = "abcdefghijkl";

	for (size_t i = 0; i < 12; i++)
		ftf_name(writer, letters + i, 1);
	ftf_thread(writer, 1, 1);
	ftf_low_string(ftf_low_borrow(writer), 5, "five", 4);
	ftf_low_thread(ftf_low_borrow(writer), 7, 1, 2);
}

/*
 * `low`: whether the low-level interface is used in between, which most sequences do not survive.
 * Returns whether there was no error.
 */
static bool run_sequence(bool low)
{
	struct ftf_error err = { 0 };
	struct ftf_writer *writer = open_writer(&err);

	for (size_t i = 0; writer && i < CALLS; i++) {
		if (i == 0)
			prepare(writer);
		if (low && below(3) == 0)
			any_step(ftf_low_borrow(writer));
		else
			any_call(writer);
	}
	if (!writer || ftf_close(writer, &err) < 0)
		ck_assert_str_ne(err.text, "");
	heap.counted = false;
	ck_assert_uint_eq(heap.blocks, 0);
	must_be_sound();
	return !err.text[0];
}

START_TEST(any_calls_in_any_order_give_a_sound_trace_or_an_error)
{
	size_t whole = 0;

	for (uint64_t seed = 1; seed <= SEQUENCES; seed++) {
		state = seed * UINT64_C(0x9e3779b97f4a7c15);
		fail_calls(below(5) ? SIZE_MAX : below(60), SIZE_MAX);
		whole += run_sequence(seed % 2);
	}
	ck_assert_uint_gt(whole, SEQUENCES / 10);
	ck_assert_uint_lt(whole, SEQUENCES * 9 / 10);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ftf_calls");
	TCase *all = tcase_create("ftf_calls");

	tcase_add_test(all, a_lack_of_memory_is_an_error_whichever_allocation_fails);
	tcase_add_test(all, a_lack_of_memory_in_the_low_face_is_an_error);
	tcase_add_test(all, any_calls_in_any_order_give_a_sound_trace_or_an_error);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
