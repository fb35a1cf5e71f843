/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns libdw's description of a frame into a rule, and keeps rules without duplicates. */
#ifndef UNWINDER_SERVER_RULE_H
#define UNWINDER_SERVER_RULE_H

#include "unwinder/server/arch.h"

struct unwind_rule unwind_rule_read(const struct unwind_arch *arch, Dwarf_Frame *frame,
				    bool signal);

struct rule_set {
	struct unwind_rule *rules;
	uint32_t cnt;
	uint32_t *slots; /* open addressing over rules; 0: empty, else number + 1 */
};

/* Rule 0 is NO_ROW. 0 or -ENOMEM; to be given to rule_set_deinit in any case. */
int rule_set_init(struct rule_set *set);
void rule_set_deinit(struct rule_set *set);

/*
 * The number of a rule, which is added if it is new. When the set is full, it becomes rule 1:
 * UNKNOWN.
 */
uint32_t rule_set_add(struct rule_set *set, struct unwind_rule rule);

#endif
