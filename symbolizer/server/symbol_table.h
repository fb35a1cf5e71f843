/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A module's symbols of one kind (functions, variables or thread-local variables), for look-up by
 * address. Thread-local variables are looked up by their offset in the PT_TLS segment. A symbol
 * with a size is not found for addresses beyond its end.
 */
#ifndef SYMBOLIZER_SERVER_SYMBOL_TABLE_H
#define SYMBOLIZER_SERVER_SYMBOL_TABLE_H

#include <elfutils/libdwfl.h>
#include <stdint.h>

#include "symbolizer/server/protocol.h"

struct symbol_table;

struct symbol {
	uint64_t start;
	const char *name; /* name as in the file; valid as long as the Dwfl_Module */
	const char *file; /* source file of a local symbol; NULL if global or unknown */
};

int symbol_table__new(Dwfl_Module *mod, enum name_kind kind, struct symbol_table **ret);
void symbol_table__free(struct symbol_table *table);

/* Finds the symbol at addr. Returns 0 or -ENOENT. */
int symbol_table__find(const struct symbol_table *table, uint64_t addr, struct symbol *ret);

#endif
