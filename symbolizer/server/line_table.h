/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a compilation unit's line table, except the rows of functions that the linker has removed.
 * These rows begin at address 0 or at another invalid address, and may overlap real code; libdw's
 * own reader does not leave them out.
 */
#ifndef SYMBOLIZER_SERVER_LINE_TABLE_H
#define SYMBOLIZER_SERVER_LINE_TABLE_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "base/addr_ranges.h"

/*
 * True if addr is in one of the code sections `code`. If `code` is empty, the sections are unknown:
 * then true unless addr is 0.
 */
bool code_is_live(const struct range_table *code, uint64_t addr);

/*
 * Adds an address range to *ret for each row of the line table of `unit`, except for code that the
 * linker has removed. The caller must call range_table_finish() afterwards. Returns 0, -ENOMEM, or
 * -EBADMSG if the table is damaged; then *ret has the rows before the damage.
 */
int line_table_read(Dwarf *dwarf, Dwarf_Die *unit, const struct range_table *code,
		    struct range_table *ret);

/*
 * Extracts the file number (an index into the unit's file table) from the value of a range.
 * line_table_line() extracts the line number.
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
