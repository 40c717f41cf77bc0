/* SPDX-License-Identifier: MIT */
/*
 * Compares streams that threads decode in segments with the same streams decoded sequentially.  The
 * traces are of repeated runs of the sample program (tests/support/sample.h), with random PSBs,
 * losses, overflows, missing code and thread switches: each PSB is a cut.
 */
#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/workers.h"
#include "decoder/code/code_image.h"
#include "decoder/engine/event_pool.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/streams/auxtrace.h"
#include "decoder/streams/pt_streams.h"
#include "decoder/timeline/timeline.h"
#include "tests/support/sample.h"
#include "tests/support/unit.h"

#define EVENTS_MAX 100000
#define SEEDS      60
#define NOWHERE    UINT64_C(0x900000)

/* Bytes of the sample's code. */
#define CODE_SIZE 0x60

struct outcome {
	struct branch_event *events;
	size_t count;
	struct pt_stream_stats stats;
	uint64_t executed[CODE_SIZE], taken[CODE_SIZE]; /* by the last instruction */
};

/* Probabilities: one in this many; 0: never. */
struct dice {
	unsigned psb, tsc, trouble, other_thread;
	unsigned overflows; /* while tracing is off: at most this many in a row */
	bool bdm70;         /* the CPU may write an IP into a PSB's header while tracing is off */
	bool cycles;        /* CYC packets, and values of PTWRITE */
};

/* The reader's requests. */
struct form {
	bool all_jumps, counts, cycles, sums_cycles, pieces, cpu_events;
	uint64_t period;     /* ns */
	uint64_t begin, end; /* ns since the start: the selected time */
	const struct segment_follower *follower;
};

struct run {
	struct perf_data data;
	struct pt_packets packets;
	char recording[PERF_DATA_PATH];
	uint8_t *program_bytes;
	size_t program_size;
	struct perf_file file;
	struct auxtrace auxtrace;
	struct timeline *timeline;
	struct diag diag;
	struct dice dice;
	struct form form;
	uint64_t time;
	unsigned random;
	bool off; /* the program has ended */
};

static struct run run;

/* ---- Making a trace ------------------------------------------------------ */

static unsigned draw(unsigned sides)
{
	run.random = run.random * 1103515245 + 12345;
	return sides ? (run.random >> 16) % sides : 1;
}

static void maybe_cycles(void)
{
	const struct pt_packet cycles = { .type = ppt_cyc, .payload.cyc.value = 1 + draw(50) };
	const struct pt_packet value = { .type = ppt_ptw,
					 .payload.ptw = { .payload = draw(1000), .plc = 1 } };

	if (!run.dice.cycles || draw(4))
		return;
	if (!draw(4))
		pt_packets_add(&run.packets, &value);
	pt_packets_add(&run.packets, &cycles);
}

/* Returns whether a return may be compressed afterwards: not after a PSB. */
static bool maybe_psb(uint64_t ip)
{
	maybe_cycles();
	run.time += draw(40);
	if (!draw(run.dice.tsc))
		pt_packets_tsc(&run.packets, run.time);
	if (draw(run.dice.psb))
		return true;
	pt_packets_psb(&run.packets, run.time, ip);
	return false;
}

static void stamp(int32_t tid)
{
	perf_data_stamp(&run.data, (struct perf_data_stamp){
					   .time = run.time, .pid = SAMPLE_PID, .tid = tid });
}

static void put_transaction(bool in, bool aborted, uint64_t ip)
{
	struct pt_packet packet = { .type = ppt_mode };

	packet.payload.mode.leaf = pt_mol_tsx;
	packet.payload.mode.bits.tsx.intx = in;
	packet.payload.mode.bits.tsx.abrt = aborted;
	pt_packets_add(&run.packets, &packet);
	pt_packets_fup(&run.packets, ip);
}

static void put_paging(bool guest)
{
	struct pt_packet packet = { .type = ppt_pip,
				    .payload.pip = { .cr3 = 0x1000, .nr = guest } };

	pt_packets_add(&run.packets, &packet);
}

