/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorts the sites of a snapshot in the order in which a report shows them. */
#ifndef REPORT_SITE_ORDER_H
#define REPORT_SITE_ORDER_H

#include "options/options.h"
#include "report/chunks.h"
#include "report/ranking.h"

/*
 * Says which callers, on the stack of the shown site, are common to most of the growth of a blamed
 * function.
 */
enum common_callers {
	CALLERS_ALL,  /* all callers are common: one site has most of the growth */
	CALLERS_ONE,  /* only the direct caller is common: it has several callers itself */
	CALLERS_NONE, /* no caller is common: several direct callers share the growth */
};

struct candidate {
	const struct site *site;
	struct growth growth;
	size_t path_cnt;    /* number of sites that the candidate stands for; 0 for a single site */
	size_t blamed_from; /* frames with a lower index are not blamed */
	enum common_callers common_callers;
	double blamed_inside; /* part of the growth for which inner functions are blamed, 0 to 1 */
	/*
	 * If joined_paths_init() found that a chunk pool took the memory, the chunks; otherwise all
	 * 0.
	 */
	struct chunks chunks;
	bool has_instances; /* true if the functions blamed for its sites are instances */
};

/* Sorts the sites that hold blocks. `growth` has an entry for each site. Returns 0 or -ENOMEM. */
int site_order_init(const struct site *sites, const struct growth *growth, size_t cnt,
		    enum sort_order order, size_t *ret_cnt, struct candidate **ret);

/*
 * True if a site is doubtful: a kernel site whose growth says little, because the kernel can
 * reclaim the memory, or because more than half of the blocks may have been freed without an event.
 */
bool site_is_doubtful(const struct site *site);

/* True if a site seems to leak: it grows, its leak score is high enough, and it is not doubtful. */
bool site_is_suspect(const struct site *site, const struct site_history *history);
bool candidate_is_suspect(const struct candidate *candidate);

/* Returns the growth in bytes per second, without that for which inner functions are blamed. */
double candidate_bytes_per_s(const struct candidate *candidate);

/*
 * Selects the candidates that seem to leak. Sorts them by growth per second times leak score, in
 * descending order.
 */
int site_order_suspects(const struct candidate *candidates, size_t cnt, size_t *ret_cnt,
			struct candidate **ret);

/*
 * Selects doubtful sites that grow, which may be companions of suspects (kernel_paths.h). Sorts
 * them like site_order_suspects().
 */
int site_order_companions(const struct candidate *candidates, size_t cnt, size_t *ret_cnt,
			  struct candidate **ret);

/*
 * Selects candidates with lost blocks. Sorts them by the size of the loss, which includes hanging
 * blocks, in descending order.
 */
int site_order_losses(const struct candidate *candidates, size_t cnt, size_t *ret_cnt,
		      struct candidate **ret);

/* Selects the candidates that pin free memory. Those that pin most come first. */
int site_order_pinners(const struct candidate *candidates, size_t cnt, size_t *ret_cnt,
		       struct candidate **ret);

#endif
