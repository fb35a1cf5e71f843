// SPDX-License-Identifier: GPL-2.0-or-later
/* Stores rules in an array, with a hash table that finds equal rules. */
#include "unwinder/server/rule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwinder/server/table.h"

/* Size of the hash table: a power of two, twice the maximum number of rules. */
#define SLOTS (2U * UNWIND_RULES_MAX)

int rule_set_init(struct rule_set *set)
{
	*set = (struct rule_set){.slots = calloc(SLOTS, sizeof(*set->slots))};
	if (!set->slots)
		return -ENOMEM;
	set->rules = calloc(UNWIND_RULES_MAX, sizeof(*set->rules));
	if (!set->rules)
		return -ENOMEM;
	rule_set_add(set, (struct unwind_rule){.cfa = UNWIND_CFA_NO_ROW});
	rule_set_add(set, (struct unwind_rule){.cfa = UNWIND_CFA_UNKNOWN});
	return 0;
}

void rule_set_deinit(struct rule_set *set)
{
	free(set->rules);
	free(set->slots);
	*set = (struct rule_set){0};
}

uint32_t rule_set_add(struct rule_set *set, struct unwind_rule rule)
{
	uint64_t bits;
	uint32_t slot;

	memcpy(&bits, &rule, sizeof(bits));
	slot = (uint32_t)((bits * 0x9e3779b97f4a7c15ULL) >> 32) % SLOTS;
	while (set->slots[slot]) {
		uint32_t number = set->slots[slot] - 1;

		if (!memcmp(&set->rules[number], &rule, sizeof(rule)))
			return number;
		slot = (slot + 1) % SLOTS;
	}
	if (set->cnt == UNWIND_RULES_MAX)
		return UNWIND_RULE_UNKNOWN;
	set->rules[set->cnt] = rule;
	set->slots[slot] = ++set->cnt;
	return set->cnt - 1;
}
