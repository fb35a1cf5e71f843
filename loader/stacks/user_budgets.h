/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits how long files and stacks of each user's processes may occupy a helper: a user with slow
 * files delays only that user's processes. Also limits the total time spent waiting for files.
 * Knows nothing of helpers.
 */
#ifndef LOADER_STACKS_USER_BUDGETS_H
#define LOADER_STACKS_USER_BUDGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Work that a user's budget can stop. */
enum budget_work { BUDGET_TABLES, BUDGET_PROBES, BUDGET_MEMORY, BUDGET_WORK_CNT };

struct user_budget {
	uid_t uid;
	bool told[BUDGET_WORK_CNT];
	uint64_t spent_ns;
	uint64_t waited_ns; /* waiting time that the user's files caused */
	uint64_t paid_ns;   /* when spent_ns and waited_ns were last decayed */
	uint64_t hangs_ns;  /* end of the pause after a hang */
	unsigned int hang_cnt;
};

struct user_budgets {
	struct user_budget *items;
	size_t cnt;
	size_t cap;
	uint64_t waited_ns; /* waiting time caused by files of all users */
	uint64_t waited_at_ns;
};

void user_budgets_deinit(struct user_budgets *budgets);

/* Charges taken_ns, ending now (CLOCK_MONOTONIC), to the owner of a process. */
void user_budgets_spend(struct user_budgets *budgets, uid_t uid, uint64_t taken_ns,
			uint64_t now_ns);
/*
 * Charges a wait that just ended to a user and to the total. user_budgets_rests() is then true for
 * everybody for as long as the wait exceeded the usual time, and for this user for twice as long.
 */
void user_budgets_rest(struct user_budgets *budgets, uid_t uid, uint64_t taken_ns, uint64_t now_ns);
bool user_budgets_rests(struct user_budgets *budgets, uid_t uid, uint64_t now_ns);
/* True if the user has budget left. */
bool user_budgets_left(struct user_budgets *budgets, uid_t uid, uint64_t now_ns);
/*
 * Notes that memory of a user's process could not be read in time and may block a helper for good.
 * Pauses reads of this user's memory for ten seconds, and for twice as long each time.
 */
void user_budgets_hang(struct user_budgets *budgets, uid_t uid, uint64_t now_ns);
bool user_budgets_hangs(struct user_budgets *budgets, uid_t uid, uint64_t now_ns);
/* Returns true once for each user and kind of work. */
bool user_budgets_tell(struct user_budgets *budgets, uid_t uid, enum budget_work work);

#endif
