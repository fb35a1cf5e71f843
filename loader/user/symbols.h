/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for the addresses of traced processes: each has its own address space. */
#ifndef LOADER_USER_SYMBOLS_H
#define LOADER_USER_SYMBOLS_H

#include "loader/user/process_set.h"
#include "report/symbol_backend.h"

struct user_symbols {
	struct symbol_backend backend;
	struct process_set *set;
	struct symspace *files; /* of no process: names places in files; NULL: none yet */
};

struct user_symbols user_symbols_of(struct process_set *set);
void user_symbols_deinit(struct user_symbols *symbols);

#endif