/* State that a PSB's header does not restate. */
static void hidden_state(uint64_t ip)
{
	switch (draw(3)) {
	case 0:
		put_transaction(true, false, ip);
		pt_packets_psb(&run.packets, run.time, ip);
		return;
	case 1:
		put_transaction(false, true, ip);
		pt_packets_psb(&run.packets, run.time, ip);
		pt_packets_tip(&run.packets, ip);
		return;
	default:
		put_paging(true);
		pt_packets_psb(&run.packets, run.time, 0);
		pt_packets_tnt(&run.packets, "t"); /* the guest's */
		put_paging(false);
		pt_packets_pge(&run.packets, ip);
		return;
	}
}

/* An error at ip; then the program continues there, or ends. */
static void trouble(uint64_t ip)
{
	switch (draw(9)) {
	case 0:
		pt_packets_ovf(&run.packets);
		pt_packets_fup(&run.packets, ip);
		return;
	case 1:
		pt_packets_ovf(&run.packets);
		maybe_psb(0);
		run.off = draw(2);
		if (!run.off)
			pt_packets_psb(&run.packets, run.time, ip);
		return;
	case 2: /* missing code, perhaps for several PSBs */
		pt_packets_fup(&run.packets, ip);
		pt_packets_tip(&run.packets, NOWHERE);
		for (unsigned i = draw(8); i; i--) {
			pt_packets_tnt(&run.packets, "tnt");
			maybe_psb(NOWHERE + i);
		}
		pt_packets_tip(&run.packets, ip);
		return;
	case 3: /* impossible TNT bits */
		pt_packets_tnt(&run.packets, "tttttttttttttttttt");
		pt_packets_psb(&run.packets, run.time, ip);
		return;
	case 4:
		stamp(SAMPLE_PID);
		perf_data_add_aux_event(&run.data, 0, 100, PERF_AUX_FLAG_COLLISION);
		return;
	case 5:
		hidden_state(ip);
		return;
	case 7: /* damage: a PSB without PSBEND, perhaps at a cut */
		pt_packets_add(&run.packets, &(struct pt_packet){ .type = ppt_psb });
		pt_packets_tsc(&run.packets, run.time);
		pt_packets_psb(&run.packets, run.time, ip);
		return;
	case 6: /* a full buffer, perhaps within a packet, perhaps without a PSB */
		if (draw(2))
			pt_packets_raw(&run.packets, "\x6d\x20\x10", 3); /* the start of a TIP */
		stamp(SAMPLE_PID);
		perf_data_add_aux_event(&run.data, 0, pt_packets_size(&run.packets),
					PERF_AUX_FLAG_TRUNCATED);
		maybe_psb(0);
		pt_packets_pge(&run.packets, ip);
		return;
	default: /* an interrupt */
		pt_packets_fup(&run.packets, ip);
		if (!run.dice.bdm70 || draw(4)) /* else the end of tracing is lost */
			pt_packets_pgd(&run.packets, 0);
		if (run.dice.bdm70 && draw(2))
			pt_packets_psb(&run.packets, run.time, ip);
		else
			maybe_psb(0);
		pt_packets_pge(&run.packets, ip);
		return;
	}
}

/* Returns whether there was no error. */
static bool pass(uint64_t ip)
{
	bool kept = maybe_psb(ip);

	if (draw(run.dice.trouble) || run.off)
		return kept;
	trouble(ip);
	return false;
}

static void put_return(bool kept, uint64_t to)
{
	if (kept)
		pt_packets_tnt(&run.packets, "t");
	else
		pt_packets_tip(&run.packets, to);
}

static void run_work(uint64_t after)
{
	bool kept = true;

	for (int i = 0; i < 3 && !run.off; i++) {
		bool leaf_kept;

		kept &= pass(SAMPLE_WORK);
		if (run.off)
			return;
		leaf_kept = pass(SAMPLE_LEAF);
		kept &= leaf_kept;
		if (run.off)
			return;
		put_return(leaf_kept, SAMPLE_WORK + 5);
		kept &= pass(SAMPLE_WORK + 5);
		if (!run.off)
			pt_packets_tnt(&run.packets, i < 2 ? "t" : "n");
	}
	if (run.off)
		return;
	kept &= pass(SAMPLE_WORK + 7);
	if (!run.off)
		put_return(kept, after);
}

static void maybe_switch(void)
{
	int32_t tid = SAMPLE_PID + (int32_t)draw(2);

	if (draw(run.dice.other_thread))
		return;
	run.time += 20;
	stamp(tid);
	perf_data_add_switch(&run.data, false, SAMPLE_PID, tid);
	run.time += 20;
	/* Or the records have it earlier than the trace. */
	if (draw(2))
		pt_packets_tsc(&run.packets, run.time);
}

