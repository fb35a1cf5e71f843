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
 * True if growth of a kernel site says little: the kernel takes the memory back when it needs some,
 * or more than half of the blocks may have been freed unseen.
 */
bool site_is_doubtful(const struct site *site);

/* True if a site seems to leak: it grows, and that is not doubtful. */
bool site_is_suspect(const struct site *site, const struct site_history *history);
bool candidate_is_suspect(const struct candidate *candidate);

/* Of these those that seem to leak: what leaks most, as far as can be told, first. */
int site_order_suspects(const struct candidate *candidates, size_t cnt, size_t *ret_cnt,
			struct candidate **ret);

/* Doubtful sites that grow, the fastest first: companions of suspects, see kernel_paths.h. */
int site_order_companions(const struct candidate *candidates, size_t cnt, size_t *ret_cnt,
			  struct candidate **ret);

/* Those of which something is lost: the largest loss, with what hangs from it, first. */
int site_order_losses(const struct candidate *candidates, size_t cnt, size_t *ret_cnt,
		      struct candidate **ret);

#endif
