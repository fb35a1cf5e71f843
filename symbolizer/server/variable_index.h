/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the variables of a file are declared, by DWARF: those of whole units and of namespaces, not
 * those inside of functions. All addresses are as the DWARF has them.
 */
#ifndef SYMBOLIZER_SERVER_VARIABLE_INDEX_H
#define SYMBOLIZER_SERVER_VARIABLE_INDEX_H

#include <elfutils/libdw.h>
#include <stdint.h>

#include "symbolizer/server/protocol.h"

struct variable_index;

struct declaration {
	const char *file;
	unsigned int line; /* 0: not known */
};

int variable_index__new(Dwarf *dwarf, struct variable_index **ret);
void variable_index__free(struct variable_index *index);

/*
 * Of the variable that begins there; of a thread's own, at that offset in its block. 0, or -ENOENT
 * with *ret as it was.
 */
int variable_index__find(const struct variable_index *index, enum name_kind kind, uint64_t start,
			 struct declaration *ret);

#endif
