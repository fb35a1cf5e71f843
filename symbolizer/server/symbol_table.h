/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code symbols of a module, for look-up by address. An address beyond the end of a symbol
 * that has a size is not that symbol's.
 */
#ifndef SYMBOLIZER_SERVER_SYMBOL_TABLE_H
#define SYMBOLIZER_SERVER_SYMBOL_TABLE_H

#include <elfutils/libdwfl.h>
#include <stdint.h>

struct symbol_table;

struct symbol {
	uint64_t start;
	const char *name; /* as in the file; valid as long as the module */
};

int symbol_table__new(Dwfl_Module *mod, struct symbol_table **ret);
void symbol_table__free(struct symbol_table *table);

/* 0, or -ENOENT. */
int symbol_table__find(const struct symbol_table *table, uint64_t addr, struct symbol *ret);

#endif
