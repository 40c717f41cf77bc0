/* SPDX-License-Identifier: MIT */
/* Branches fed many at once give the same slices as branches fed one by one; forks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "decoder/cpu_event.h"
#include "decoder/perf_data/perf_file.h"
#include "src/callstack/call_stretch.h"
#include "src/callstack/callstack.h"
#include "src/callstack/thread_stacks.h"
#include "src/resolve/resolve.h"
#include "tests/support/perf_data.h"
#include "tests/support/unit.h"
#include "tests/unit/src/slice_feed.h"
#include "tests/unit/src/slice_log.h"

#define BASE   UINT64_C(1000000)
#define FORKED (BASE + 2000) /* threads 7, of another process, and 4, by 5 */
#define BEFORE (BASE + 1900) /* thread 3, of another process, by 5 */
#define LATER  (BASE + 2500) /* thread 2, of another process, by 5 */
#define EXEC   (BASE + 3000) /* of 5 and 6 */
#define EVENTS 1000

static struct perf_file file;
static struct timeline *timeline;
static struct name_table names;
static struct dso_store *store;
static struct diag diag;
static struct resolver resolver;
static struct arena arena;
static struct slice_log slices;
static struct callstack_machine *machine;
static struct thread_stacks stacks;

/* "m" is at 0x1000 and so on; in the kernel "e", "k", "s" and "r". */
static struct symbol symbols[] = { { 0 }, { 0 }, { 0 }, { 0 }, { .kind = SYMBOL_PLT },
				   { 0 }, { 0 }, { 0 }, { 0 } };
static const char letters[] = "mfghFeksr";
#define KERNEL(offset) (UINT64_C(0xffffffff80000000) + (offset))

static struct branch_event events[EVENTS];
static int32_t hidden;          /* a thread that is not shown */
static uint8_t vectors[EVENTS]; /* announced before the event; 0: none */

static void map_code(struct perf_data *data, uint64_t address)
{
	struct perf_data_mmap map = {
		.pid = 5, .tid = 5, .address = address, .length = 0x1000, .path = "/none"
	};

	perf_data_add_mmap(data, 0, &map);
}

static void open_recording(void)
{
	struct perf_data_pt_info info = { .pmu_type = 8 };
	struct error err = { 0 };
	struct perf_data data;
	char path[PERF_DATA_PATH];

	perf_data_init(&data);
	perf_data_add_pt_event(&data, 8, 0x300e601);
	perf_data_add_pt_info(&data, &info, NULL);
	perf_data_stamp(&data, (struct perf_data_stamp){ .time = BASE - 1, .pid = 5, .tid = 5 });
	perf_data_add_comm(&data, 0, 5, 5, "prog");
	perf_data_add_comm(&data, 0, 5, 6, "prog");
	map_code(&data, 0x1000);
	perf_data_stamp(&data, (struct perf_data_stamp){ .time = BEFORE, .pid = 3, .tid = 3 });
	perf_data_add_fork(&data, 3, 3, 5);
	perf_data_stamp(&data, (struct perf_data_stamp){ .time = FORKED, .pid = 7, .tid = 7 });
	perf_data_add_fork(&data, 7, 7, 5);
	perf_data_stamp(&data, (struct perf_data_stamp){ .time = FORKED, .pid = 5, .tid = 4 });
	perf_data_add_fork(&data, 5, 4, 5);
	perf_data_stamp(&data, (struct perf_data_stamp){ .time = LATER, .pid = 2, .tid = 2 });
	perf_data_add_fork(&data, 2, 2, 5);
	perf_data_stamp(&data, (struct perf_data_stamp){ .time = EXEC, .pid = 5, .tid = 5 });
	perf_data_add_comm(&data, PERF_RECORD_MISC_COMM_EXEC, 5, 5, "other");
	map_code(&data, 0x2000);
	perf_data_write_temporary(&data, path);
	perf_data_release(&data);
	ck_assert_msg(perf_file_open(&file, path, &diag, &err) == 0, "%s", err.text);
	unlink(path);
	timeline = timeline_open(&file, NULL, 0, &diag);
	ck_assert_ptr_nonnull(timeline);
}

