/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the compilation unit and the function that hold an address, in DWARF with and without
 * .debug_aranges. All addresses are as the DWARF has them.
 */
#ifndef SYMBOLIZER_SERVER_DWARF_INDEX_H
#define SYMBOLIZER_SERVER_DWARF_INDEX_H

#include <elfutils/libdw.h>
#include <stdint.h>

struct dwarf_index;

struct dwarf_function {
	Dwarf_Die unit;     /* for file numbers */
	Dwarf_Die function; /* the concrete subprogram; addr is NULL: none known */
	const char *file;   /* of the address; NULL: not known */
	uint32_t line;      /* 0: not known */
};

int dwarf_index__new(Dwarf *dwarf, struct dwarf_index **ret);
void dwarf_index__free(struct dwarf_index *index);

/* 0, or -ENOENT when no unit holds pc. */
int dwarf_index__find(struct dwarf_index *index, uint64_t pc, struct dwarf_function *ret);

#endif
