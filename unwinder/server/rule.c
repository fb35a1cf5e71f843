// SPDX-License-Identifier: GPL-2.0-or-later
/* Turns libdw's description of a frame into a rule. */
#include "unwinder/server/rule.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Size of the hash table: a power of two, twice the maximum number of rules. */
#define SLOTS (2U * UNWIND_RULES_MAX)

/* Reads a register plus an offset: breg0 to breg31, or bregx. */
static bool read_register(const Dwarf_Op *op, unsigned int *reg, int64_t *offset)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*reg = op->atom - DW_OP_breg0;
		*offset = (int64_t)op->number;
		return true;
	}
	if (op->atom == DW_OP_bregx) {
		*reg = (unsigned int)op->number;
		*offset = (int64_t)op->number2;
		return true;
	}
	return false;
}

static bool in_range(int64_t value, int64_t low, int64_t high)
{
	return value >= low && value <= high;
}

/* Reads an expression of the form: CFA = register + offset */
static bool read_plain_cfa(const struct unwind_arch *arch, const Dwarf_Op *ops, size_t cnt,
			   struct unwind_rule *rule)
{
	unsigned int reg;
	int64_t offset;

	if (cnt != 1 || !read_register(&ops[0], &reg, &offset))
		return false;
	if ((reg != arch->sp && reg != arch->fp) || !in_range(offset, INT32_MIN, INT32_MAX))
		return false;
	rule->cfa = reg == arch->sp ? UNWIND_CFA_SP : UNWIND_CFA_FP;
	rule->cfa_off = (int32_t)offset;
	return true;
}

/* Reads an expression of the form: CFA = *(register + offset) + constant */
static bool read_deref_cfa(const struct unwind_arch *arch, const Dwarf_Op *ops, size_t cnt,
			   struct unwind_rule *rule)
{
	uint64_t inner = 0;
	unsigned int reg;
	int64_t outer;

	if (cnt < 2 || cnt > 3 || !read_register(&ops[0], &reg, &outer) ||
	    ops[1].atom != DW_OP_deref)
		return false;
	if (cnt == 3) {
		if (ops[2].atom != DW_OP_plus_uconst)
			return false;
		inner = ops[2].number;
	}
	if ((reg != arch->sp && reg != arch->fp) || inner > UINT8_MAX ||
	    !in_range(outer, -(1 << 23), (1 << 23) - 1))
		return false;
	rule->cfa = reg == arch->sp ? UNWIND_CFA_SP_DEREF : UNWIND_CFA_FP_DEREF;
	rule->cfa_off = UNWIND_DEREF((int32_t)outer, (int32_t)inner);
	return true;
}

static bool read_cfa(const struct unwind_arch *arch, Dwarf_Frame *frame, struct unwind_rule *rule)
{
	Dwarf_Op *ops;
	size_t cnt;

	if (dwarf_frame_cfa(frame, &ops, &cnt) || !cnt)
		return false;
	if (read_plain_cfa(arch, ops, cnt, rule) || read_deref_cfa(arch, ops, cnt, rule))
		return true;
	if (!arch->is_plt(ops, cnt, &rule->cfa_off))
		return false;
	rule->cfa = UNWIND_CFA_PLT;
	return true;
}

/*
 * Reads the place where a caller's register is saved. libdw returns one of these descriptions:
 * - no operations: ops is NULL for "same value", not NULL for "undefined"
 * - DW_OP_call_frame_cfa, perhaps with an addition (read as signed): memory at CFA + offset
 * - a register and an offset, in some cases preceded by a DW_OP_call_frame_cfa without effect:
 *   memory at the frame pointer + offset, in functions that align their stack
 * - an expression that ends in DW_OP_stack_value: a value, not an address
 */
static struct unwind_place read_place(const struct unwind_arch *arch, Dwarf_Frame *frame,
				      unsigned int reg)
{
	struct unwind_place place = {.kind = PLACE_OTHER};
	Dwarf_Op memory[3], *ops;
	unsigned int base;
	size_t cnt;

	if (dwarf_frame_register(frame, (int)reg, memory, &ops, &cnt))
		return place;
	if (!cnt) {
		place.kind = ops ? PLACE_UNDEFINED : PLACE_SAME;
		return place;
	}
	if (ops[0].atom == DW_OP_call_frame_cfa && cnt == 1) {
		place.kind = PLACE_AT_CFA;
	} else if (ops[0].atom == DW_OP_call_frame_cfa && cnt == 2 &&
		   ops[1].atom == DW_OP_plus_uconst) {
		place.kind = PLACE_AT_CFA;
		place.offset = (int64_t)ops[1].number;
	} else if (cnt <= 2 && read_register(&ops[cnt - 1], &base, &place.offset) &&
		   base == arch->fp && (cnt == 1 || ops[0].atom == DW_OP_call_frame_cfa)) {
		place.kind = PLACE_AT_FP;
	}
	return place;
}

struct unwind_rule unwind_rule_read(const struct unwind_arch *arch, Dwarf_Frame *frame, bool signal)
{
	static const struct unwind_rule unknown = {.cfa = UNWIND_CFA_UNKNOWN};
	struct unwind_place ra = read_place(arch, frame, arch->ra), fp;
	struct unwind_rule rule = {0};

	if (ra.kind == PLACE_UNDEFINED)
		return (struct unwind_rule){.cfa = UNWIND_CFA_OUTERMOST};
	if (!read_cfa(arch, frame, &rule))
		return unknown;
	if (signal)
		return arch->is_signal(&rule) ? (struct unwind_rule){.cfa = UNWIND_CFA_SIGNAL}
					      : unknown;
	fp = read_place(arch, frame, arch->fp);
	return arch->saved(&fp, &ra, &rule) ? rule : unknown;
}

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
		return 1;
	set->rules[set->cnt] = rule;
	set->slots[slot] = ++set->cnt;
	return set->cnt - 1;
}
