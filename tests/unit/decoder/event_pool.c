/* SPDX-License-Identifier: MIT */
/* Chunks of events that go back and are used again. */
#include "decoder/engine/event_pool.h"

#include <stdlib.h>

#include "tests/support/unit.h"

START_TEST(the_chunk_given_back_last_is_used_first)
{
	struct event_pool *pool = event_pool_open();
	struct event_chunk *first = event_pool_take(pool), *second = event_pool_take(pool);

	ck_assert_ptr_ne(first, second);
	first->count = 1;
	event_pool_give(pool, first);
	event_pool_give(pool, second);
	ck_assert_ptr_eq(event_pool_take(pool), second);
	ck_assert_ptr_eq(event_pool_take(pool), first);
	ck_assert_uint_eq(first->count, 0);
	ck_assert_ptr_null(first->next);
	event_pool_close(pool);
}
END_TEST

/* More chunks than are allocated at once. */
START_TEST(a_list_goes_back_whole)
{
	struct event_chunk *chunks[100], *list = NULL;
	struct event_pool *pool = event_pool_open();

	for (size_t i = 0; i < COUNT_OF(chunks); i++) {
		chunks[i] = event_pool_take(pool);
		chunks[i]->events[EVENT_CHUNK - 1].time = i;
		chunks[i]->next = list;
		list = chunks[i];
	}
	for (size_t i = 0; i < COUNT_OF(chunks); i++)
		ck_assert_uint_eq(chunks[i]->events[EVENT_CHUNK - 1].time, i);
	event_pool_give(pool, list);
	event_pool_give(pool, NULL);
	for (size_t i = COUNT_OF(chunks); i-- > 0;)
		ck_assert_ptr_eq(event_pool_take(pool), chunks[i]);
	event_pool_close(pool);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("event_pool");
	TCase *all = tcase_create("all");

	suite_add_tcase(suite, all);
	tcase_add_test(all, the_chunk_given_back_last_is_used_first);
	tcase_add_test(all, a_list_goes_back_whole);
	return unit_run(suite);
}
