/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies code objects of CPython to the account, so that memleak can name frames of scripts. */
#ifndef AGENT_SCRIPT_CODE_H
#define AGENT_SCRIPT_CODE_H

#include "agent/agent.h"
#include "agent/readable.h"
#include "prober/server/python_layout.h"

/*
 * Finds the copy of a code object, and makes it if needed. *ret is ACCOUNT_SCRIPT_CODE() of the
 * copy, 0 if there is no room. False if the code object cannot be read.
 */
bool script_code_find(struct account *account, struct readable *readable,
		      const struct python_layout *layout, uint64_t addr, uint32_t *ret);

#endif
