/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for the reports of a run: what is traced has its turns meanwhile. Files that take long to
 * read do not hold up processes that begin.
 */
#ifndef APP_SERVING_SYMBOLS_H
#define APP_SERVING_SYMBOLS_H

#include "loader/source.h"

struct serving_symbols {
	struct symbol_backend backend;
	struct source *source;
	/* Takes in some of what has come, if anything has. 0, or what ends the run. */
	int (*serve)(void *arg, uint64_t deadline_ns);
	void *arg;
};

struct serving_symbols serving_symbols_of(struct source *source,
					  int (*serve)(void *arg, uint64_t deadline_ns), void *arg);

#endif
