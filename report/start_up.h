/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What C and C++ libraries allocate for themselves and keep as long as the process lives: buffers
 * of stdio, locales, the time zone, thread-local storage, the emergency pool of exceptions. It is
 * outstanding in every program and no leak of any.
 */
#ifndef START_UP_H
#define START_UP_H

#include "report/report.h"
#include "report/site_order.h"

/*
 * Goes through the candidates in their order until so many are found that are something else, and
 * puts those before what it met of start-up, which it adds up in ret. What is not named in time
 * counts as something else. -ENOMEM.
 */
int start_up_put_last(struct symbol_backend *symbols, struct candidate *candidates, size_t cnt,
		      size_t most, size_t *ret_cnt, struct start_up *ret);

/* Whether the candidates are nothing else, which leaves them as they are. -ENOMEM. */
int start_up_is_all(struct symbol_backend *symbols, const struct candidate *candidates, size_t cnt,
		    bool *ret);

#endif
