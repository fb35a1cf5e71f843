/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a compilation unit's line table, without the rows of functions that the linker removed.
 * libdw's own reader returns these rows, too; they begin at 0 or at another invalid address, and
 * may overlap real code.
 */
#ifndef SYMBOLIZER_SERVER_LINE_TABLE_H
#define SYMBOLIZER_SERVER_LINE_TABLE_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "base/addr_ranges.h"

/*
 * True if addr is in a code section. If `code` is empty (sections unknown), true unless addr is 0.
 */
bool code_is_live(const struct range_table *code, uint64_t addr);

/*
 * Adds a range to *ret for each row of the line table, except rows of code that the linker has
 * removed. The caller must call range_table_finish() afterwards. Returns 0, -ENOMEM, or -EBADMSG if
 * the rest of the table is unreadable.
 */
int line_table_read(Dwarf *dwarf, Dwarf_Die *unit, const struct range_table *code,
		    struct range_table *ret);

/*
 * Extracts the file number (an index in the unit) from a range's value; line_table_line() extracts
 * the line.
 */
static inline uint32_t line_table_file(uint64_t value)
{
	return (uint32_t)(value >> 32);
}

static inline uint32_t line_table_line(uint64_t value)
{
	return (uint32_t)value;
}

#endif
