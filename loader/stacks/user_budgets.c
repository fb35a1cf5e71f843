// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Charges the time of slow work to the user who caused it. The time charged for a helper's work
 * shrinks by a tenth of a second in each second.
 */
#include "loader/stacks/user_budgets.h"

#include <stdlib.h>

#include "base/array.h"

/*
 * Budget of a user, in nanoseconds: twice the cost of one file that the helper never finishes
 * (HANG_NS in unwind_files.c).
 */
#define BUDGET_NS 20000000000ULL
#define SHARE 10

/* Minimum duration of work that is charged, in nanoseconds. */
#define USUAL_NS 1000000000ULL
/* Waiting time above which user_budgets_must_pause() is true, in nanoseconds. */
#define USUAL_WAIT_NS 200000000ULL
/* Minimum duration of a wait that is charged to a user, in nanoseconds. */
#define LITTLE_WAIT_NS 5000000ULL
/*
 * The waiting time of all users decays by one second per second; the waiting time of one user
 * decays WAIT_SHARE times more slowly.
 */
#define WAIT_SHARE 2

#define HANG_NS 10000000000ULL
#define HANG_DOUBLINGS 16

void user_budgets_deinit(struct user_budgets *budgets)
{
	free(budgets->items);
	*budgets = (struct user_budgets){0};
}

static uint64_t less(uint64_t ns, uint64_t by_ns)
{
	return ns > by_ns ? ns - by_ns : 0;
}

/*
 * Returns the times charged to a user, decayed until now; NULL if nothing was charged to the user.
 */
static struct user_budget *find(struct user_budgets *budgets, uid_t uid, uint64_t now_ns)
{
	for (size_t i = 0; i < budgets->cnt; i++) {
		struct user_budget *budget = &budgets->items[i];
		uint64_t past_ns = less(now_ns, budget->decayed_ns);

		if (budget->uid != uid)
			continue;
		budget->spent_ns = less(budget->spent_ns, past_ns / SHARE);
		budget->waited_ns = less(budget->waited_ns, past_ns / WAIT_SHARE);
		budget->decayed_ns += past_ns;
		return budget;
	}
	return NULL;
}

static struct user_budget *find_or_add(struct user_budgets *budgets, uid_t uid, uint64_t now_ns)
{
	struct user_budget *budget = find(budgets, uid, now_ns);

	if (budget || array_reserve(&budgets->items, &budgets->cap, budgets->cnt + 1))
		return budget;
	budget = &budgets->items[budgets->cnt++];
	*budget = (struct user_budget){.uid = uid, .decayed_ns = now_ns};
	return budget;
}

void user_budgets_spend(struct user_budgets *budgets, uid_t uid, uint64_t taken_ns, uint64_t now_ns)
{
	struct user_budget *budget = taken_ns < USUAL_NS ? NULL : find_or_add(budgets, uid, now_ns);

	if (budget)
		budget->spent_ns += taken_ns;
}

/* Returns the waiting time of all users, decayed until now. */
static uint64_t waited(struct user_budgets *budgets, uint64_t now_ns)
{
	uint64_t past_ns = less(now_ns, budgets->waited_at_ns);

	budgets->waited_ns = less(budgets->waited_ns, past_ns);
	budgets->waited_at_ns += past_ns;
	return budgets->waited_ns;
}

void user_budgets_charge_wait(struct user_budgets *budgets, uid_t uid, uint64_t taken_ns,
			      uint64_t now_ns)
{
	/* Decay the earlier waiting times only until this wait began, not during the wait. */
	struct user_budget *budget =
		taken_ns < LITTLE_WAIT_NS ? NULL : find_or_add(budgets, uid, now_ns - taken_ns);

	budgets->waited_ns = waited(budgets, now_ns - taken_ns) + taken_ns;
	budgets->waited_at_ns = now_ns;
	if (!budget)
		return;
	budget->waited_ns += taken_ns;
	budget->decayed_ns = now_ns;
}

bool user_budgets_must_pause(struct user_budgets *budgets, uid_t uid, uint64_t now_ns)
{
	const struct user_budget *budget = find(budgets, uid, now_ns);

	return waited(budgets, now_ns) > USUAL_WAIT_NS ||
	       (budget && budget->waited_ns > USUAL_WAIT_NS);
}

bool user_budgets_has_time(struct user_budgets *budgets, uid_t uid, uint64_t now_ns)
{
	const struct user_budget *budget = find(budgets, uid, now_ns);

	return !budget || budget->spent_ns < BUDGET_NS;
}

void user_budgets_hang(struct user_budgets *budgets, uid_t uid, uint64_t now_ns)
{
	struct user_budget *budget = find_or_add(budgets, uid, now_ns);

	if (!budget)
		return;
	budget->paused_until_ns = now_ns + (HANG_NS << budget->hang_cnt);
	budget->hang_cnt += budget->hang_cnt < HANG_DOUBLINGS;
}

bool user_budgets_hangs(struct user_budgets *budgets, uid_t uid, uint64_t now_ns)
{
	const struct user_budget *budget = find(budgets, uid, now_ns);

	return budget && now_ns < budget->paused_until_ns;
}

bool user_budgets_should_log(struct user_budgets *budgets, uid_t uid, enum budget_work work)
{
	for (size_t i = 0; i < budgets->cnt; i++) {
		if (budgets->items[i].uid != uid || budgets->items[i].logged[work])
			continue;
		budgets->items[i].logged[work] = true;
		return true;
	}
	return false;
}
