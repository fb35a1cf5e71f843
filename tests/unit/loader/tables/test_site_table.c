// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests that sites are dropped when their exec image is dropped, and that each walk of the blocks
 * begins with empty sums.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "loader/tables/site_table.h"

#define SITES 5000
#define IMAGES 7

static uint64_t id_of(uint64_t number)
{
	return hash_word(0, number + 1);
}

static struct site_entry *get(struct site_table *table, uint64_t id)
{
	struct site_entry *entry = site_table_get(table, id);

	assert_non_null(entry);
	return entry;
}

static void meet_all(struct site_table *table)
{
	for (uint64_t i = 0; i < SITES; i++) {
		struct site_entry *entry = get(table, id_of(i));

		entry->is_known = true;
		entry->image = (uint32_t)(i % IMAGES);
	}
}

static void test_sums_are_of_one_walk(void **state)
{
	const struct block block = {.size = 100};
	struct site_table table = {.has_births = true};

	site_table_begin(&table);
	site_table_add(&table, get(&table, 1), &block, 10, 0, AGE_UNKNOWN);
	site_table_add(&table, get(&table, 1), &block, 20, 3, AGE_UNKNOWN);
	assert_int_equal(get(&table, 1)->births->bytes[0], 100);
	assert_int_equal(get(&table, 1)->births->count[3], 1);
	assert_int_equal(get(&table, 1)->bytes, 200);
	assert_int_equal(get(&table, 1)->oldest_birth_ns, 10);
	assert_int_equal(get(&table, 1)->newest_birth_ns, 20);
	site_table_join(&table, get(&table, 2), get(&table, 1));
	assert_int_equal(get(&table, 2)->births->count[3], 1);
	site_table_begin(&table);
	assert_int_equal(get(&table, 1)->count, 0);
	assert_int_equal(get(&table, 1)->bytes, 0);
	assert_int_equal(get(&table, 1)->births->count[3], 0);
	site_table_deinit(&table);
}

/* Memory for allocation times is used only if a report shows these times. */
static void test_births_on_request(void **state)
{
	const struct block block = {.size = 100};
	struct site_table table = {0};

	site_table_begin(&table);
	site_table_add(&table, get(&table, 1), &block, 10, 0, AGE_UNKNOWN);
	site_table_join(&table, get(&table, 2), get(&table, 1));
	assert_null(get(&table, 1)->births);
	assert_null(get(&table, 2)->births);
	assert_int_equal(get(&table, 2)->bytes, 100);
	site_table_deinit(&table);
}

static void test_images_are_dropped(void **state)
{
	struct image_set gone = {0};
	struct site_table table = {0};

	meet_all(&table);
	assert_int_equal(image_set_add(&gone, 2), 0);
	assert_int_equal(image_set_add(&gone, 5), 0);
	site_table_drop_images(&table, &gone);
	for (uint64_t i = 0; i < SITES; i++) {
		const struct site_entry *entry = hash_map_get(&table.entries, id_of(i));

		assert_int_equal(!entry, image_set_has(&gone, (uint32_t)(i % IMAGES)));
		if (entry)
			assert_int_equal(entry->id, id_of(i));
	}
	image_set_deinit(&gone);
	site_table_deinit(&table);
}

static void test_all_images_are_dropped(void **state)
{
	struct image_set gone = {0};
	struct site_table table = {0};

	meet_all(&table);
	for (uint32_t i = 0; i < IMAGES; i++)
		assert_int_equal(image_set_add(&gone, i), 0);
	site_table_drop_images(&table, &gone);
	assert_int_equal(table.entries.cnt, 0);
	image_set_deinit(&gone);
	site_table_deinit(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums_are_of_one_walk),
		cmocka_unit_test(test_births_on_request),
		cmocka_unit_test(test_images_are_dropped),
		cmocka_unit_test(test_all_images_are_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