static void overflow_while_off(void)
{
	for (unsigned i = 1 + draw(run.dice.overflows); i; i--) {
		if (run.dice.overflows == 1 || draw(2))
			pt_packets_ovf(&run.packets);
		maybe_psb(0);
	}
}

/* Tracing begins by a packet, or a PSB's header is the first packet with an IP. */
static void start(void)
{
	if (run.dice.overflows)
		overflow_while_off();
	if (run.dice.overflows == 1 || draw(4)) {
		maybe_psb(0);
		pt_packets_pge(&run.packets, SAMPLE_MAIN);
	} else {
		pt_packets_psb(&run.packets, run.time, SAMPLE_MAIN);
	}
}

static void make_trace(void)
{
	run.time = SAMPLE_START;
	pt_packets_psb(&run.packets, run.time, 0);
	while (pt_packets_size(&run.packets) < 20000) {
		run.off = false;
		maybe_switch();
		start();
		run_work(SAMPLE_MAIN + 5);
		if (!run.off)
			run_work(SAMPLE_MAIN + 10);
		if (!run.off)
			pt_packets_pgd(&run.packets, 0);
	}
}

/* ---- Decoding it --------------------------------------------------------- */

/* us: each lookup of code takes a random time up to this, so that threads meet anywhere. */
static unsigned delay;

static void wait_some(void)
{
	static unsigned random;
	/* A generator of C's standard (7.22.2.1, rand). */
	unsigned next = __atomic_add_fetch(&random, 12345, __ATOMIC_RELAXED) * 1103515245;

	if (delay)
		usleep((next >> 16) % delay);
}

static struct byte_view find_code(void *context, const struct mapped_file *file)
{
	(void)context;
	wait_some();
	if (strcmp(file->path, SAMPLE_PATH) != 0)
		return (struct byte_view){ 0 };
	return (struct byte_view){ run.program_bytes, run.program_size };
}

/* The sample's only jump within a function is in work(). */
static bool find_work(void *context, const struct mapped_file *file, uint64_t offset,
		      uint64_t *from, uint64_t *to)
{
	(void)context;
	(void)file;
	*from = SAMPLE_WORK - SAMPLE_CODE + TINY_ELF_CODE_OFFSET;
	*to = *from + 8;
	return offset >= *from && offset < *to;
}

static void begin(unsigned seed, struct dice dice)
{
	memset(&run, 0, sizeof(run));
	run.random = seed;
	run.dice = dice;
	run.program_bytes = tiny_elf_bytes(&sample_elf, &run.program_size);
	sample_begin(&run.data);
	run.data.events[0].attr.exclude_kernel = seed & 1; /* else PIPs show guests */
	perf_data_add_fork(&run.data, SAMPLE_PID, SAMPLE_PID + 1, SAMPLE_PID);
	pt_packets_init(&run.packets);
	diag_init(&run.diag);
	make_trace();
	if (dice.bdm70)
		perf_data_set_text(&run.data, PERF_FEATURE_CPUID, "GenuineIntel,6,61,4");
	sample_add_trace(&run.data, &run.packets);
	perf_data_write_temporary(&run.data, run.recording);
	ck_assert_int_eq(perf_file_open(&run.file, run.recording, &run.diag, NULL), 0);
	ck_assert_int_eq(auxtrace_init(&run.auxtrace, &run.file, NULL), 0);
	run.timeline = timeline_open(&run.file, NULL, 0, &run.diag);
}

static void finish(void)
{
	timeline_close(run.timeline);
	auxtrace_release(&run.auxtrace);
	perf_file_close(&run.file);
	unlink(run.recording);
	free(run.program_bytes);
	perf_data_release(&run.data);
	pt_packets_release(&run.packets);
	diag_release(&run.diag);
}

/* Pieces of four bytes. */
static bool find_piece(void *context, const struct mapped_file *file, uint64_t offset,
		       uint64_t *from, uint64_t *to)
{
	(void)context;
	(void)file;
	*from = offset - offset % 4;
	*to = *from + 4;
	return true;
}

static struct outcome *counted;

