/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What forked children have of their parents. Nothing is copied: it is told when the process forks,
 * and who frees what afterwards; memleak finds out the rest.
 */
#ifndef AGENT_FORKS_H
#define AGENT_FORKS_H

#include "agent/agent.h"

/* Has forks seen from now on. */
void forks_load(void);

/* Children have accounts, and memleak has those of their parents. */
void forks_follow(void);

/* Says in an account that is begun which one it inherits from, if any. */
void forks_describe(struct account *account);

/* A block that is older than the last fork has gone, or is about to. */
void forks_left(struct account *account, uint64_t addr, const struct account_cell *cell);

/* Memory that is in no cell goes: a block of the parent's, it may be. */
void forks_freed(struct account *account, uint64_t addr);

#endif
