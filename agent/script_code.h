/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies code objects of CPython to the account, so that memleak can name frames of scripts. */
#ifndef AGENT_SCRIPT_CODE_H
#define AGENT_SCRIPT_CODE_H

#include "agent/agent.h"
#include "agent/readable.h"
#include "prober/server/python_layout.h"

/*
 * Returns ACCOUNT_SCRIPT_CODE() of a code object's copy, which is made if needed; 0 if there is no
 * room. cookie: memleak_script_cookie() of the code object.
 */
uint32_t script_code_find(struct account *account, struct readable *readable,
			  const struct python_layout *layout, uint64_t addr, uint32_t cookie);

#endif
