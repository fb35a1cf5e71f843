/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long files and stacks of each user's processes may keep a helper busy: whoever makes such as
 * take long waits for himself, not others for him. And how long all that everybody waits for may
 * take, whoever makes it so. Knows nothing of helpers.
 */
#ifndef LOADER_STACKS_USER_BUDGETS_H
#define LOADER_STACKS_USER_BUDGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What is not done for a user any more. */
enum budget_work { BUDGET_TABLES, BUDGET_PROBES, BUDGET_MEMORY, BUDGET_WORK_CNT };

struct user_budget {
	uid_t uid;
	bool told[BUDGET_WORK_CNT];
	uint64_t spent_ns;
	uint64_t waited_ns; /* everybody has, for files of the user */
	uint64_t paid_ns;   /* as of then */
	uint64_t hangs_ns;  /* until then */
	unsigned int hang_cnt;
};

struct user_budgets {
	struct user_budget *items;
	size_t cnt;
	size_t cap;
	uint64_t waited_ns; /* the same for files of anybody */
	uint64_t waited_at_ns;
};

void user_budgets_deinit(struct user_budgets *budgets);

/* Something of a user's process has taken so long, which ends now, a time of CLOCK_MONOTONIC. */
void user_budgets_spend(struct user_budgets *budgets, uid_t uid, uint64_t taken_ns,
			uint64_t now_ns);
/*
 * Everybody has waited so long, until now, for files of a user's process: as much time, beyond what
 * is usual, belongs to whoever waits for no file, and as much again to files of others.
 */
void user_budgets_rest(struct user_budgets *budgets, uid_t uid, uint64_t taken_ns, uint64_t now_ns);
bool user_budgets_rests(struct user_budgets *budgets, uid_t uid, uint64_t now_ns);
/* Whether more may be done for the user. */
bool user_budgets_left(struct user_budgets *budgets, uid_t uid, uint64_t now_ns);
/*
 * Memory of a user's process did not come, which may keep a helper for good: none is read of this
 * user's for ten seconds, and each time twice as long.
 */
void user_budgets_hang(struct user_budgets *budgets, uid_t uid, uint64_t now_ns);
bool user_budgets_hangs(struct user_budgets *budgets, uid_t uid, uint64_t now_ns);
/* True once for each user and sort of work. */
bool user_budgets_tell(struct user_budgets *budgets, uid_t uid, enum budget_work work);

#endif
