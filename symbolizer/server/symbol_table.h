/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbols of a module, those of code or of some variables, for look-up by address; of variables
 * of a thread's own by their offset in its block. An address beyond the end of a symbol that has a
 * size is not that symbol's.
 */
#ifndef SYMBOLIZER_SERVER_SYMBOL_TABLE_H
#define SYMBOLIZER_SERVER_SYMBOL_TABLE_H

#include <elfutils/libdwfl.h>
#include <stdint.h>

#include "symbolizer/server/protocol.h"

struct symbol_table;

struct symbol {
	uint64_t start;
	const char *name; /* as in the file; valid as long as the module */
	const char
		*file; /* where it is private to, without a folder; NULL: to none, or not known */
};

int symbol_table__new(Dwfl_Module *mod, enum name_kind kind, struct symbol_table **ret);
void symbol_table__free(struct symbol_table *table);

/* 0, or -ENOENT. */
int symbol_table__find(const struct symbol_table *table, uint64_t addr, struct symbol *ret);

#endif
