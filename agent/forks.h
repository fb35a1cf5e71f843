/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells memleak which blocks forked children inherit. No data is copied: the agent reports each
 * fork and the frees after it. From these reports, memleak computes the inherited blocks.
 */
#ifndef AGENT_FORKS_H
#define AGENT_FORKS_H

#include "agent/agent.h"

/* Registers the fork handlers. */
void forks_load(void);

/*
 * Enables the fork handlers. Called only if memleak follows children and gets the account of each
 * process: memleak needs a parent's account to compute which blocks a child inherits.
 */
void forks_follow(void);

/* Records, in the new account of a forked child, which account is the parent's. */
void forks_describe(struct account *account);

/* Reports the free of a block that is older than the latest fork; ignores newer blocks. */
void forks_freed_shared(struct account *account, uint64_t addr, const struct account_cell *cell);

/* Reports the free of an address that is in no cell: perhaps a block inherited from the parent. */
void forks_freed_inherited(struct account *account, uint64_t addr);

#endif
