/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Describes what keeps a site's memory reachable: makes a text for each holder in the chain of
 * pointers that leads to the memory, root first.
 */
#ifndef REPORT_HELD_BY_H
#define REPORT_HELD_BY_H

#include "report/report_site.h"
#include "report/site_order.h"

/*
 * Lists the sites whose blocks are in the holder chains of the candidates in `lists`, each site
 * once. cnts[i]: length of lists[i]. Returns 0 or -ENOMEM.
 */
int held_by_sites(const struct candidate *const *lists, const size_t *cnts, size_t list_cnt,
		  const struct site ***ret, size_t *ret_cnt);

/*
 * Returns the text for a holder that is not a block, to be freed; NULL if out of memory. `symbols`
 * may be NULL.
 */
char *held_by_words(const struct site *site, const struct holder *holder,
		    struct symbol_backend *symbols, uint64_t deadline_ns);

/*
 * Sets the texts for the holders of a site. `named` has the sites from held_by_sites(), with named
 * frames. Returns 0 or -ENOMEM; call held_by_deinit() in both cases.
 */
int held_by_name(struct report_site *shown, const struct report_site *named, size_t named_cnt,
		 struct symbol_backend *symbols, uint64_t deadline_ns);
void held_by_deinit(struct report_site *shown);

#endif
