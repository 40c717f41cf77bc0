/* SPDX-License-Identifier: MIT */
/* Files of the tests' encoder and of memtrace's own are read, written and read again. */
#include "overlays/memtrace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/support/memtrace_ctf.h"
#include "tests/support/unit.h"

#define START UINT64_C(1699999997017536)

struct bytes {
	uint8_t *bytes;
	size_t size, room;
};

static void keep(void *context, const void *bytes, size_t size)
{
	struct bytes *out = context;

	if (out->size + size > out->room) {
		out->room = 2 * (out->room + size);
		out->bytes = realloc(out->bytes, out->room);
		ck_assert_ptr_nonnull(out->bytes);
	}
	memcpy(out->bytes + out->size, bytes, size);
	out->size += size;
}

/* Write all events of a file into another one. */
static struct bytes write_again(const uint8_t *bytes, size_t size)
{
	struct memtrace_writer *writer;
	struct memtrace_event event;
	struct memtrace trace;
	struct bytes out = { 0 };

	ck_assert_int_eq(memtrace_open(&trace, bytes, size, NULL, NULL), 0);
	writer = memtrace_writer_open(&trace.info, &trace.locations,
				      (struct memtrace_sink){ keep, &out });
	while (memtrace_next(&trace, &event))
		memtrace_writer_put(writer, &event);
	memtrace_writer_close(writer);
	memtrace_close(&trace);
	return out;
}

static void assert_same_info(const struct memtrace_info *one, const struct memtrace_info *other)
{
	ck_assert_str_eq(one->executable, other->executable);
	ck_assert_str_eq(one->host, other->host);
	ck_assert_str_eq(one->parameters, other->parameters);
	ck_assert_str_eq(one->context, other->context);
	ck_assert_uint_eq(one->pid, other->pid);
	ck_assert_uint_eq(one->word_size, other->word_size);
	ck_assert_uint_eq(one->start_time, other->start_time);
	ck_assert_uint_eq(one->initial_domain, other->initial_domain);
	ck_assert(one->sample_rate == other->sample_rate);
}

static void assert_same_locations(const struct memtrace *one, const struct memtrace *other,
				  uint64_t code)
{
	size_t count, other_count;
	const struct memtrace_location *locations =
		memtrace_locations_borrow(&one->locations, code, &count);
	const struct memtrace_location *others =
		memtrace_locations_borrow(&other->locations, code, &other_count);

	ck_assert_uint_eq(count, other_count);
	for (size_t i = 0; i < count; i++) {
		ck_assert_str_eq(locations[i].file, others[i].file);
		ck_assert_str_eq(locations[i].function, others[i].function);
		ck_assert_uint_eq(locations[i].line, others[i].line);
		ck_assert_uint_eq(locations[i].begin, others[i].begin);
		ck_assert_uint_eq(locations[i].end, others[i].end);
	}
}

/* Everything but a backtrace's coding. */
static void assert_same_event(const struct memtrace_event *one, const struct memtrace_event *other)
{
	ck_assert_uint_eq(one->time, other->time);
	ck_assert_uint_eq(one->object, other->object);
	ck_assert_uint_eq(one->kind, other->kind);
	ck_assert_uint_eq(one->domain, other->domain);
	ck_assert_uint_eq(one->source, other->source);
	ck_assert_uint_eq(one->words, other->words);
	ck_assert_uint_eq(one->samples, other->samples);
	ck_assert_uint_eq(one->backtrace_length, other->backtrace_length);
	if (one->backtrace_length)
		ck_assert_int_eq(memcmp(one->backtrace, other->backtrace,
					one->backtrace_length * sizeof(uint64_t)),
				 0);
}

