/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What C and C++ libraries allocate for themselves and keep as long as the process lives: buffers
 * of stdio, locales, the time zone, thread-local storage, the emergency pool of exceptions. It is
 * outstanding in every program and no leak of any.
 */
#ifndef REPORT_RUNTIME_INIT_H
#define REPORT_RUNTIME_INIT_H

#include "report/site_order.h"
#include "report/symbol_backend.h"

/* What libraries keep for themselves, as far as it would be among the sites that are shown. */
struct runtime_init {
	uint64_t bytes;
	uint64_t count;
	size_t sites;
};

/*
 * Goes through the candidates in their order until so many are found that are something else, and
 * puts those before the runtime initialisation that it met, which it adds up in ret. What is not
 * named in time counts as something else. -ENOMEM.
 */
int runtime_init_put_last(struct symbol_backend *symbols, uint64_t deadline_ns,
			  struct candidate *candidates, size_t cnt, size_t most, size_t *ret_cnt,
			  struct runtime_init *ret);

/* Whether the candidates are nothing else, which leaves them as they are. -ENOMEM. */
int runtime_init_is_all(struct symbol_backend *symbols, uint64_t deadline_ns,
			const struct candidate *candidates, size_t cnt, bool *ret);

#endif
