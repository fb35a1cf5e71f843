/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who holds the memory of a site, in words: for each link of the chain a text, root first. */
#ifndef REPORT_HELD_BY_H
#define REPORT_HELD_BY_H

#include "report/report_site.h"
#include "report/site_order.h"

/* The sites that chains of these candidates lead through, each once. 0 or -ENOMEM. */
int held_by_sites(const struct candidate *const *lists, const size_t *cnts, size_t list_cnt,
		  const struct site ***ret, size_t *ret_cnt);

/*
 * What a holder of a site's blocks is called that is no block itself; to be freed. symbols may be
 * NULL. NULL: no memory.
 */
char *held_by_words(const struct site *site, const struct holder *holder,
		    struct symbol_backend *symbols, uint64_t deadline_ns);

/*
 * Gives a site its texts. named: those sites with the names of their frames. 0 or -ENOMEM; to be
 * deinited either way.
 */
int held_by_name(struct report_site *shown, const struct report_site *named, size_t named_cnt,
		 struct symbol_backend *symbols, uint64_t deadline_ns);
void held_by_deinit(struct report_site *shown);

#endif
