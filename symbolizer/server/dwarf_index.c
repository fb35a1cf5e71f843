// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two levels: units by address, once for the file, and functions by address, once for each unit
 * that was asked for. libdw walks a unit's whole tree for each address, and without
 * .debug_aranges (clang, rustc) it finds no unit at all.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/addr_ranges.h"
#include "base/hash_map.h"
#include "symbolizer/server/dwarf_index.h"

/* Deeper trees are no program's; each level is one call. */
#define DEPTH_MAX 128

/* The functions of one unit. Values of the ranges are offsets of DIEs. */
struct unit {
	Dwarf_Die tree; /* the root whose children are the functions: the split unit's, if any */
	struct range_table functions;
};

struct dwarf_index {
	Dwarf *dwarf;
	Dwarf_Aranges *aranges;
	bool scanned;             /* units is filled */
	struct range_table units; /* value: offset of the unit's DIE */
	struct hash_map by_unit;  /* struct unit by the offset of its DIE */
};

int dwarf_index__new(Dwarf *dwarf, struct dwarf_index **ret)
{
	struct dwarf_index *index = calloc(1, sizeof(*index));
	size_t cnt;

	if (!index)
		return -ENOMEM;
	index->dwarf = dwarf;
	if (dwarf_getaranges(dwarf, &index->aranges, &cnt))
		index->aranges = NULL;
	*ret = index;
	return 0;
}

static void unit_free(struct unit *unit)
{
	if (!unit)
		return;
	range_table_deinit(&unit->functions);
	free(unit);
}

void dwarf_index__free(struct dwarf_index *index)
{
	const struct hash_map_slot *slot = NULL;

	if (!index)
		return;
	while ((slot = hash_map_next(&index->by_unit, slot)))
		unit_free(slot->value);
	hash_map_deinit(&index->by_unit);
	range_table_deinit(&index->units);
	free(index);
}

/* Adds the address ranges of a DIE. */
static int add_ranges(struct range_table *table, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		int err;

		/* What the linker dropped is left at 0 or, by newer ones, near the top. */
		if (!start)
			continue;
		err = range_table_add(table, start, end, dwarf_dieoffset(die));
		if (err)
			return err;
	}
	return 0;
}

static int scan_units(struct dwarf_index *index)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;
	int err = 0;

	index->scanned = true;
	while (!err && !dwarf_get_units(index->dwarf, cu, &cu, NULL, &type, &die, NULL))
		if (type == DW_UT_compile || type == DW_UT_skeleton || type == DW_UT_partial)
			err = add_ranges(&index->units, &die);
	return err ? err : range_table_finish(&index->units);
}

static int find_unit(struct dwarf_index *index, uint64_t pc, Dwarf_Die *ret)
{
	const struct range *range;
	Dwarf_Arange *arange = NULL;
	Dwarf_Off offset;

	if (index->aranges)
		arange = dwarf_getarange_addr(index->aranges, pc);
	if (arange && !dwarf_getarangeinfo(arange, NULL, NULL, &offset) &&
	    dwarf_offdie(index->dwarf, offset, ret))
		return 0;
	if (!index->scanned && scan_units(index))
		return -ENOENT;
	range = index->units.max_end ? range_table_next(&index->units, pc, NULL) : NULL;
	if (range && dwarf_offdie(index->dwarf, range->value, ret))
		return 0;
	return -ENOENT;
}

/* Whether functions can be below; a unit is mostly types, and those are passed over. */
static bool may_hold_functions(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
	case DW_TAG_common_block:
		return true;
	default:
		return false;
	}
}

static int add_functions(struct range_table *table, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die die;
	const char *before = parent->addr;
	int more = dwarf_child(parent, &die);
	int err = 0;

	while (!err && !more && (const char *)die.addr > before) {
		/* A sibling reference that points backwards would go round for ever. */
		before = die.addr;
		if (dwarf_tag(&die) == DW_TAG_subprogram)
			err = add_ranges(table, &die);
		if (!err && depth < DEPTH_MAX && may_hold_functions(&die))
			err = add_functions(table, &die, depth + 1);
		more = dwarf_siblingof(&die, &die);
	}
	return err;
}

static int make_unit(struct dwarf_index *index, Dwarf_Die *die, struct unit **ret)
{
	struct unit *unit = calloc(1, sizeof(*unit));
	Dwarf_Die split = {0};
	int err = -ENOMEM;

	if (!unit)
		return -ENOMEM;
	unit->tree = *die;
	if (!dwarf_cu_info(die->cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) && split.addr)
		unit->tree = split;
	err = add_functions(&unit->functions, &unit->tree, 0);
	if (!err)
		err = range_table_finish(&unit->functions);
	if (!err)
		err = hash_map_set(&index->by_unit, dwarf_dieoffset(die), unit);
	if (err)
		unit_free(unit);
	else
		*ret = unit;
	return err;
}

int dwarf_index__find(struct dwarf_index *index, uint64_t pc, struct dwarf_function *ret)
{
	struct dwarf_function found = {0};
	const struct range *range;
	struct unit *unit;

	if (find_unit(index, pc, &found.unit))
		return -ENOENT;
	unit = hash_map_get(&index->by_unit, dwarf_dieoffset(&found.unit));
	if (unit || !make_unit(index, &found.unit, &unit)) {
		Dwarf *dwarf = dwarf_cu_getdwarf(unit->tree.cu);

		range = range_table_next(&unit->functions, pc, NULL);
		if (range && !dwarf_offdie(dwarf, range->value, &found.function))
			found.function.addr = NULL;
	}
	*ret = found;
	return 0;
}