static void add_counts(struct code_counter *counter, const struct code_count *counts, size_t count)
{
	(void)counter;
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_lt(counts[i].last - SAMPLE_CODE, CODE_SIZE);
		counted->executed[counts[i].last - SAMPLE_CODE] += counts[i].count;
		counted->taken[counts[i].last - SAMPLE_CODE] += counts[i].taken;
	}
}

static struct outcome decode(uint64_t segment, struct workers *workers)
{
	const struct form *form = &run.form;
	struct code_source source = { .find = find_code,
				      .find_function = find_work,
				      .find_piece = form->pieces ? find_piece : NULL };
	struct code_counter counter = { add_counts };
	struct event_pool *pool = event_pool_open();
	struct pt_stream_input input = {
		.info = &run.auxtrace.info,
		.aux = &run.auxtrace.streams[0],
		.history = &run.timeline->history,
		.code = &source,
		.diag = &run.diag,
		.skip_local_jumps = !form->all_jumps,
		.count_jumps = form->period,
		.period = form->period,
		.pieces = form->pieces,
		.counter = form->counts ? &counter : NULL,
		.cycles = form->cycles,
		.sums_cycles = form->sums_cycles,
		.cpu_events = form->cpu_events,
		.begin = form->end ? SAMPLE_START + form->begin : 0,
		.end = form->end ? SAMPLE_START + form->end : 0,
		.segment = segment,
		.workers = workers,
		.pool = pool,
		.follower = workers ? form->follower : NULL,
	};
	struct pt_stream *stream = pt_stream_open(&input, NULL);
	struct outcome outcome = { .events = calloc(EVENTS_MAX, sizeof(*outcome.events)) };

	ck_assert_ptr_nonnull(stream);
	ck_assert_ptr_nonnull(outcome.events);
	counted = &outcome;
	while (pt_stream_next(stream, &outcome.events[outcome.count]))
		ck_assert_uint_lt(++outcome.count, EVENTS_MAX);
	outcome.stats = *pt_stream_stats(stream);
	pt_stream_flush(stream);
	pt_stream_close(stream);
	event_pool_close(pool);
	return outcome;
}

static void expect_same_event(const struct branch_event *a, const struct branch_event *b)
{
	ck_assert_uint_eq(a->time, b->time);
	ck_assert_uint_eq(a->word, b->word);
	ck_assert_uint_eq(a->from, b->from);
	/* A count has the number of jumps if it is asked for. */
	if (a->kind != BRANCH_COUNTS || run.form.period)
		ck_assert_uint_eq(a->to, b->to);
	ck_assert_ptr_eq(a->thread, b->thread);
	ck_assert_ptr_eq(a->space, b->space);
	ck_assert_uint_eq(a->insns, b->insns);
	ck_assert_uint_eq(a->cycles, b->cycles);
	ck_assert_uint_eq(a->kind, b->kind);
	ck_assert_uint_eq(a->gap, b->gap);
	ck_assert_uint_eq(a->flags, b->flags);
}

static void expect_same(const struct outcome *a, const struct outcome *b)
{
	struct pt_stream_stats stats = b->stats;

	for (size_t i = 0; i < a->count && i < b->count; i++)
		expect_same_event(&a->events[i], &b->events[i]);
	ck_assert_uint_eq(a->count, b->count);
	stats.segments_again = 0;
	ck_assert_mem_eq(&a->stats, &stats, sizeof(stats));
	ck_assert_mem_eq(a->executed, b->executed, sizeof(a->executed));
	ck_assert_mem_eq(a->taken, b->taken, sizeof(a->taken));
	ck_assert_uint_eq(b->stats.bytes_decoded + b->stats.bytes_skipped + b->stats.bytes_lost,
			  b->stats.bytes_total);
}

/* Returns how many segments were decoded again. */
static uint64_t compare(uint64_t segment, unsigned threads)
{
	struct outcome one = decode(segment, NULL), many;
	struct workers *workers = workers_open(threads);

	ck_assert_ptr_nonnull(workers);
	delay = 20;
	many = decode(segment, workers);
	counted = NULL;
	delay = 0;
	workers_close(workers);
	expect_same(&one, &many);
	ck_assert_uint_gt(one.count, 1000);
	free(one.events);
	free(many.events);
	return many.stats.segments_again;
}