/* The log itself omits other flags, such as an interrupt's vector. */
static void log_flags(struct slice_log *log, const struct slice_event *event,
		      const struct slice_detail *detail)
{
	char text[40];

	(void)detail;
	if (event->kind != SLICE_BEGIN)
		return;
	snprintf(text, sizeof(text), "flags %x", event->flags);
	feed_instant(&log->sink, NULL, event->time, text);
}

static void *add_track(void *context, const struct thread *thread)
{
	static char tracks[8][2] = { "0", "1", "2", "3", "4", "5", "6", "7" };

	(void)context;
	return tracks[thread ? thread->tid : 1];
}

static void open_stacks(void)
{
	struct callstack_options options = {
		.mode = TRACE_MODE_USER, .sink = &slices.sink, .names = &names, .diag = &diag
	};

	slice_log_init(&slices);
	slices.base = BASE;
	slices.before = log_flags;
	resolver_init(&resolver, timeline, store, &names);
	machine = callstack_precise_open(&options);
	stacks = (struct thread_stacks){
		.machine = machine, .resolver = &resolver, .add_track = add_track, .events = &arena
	};
	thread_stacks_init(&stacks, timeline);
}

static const char *close_stacks(void)
{
	thread_stacks_finish(&stacks);
	thread_stacks_release(&stacks);
	callstack_machine_close(machine);
	resolver_release(&resolver);
	return slice_log_take(&slices);
}

static void setup(void)
{
	struct dso_store_options options = { 0 };

	diag_init(&diag);
	name_table_init(&names);
	open_recording();
	store = dso_store_open(&options, &names, &diag);
	for (int i = 0; letters[i]; i++) {
		const char text[] = { letters[i], 0 };

		symbols[i].name = symbols[i].linkage = name_intern_text(&names, text);
	}
}

static void teardown(void)
{
	dso_store_close(store);
	timeline_close(timeline);
	perf_file_close(&file);
	name_table_release(&names);
	arena_release(&arena);
	diag_release(&diag);
}

static struct location at(uint64_t ip)
{
	return ip ? (struct location){ ip, &symbols[(ip >> 12 & 0xf) - 1], ip & 0xfff }
		  : (struct location){ 0 };
}

/* ---- Events -------------------------------------------------------------- */

static const struct thread *any_thread(unsigned *seed)
{
	const struct thread *const *threads;
	size_t count, index;

	threads = timeline->threads.threads;
	count = timeline->threads.count;
	index = (size_t)rand_r(seed) % (count + 1);
	return index < count ? threads[index] : NULL;
}

/* Returns the address space of the thread's process at a time. */
static const struct address_space *space_at(const struct thread *thread, uint64_t time)
{
	const struct process *process = thread ? thread->process : NULL;
	size_t epoch = process ? process->epoch_count : 0;

	while (epoch > 1 && process->epochs[epoch - 1].begin > time)
		epoch--;
	return process ? process->epochs[epoch - 1].space : NULL;
}

