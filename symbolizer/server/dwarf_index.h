/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the compilation unit, function and line of an address, with or without .debug_aranges.
 * Addresses are as in the DWARF, with no load bias added.
 */
#ifndef SYMBOLIZER_SERVER_DWARF_INDEX_H
#define SYMBOLIZER_SERVER_DWARF_INDEX_H

#include <elfutils/libdw.h>
#include <stdint.h>

struct dwarf_index;

struct dwarf_function {
	Dwarf_Die unit;     /* DIE of the unit, whose file table defines file numbers */
	Dwarf_Die function; /* DIE of the (not inlined) function; addr is NULL if unknown */
	const char *file;   /* source file at the address; NULL if unknown */
	uint32_t line;      /* line number; 0 if unknown */
};

int dwarf_index__new(Dwarf *dwarf, struct dwarf_index **ret);
void dwarf_index__free(struct dwarf_index *index);

/*
 * Finds the unit, function and line at pc. Returns 0 even if function or line are unknown; -ENOENT
 * if no unit contains pc.
 */
int dwarf_index__find(struct dwarf_index *index, uint64_t pc, struct dwarf_function *ret);

#endif
