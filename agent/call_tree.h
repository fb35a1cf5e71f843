/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames in the call tree: see account.h. */
#ifndef AGENT_CALL_TREE_H
#define AGENT_CALL_TREE_H

#include "agent/agent.h"

/* Ends of stacks are there from the beginning. */
void call_tree_begin(struct account *account);

/*
 * The number of the frame whose parent that is, which is added if there is none; 0: no room.
 * ret_made: whether it was added.
 */
uint32_t call_tree_child(struct account *account, uint32_t parent, uint64_t frame, bool *ret_made);

#endif