/* Most are near branches, the others any possible event. */
static void make_kind(struct branch_event *event, unsigned *seed)
{
	static const enum branch_kind kinds[] = { BRANCH_CALL,   BRANCH_CALL, BRANCH_RETURN,
						  BRANCH_RETURN, BRANCH_JUMP, BRANCH_COND };
	static const enum branch_kind others[] = { BRANCH_SYSCALL, BRANCH_IRET, BRANCH_GAP,
						   BRANCH_INTERRUPT, BRANCH_CALL };
	static const unsigned flags[] = { BRANCH_TRACE_OFF, BRANCH_TRACE_OFF | BRANCH_ASYNC,
					  BRANCH_TRACE_ON };

	event->kind = (uint8_t)kinds[rand_r(seed) % 6];
	event->flags = rand_r(seed) % 4 ? 0 : BRANCH_INDIRECT;
	if (rand_r(seed) % 40 == 0)
		event->flags |= (uint8_t)flags[rand_r(seed) % 3];
	if (rand_r(seed) % 60 == 0)
		event->kind = (uint8_t)others[rand_r(seed) % 5];
	if (event->kind == BRANCH_GAP)
		event->gap = GAP_OVERFLOW;
	if (event->flags & BRANCH_TRACE_ON)
		event->from = 0;
	if (event->flags & BRANCH_TRACE_OFF && rand_r(seed) % 2)
		event->to = 0;
}

/* Returns whether the previous event's transaction, if any, continues after it. */
static bool make_transaction(struct branch_event *event, bool in_tx, unsigned *seed)
{
	if (in_tx && rand_r(seed) % 8 == 0) {
		event->kind = BRANCH_TX_ABORT;
		return false;
	}
	in_tx = in_tx ? rand_r(seed) % 8 : rand_r(seed) % 40 == 0;
	event->flags |= in_tx ? BRANCH_IN_TX : 0;
	return in_tx;
}

static uint64_t any_place(unsigned *seed)
{
	return ((uint64_t)rand_r(seed) % 5 + 1) * 0x1000 + (uint64_t)rand_r(seed) % 3 * 0x15;
}

static void make_events(unsigned seed)
{
	const struct thread *thread = NULL;
	uint64_t time = BASE, from = 0x1010;
	bool in_tx = false;

	for (size_t i = 0; i < EVENTS; i++) {
		struct branch_event *event = &events[i];

		if (rand_r(&seed) % 16 == 0)
			thread = any_thread(&seed);
		time += (uint64_t)rand_r(&seed) % 9;
		*event = (struct branch_event){ .time = time,
						.from = from,
						.insns = 3,
						.to = any_place(&seed),
						.thread = thread,
						.space = space_at(thread, time) };
		make_kind(event, &seed);
		in_tx = make_transaction(event, in_tx, &seed);
		if (event->kind == BRANCH_CALL && event->to)
			event->to &= ~UINT64_C(0xfff);
		vectors[i] = rand_r(&seed) % 50 ? 0 : 14;
		from = event->to ? event->to - event->to % 16 + 16 : from;
	}
}

/* ---- Feeding ------------------------------------------------------------- */

/* The events' locations are in the branch cache; the first one's certainly. */
static void cache_places(const struct branch_event *first, size_t count)
{
	while (count--) {
		struct location from = at(first[count].from), to = at(first[count].to);

		branch_cache_put(&resolver, first[count].space, &from, &to);
	}
}

/* Returns the number of events, at most `most`, before the next announced vector. */
static size_t before_vector(size_t i, size_t most)
{
	size_t count = 1;

	while (count < most && i + count < EVENTS && !vectors[i + count])
		count++;
	return count;
}

/* Feed up to this many at once.  Returns how many were fed together with others. */
static size_t feed_events(size_t at_once)
{
	size_t together = 0;

	for (size_t i = 0, end = 0; i < EVENTS;) {
		size_t fed;

		if (i == end && vectors[i])
			thread_stacks_interrupt(&stacks, events[i].thread, vectors[i]);
		if (i == end)
			end = i + before_vector(i, at_once);
		cache_places(&events[i], end - i);
		fed = thread_stacks_feed(&stacks, &events[i], end - i);
		ck_assert_uint_ge(fed, 1);
		ck_assert_uint_le(fed, end - i);
		together += fed > 1 ? fed : 0;
		i += fed;
	}
	return together;
}

