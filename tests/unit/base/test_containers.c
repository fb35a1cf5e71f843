// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests arrays, binary search and the hash map against simple models. Also tests arenas. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/bisect.h"
#include "base/hash_map.h"
#include "tests/unit/lib/random.h"

static void array_keeps_items(void **state)
{
	uint32_t *items = NULL;
	size_t cnt = 0, cap = 0;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(array_reserve(&items, &cap, cnt + 1), 0);
		array_open(items, cnt, cnt / 2);
		items[cnt / 2] = i;
		cnt++;
	}
	assert_true(cap >= 1000 && cap <= 2000);
	for (uint32_t i = 0; i < 1000; i++) {
		size_t at = 0;

		while (at < cnt && items[at] != i)
			at++;
		assert_true(at < cnt);
		array_remove(items, &cnt, at);
	}
	assert_int_equal(cnt, 0);
	free(items);
}

static void array_fails_unchanged(void **state)
{
	uint64_t *items = NULL;
	size_t cap = 0;

	(void)state;
	assert_int_equal(array_reserve(&items, &cap, 3), 0);
	items[2] = 7;
	assert_int_equal(array_reserve(&items, &cap, SIZE_MAX / 4), -ENOMEM);
	assert_true(cap >= 3 && cap < 100);
	assert_int_equal(items[2], 7);
	free(items);
}

struct item {
	uint32_t other;
	uint32_t small;
	uint64_t key;
};

static bool key_below_ten(const void *arg, size_t at)
{
	return ((const struct item *)arg)[at].key < 10;
}

static void bisect_finds_places(void **state)
{
	struct item items[9];

	(void)state;
	for (size_t cnt = 0; cnt <= 9; cnt++) {
		size_t below_ten = 0;

		for (size_t i = 0; i < cnt; i++) {
			items[i].key = items[i].small = 4 * i + 2;
			below_ten += items[i].key < 10;
		}
		for (uint32_t key = 0; key < 50; key++) {
			size_t below = 0;

			while (below < cnt && items[below].key < key)
				below++;
			assert_int_equal(bisect_below(items, cnt, key, key), below);
			assert_int_equal(bisect_below(items, cnt, small, key), below);
			assert_int_equal(bisect_upto(items, cnt, key, (uint64_t)key),
					 below + (below < cnt && items[below].key == key));
		}
		assert_int_equal(bisect_upto(items, cnt, key, UINT64_MAX), cnt);
		assert_int_equal(bisect_upto(items, cnt, small, (uint64_t)UINT32_MAX), cnt);
		assert_int_equal(bisect(cnt, key_below_ten, items), below_ten);
	}
}

#define KEYS 300

/*
 * Returns one of a small set of keys, some of which collide. In a small set, each key is often
 * added, replaced and removed.
 */
static uint64_t key_of(size_t number)
{
	return number % 3 ? number * 0x100000000ULL : number;
}

static size_t count_slots(const struct hash_map *map)
{
	const struct hash_map_slot *slot = NULL;
	size_t cnt = 0;

	while ((slot = hash_map_next(map, slot)))
		cnt++;
	return cnt;
}

static void hash_map_equals_model(void **state)
{
	struct hash_map map = {0};
	static char values[2];
	void *model[KEYS] = {NULL};
	uint64_t seed = 1;
	size_t cnt = 0;

	(void)state;
	assert_null(hash_map_get(&map, 0));
	assert_null(hash_map_remove(&map, 0));
	assert_null(hash_map_next(&map, NULL));
	for (int step = 0; step < 50000; step++) {
		size_t number = random_next(&seed) % KEYS;
		void *value = &values[random_next(&seed) % 2];

		if (random_next(&seed) % 2) {
			assert_int_equal(hash_map_set(&map, key_of(number), value), 0);
			cnt += !model[number];
			model[number] = value;
		} else {
			assert_ptr_equal(hash_map_remove(&map, key_of(number)), model[number]);
			cnt -= model[number] != NULL;
			model[number] = NULL;
		}
		number = random_next(&seed) % KEYS;
		assert_ptr_equal(hash_map_get(&map, key_of(number)), model[number]);
		assert_int_equal(map.cnt, cnt);
	}
	assert_int_equal(count_slots(&map), cnt);
	hash_map_deinit(&map);
}

/* Joining arenas does not move the memory that was allocated from them. */
static void arenas_join(void **state)
{
	struct arena one = {0}, other = {0}, none = {0};
	uint64_t *pieces[20];

	(void)state;
	for (uint64_t i = 0; i < 20; i++) {
		pieces[i] = arena_copy(i % 2 ? &one : &other, &i, sizeof(i));
		assert_non_null(pieces[i]);
		assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
	}
	assert_non_null(arena_copy(&one, NULL, 0));
	assert_null(arena_take(&one, SIZE_MAX));
	arena_join(&one, &none);
	arena_join(&one, &other);
	arena_join(&none, &one);
	assert_null(one.pieces);
	assert_null(other.pieces);
	for (uint64_t i = 0; i < 20; i++)
		assert_int_equal(*pieces[i], i);
	arena_deinit(&none);
	arena_deinit(&none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(array_keeps_items),   cmocka_unit_test(array_fails_unchanged),
		cmocka_unit_test(bisect_finds_places), cmocka_unit_test(hash_map_equals_model),
		cmocka_unit_test(arenas_join),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
