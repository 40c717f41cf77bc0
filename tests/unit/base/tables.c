/* SPDX-License-Identifier: MIT */
/* Lookups of base: binary search, the index of ids, direct-mapped caches. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/tables/direct_cache.h"
#include "base/tables/heap.h"
#include "base/tables/id_index.h"
#include "base/tables/name.h"
#include "tests/support/unit.h"

#define COUNT 1000

START_TEST(a_binary_search_agrees_with_a_linear_one)
{
	static const uint64_t keys[] = { 3, 5, 5, 5, 9 };

	for (size_t count = 0; count <= 5; count++) {
		for (uint64_t key = 0; key < 12; key++) {
			size_t below = 0, not_above = 0;

			for (size_t k = 0; k < count; k++) {
				below += keys[k] < key;
				not_above += keys[k] <= key;
			}
			ck_assert_uint_eq(LOWER_BOUND(i, count, keys[i] < key), below);
			ck_assert_uint_eq(LOWER_BOUND(i, count, keys[i] <= key), not_above);
		}
	}
}
END_TEST

START_TEST(a_binary_search_looks_at_few_elements)
{
	size_t looks = 0;

	ck_assert_uint_eq(LOWER_BOUND(i, SIZE_MAX / 2, (looks++, i < 12345)), 12345);
	ck_assert_uint_le(looks, 64);
}
END_TEST

/* Returns the id of a key of keys[1..], 0 if it is not in the index. */
static uint32_t find_key(const struct id_index *index, const uint64_t *keys, uint64_t key,
			 uint32_t hash)
{
	struct id_probe probe = id_index_probe(hash);
	uint32_t id;

	while ((id = id_index_next(index, &probe)) && keys[id] != key)
		;
	return id;
}

START_TEST(an_index_finds_each_id_by_its_key)
{
	static uint64_t keys[COUNT + 1];
	struct id_index index = { 0 };

	for (uint32_t id = 1; id <= COUNT; id++) {
		keys[id] = (uint64_t)id << 32 | id % 7;
		ck_assert_uint_eq(find_key(&index, keys, keys[id], hash_u64(keys[id])), 0);
		id_index_add(&index, hash_u64(keys[id]), id);
	}
	ck_assert_uint_eq(index.count, COUNT);
	ck_assert_uint_le(index.count * 3, index.room * 2 + 3);
	for (uint32_t id = 1; id <= COUNT; id++)
		ck_assert_uint_eq(find_key(&index, keys, keys[id], hash_u64(keys[id])), id);
	ck_assert_uint_eq(find_key(&index, keys, 12345, hash_u64(12345)), 0);
	id_index_release(&index);
	id_index_release(&index);
}
END_TEST

START_TEST(an_index_holds_any_number_of_ids_of_one_hash)
{
	static const uint32_t hashes[] = { 0, UINT32_MAX };
	uint64_t keys[101];

	for (size_t k = 0; k < 2; k++) {
		struct id_index index = { 0 };

		for (uint32_t id = 1; id <= 100; id++) {
			keys[id] = id * 3;
			id_index_add(&index, hashes[k], id);
		}
		for (uint32_t id = 1; id <= 100; id++)
			ck_assert_uint_eq(find_key(&index, keys, keys[id], hashes[k]), id);
		ck_assert_uint_eq(find_key(&index, keys, 1, hashes[k]), 0);
		ck_assert_uint_eq(find_key(&index, keys, 3, hashes[1 - k]), 0);
		id_index_release(&index);
	}
}
END_TEST

START_TEST(a_hash_of_bytes_depends_on_each_byte_and_the_length)
{
	static const char text[] = "0123456789abcdef\0";

	for (size_t size = 1; size < sizeof(text); size++) {
		char other[sizeof(text)];

		ck_assert_uint_ne(hash_bytes(text, size), hash_bytes(text, size - 1));
		for (size_t k = 0; k < size; k++) {
			memcpy(other, text, sizeof(text));
			other[k] ^= 1;
			ck_assert_uint_ne(hash_bytes(text, size), hash_bytes(other, size));
		}
	}
}
END_TEST

/* A page for each key would be the most of a small conversion. */
START_TEST(direct_caches_of_a_small_input_are_small)
{
	static const struct {
		uint64_t input;
		size_t least, most; /* slots of 2^12 that were asked for */
	} cases[] = {
		{ 0, 1, 64 },
		{ 9000, 128, 512 }, /* a page or two of slots of 16 bytes */
		{ 1 << 20, 4096, 4096 },
		{ UINT64_MAX, 4096, 4096 },
	};
	struct direct_cache cache;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		direct_cache_expect(cases[i].input);
		direct_cache_init(&cache, 12, 16);
		ck_assert_uint_ge(direct_cache_count(&cache), cases[i].least);
		ck_assert_uint_le(direct_cache_count(&cache), cases[i].most);
		for (uint64_t key = 0; key < COUNT; key++)
			ck_assert_uint_lt(direct_cache_index(&cache, key << 12),
					  direct_cache_count(&cache));
		direct_cache_release(&cache);
	}
}
END_TEST