/* An announced interrupt sends the next event to the slow path; any other event cancels it. */
static void feed_closely(void)
{
	for (size_t i = 0; i < EVENTS; i++) {
		if (vectors[i] || !(events[i].flags & BRANCH_ASYNC))
			thread_stacks_interrupt(&stacks, events[i].thread, vectors[i]);
		cache_places(&events[i], 1);
		ck_assert_uint_eq(thread_stacks_feed(&stacks, &events[i], 1), 1);
	}
}

/* The events have known branches with names. */
static void name_branches(void)
{
	static struct known_branch known[EVENTS];

	for (size_t i = 0; i < EVENTS; i++) {
		struct location from = at(events[i].from), to = at(events[i].to);

		known[i] = (struct known_branch){ events[i].space,
						  location_pair_of(&from, &to, NULL) };
		known[i].locations.reached = true;
		if (events[i].kind <= BRANCH_GAP)
			events[i].known = &known[i];
	}
}

START_TEST(many_at_once_have_the_outcome_of_one_by_one)
{
	size_t at_once = (size_t)_i % 7 * 20 + 1, together;
	char *expected;

	make_events((unsigned)_i + 1);
	if (_i % 2)
		name_branches();
	open_stacks();
	feed_closely();
	expected = strdup(close_stacks());
	open_stacks();
	together = feed_events(at_once);
	ck_assert_str_eq(close_stacks(), expected);
	if (at_once > 1 && _i % 2 == 0)
		ck_assert_uint_gt(together, EVENTS / 4);
	free(expected);
}
END_TEST

/* ---- Forks --------------------------------------------------------------- */

static void feed_event(struct branch_event event, int32_t tid)
{
	event.thread = timeline_borrow_thread(timeline, tid, event.time);
	event.space = space_at(event.thread, event.time);
	event.from_length = event.kind == BRANCH_CALL ? 5 : 2;
	cache_places(&event, 1);
	if (tid == hidden)
		thread_stacks_follow(&stacks, &event, 1);
	else
		thread_stacks_feed(&stacks, &event, 1);
}

static void feed_call(uint64_t time, uint64_t from, uint64_t to)
{
	feed_event(
		(struct branch_event){ .time = time, .kind = BRANCH_CALL, .from = from, .to = to },
		5);
}

static void leave(uint64_t time, uint64_t from)
{
	feed_event((struct branch_event){ .time = time,
					  .kind = BRANCH_SYSCALL,
					  .flags = BRANCH_TRACE_OFF,
					  .from = from },
		   5);
}

static void enter(uint64_t time, uint64_t to, int32_t tid)
{
	feed_event(
		(struct branch_event){
			.time = time, .kind = BRANCH_JUMP, .flags = BRANCH_TRACE_ON, .to = to },
		tid);
}

static void branch(uint64_t time, enum branch_kind kind, uint64_t from, uint64_t to, int32_t tid)
{
	feed_event(
		(struct branch_event){
			.time = time, .kind = (uint8_t)kind, .from = from, .to = to },
		tid);
}

/* The fork is at FORKED, but the last timing packet came long before it. */
START_TEST(a_child_begins_in_the_call_that_forked_it_whatever_the_times)
{
	/* The last one follows an INT 0x80, as in a 32-bit vdso. */
	static const uint64_t children[] = { 0x4012, 0x3022, 0x3024 };
	const uint64_t late = FORKED - 100;
	const char *inherited = _i ? "7 B 2000 g inferred" : "7 B 2000 h inferred";
	const char *other = _i ? "7 B 2000 h inferred" : "7 B 2000 g inferred";
	const char *log;

	open_stacks();
	feed_call(BASE, 0x1010, 0x2000); /* m calls f, which calls g, which forks */
	feed_call(BASE, 0x2010, 0x3000);
	leave(late, 0x3020);
	enter(late, 0x3022, 5);
	feed_event(
		(struct branch_event){
			.time = late, .kind = BRANCH_RETURN, .from = 0x3030, .to = 0x2015 },
		5);
	feed_call(late, 0x2020, 0x4000); /* h waits, or forks */
	leave(late, 0x4010);
	enter(FORKED + 10, children[_i], 7);
	feed_event(
		(struct branch_event){
			.time = FORKED + 20, .kind = BRANCH_RETURN, .from = 0x3030, .to = 0x2015 },
		7);
	log = close_stacks();
	ck_assert_ptr_nonnull(strstr(log, "7 B 2000 f inferred"));
	ck_assert_ptr_nonnull(strstr(log, inherited));
	ck_assert_ptr_null(strstr(log, other));
}
END_TEST

