/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds frames to the call tree: see account.h. */
#ifndef AGENT_CALL_TREE_H
#define AGENT_CALL_TREE_H

#include "agent/agent.h"

/* Reserves the lowest frame numbers, which ACCOUNT_STACK_END() uses. */
void call_tree_begin(struct account *account);

/*
 * Returns the number of the child of `parent` that has this frame, adding it if needed; 0 if there
 * is no room. *ret_made: true if the frame was added.
 */
uint32_t call_tree_child(struct account *account, uint32_t parent, uint64_t frame, bool *ret_made);

#endif
