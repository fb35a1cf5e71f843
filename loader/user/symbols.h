/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for the addresses of traced processes: each has its own address space. */
#ifndef LOADER_USER_SYMBOLS_H
#define LOADER_USER_SYMBOLS_H

#include "base/hash_map.h"
#include "loader/user/process_set.h"
#include "report/symbol_backend.h"

struct user_symbols {
	struct symbol_backend backend;
	struct process_set *set;
	struct symspace *files; /* of no process: names places in files; NULL: none yet */
	bool keeps;             /* a report is being made, so below */
	struct hash_map kept;   /* spaces that have named something for it, by image */
};

struct user_symbols user_symbols_of(struct process_set *set);
void user_symbols_deinit(struct user_symbols *symbols);
/* For a report during which processes may go: what has named their sites goes on doing so. */
void user_symbols_keep(struct user_symbols *symbols, bool keep);

#endif
