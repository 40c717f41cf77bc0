/* SPDX-License-Identifier: MIT */
/* How many threads decode a recording, by its size. */
#include "src/pipeline/recording.h"
#include "tests/support/unit.h"

/* Returns the threads for a recording with so many bytes of AUX data in two streams; 1: no pool. */
static unsigned threads_for(unsigned asked, uint64_t bytes)
{
	const struct aux_stream streams[] = { { .size = bytes / 2 },
					      { .size = bytes - bytes / 2 } };
	const struct auxtrace auxtrace = { .streams = streams, .stream_count = 2 };
	const struct options options = { .threads = asked, .engine = PT_ENGINE_FAST };
	struct workers *workers = decode_threads_open(&options, &auxtrace, NULL);
	unsigned count = workers ? workers_count(workers) : 1;

	workers_close(workers);
	return count;
}

START_TEST(a_small_recording_has_one_thread)
{
	unsigned most = threads_for(0, 1 << 30);

	ck_assert_uint_eq(threads_for(0, 4 << 20), most);
	ck_assert_uint_eq(threads_for(0, (4 << 20) - 1), 1);
	ck_assert_uint_eq(threads_for(1, 1 << 30), 1);
}
END_TEST

START_TEST(threads_that_were_asked_for_decode_smaller_ones)
{
	unsigned most = threads_for(2, 1 << 30);

	ck_assert_uint_le(most, 2);
	ck_assert_uint_eq(threads_for(2, 1 << 20), most);
	ck_assert_uint_eq(threads_for(2, (1 << 20) - 1), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("decode_threads");
	TCase *all = tcase_create("decode_threads");

	tcase_add_test(all, a_small_recording_has_one_thread);
	tcase_add_test(all, threads_that_were_asked_for_decode_smaller_ones);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
