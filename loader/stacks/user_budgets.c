// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts what took long, by user, and forgets it at a tenth of the speed. */
#include "loader/stacks/user_budgets.h"

#include <stdlib.h>

#include "base/array.h"

/* One file that never ends, which has half of that, leaves time for all others. */
#define BUDGET_NS 20000000000ULL
#define SHARE 10

/* What takes no longer is usual, and free. */
#define USUAL_NS 1000000000ULL
/* The same of what everybody waits for. */
#define USUAL_WAIT_NS 900000000ULL

void user_budgets_deinit(struct user_budgets *budgets)
{
	free(budgets->items);
	*budgets = (struct user_budgets){0};
}

/* NULL: the user has spent nothing. */
static struct user_budget *find(struct user_budgets *budgets, uid_t uid, uint64_t now_ns)
{
	for (size_t i = 0; i < budgets->cnt; i++) {
		struct user_budget *budget = &budgets->items[i];
		uint64_t back_ns = (now_ns - budget->paid_ns) / SHARE;

		if (budget->uid != uid)
			continue;
		budget->spent_ns -= back_ns < budget->spent_ns ? back_ns : budget->spent_ns;
		budget->paid_ns = now_ns;
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
	*budget = (struct user_budget){.uid = uid, .paid_ns = now_ns};
	return budget;
}

void user_budgets_spend(struct user_budgets *budgets, uid_t uid, uint64_t taken_ns, uint64_t now_ns)
{
	struct user_budget *budget = taken_ns < USUAL_NS ? NULL : find_or_add(budgets, uid, now_ns);

	if (budget)
		budget->spent_ns += taken_ns;
}

void user_budgets_rest(struct user_budgets *budgets, uid_t uid, uint64_t taken_ns, uint64_t now_ns)
{
	struct user_budget *budget =
		taken_ns < USUAL_WAIT_NS ? NULL : find_or_add(budgets, uid, now_ns);

	if (budget)
		budget->rest_ns = now_ns + taken_ns;
}

bool user_budgets_rests(struct user_budgets *budgets, uid_t uid, uint64_t now_ns)
{
	const struct user_budget *budget = find(budgets, uid, now_ns);

	return budget && now_ns < budget->rest_ns;
}

bool user_budgets_left(struct user_budgets *budgets, uid_t uid, uint64_t now_ns)
{
	const struct user_budget *budget = find(budgets, uid, now_ns);

	return !budget || budget->spent_ns < BUDGET_NS;
}

bool user_budgets_tell(struct user_budgets *budgets, uid_t uid, enum budget_work work)
{
	for (size_t i = 0; i < budgets->cnt; i++) {
		if (budgets->items[i].uid != uid || budgets->items[i].told[work])
			continue;
		budgets->items[i].told[work] = true;
		return true;
	}
	return false;
}