START_TEST(a_direct_cache_has_zeroed_slots_on_whole_lines)
{
	struct direct_cache cache;
	uint64_t *slots;

	direct_cache_init(&cache, 7, sizeof(uint64_t));
	ck_assert_uint_eq((uintptr_t)cache.slots % CACHE_LINE, 0);
	slots = cache.slots;
	for (uint64_t key = 0; key < COUNT; key++) {
		size_t at = direct_cache_index(&cache, key << 12);

		ck_assert_uint_lt(at, 128);
		ck_assert(slots[at] == 0 || slots[at] < key);
		slots[at] = key;
	}
	/* Adjacent keys spread over nearly all slots. */
	for (size_t i = 0, used = 0; i < 128; i++) {
		used += slots[i] != 0;
		ck_assert(i < 127 || used > 120);
	}
	direct_cache_release(&cache);
	direct_cache_release(&cache);
}
END_TEST

/* The last character has two bytes, of which only one would fit. */
START_TEST(a_name_is_cut_between_two_characters)
{
	static char text[NAME_LENGTH_MAX + 100];
	struct name_table table;
	const struct name *name;

	name_table_init(&table);
	memset(text, 'a', sizeof(text));
	ck_assert_uint_eq(name_intern(&table, text, NAME_LENGTH_MAX)->length, NAME_LENGTH_MAX);
	name = name_intern(&table, text, sizeof(text));
	ck_assert_uint_eq(name->length, NAME_LENGTH_MAX);
	ck_assert_ptr_eq(name_intern(&table, text, sizeof(text) - 1), name);
	memcpy(text + NAME_LENGTH_MAX - 1, "\xc3\xa9", 2);
	ck_assert_uint_eq(name_intern(&table, text, sizeof(text))->length, NAME_LENGTH_MAX - 1);
	name_table_release(&table);
}
END_TEST

static bool is_less(const int *order, const int *a, const int *b)
{
	return *order * *a < *order * *b;
}

HEAP_DEFINE(ints, int, int, is_less)

/* Every array of five numbers of 0 to 4, in both orders: a heap sorts it. */
START_TEST(a_heap_gives_items_in_order)
{
	for (int number = 0; number < 2 * 3125; number++) {
		int order = number % 2 ? 1 : -1, items[5], pushed[5], last = order * -1000;
		size_t count = 0;

		for (int rest = number / 2; count < 5; rest /= 5) {
			items[count] = rest % 5;
			ints_push(&order, pushed, count, &items[count]);
			count++;
		}
		ints_order(&order, items, count);
		for (; count; items[0] = items[--count], pushed[0] = pushed[count]) {
			ints_sift_down(&order, items, count, 0);
			ints_sift_down(&order, pushed, count, 0);
			ck_assert_int_eq(items[0], pushed[0]);
			ck_assert(!is_less(&order, &items[0], &last));
			last = items[0];
		}
	}
}
END_TEST

/* An item sifts down past the first child, and stops above items that follow it. */
START_TEST(a_heap_moves_few_items)
{
	int order = 1, items[] = { 5, 2, 1, 3, 4, 6, 7 };
	const int restored[] = { 1, 2, 5, 3, 4, 6, 7 }, equal[] = { 1, 1, 1 };
	int same[] = { 1, 1, 1 };

	ints_sift_down(&order, items, 7, 0);
	ck_assert_mem_eq(items, restored, sizeof(items));
	ints_sift_down(&order, same, 3, 0);
	ck_assert_mem_eq(same, equal, sizeof(same));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tables");
	TCase *all = tcase_create("all");

	tcase_add_test(all, a_binary_search_agrees_with_a_linear_one);
	tcase_add_test(all, a_binary_search_looks_at_few_elements);
	tcase_add_test(all, an_index_finds_each_id_by_its_key);
	tcase_add_test(all, an_index_holds_any_number_of_ids_of_one_hash);
	tcase_add_test(all, a_hash_of_bytes_depends_on_each_byte_and_the_length);
	tcase_add_test(all, a_heap_gives_items_in_order);
	tcase_add_test(all, a_heap_moves_few_items);
	tcase_add_test(all, a_name_is_cut_between_two_characters);
	tcase_add_test(all, a_direct_cache_has_zeroed_slots_on_whole_lines);
	tcase_add_test(all, direct_caches_of_a_small_input_are_small);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