START_TEST(threads_give_the_events_of_one)
{
	begin((unsigned)_i, (struct dice){ 20, 5, 0, 0, 0, false, false });
	compare(_i % 2 ? 64 : 500, 1 + (unsigned)_i % 4);
	finish();
}
END_TEST

START_TEST(threads_give_the_events_of_one_whatever_goes_wrong)
{
	begin((unsigned)_i, (struct dice){ 20, 5, 30, 0, 0, false, false });
	compare(_i % 2 ? 64 : 500, 1 + (unsigned)_i % 4);
	finish();
}
END_TEST

/* With BDM70, the same header and packet may or may not start tracing. */
START_TEST(threads_give_the_events_of_one_with_an_erratum)
{
	begin((unsigned)_i, (struct dice){ .psb = 20, .tsc = 5, .trouble = 10, .bdm70 = true });
	compare(_i % 2 ? 64 : 500, 1 + (unsigned)_i % 4);
	finish();
}
END_TEST

START_TEST(threads_give_the_events_of_one_after_overflows)
{
	begin((unsigned)_i, (struct dice){ 5, 5, 60, 0, 5, false, false });
	compare(64, 1 + (unsigned)_i % 4);
	finish();
}
END_TEST

START_TEST(threads_find_the_same_traced_threads_as_one)
{
	begin((unsigned)_i, (struct dice){ 20, 3, 60, 2, 0, false, false });
	compare(_i % 2 ? 64 : 500, 1 + (unsigned)_i % 4);
	finish();
}
END_TEST

static const struct form forms[] = {
	{ .all_jumps = true, .cpu_events = true },
	{ .counts = true },
	{ .counts = true, .cycles = true, .cpu_events = true },
	{ .period = 100 },
	{ .period = 300, .cycles = true, .sums_cycles = true },
	{ .period = 50, .cycles = true, .cpu_events = true },
	{ .pieces = true, .cycles = true },
	{ .counts = true, .begin = 3000, .end = 12000 },
	{ .counts = true, .cycles = true, .begin = 5000, .end = 5300, .period = 200 },
};

#define FORMS ((int)COUNT_OF(forms))

START_TEST(threads_give_the_counts_of_one)
{
	begin((unsigned)_i, (struct dice){ .psb = 20,
					   .tsc = 5,
					   .trouble = _i / FORMS % 2 ? 60 : 0,
					   .other_thread = _i / FORMS % 3 ? 0 : 5,
					   .cycles = true });
	run.form = forms[_i % FORMS];
	compare(_i % 2 ? 64 : 500, 1 + (unsigned)_i % 4);
	finish();
}
END_TEST

/* ---- Followers ----------------------------------------------------------- */

/* Cycles that no event has. */
#define MARK 12345

static struct follower_state {
	bool begun;
} states[16];

static unsigned opened, closed, segments_followed;

static void *open_state(const struct segment_follower *follower)
{
	(void)follower;
	ck_assert_uint_lt(opened, COUNT_OF(states));
	return &states[opened++];
}

static void begin_segment(void *state)
{
	((struct follower_state *)state)->begun = true;
}

/* Mark the calls. */
static void follow_segment(void *state, struct branch_event *events, size_t count)
{
	ck_assert(((struct follower_state *)state)->begun);
	for (size_t i = 0; i < count; i++)
		if (events[i].kind == BRANCH_CALL)
			events[i].cycles = MARK;
}

static void end_segment(void *state)
{
	ck_assert(((struct follower_state *)state)->begun);
	((struct follower_state *)state)->begun = false;
	__atomic_add_fetch(&segments_followed, 1, __ATOMIC_RELAXED);
}

static void close_state(void *state)
{
	ck_assert(!((struct follower_state *)state)->begun);
	closed++;
}

