/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A symbol backend that looks addresses up in a table and records how it was called. */
#ifndef TESTS_UNIT_LIB_FAKE_SYMBOLS_H
#define TESTS_UNIT_LIB_FAKE_SYMBOLS_H

#include <stddef.h>

#include "report/report.h"

struct fake_symbols {
	struct symbol_backend backend;
	const struct sym_location *locations;
	size_t location_cnt;
	int prepare_result;
	size_t prepare_cnt;  /* number of calls of prepare() */
	size_t prepared_cnt; /* number of sites passed to the most recent prepare() */
	size_t lookup_cnt;   /* number of calls of lookup() */
	uint64_t deadline_ns;
};

struct fake_symbols fake_symbols_of(const struct sym_location *locations, size_t cnt);

#endif
