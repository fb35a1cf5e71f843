/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Joins the sums of copies of a call. A program may load copies of a library in turn: each copy
 * grows for a while only, but the copies of a call that leaks grow together. Knows no names: the
 * caller says which calls are copies.
 */
#ifndef REPORT_CALL_COPIES_H
#define REPORT_CALL_COPIES_H

#include "report/callers.h"
#include "report/history_join.h"

/*
 * Joins the sums of all calls that have the same key in `keys`, which has an entry for each sum of
 * `callers`; 0: a call without copies. The first of them gets the history of all. Sets first[i] to
 * 1 + index of the first copy of call i, which may be i. A site with several copies of a call on
 * its stack counts several times. The histories point into *ret. Returns 0 or -ENOMEM.
 */
int call_copies_join(struct callers *callers, const uint64_t *keys, uint32_t *first,
		     struct joined_histories *ret);

#endif
