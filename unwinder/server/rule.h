/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stores each distinct rule of a table once. */
#ifndef UNWINDER_SERVER_RULE_H
#define UNWINDER_SERVER_RULE_H

#include <stdint.h>

#include "bpf/unwind.h"

struct rule_set {
	struct unwind_rule *rules;
	uint32_t cnt;
	/* hash table with open addressing: 0 in unused slots, else a rule's number + 1 */
	uint32_t *slots;
};

/*
 * Creates a set that contains rules 0 (NO_ROW) and 1 (UNKNOWN). Returns 0 or -ENOMEM. The caller
 * calls rule_set_deinit() in both cases.
 */
int rule_set_init(struct rule_set *set);
void rule_set_deinit(struct rule_set *set);

/*
 * Returns the number of a rule, and adds the rule if it is new. Returns 1 (UNKNOWN) if the set is
 * full.
 */
uint32_t rule_set_add(struct rule_set *set, struct unwind_rule rule);

#endif