/*
 * g forks for f, and then for h; both times are those of a timing packet before, and both children
 * begin at one address, in any order, or the first never does.
 */
START_TEST(children_of_one_address_begin_in_the_calls_in_the_order_of_their_forks)
{
	static const int32_t orders[][2] = { { 3, 7 }, { 7, 3 }, { 7, 0 } };
	const uint64_t late = BEFORE - 100;
	const char *log;

	open_stacks();
	feed_call(BASE, 0x1010, 0x2000); /* m calls f, which calls g, which forks */
	feed_call(BASE, 0x2010, 0x3000);
	leave(late, 0x3020);
	enter(late, 0x3022, 5);
	branch(late, BRANCH_RETURN, 0x3030, 0x2015, 5);
	branch(late, BRANCH_RETURN, 0x2030, 0x1015, 5);
	feed_call(late, 0x1020, 0x4000); /* m calls h, which calls g */
	feed_call(late, 0x4010, 0x3000);
	leave(late, 0x3020);
	for (int i = 0; i < 2 && orders[_i][i]; i++)
		enter(FORKED + 10 + (uint64_t)i, 0x3022, orders[_i][i]);
	log = close_stacks();
	ck_assert_ptr_nonnull(strstr(log, "7 B 2000 h inferred"));
	ck_assert_ptr_null(strstr(log, "7 B 2000 f inferred"));
	ck_assert_int_eq(strstr(log, "3 B 1900 f inferred") != NULL, _i < 2);
	ck_assert_ptr_null(strstr(log, "3 B 1900 h inferred"));
}
END_TEST

/*
 * The trace of 5 is lost when it forks 3 and 7; then g forks 2 for f, and later waits for h.  7
 * begins at the same address as 2, so 3, which never begins, was forked before both.
 */
START_TEST(forks_before_a_child_that_has_begun_take_no_later_call)
{
	const uint64_t late = BEFORE - 100;
	const char *log;

	open_stacks();
	feed_call(BASE, 0x1010, 0x2000); /* m calls f */
	feed_event(
		(struct branch_event){
			.time = late, .kind = BRANCH_GAP, .gap = GAP_OVERFLOW, .from = 0x2000 },
		5);
	if (_i)
		enter(FORKED + 10, 0x3022, 7);
	enter(late, 0x2010, 5);
	feed_call(late, 0x2010, 0x3000); /* f calls g */
	leave(late, 0x3020);
	enter(late, 0x3022, 5);
	branch(late, BRANCH_RETURN, 0x3030, 0x2015, 5);
	feed_call(late, 0x2020, 0x4000); /* f calls h, which calls g */
	feed_call(late, 0x4010, 0x3000);
	leave(late, 0x3020);
	enter(LATER + 10, 0x3022, 2);
	log = close_stacks();
	ck_assert_int_eq(strstr(log, "2 B 2500 h inferred") != NULL, !_i);
	ck_assert_ptr_nonnull(strstr(log, "2 B 2500 f inferred"));
	ck_assert_ptr_nonnull(strstr(log, "2 B 2500 g inferred"));
}
END_TEST

