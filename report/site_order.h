/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts the sites of a snapshot in the order in which a report has them. */
#ifndef REPORT_SITE_ORDER_H
#define REPORT_SITE_ORDER_H

#include "options/options.h"
#include "report/ranking.h"

struct candidate {
	const struct site *site;
	struct growth growth;
	size_t path_cnt;    /* sites that it stands for; 0: it is only itself */
	size_t blamed_from; /* see struct report_site */
	bool callers_vary;
};

/* Those of the sites that hold something, in order; growth: one for each. */
int site_order_init(const struct site *sites, const struct growth *growth, size_t cnt,
		    enum sort_order order, size_t *ret_cnt, struct candidate **ret);

/*
 * Whether a site seems to leak. Memory that the kernel takes back when it needs some does not, nor
 * does a site of whose blocks more than half may have been freed unseen.
 */
bool site_is_suspect(const struct site *site, const struct site_history *history);
bool candidate_is_suspect(const struct candidate *candidate);

/* Of these those that seem to leak: what leaks most, as far as can be told, first. */
int site_order_suspects(const struct candidate *candidates, size_t cnt, size_t *ret_cnt,
			struct candidate **ret);

/* Those of which something is lost: the largest loss, with what hangs from it, first. */
int site_order_losses(const struct candidate *candidates, size_t cnt, size_t *ret_cnt,
		      struct candidate **ret);

#endif
