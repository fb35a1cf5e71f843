/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits the time that files and stacks of a user's processes may occupy a helper, so that a user
 * with slow files delays only that user's processes. Also limits the total time spent waiting for
 * files. Knows nothing of the helpers.
 */
#ifndef LOADER_STACKS_USER_BUDGETS_H
#define LOADER_STACKS_USER_BUDGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Kinds of work that stop when a user's budget is used up. */
enum budget_work { BUDGET_TABLES, BUDGET_PROBES, BUDGET_MEMORY, BUDGET_WORK_CNT };

struct user_budget {
	uid_t uid;
	bool logged[BUDGET_WORK_CNT];
	uint64_t spent_ns;
	uint64_t waited_ns;       /* time spent waiting for this user's files */
	uint64_t decayed_ns;      /* time when spent_ns and waited_ns were last decayed */
	uint64_t paused_until_ns; /* end of the pause that follows a hang */
	unsigned int hang_cnt;
};

struct user_budgets {
	struct user_budget *items;
	size_t cnt;
	size_t cap;
	uint64_t waited_ns; /* time spent waiting for files of all users */
	uint64_t waited_at_ns;
};

void user_budgets_deinit(struct user_budgets *budgets);

/*
 * Charges a user for work that took taken_ns and has just ended. Short work is not charged. now_ns:
 * CLOCK_MONOTONIC.
 */
void user_budgets_spend(struct user_budgets *budgets, uid_t uid, uint64_t taken_ns,
			uint64_t now_ns);
/*
 * Adds a wait that took taken_ns and has just ended to two sums: the waiting time of all users, and
 * the waiting time of this user (unless the wait was very short). The first sum decays by 1 s per
 * second, the second by 0.5 s per second. user_budgets_must_pause() is true while either sum is
 * above 0.2 s. Example: a first wait of 1.2 s pauses all users for 1 s, and this user for 2 s.
 */
void user_budgets_charge_wait(struct user_budgets *budgets, uid_t uid, uint64_t taken_ns,
			      uint64_t now_ns);
bool user_budgets_must_pause(struct user_budgets *budgets, uid_t uid, uint64_t now_ns);
/* True if the user has budget left. */
bool user_budgets_has_time(struct user_budgets *budgets, uid_t uid, uint64_t now_ns);
/*
 * Notes that memory of the user's process could not be read in time. Since a read may block a
 * helper forever, reads of this user's memory are paused: for ten seconds after the first hang, and
 * after each later hang for twice as long as before.
 */
void user_budgets_hang(struct user_budgets *budgets, uid_t uid, uint64_t now_ns);
bool user_budgets_hangs(struct user_budgets *budgets, uid_t uid, uint64_t now_ns);
/* True at the first call for each user and kind of work: log only then. */
bool user_budgets_should_log(struct user_budgets *budgets, uid_t uid, enum budget_work work);

#endif