/* Selecting the child alone does not change its stack and hides its parent. */
START_TEST(a_child_begins_with_the_stack_of_a_parent_that_is_not_shown)
{
	const char *log;

	hidden = 5;
	open_stacks();
	feed_call(BASE, 0x1010, 0x2000); /* m calls f, which calls g, which forks */
	feed_call(BASE, 0x2010, 0x3000);
	leave(FORKED - 100, 0x3020);
	enter(FORKED + 10, 0x3022, 7);
	enter(FORKED + 15, 0x3022, 5); /* follows no earlier event */
	feed_call(FORKED + 16, 0x3030, 0x4000);
	feed_call(FORKED + 17, 0x4010, 0x5000);
	log = close_stacks();
	hidden = 0;
	ck_assert_ptr_nonnull(strstr(log, "7 B 2000 f inferred"));
	ck_assert_ptr_nonnull(strstr(log, "7 B 2000 g inferred"));
	ck_assert_ptr_null(strstr(log, "5 "));
}
END_TEST

/* A hidden thread is followed only up to its last fork; other machines need no stacks. */
START_TEST(a_hidden_thread_is_followed_up_to_its_last_fork)
{
	static const uint64_t times[] = { BASE + 10, LATER, LATER + 1, BASE + 10 };
	struct branch_event some[3];

	open_stacks();
	feed_call(BASE, 0x1010, 0x2000);
	for (int i = 0; i < 3; i++)
		some[i] = (struct branch_event){
			.time = times[_i],
			.kind = i == 1 ? BRANCH_GAP : BRANCH_CALL,
			.from = 0x2010,
			.to = 0x3000,
			.from_length = 5,
			.thread = timeline_borrow_thread(timeline, 5, BASE),
			.space = space_at(timeline_borrow_thread(timeline, 5, BASE), BASE),
		};
	cache_places(some, 3);
	machine->precise = _i < 3;
	machine->doubts.uncertain_levels = 7;
	ck_assert_int_eq(thread_stacks_follow(&stacks, some, 3) == 3, _i >= 2);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 7);
	machine->precise = true;
	close_stacks();
}
END_TEST

/*
 * If the kernel is traced, the child's trace begins after its first context switch, in
 * ret_from_fork(), whose address belongs to no system call.
 */
START_TEST(a_child_begins_in_the_call_that_forked_it_where_the_kernel_is_traced)
{
	static const char *const expected[] = {
		"7 B 2000 m inferred", "7 B 2000 f inferred", "7 B 2000 g inferred",
		"7 B 2000 e inferred", "7 B 2000 s inferred", "7 B 2110 r tail\n",
		"7 E 2140 r\n",        "7 E 2140 e\n",        "7 E 2150 g\n",
	};
	const uint64_t late = _i ? FORKED - 100 : FORKED + 100;
	const char *log;

	open_stacks();
	feed_call(BASE, 0x1010, 0x2000); /* m calls f, which calls g, which forks in k */
	feed_call(BASE, 0x2010, 0x3000);
	branch(FORKED - 100, BRANCH_SYSCALL, 0x3020, KERNEL(0x6000), 5);
	branch(FORKED - 100, BRANCH_CALL, KERNEL(0x6010), KERNEL(0x7000), 5);
	branch(late, BRANCH_RETURN, KERNEL(0x7010), KERNEL(0x6015), 5);
	branch(late, BRANCH_SYSRET, KERNEL(0x6020), 0x3022, 5);
	branch(late, BRANCH_RETURN, 0x3030, 0x2015, 5);
	feed_call(late, 0x2020, 0x4000); /* h waits */
	branch(late, BRANCH_SYSCALL, 0x4010, KERNEL(0x6000), 5);
	branch(late, BRANCH_CALL, KERNEL(0x6010), KERNEL(0x8000), 5);
	branch(FORKED + 110, BRANCH_JUMP, KERNEL(0x8010), KERNEL(0x9000), 7);
	branch(FORKED + 120, BRANCH_CALL, KERNEL(0x9010), KERNEL(0x7000), 7);
	branch(FORKED + 130, BRANCH_RETURN, KERNEL(0x7010), KERNEL(0x9015), 7);
	branch(FORKED + 140, BRANCH_SYSRET, KERNEL(0x9020), 0x3022, 7);
	branch(FORKED + 150, BRANCH_RETURN, 0x3030, 0x2015, 7);
	branch(FORKED + 160, BRANCH_RETURN, 0x2030, 0x1015, 7);
	log = close_stacks();
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		ck_assert_msg(strstr(log, expected[i]) != NULL, "%s in\n%s", expected[i], log);
	ck_assert_ptr_null(strstr(log, "7 B 2000 h"));
	ck_assert_ptr_null(strstr(log, "7 E 2140 h"));
}
END_TEST

