/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the line table of a compilation unit. libdw sorts the rows of all functions by address,
 * those of functions that the linker has removed among them: these begin at 0 or a similar
 * tombstone, and may reach as far as real code.
 */
#ifndef SYMBOLIZER_SERVER_LINE_TABLE_H
#define SYMBOLIZER_SERVER_LINE_TABLE_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "base/addr_ranges.h"

/* True if code that begins at addr is in the program; code: its sections, empty if not known. */
bool code_is_live(const struct range_table *code, uint64_t addr);

/*
 * Adds a range for each row of live code to *ret, which is to be finished. 0, -ENOMEM, or -EBADMSG:
 * the rest of the table could not be read.
 */
int line_table_read(Dwarf *dwarf, Dwarf_Die *unit, const struct range_table *code,
		    struct range_table *ret);

/* Of the value of such a range: the number of its file in the unit, and its line. */
static inline uint32_t line_table_file(uint64_t value)
{
	return (uint32_t)(value >> 32);
}

static inline uint32_t line_table_line(uint64_t value)
{
	return (uint32_t)value;
}

#endif
