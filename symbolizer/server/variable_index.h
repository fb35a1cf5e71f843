/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the declarations of variables in DWARF. Static variables inside functions are not found.
 * Addresses are as in the DWARF, with no load bias added.
 */
#ifndef SYMBOLIZER_SERVER_VARIABLE_INDEX_H
#define SYMBOLIZER_SERVER_VARIABLE_INDEX_H

#include <elfutils/libdw.h>
#include <stdint.h>

#include "symbolizer/server/protocol.h"

struct variable_index;

struct declaration {
	const char *file;
	unsigned int line; /* line number; 0 if unknown */
};

int variable_index__new(Dwarf *dwarf, struct variable_index **ret);
void variable_index__free(struct variable_index *index);

/*
 * Finds the declaration of the variable that begins at address `start`. For a thread-local
 * variable, `start` is its offset in the PT_TLS segment. Returns 0, or -ENOENT with *ret unchanged.
 */
int variable_index__find(const struct variable_index *index, enum name_kind kind, uint64_t start,
			 struct declaration *ret);

#endif