/* More than a stack emits between two flushes. */
#define MANY 3000

/* A thread's first function has no caller, so none will be found late. */
START_TEST(slices_of_a_thread_are_kept_unless_its_trace_begins_where_it_was_created)
{
	static const struct {
		uint64_t created, begins; /* time of the system call, first address of the thread */
		bool kept;
	} threads[] = {
		{ FORKED - 10, 0x3022, false },
		{ FORKED - 10, 0x3024, true },
		{ FORKED - 10, KERNEL(0x6000), true },
		{ FORKED + 10, 0x3022, true },
	};
	uint64_t time = FORKED + 20;
	const char *log;

	open_stacks();
	feed_call(BASE, 0x1010, 0x3000);
	leave(threads[_i].created, 0x3020);
	enter(time, threads[_i].begins, 4);
	slice_log_take(&slices);
	for (size_t i = 0; i < MANY; i++) {
		time += i % 8 == 0; /* up to EXEC */
		branch(time, BRANCH_CALL, 0x3030, 0x2000, 4);
		branch(time, BRANCH_RETURN, 0x2010, 0x3035, 4);
	}
	log = slice_log_take(&slices);
	ck_assert_int_eq(strstr(log, "S\n") == NULL, threads[_i].kept);
	close_stacks();
}
END_TEST

static uint64_t most_insns, most_cycles;

static void log_most(struct slice_log *log, const struct slice_event *event,
		     const struct slice_detail *detail)
{
	(void)log;
	(void)event;
	most_insns = MAX(most_insns, detail->insns);
	most_cycles = MAX(most_cycles, detail->cycles);
}

/* As where the chosen time begins within a function that jumps before it calls. */
START_TEST(what_ran_before_a_threads_first_branch_is_counted)
{
	struct branch_event counts = {
		.time = BASE,
		.kind = BRANCH_COUNTS,
		.thread = timeline_borrow_thread(timeline, 5, BASE),
		.insns = 40,
		.cycles = 100,
	};

	open_stacks();
	slices.sink.details = true;
	slices.before = log_most;
	thread_stacks_count(&stacks, &counts);
	thread_stacks_count(&stacks, &counts);
	feed_call(BASE + 10, 0x1010, 0x3000);
	close_stacks();
	ck_assert_uint_eq(most_insns, 80);
	ck_assert_uint_eq(most_cycles, 200);
}
END_TEST

/* Nothing else looks at the branches of a stretch that fits. */
START_TEST(the_files_of_a_stretch_that_fits_are_noted)
{
	struct dso *dso;
	struct call_stretch stretch = { .count = 1, .time = BASE + 20, .last_time = BASE + 20 };
	struct branch_event event = {
		.time = BASE + 20,
		.kind = BRANCH_FOLLOWED,
		.thread = timeline_borrow_thread(timeline, 5, BASE),
		.space = timeline_borrow_thread(timeline, 5, BASE)->process->epochs[0].space,
		.followed = &stretch,
	};

	open_stacks();
	dso = dso_store_borrow(store, "/other", NULL, 0);
	stretch.events = &event;
	stretch.kind = BRANCH_JUMP;
	stretch.files[stretch.file_count++] = dso;
	stretch.function = _i ? &symbols[2] : &symbols[0];
	feed_call(BASE, 0x1010, 0x3000);
	ck_assert(!dso_info(dso).used);
	ck_assert_uint_eq(thread_stacks_feed(&stacks, &event, 1), 1);
	ck_assert_int_eq(dso_info(dso).used, _i);
	close_stacks();
}
END_TEST