/* Returns the number of events. */
static size_t assert_same(const uint8_t *bytes, size_t size, const struct bytes *copy)
{
	struct memtrace_event event, copied;
	struct memtrace trace, again;
	struct diag diag;
	size_t events = 0;

	diag_init(&diag);
	ck_assert_int_eq(memtrace_open(&trace, bytes, size, NULL, NULL), 0);
	ck_assert_int_eq(memtrace_open(&again, copy->bytes, copy->size, &diag, NULL), 0);
	ck_assert_uint_eq(again.version, 3);
	assert_same_info(&trace.info, &again.info);
	for (; memtrace_next(&trace, &event); events++) {
		ck_assert_int_eq(memtrace_next(&again, &copied), 1);
		assert_same_event(&event, &copied);
		for (size_t i = 0; i < event.backtrace_length; i++)
			assert_same_locations(&trace, &again, event.backtrace[i]);
	}
	ck_assert_int_eq(memtrace_next(&again, &copied), 0);
	ck_assert_uint_eq(diag_kinds(&diag), 0);
	memtrace_close(&trace);
	memtrace_close(&again);
	diag_release(&diag);
	return events;
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* More names than the lists hold; some codes have no location, and some have two. */
static void locate(struct ctf_file *file, unsigned domain, unsigned codes)
{
	for (unsigned i = 0; i < codes; i++) {
		char names[2][2][32];
		struct ctf_location locations[2];

		for (unsigned j = 0; j < 2; j++) {
			snprintf(names[j][0], sizeof(names[j][0]), "file%u.ml", (i * 7 + j) % 40);
			snprintf(names[j][1], sizeof(names[j][1]), "f%u", i % 50);
			locations[j] = (struct ctf_location){ names[j][0], names[j][1], i * 500,
							      i % 0xff, i * 5 % 0x3ff };
		}
		ctf_locate(file, domain, 1000 + i, locations, i % 3);
	}
}

/* Returns a file of three domains whose blocks are promoted and collected. */
static struct ctf_file make_file(unsigned allocations)
{
	uint64_t backtrace[CTF_BACKTRACE], time = START;
	struct ctf_file file;
	uint32_t state = 7;

	ctf_init(&file, 3, 1e-4, 4242, START);
	for (unsigned i = 0; i < 3; i++)
		locate(&file, i, 300);
	for (unsigned i = 0; i < allocations; i++) {
		unsigned domain = i / 50 % 3, length = next_random(&state) % CTF_BACKTRACE;
		struct ctf_alloc alloc = { .backtrace = backtrace, .length = length };
		uint64_t object;

		for (unsigned j = 0; j < length; j++)
			backtrace[j] = 1000 + (j * 13 + next_random(&state) % 3) % 300;
		time += i % 90 ? 1000 : 9000000;
		alloc.time = time;
		alloc.words = next_random(&state) % 3 ? next_random(&state) % 20 : 70000 + i;
		alloc.samples = 1 + next_random(&state) % 4 / 3;
		alloc.source = next_random(&state) % 5 / 2;
		object = ctf_alloc(&file, domain, &alloc);
		if (i % 2)
			ctf_object(&file, domain, 3 + i % 3 / 2, time, object);
		/* A younger block of another domain. */
		if (i % 7 == 0)
			ctf_object(&file, domain, 4, time, 50000 + i);
		if (i % 50 == 49)
			ctf_flush(&file, domain);
	}
	return file;
}

START_TEST(what_is_read_is_written)
{
	struct ctf_file file = make_file(3000);
	struct bytes copy = write_again(file.out.bytes, file.out.size);

	/* seeds.md: the first packet has the trace's info, of version 3 */
	/* seeds.md: short and long allocations, promotions and collections by a distance of ids */
	/* seeds.md: locations come before the backtraces that need them, by lists that move to the
	 * front */
	/* seeds.md: backtraces share a prefix, and are coded by a cache with predictions, of which
	 * the older of two slots is replaced */
	/* seeds.md: multiplexed domains: the packet of the last one ends when another writes */
	ck_assert_uint_gt(assert_same(file.out.bytes, file.out.size, &copy), 4000);
	free(copy.bytes);
	ctf_release(&file);
}
END_TEST

/* Packets end before 32 KiB and 30 s, and before the domain's next one begins. */
START_TEST(packets_are_as_small_as_memtrace_reads_them)
{
	struct ctf_file file = make_file(3000);
	struct bytes copy = write_again(file.out.bytes, file.out.size);
	uint64_t begin, end, turns[3] = { 0 };

	for (size_t at = 0; at < copy.size;) {
		const uint8_t *packet = copy.bytes + at;
		uint32_t bits;

		memcpy(&bits, packet + 4, sizeof(bits));
		memcpy(&begin, packet + 8, sizeof(begin));
		memcpy(&end, packet + 16, sizeof(end));
		ck_assert_uint_le(bits / 8, 32768);
		ck_assert_uint_ge(bits / 8, 69);
		ck_assert_uint_le(end - begin, 30000000);
		/* A domain's first packet verifies no slot, the others memtrace's. */
		if (at && packet[71] >> 1 != 1) {
			unsigned domain = packet[38], slot = packet[40] | packet[41] << 8;

			/* seeds.md: packets have at most 32 KiB and 30 s, and verify a slot each */
			ck_assert_uint_eq(
				slot, turns[domain] ? (4242 + 5413 * (turns[domain] - 1)) % 16384
						    : 0xffff);
			turns[domain]++;
		}
		at += bits / 8;
	}
	ck_assert_uint_gt(turns[2], 10);
	free(copy.bytes);
	ctf_release(&file);
}
END_TEST

/* memtrace's reader demands that a promoted block is older, but not a collected one. */
START_TEST(numbers_of_blocks_may_leave_some_out)
{
	static const struct memtrace_info info = { 1e-4, 64, "/bin/program", "host", "", "",
						   4242, 5,  START };
	const struct memtrace_event events[] = {
		{ .time = 1, .object = 17, .words = 3, .samples = 1, .domain = 5 },
		{ .time = 2, .object = 18, .words = 3, .samples = 1, .domain = 5 },
		{ .time = 3, .object = 4000000000, .words = 0, .samples = 2, .domain = 5 },
		{ .time = 4, .object = 17, .kind = MEMTRACE_PROMOTE, .domain = 5 },
		{ .time = 4, .object = 5000000000, .kind = MEMTRACE_COLLECT, .domain = 5 },
		{ .time = 40000000, .object = 18, .kind = MEMTRACE_COLLECT, .domain = 5 },
		{ .time = 40000001, .object = 6000000000, .kind = MEMTRACE_PROMOTE, .domain = 5 },
		{ .time = 40000001, .object = 3, .kind = MEMTRACE_PROMOTE, .domain = 6 },
	};
	const size_t count = sizeof(events) / sizeof(events[0]);
	const struct memtrace_locations locations = { 0 };
	struct memtrace_writer *writer;
	struct memtrace_event event;
	struct bytes out = { 0 };
	struct memtrace trace;
	struct diag diag;

	diag_init(&diag);
	writer = memtrace_writer_open(&info, &locations, (struct memtrace_sink){ keep, &out });
	for (size_t i = 0; i < count; i++)
		memtrace_writer_put(writer, &events[i]);
	memtrace_writer_close(writer);
	ck_assert_int_eq(memtrace_open(&trace, out.bytes, out.size, &diag, NULL), 0);
	assert_same_info(&info, &trace.info);
	for (size_t i = 0; i < count; i++) {
		ck_assert_int_eq(memtrace_next(&trace, &event), 1);
		/* seeds.md: short and long allocations, promotions and collections by a distance of
		 * ids */
		/* seeds.md: ids are taken in chunks from one counter */
		assert_same_event(&events[i], &event);
	}
	ck_assert_int_eq(memtrace_next(&trace, &event), 0);
	ck_assert_uint_eq(diag_kinds(&diag), 0);
	memtrace_close(&trace);
	diag_release(&diag);
	free(out.bytes);
}
END_TEST

/* The encoder ends a backtrace after 4 KiB: 409 new entries. */
START_TEST(a_long_backtrace_lacks_its_innermost_entries)
{
	static const struct memtrace_info info = { 1, 64, "", "", "", "", 1, 0, START };
	struct memtrace_event event = { .words = 1, .samples = 1, .backtrace_length = 1500 }, read;
	const struct memtrace_locations locations = { 0 };
	struct memtrace_writer *writer;
	struct bytes out = { 0 };
	struct memtrace trace;
	uint64_t codes[1500];

	for (unsigned i = 0; i < 1500; i++)
		codes[i] = 1000 + i;
	event.backtrace = codes;
	writer = memtrace_writer_open(&info, &locations, (struct memtrace_sink){ keep, &out });
	memtrace_writer_put(writer, &event);
	memtrace_writer_close(writer);
	ck_assert_int_eq(memtrace_open(&trace, out.bytes, out.size, NULL, NULL), 0);
	ck_assert_int_eq(memtrace_next(&trace, &read), 1);
	ck_assert_uint_eq(read.backtrace_length, 409);
	/* seeds.md: a backtrace takes at most 4 KiB */
	ck_assert_int_eq(memcmp(read.backtrace, codes, 409 * sizeof(codes[0])), 0);
	memtrace_close(&trace);
	free(out.bytes);
}
END_TEST

/* Returns a file of ../shared, perhaps compressed; empty if it is absent. */
static struct bytes read_shared(const char *name)
{
	const char *top = getenv("top_srcdir");
	struct bytes in = { 0 };
	uint8_t part[65536];
	char path[4096];
	gzFile file;
	int size;

	snprintf(path, sizeof(path), "%s/../shared/ocaml/%s", top ? top : ".", name);
	file = access(path, R_OK) == 0 ? gzopen(path, "rb") : NULL;
	if (!file)
		return in;
	while ((size = gzread(file, part, sizeof(part))) > 0)
		keep(&in, part, (size_t)size);
	gzclose(file);
	return in;
}

/* Files of memtrace: ours have at most `most` percent of the size. */
static const struct {
	const char *name;
	unsigned most;
} shared[] = {
	{ "memtrace/tiny.ctf", 102 },
	{ "memtrace/small.ctf", 102 },
	{ "memtrace/deep.ctf", 102 },
	{ "memtrace/synth.ctf", 102 },
	{ "memtrace/ocamlopt_v01.ctf", 102 },
	{ "memtrace/ocamlopt_v02.ctf", 102 },
	{ "memtrace/ocamlopt_v03.ctf", 102 },
	{ "memtrace-public/memthol-lists_and_sets.ctf", 102 },
	{ "memtrace-public/memthol-mini_ae.ctf", 102 },
	{ "memtrace-public/memthol-ocamlopt.ctf.gz", 102 },
	{ "memtrace-public/viewer-test_trace.ctf", 102 },
};

#define SHARED_COUNT ((int)(sizeof(shared) / sizeof(shared[0])))

START_TEST(files_of_memtrace_keep_their_events_and_sizes)
{
	struct bytes in = read_shared(shared[_i].name), copy;

	if (!in.size)
		return;
	copy = write_again(in.bytes, in.size);
	ck_assert_uint_gt(assert_same(in.bytes, in.size, &copy), 0);
	if (getenv("SHOW_SIZES"))
		fprintf(stderr, "%s: %zu -> %zu\n", shared[_i].name, in.size, copy.size);
	/* seeds.md: backtraces share a prefix, and are coded by a cache with predictions, of which
	 * the older of two slots is replaced */
	/* seeds.md: files are as small */
	ck_assert_uint_le(copy.size * 100, in.size * shared[_i].most);
	free(copy.bytes);
	free(in.bytes);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memtrace_writer");
	TCase *tests = tcase_create("files");

	tcase_add_test(tests, what_is_read_is_written);
	tcase_add_test(tests, packets_are_as_small_as_memtrace_reads_them);
	tcase_add_test(tests, numbers_of_blocks_may_leave_some_out);
	tcase_add_test(tests, a_long_backtrace_lacks_its_innermost_entries);
	tcase_add_loop_test(tests, files_of_memtrace_keep_their_events_and_sizes, 0, SHARED_COUNT);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
