// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes an index of variables by address, which DWARF does not have. Reads all units once, but
 * skips the DIEs inside functions and types.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/addr_ranges.h"
#include "symbolizer/server/variable_index.h"

/* Maximum depth of nested namespaces. */
#define DEPTH_MAX 16
/*
 * Maximum number of DIEs read per file, which takes about half a second. In files with more DIEs,
 * the declarations of some variables are not found.
 */
#define DIES_MAX (4 << 20)

struct variable_index {
	Dwarf *dwarf;
	/* for each variable, the range of its first byte; value: offset of the variable's DIE */
	struct range_table variables[NAME_KIND_CNT];
	size_t die_cnt;
};

static bool is_thread_address(unsigned int op)
{
	return op == DW_OP_form_tls_address || op == DW_OP_GNU_push_tls_address;
}

/* Reads an operand. With clang, it may be an index into the address table of DWARF 5. */
static bool read_operand(Dwarf_Attribute *attr, const Dwarf_Op *op, Dwarf_Word *ret)
{
	Dwarf_Attribute entry;

	*ret = op->number;
	if (op->atom != DW_OP_addrx && op->atom != DW_OP_constx)
		return true;
	if (dwarf_getlocation_attr(attr, op, &entry))
		return false;
	return !(op->atom == DW_OP_addrx ? dwarf_formaddr(&entry, ret)
					 : dwarf_formudata(&entry, ret));
}

static int add_variable(struct variable_index *index, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Word place;
	Dwarf_Op *ops;
	size_t cnt;
	enum name_kind kind;

	if (!dwarf_attr(die, DW_AT_location, &attr) || dwarf_getlocation(&attr, &ops, &cnt))
		return 0;
	if (!cnt || !read_operand(&attr, &ops[0], &place))
		return 0;
	if (cnt == 1 && place && (ops[0].atom == DW_OP_addr || ops[0].atom == DW_OP_addrx))
		kind = NAME_OF_DATA;
	else if (cnt == 2 && is_thread_address(ops[1].atom))
		kind = NAME_OF_TLS;
	else
		return 0;
	return range_table_add(&index->variables[kind], place, place + 1, dwarf_dieoffset(die));
}

static int add_children(struct variable_index *index, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die die;
	const char *before = parent->addr;
	int more = dwarf_child(parent, &die), err = 0;

	while (!err && !more && (const char *)die.addr > before && index->die_cnt < DIES_MAX) {
		int tag = dwarf_tag(&die);

		index->die_cnt++;
		before = die.addr;
		if (tag == DW_TAG_variable)
			err = add_variable(index, &die);
		else if ((tag == DW_TAG_namespace || tag == DW_TAG_module) && depth < DEPTH_MAX)
			err = add_children(index, &die, depth + 1);
		more = dwarf_siblingof(&die, &die);
	}
	return err;
}

static int add_units(struct variable_index *index)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;
	int err = 0;

	while (!err && !dwarf_get_units(index->dwarf, cu, &cu, NULL, &type, &die, NULL))
		if (type == DW_UT_compile || type == DW_UT_partial)
			err = add_children(index, &die, 0);
	for (size_t i = 0; !err && i < NAME_KIND_CNT; i++)
		err = range_table_finish(&index->variables[i]);
	return err;
}

int variable_index__new(Dwarf *dwarf, struct variable_index **ret)
{
	struct variable_index *index = calloc(1, sizeof(*index));
	int err;

	if (!index)
		return -ENOMEM;
	index->dwarf = dwarf;
	err = add_units(index);
	if (err) {
		variable_index__free(index);
		return err;
	}
	*ret = index;
	return 0;
}

void variable_index__free(struct variable_index *index)
{
	if (!index)
		return;
	for (size_t i = 0; i < NAME_KIND_CNT; i++)
		range_table_deinit(&index->variables[i]);
	free(index);
}

/*
 * Returns the source file that declares a variable; NULL if unknown. Also handles file number 0,
 * which is valid since DWARF 5, but which dwarf_decl_file() rejects.
 */
static const char *file_of(Dwarf_Die *die)
{
	const char *file = dwarf_decl_file(die);
	Dwarf_Files *files;
	Dwarf_Die unit;
	size_t cnt;

	if (file || !dwarf_hasattr(die, DW_AT_decl_file) || !dwarf_diecu(die, &unit, NULL, NULL) ||
	    dwarf_getsrcfiles(&unit, &files, &cnt) || !cnt)
		return file;
	return dwarf_filesrc(files, 0, NULL, NULL);
}

int variable_index__find(const struct variable_index *index, enum name_kind kind, uint64_t start,
			 struct declaration *ret)
{
	const struct range *range = range_table_next(&index->variables[kind], start, NULL);
	const char *file;
	Dwarf_Die die;
	int line = 0;

	if (!range || !dwarf_offdie(index->dwarf, range->value, &die))
		return -ENOENT;
	file = file_of(&die);
	if (!file)
		return -ENOENT;
	ret->file = file;
	ret->line = !dwarf_decl_line(&die, &line) && line > 0 ? (unsigned int)line : 0;
	return 0;
}
