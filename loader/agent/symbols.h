/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the names of frames of programs with an agent. */
#ifndef LOADER_AGENT_SYMBOLS_H
#define LOADER_AGENT_SYMBOLS_H

#include "loader/agent/code_files.h"
#include "report/symbol_backend.h"

struct agent_symbols {
	struct symbol_backend backend;
	const struct code_files *files;
	/*
	 * Returns the symbol space of the process that has the exec image with this number; NULL if
	 * it has none.
	 */
	struct symspace *(*space)(void *arg, uint32_t image);
	void *arg;
	struct symspace *ended; /* symbol space for ended processes; NULL until needed */
};

struct agent_symbols agent_symbols_of(const struct code_files *files,
				      struct symspace *(*space)(void *arg, uint32_t image),
				      void *arg);
void agent_symbols_deinit(struct agent_symbols *symbols);

#endif
