/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Symbolizes addresses of traced processes, each in its own address space. */
#ifndef LOADER_USER_SYMBOLS_H
#define LOADER_USER_SYMBOLS_H

#include "base/hash_map.h"
#include "loader/user/process_set.h"
#include "report/symbol_backend.h"

struct user_symbols {
	struct symbol_backend backend;
	struct process_set *set;
	struct symspace *files; /* symbol space for offsets in files; NULL until needed */
	bool keeps;             /* true while a report is being made: symbol spaces must be kept */
	struct hash_map kept;   /* symbol spaces used for the report that is being made, by image */
};

struct user_symbols user_symbols_of(struct process_set *set);
void user_symbols_deinit(struct user_symbols *symbols);
/*
 * keep: true while a report is being made. Symbol spaces of processes that end are then kept, so
 * that their sites can still be named.
 */
void user_symbols_keep(struct user_symbols *symbols, bool keep);

#endif
