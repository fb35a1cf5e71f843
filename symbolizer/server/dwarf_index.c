// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Indexes DWARF by address. Compilation units are indexed once per file; the functions and lines of
 * a unit are indexed when an address in it is queried for the first time. libdw's own look-up is
 * not used: it walks a whole unit for each address, and it finds no units if a file lacks
 * .debug_aranges, a section that clang and rustc omit by default. Functions that the linker has
 * removed are skipped, since their addresses may overlap other code.
 */
#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/addr_ranges.h"
#include "base/hash_map.h"
#include "symbolizer/server/dwarf_index.h"
#include "symbolizer/server/line_table.h"

/*
 * Maximum depth to which the tree of DIEs is searched. Each level is a recursive call. Real
 * programs have fewer levels.
 */
#define DEPTH_MAX 128

/* The functions and lines of one unit. Values in `functions` are offsets of DIEs. */
struct unit {
	/* root DIE of the unit with the functions; with split DWARF, this is the split unit */
	Dwarf_Die tree;
	struct range_table functions;
	struct range_table lines; /* address ranges of lines; values as in line_table.h */
};

struct dwarf_index {
	Dwarf *dwarf;
	struct range_table code; /* code sections; empty for relocatable files */
	/* units listed in .debug_aranges; value: offset of the unit's DIE */
	struct range_table listed;
	bool scanned; /* true if an attempt was made to fill `units` */
	/* units by the address ranges in their DIEs; value: offset of the unit's DIE */
	struct range_table units;
	/* indexed units (struct unit), keyed by the offset of the unit's DIE */
	struct hash_map by_unit;
};

static int add_code(struct dwarf_index *index)
{
	Elf *elf = dwarf_getelf(index->dwarf);
	Elf_Scn *scn = NULL;
	GElf_Ehdr ehdr;
	GElf_Shdr shdr;
	int err = 0;

	if (!elf || !gelf_getehdr(elf, &ehdr) || ehdr.e_type == ET_REL)
		return range_table_finish(&index->code);
	while (!err && (scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &shdr) && shdr.sh_flags & SHF_EXECINSTR)
			err = range_table_add(&index->code, shdr.sh_addr,
					      shdr.sh_addr + shdr.sh_size, 0);
	return err ? err : range_table_finish(&index->code);
}

static int add_listed(struct dwarf_index *index)
{
	Dwarf_Aranges *aranges;
	size_t cnt;
	int err = 0;

	if (dwarf_getaranges(index->dwarf, &aranges, &cnt))
		cnt = 0;
	for (size_t i = 0; i < cnt && !err; i++) {
		Dwarf_Arange *arange = dwarf_onearange(aranges, i);
		Dwarf_Addr start;
		Dwarf_Word bytes;
		Dwarf_Off unit;

		if (arange && !dwarf_getarangeinfo(arange, &start, &bytes, &unit) &&
		    code_is_live(&index->code, start))
			err = range_table_add(&index->listed, start, start + bytes, unit);
	}
	return err ? err : range_table_finish(&index->listed);
}

int dwarf_index__new(Dwarf *dwarf, struct dwarf_index **ret)
{
	struct dwarf_index *index = calloc(1, sizeof(*index));
	int err;

	if (!index)
		return -ENOMEM;
	index->dwarf = dwarf;
	err = add_code(index);
	if (!err)
		err = add_listed(index);
	if (err) {
		dwarf_index__free(index);
		return err;
	}
	*ret = index;
	return 0;
}

static void unit_free(struct unit *unit)
{
	if (!unit)
		return;
	range_table_deinit(&unit->functions);
	range_table_deinit(&unit->lines);
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
	range_table_deinit(&index->code);
	range_table_deinit(&index->listed);
	range_table_deinit(&index->units);
	free(index);
}

/* Adds the address ranges of a DIE to a table, except those of code that the linker has removed. */
static int add_ranges(const struct dwarf_index *index, struct range_table *table, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		int err;

		if (!code_is_live(&index->code, start))
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
			err = add_ranges(index, &index->units, &die);
	return err ? err : range_table_finish(&index->units);
}

static bool find_in(const struct dwarf_index *index, const struct range_table *table, uint64_t pc,
		    Dwarf_Die *ret)
{
	const struct range *range = table->max_end ? range_table_next(table, pc, NULL) : NULL;

	return range && dwarf_offdie(index->dwarf, range->value, ret);
}

static int find_unit(struct dwarf_index *index, uint64_t pc, Dwarf_Die *ret)
{
	if (find_in(index, &index->listed, pc, ret))
		return 0;
	if (!index->scanned && scan_units(index))
		return -ENOENT;
	return find_in(index, &index->units, pc, ret) ? 0 : -ENOENT;
}

/* True if the tree below a DIE may contain functions. This is false for most DIEs of a unit. */
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

static int add_functions(const struct dwarf_index *index, struct range_table *table,
			 Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die die;
	const char *before = parent->addr;
	int more = dwarf_child(parent, &die);
	int err = 0;

	while (!err && !more && (const char *)die.addr > before) {
		/*
		 * The loop ends if a sibling reference points backwards: following it would never
		 * end.
		 */
		before = die.addr;
		if (dwarf_tag(&die) == DW_TAG_subprogram)
			err = add_ranges(index, table, &die);
		if (!err && depth < DEPTH_MAX && may_hold_functions(&die))
			err = add_functions(index, table, &die, depth + 1);
		more = dwarf_siblingof(&die, &die);
	}
	return err;
}

/* Reads the unit's lines. If its line table is damaged, uses the lines before the damage. */
static int make_lines(const struct dwarf_index *index, Dwarf_Die *die, struct unit *unit)
{
	int err = line_table_read(index->dwarf, die, &index->code, &unit->lines);

	return err == -ENOMEM ? err : range_table_finish(&unit->lines);
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
	err = add_functions(index, &unit->functions, &unit->tree, 0);
	if (!err)
		err = range_table_finish(&unit->functions);
	if (!err)
		err = make_lines(index, die, unit);
	if (!err)
		err = hash_map_set(&index->by_unit, dwarf_dieoffset(die), unit);
	if (err)
		unit_free(unit);
	else
		*ret = unit;
	return err;
}

static void set_line(struct dwarf_function *found, uint64_t value)
{
	uint32_t file = line_table_file(value);
	Dwarf_Files *files;
	size_t cnt;

	if (!dwarf_getsrcfiles(&found->unit, &files, &cnt) && file < cnt)
		found->file = dwarf_filesrc(files, file, NULL, NULL);
	found->line = line_table_line(value);
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
		range = range_table_next(&unit->lines, pc, NULL);
		if (range)
			set_line(&found, range->value);
	}
	*ret = found;
	return 0;
}
