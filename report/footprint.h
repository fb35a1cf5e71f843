/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel counts of a process as a whole, beside its blocks, and what of that grows
 * although no traced blocks do: then "nothing seems to leak" would be wrong. Rates are per second.
 */
#ifndef REPORT_FOOTPRINT_H
#define REPORT_FOOTPRINT_H

#include "options/options.h"
#include "report/ranking.h"

/* A part of a process's footprint that grows, and at most half of it is traced. */
struct untraced_growth {
	const struct process *process;
	enum footprint_part part;
	double per_s;        /* bytes, or pieces */
	double traced_per_s; /* bytes by which traced blocks grew meanwhile */
	uint64_t since_ns;   /* for how long it has been growing */
};

struct untraced_growths {
	struct untraced_growth *items;
	size_t cnt;
};

/*
 * Remembers the footprints of a snapshot of a ranking of their own, and judges them. is_reported
 * false: they are only remembered. 0 or -ENOMEM; *ret is to be deinited.
 */
int untraced_growths_init(const struct options *opts, const struct snapshot *snap, bool is_reported,
			  struct ranking *ranking, struct untraced_growths *ret);
void untraced_growths_deinit(struct untraced_growths *growths);

/* By how many bytes a second memory grows that is not traced. */
double untraced_bytes_per_s(const struct untraced_growths *growths);

/* In reports of programs: "anonymous", "shared", "huge", "descriptors", "threads". */
const char *footprint_part_name(enum footprint_part part);

#endif