/* The job of a segment follows its events; a segment that is decoded again is not followed. */
START_TEST(each_segment_has_a_follower)
{
	static const struct segment_follower follower = { open_state, begin_segment, follow_segment,
							  end_segment, close_state };
	struct workers *workers = workers_open(2);
	struct outcome outcome;
	size_t calls = 0, followed = 0;

	opened = closed = segments_followed = 0;
	begin(1, (struct dice){ .psb = 20, .tsc = 5, .trouble = _i ? 20 : 0 });
	run.form.follower = &follower;
	outcome = decode(64, workers);
	for (size_t i = 0; i < outcome.count; i++) {
		calls += outcome.events[i].kind == BRANCH_CALL;
		followed += outcome.events[i].cycles == MARK;
	}
	ck_assert_uint_ge(opened, 3); /* more than threads */
	ck_assert_uint_eq(closed, opened);
	ck_assert_uint_gt(segments_followed, 100);
	if (_i) {
		ck_assert_uint_gt(outcome.stats.segments_again, 0);
		ck_assert_uint_lt(followed, calls);
		ck_assert_uint_gt(followed, calls / 2);
	} else {
		ck_assert_uint_eq(followed, calls);
	}
	free(outcome.events);
	workers_close(workers);
	finish();
}
END_TEST

/* In a sound trace, a PSB's header has the whole state. */
START_TEST(segments_of_a_sound_trace_are_not_decoded_twice)
{
	begin((unsigned)_i, (struct dice){ 20, 5, 0, 0, 0, false, false });
	ck_assert_uint_eq(compare(64, 3), 0); /* of 300, some of them where tracing begins */
	finish();
}
END_TEST

/* Some 1,400 events of the last segment are in two chunks. */
START_TEST(segments_of_many_events_are_whole)
{
	begin((unsigned)_i, (struct dice){ 20, 5, 0, 0, 0, false, false });
	compare(11000 + 100 * (uint64_t)_i, 2);
	finish();
}
END_TEST

/* A gap emitted before a PSB matters only if the PSB's header gives an IP. */
START_TEST(segments_after_an_overflow_are_not_decoded_twice)
{
	struct dice dice = { .psb = 5, .overflows = 1 };

	begin((unsigned)_i, dice);
	ck_assert_uint_eq(compare(64, 3), 0);
	finish();
}
END_TEST

/* If decoding was off before the PSB, its state cannot be guessed. */
START_TEST(a_wrong_guess_is_decoded_again)
{
	begin(1, (struct dice){ 20, 5, 5, 0, 0, false, false });
	ck_assert_uint_gt(compare(64, 3), 0);
	finish();
}
END_TEST

START_TEST(a_stream_may_be_left_in_the_middle)
{
	struct code_source source = { .find = find_code };
	struct workers *workers = workers_open(3);
	struct event_pool *pool = event_pool_open();
	struct branch_event event;
	struct pt_stream *stream;

	begin(1, (struct dice){ 20, 5, 0, 0, 0, false, false });
	delay = 1000;
	stream = pt_stream_open(&(struct pt_stream_input){ .info = &run.auxtrace.info,
							   .aux = &run.auxtrace.streams[0],
							   .history = &run.timeline->history,
							   .code = &source,
							   .segment = 64,
							   .workers = workers,
							   .pool = pool },
				NULL);
	for (int i = 0; i < 10 + _i; i++)
		ck_assert_int_eq(pt_stream_next(stream, &event), 1);
	pt_stream_close(stream);
	workers_close(workers);
	event_pool_close(pool);
	delay = 0;
	finish();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pt_segments");
	TCase *tests = tcase_create("all");

	tcase_add_loop_test(tests, threads_give_the_events_of_one, 0, SEEDS / 3);
	tcase_add_loop_test(tests, threads_give_the_events_of_one_whatever_goes_wrong, 0, SEEDS);
	tcase_add_loop_test(tests, threads_give_the_events_of_one_with_an_erratum, 0, SEEDS);
	tcase_add_loop_test(tests, threads_give_the_events_of_one_after_overflows, 0, SEEDS);
	tcase_add_loop_test(tests, threads_find_the_same_traced_threads_as_one, 0, SEEDS);
	tcase_add_loop_test(tests, threads_give_the_counts_of_one, 0, 3 * FORMS);
	tcase_add_loop_test(tests, each_segment_has_a_follower, 0, 2);
	tcase_add_loop_test(tests, segments_of_a_sound_trace_are_not_decoded_twice, 0, 10);
	tcase_add_loop_test(tests, segments_of_many_events_are_whole, 0, 10);
	tcase_add_loop_test(tests, segments_after_an_overflow_are_not_decoded_twice, 0, 10);
	tcase_add_test(tests, a_wrong_guess_is_decoded_again);
	tcase_add_loop_test(tests, a_stream_may_be_left_in_the_middle, 0, 4);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