/* The look-up notes the files whose code ran. */
START_TEST(a_branch_named_ahead_is_looked_up_once)
{
	struct location from = at(0x3010), to = at(0x3000);
	struct known_branch known = { .locations = location_pair_of(&from, &to, NULL) };
	struct branch_event call = { .time = BASE + 1,
				     .known = &known,
				     .kind = BRANCH_CALL,
				     .from = from.ip,
				     .to = to.ip,
				     .from_length = 5,
				     .thread = timeline_borrow_thread(timeline, 5, BASE) };

	open_stacks();
	feed_call(BASE, 0x1010, 0x3000);
	known.space = call.space = space_at(call.thread, call.time);
	known.locations.reached = _i;
	ck_assert_uint_eq(thread_stacks_feed(&stacks, &call, 1), 1);
	ck_assert(known.locations.reached);
	close_stacks();
}
END_TEST

/* Both calls come from the innermost function, but exec() is between them. */
START_TEST(a_new_program_ends_the_branches_fed_together)
{
	const struct thread *thread = timeline_borrow_thread(timeline, 5, BASE);
	struct branch_event calls[2];
	struct known_branch known[2];

	open_stacks();
	feed_call(BASE, 0x1010, 0x3000);
	for (int i = 0; i < 2; i++) {
		uint64_t time = i ? EXEC + 1 : BASE + 1;
		struct location from = at(0x3010), to = at(0x3000);

		known[i] = (struct known_branch){ space_at(thread, time),
						  location_pair_of(&from, &to, NULL) };
		known[i].locations.reached = true;
		calls[i] = (struct branch_event){ .time = time,
						  .known = &known[i],
						  .kind = BRANCH_CALL,
						  .from = from.ip,
						  .to = to.ip,
						  .from_length = 5,
						  .thread = thread,
						  .space = known[i].space };
	}
	ck_assert_ptr_ne(calls[0].space, calls[1].space);
	ck_assert_uint_eq(thread_stacks_feed(&stacks, calls, 2), 1);
	close_stacks();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("thread_stacks");
	TCase *all = tcase_create("thread_stacks");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_loop_test(all, many_at_once_have_the_outcome_of_one_by_one, 0, 40);
	tcase_add_test(all, a_child_begins_with_the_stack_of_a_parent_that_is_not_shown);
	tcase_add_loop_test(all, a_hidden_thread_is_followed_up_to_its_last_fork, 0, 4);
	tcase_add_loop_test(
		all, children_of_one_address_begin_in_the_calls_in_the_order_of_their_forks, 0, 3);
	tcase_add_loop_test(all, forks_before_a_child_that_has_begun_take_no_later_call, 0, 2);
	tcase_add_loop_test(all, a_child_begins_in_the_call_that_forked_it_whatever_the_times, 0,
			    3);
	tcase_add_loop_test(
		all, a_child_begins_in_the_call_that_forked_it_where_the_kernel_is_traced, 0, 2);
	tcase_add_loop_test(
		all, slices_of_a_thread_are_kept_unless_its_trace_begins_where_it_was_created, 0,
		4);
	tcase_add_test(all, what_ran_before_a_threads_first_branch_is_counted);
	tcase_add_loop_test(all, the_files_of_a_stretch_that_fits_are_noted, 0, 2);
	tcase_add_loop_test(all, a_branch_named_ahead_is_looked_up_once, 0, 2);
	tcase_add_test(all, a_new_program_ends_the_branches_fed_together);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
