/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recognises memory that C and C++ libraries allocate for themselves and keep until the process
 * ends: buffers of stdio, locales, the time zone, thread-local storage, the emergency pool of
 * exceptions. Such memory is outstanding in every program and is no leak.
 */
#ifndef REPORT_RUNTIME_INIT_H
#define REPORT_RUNTIME_INIT_H

#include "report/site_order.h"
#include "report/symbol_backend.h"

/* Sum of the sites that were found to be runtime initialisation. */
struct runtime_init {
	uint64_t bytes;
	uint64_t count;
	size_t sites;
};

/*
 * Examines candidates in order until it has found `most` candidates that are not runtime
 * initialisation. Moves these to the front, and sets *ret_cnt to their number. Behind these, puts
 * the examined candidates that are runtime initialisation, and adds their sum to *ret. A candidate
 * whose frames have no names at deadline_ns does not count as runtime initialisation. Returns 0 or
 * -ENOMEM.
 */
int runtime_init_put_last(struct symbol_backend *symbols, uint64_t deadline_ns,
			  struct candidate *candidates, size_t cnt, size_t most, size_t *ret_cnt,
			  struct runtime_init *ret);

/*
 * Sets *ret to true if all candidates are runtime initialisation, else to false. Returns 0 or
 * -ENOMEM.
 */
int runtime_init_is_all(struct symbol_backend *symbols, uint64_t deadline_ns,
			const struct candidate *candidates, size_t cnt, bool *ret);

#endif
