// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the limits on the time that memleak spends on slow work for the processes of each user. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loader/stacks/user_budgets.h"

#define SECOND_NS 1000000000ULL

enum { HOSTILE = 1000, OTHER = 1001 };

/* A user whose budget is used up gets no more work for a while. Other users are not affected. */
static void one_user(void **state)
{
	struct user_budgets budgets = {0};
	uint64_t now_ns = 1000 * SECOND_NS;

	assert_true(user_budgets_has_time(&budgets, HOSTILE, now_ns));
	user_budgets_spend(&budgets, HOSTILE, 10 * SECOND_NS, now_ns);
	assert_true(user_budgets_has_time(&budgets, HOSTILE, now_ns));
	user_budgets_spend(&budgets, HOSTILE, 11 * SECOND_NS, now_ns);
	assert_false(user_budgets_has_time(&budgets, HOSTILE, now_ns));
	assert_true(user_budgets_has_time(&budgets, OTHER, now_ns));
	assert_true(user_budgets_should_log(&budgets, HOSTILE, BUDGET_TABLES));
	assert_false(user_budgets_should_log(&budgets, HOSTILE, BUDGET_TABLES));
	assert_true(user_budgets_should_log(&budgets, HOSTILE, BUDGET_PROBES));
	assert_false(user_budgets_should_log(&budgets, HOSTILE, BUDGET_PROBES));
	assert_false(user_budgets_should_log(&budgets, OTHER, BUDGET_TABLES));
	/* The budget is refilled even if it is checked at short intervals. */
	for (int i = 0; i < 9; i++)
		assert_false(user_budgets_has_time(&budgets, HOSTILE, now_ns += SECOND_NS));
	assert_true(user_budgets_has_time(&budgets, HOSTILE, now_ns += 2 * SECOND_NS));
	user_budgets_deinit(&budgets);
}

/*
 * After a read of a user's memory has hung, the user's memory is not read for a while. Each further
 * hang doubles this time.
 */
static void hangs(void **state)
{
	struct user_budgets budgets = {0};
	uint64_t now_ns = 1000 * SECOND_NS;

	assert_false(user_budgets_hangs(&budgets, HOSTILE, now_ns));
	for (uint64_t seconds = 10; seconds < 10000; seconds *= 2) {
		user_budgets_hang(&budgets, HOSTILE, now_ns);
		assert_false(user_budgets_hangs(&budgets, OTHER, now_ns));
		assert_true(user_budgets_has_time(&budgets, HOSTILE, now_ns));
		now_ns += seconds * SECOND_NS;
		assert_true(user_budgets_hangs(&budgets, HOSTILE, now_ns - 1));
		assert_false(user_budgets_hangs(&budgets, HOSTILE, now_ns));
	}
	user_budgets_deinit(&budgets);
}

/* Times shorter than USUAL_NS are not charged to a user's budget. */
static void usual(void **state)
{
	struct user_budgets budgets = {0};

	for (int i = 0; i < 1000; i++)
		user_budgets_spend(&budgets, OTHER, SECOND_NS / 2, SECOND_NS);
	assert_true(user_budgets_has_time(&budgets, OTHER, SECOND_NS));
	user_budgets_deinit(&budgets);
}

/*
 * If the wait for a user's files was unusually long, a pause follows in which no user's files are
 * waited for. The pause is as long as the excess time; for the user who caused the wait, it is
 * twice as long.
 */
static void pauses(void **state)
{
	struct user_budgets budgets = {0};
	uint64_t now_ns = 1000 * SECOND_NS;

	user_budgets_charge_wait(&budgets, OTHER, SECOND_NS / 100, now_ns);
	assert_false(user_budgets_must_pause(&budgets, OTHER, now_ns));
	user_budgets_charge_wait(&budgets, HOSTILE, SECOND_NS, now_ns);
	assert_true(user_budgets_has_time(&budgets, HOSTILE, now_ns));
	assert_true(user_budgets_must_pause(&budgets, OTHER, now_ns));
	assert_true(user_budgets_must_pause(&budgets, OTHER, now_ns + SECOND_NS / 2));
	assert_false(user_budgets_must_pause(&budgets, OTHER, now_ns + SECOND_NS));
	assert_true(user_budgets_must_pause(&budgets, HOSTILE, now_ns + SECOND_NS));
	assert_false(user_budgets_must_pause(&budgets, HOSTILE, now_ns + 2 * SECOND_NS));
	user_budgets_deinit(&budgets);
}

/* Waiting for many users takes hardly longer in total than for one. */
static void many_users(void **state)
{
	struct user_budgets budgets = {0};
	uint64_t now_ns = 1000 * SECOND_NS, taken_ns = 0;

	for (uid_t uid = HOSTILE; uid < HOSTILE + 1000; uid++) {
		if (user_budgets_must_pause(&budgets, uid, now_ns))
			continue;
		user_budgets_charge_wait(&budgets, uid, SECOND_NS / 10, now_ns += SECOND_NS / 10);
		taken_ns += SECOND_NS / 10;
	}
	assert_in_range(taken_ns, SECOND_NS / 10, SECOND_NS / 2);
	user_budgets_deinit(&budgets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_user), cmocka_unit_test(hangs),      cmocka_unit_test(usual),
		cmocka_unit_test(pauses),   cmocka_unit_test(many_users),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
