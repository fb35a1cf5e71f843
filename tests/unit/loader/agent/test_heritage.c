// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests applying the agent's events about forks, including events that a hostile target makes up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "loader/agent/heritage.h"
#include "tests/unit/lib/random.h"

#define PAGE 4096
#define PARENT 7
#define CHILD 8

static struct account account; /* all zeros: an empty account */

static struct account_view view_of(uint64_t forked_ns)
{
	return (struct account_view){.account = &account, .forked_ns = forked_ns};
}

static void apply(struct heritage *heritage, uint32_t image, const struct ranges *ranges,
		  const struct account_event *event)
{
	const struct account_view view = view_of(image == CHILD ? 100 : 0);

	assert_int_equal(heritage_apply(heritage, &view, image, ranges, event), 0);
}

static void test_mappings_at_fork(void **state)
{
	const struct range first = {.start = PAGE, .end = 3 * PAGE, .site = 5};
	const struct range second = {.start = 5 * PAGE, .end = 6 * PAGE, .site = 6};
	struct heritage heritage = {0};
	struct ranges parent, child;

	ranges_init(&parent, PAGE, UINT64_MAX);
	ranges_init(&child, PAGE, UINT64_MAX);
	assert_int_equal(ranges_insert(&parent, &first), 0);
	apply(&heritage, PARENT, &parent,
	      &(struct account_event){.type = ACCOUNT_EVENT_FORK, .time_ns = 100});
	assert_int_equal(ranges_insert(&parent, &second), 0);
	assert_true(heritage_is_awaited(&heritage, 100));
	assert_false(heritage_is_awaited(&heritage, 101));
	assert_int_equal(heritage_claim(&heritage, 99, PARENT, &child), -ENOENT);
	assert_int_equal(heritage_claim(&heritage, 100, PARENT, &child), 0);
	assert_int_equal(child.cnt, 1);
	assert_int_equal(child.items[0].site, 5);
	assert_int_equal(child.items[0].descendant_of, PARENT);
	assert_int_equal(heritage_claim(&heritage, 100, PARENT, &child), -ENOENT);
	assert_false(heritage_is_awaited(&heritage, 0));
	ranges_deinit(&parent);
	ranges_deinit(&child);
	heritage_deinit(&heritage);
}

/*
 * If the parent frees a block after a fork, the child still has the block until the child frees it,
 * too.
 */
static void test_frees(void **state)
{
	const uint64_t life = ACCOUNT_LIFE(2ULL, 0, 0ULL), birth_ns = ACCOUNT_LIFE_BIRTH_NS(life);
	const struct account_event left = {
		.type = ACCOUNT_EVENT_FREED_SHARED,
		.time_ns = birth_ns + 200,
		.addr = 0x1000,
		.len = ACCOUNT_CELL(3, 48, 0),
		.stack = (uint32_t)life,
		.flags = (uint32_t)(life >> 32),
	};
	struct account_event freed = {
		.type = ACCOUNT_EVENT_FREED_INHERITED, .time_ns = birth_ns + 300, .addr = 0x1000};
	struct heritage parent = {0}, child = {0};
	struct inheritance inheritance = {0};
	const struct ranges none = {0};

	assert_int_equal(inheritance_fork(&inheritance, PARENT, CHILD, birth_ns + 100), 0);
	apply(&parent, PARENT, &none, &left);
	/* An event of PARENT is ignored: PARENT is not a child. */
	apply(&child, PARENT, &none, &freed);
	assert_int_equal(heritage_walk_freed(&child, &inheritance), 0);
	assert_int_equal(inheritance.freed_in_child_cnt, 0);
	apply(&child, CHILD, &none, &freed);
	freed.time_ns += 100;
	apply(&child, CHILD, &none, &freed);
	assert_int_equal(heritage_walk(&parent, &inheritance, UINT64_MAX), 0);
	assert_int_equal(heritage_walk_freed(&child, &inheritance), 0);
	assert_int_equal(inheritance.block_cnt, 1);
	assert_int_equal(inheritance.blocks[0].size, 48);
	assert_int_equal(inheritance.blocks[0].site, 3);
	assert_int_equal(inheritance.blocks[0].birth_ns, birth_ns);
	assert_int_equal(inheritance.freed_in_child_cnt, 1);
	assert_int_equal(inheritance.freed_in_child[0].freed_ns, birth_ns + 300);
	/*
	 * Now no child is known. The freed block is kept only while the record of a fork that
	 * preceded the free may still arrive.
	 */
	inheritance.fork_cnt = 0;
	assert_int_equal(heritage_walk(&parent, &inheritance, left.time_ns), 0);
	assert_int_equal(parent.freed_shared_cnt, 1);
	assert_int_equal(heritage_walk(&parent, &inheritance, left.time_ns + 1), 0);
	assert_int_equal(parent.freed_shared_cnt, 0);
	inheritance_deinit(&inheritance);
	heritage_deinit(&parent);
	heritage_deinit(&child);
}

static void test_noise(void **state)
{
	struct heritage heritage = {0};
	struct inheritance inheritance = {0};
	const struct ranges none = {.page_size = PAGE};
	uint64_t seed = 3;

	assert_int_equal(inheritance_fork(&inheritance, CHILD, CHILD + 1, UINT64_MAX / 2), 0);
	for (int i = 0; i < 100000; i++) {
		const struct account_event event = {
			.type = (uint32_t)random_next(&seed) % (ACCOUNT_EVENT_FREED_INHERITED + 2),
			.time_ns = random_next(&seed),
			.addr = random_next(&seed),
			.len = random_next(&seed),
			.stack = (uint32_t)random_next(&seed),
			.flags = (uint32_t)random_next(&seed),
		};

		apply(&heritage, CHILD, &none, &event);
	}
	/* The number of awaited children is limited: the oldest ones were dropped. */
	assert_int_equal(heritage.awaited_cnt, 4096);
	assert_int_equal(heritage_walk(&heritage, &inheritance, UINT64_MAX), 0);
	assert_int_equal(heritage_walk_freed(&heritage, &inheritance), 0);
	inheritance_deinit(&inheritance);
	heritage_deinit(&heritage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mappings_at_fork),
		cmocka_unit_test(test_frees),
		cmocka_unit_test(test_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
