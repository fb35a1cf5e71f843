/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds growth of a process's footprint that neither traced blocks nor free memory that the
 * allocator keeps can explain. The footprint is a set of totals of a process, such as resident
 * bytes and open descriptors. While there is such growth, the message "nothing seems to leak" would
 * be wrong. Rates are per second.
 */
#ifndef REPORT_FOOTPRINT_H
#define REPORT_FOOTPRINT_H

#include "report/ranking.h"
#include "report/rss.h"

/* Growth of one part of a process's footprint. */
struct untraced_growth {
	const struct process *process;
	enum footprint_part part;
	double per_s;        /* growth in bytes, or in pieces, such as descriptors */
	double traced_per_s; /* growth of traced blocks in the same time, in bytes */
	uint64_t since_ns;   /* time for which the part has been growing */
};

struct untraced_growths {
	struct untraced_growth *items;
	size_t cnt;
	/*
	 * The fastest growth of resident anonymous memory in a process, among growth that is
	 * explained by traced blocks, or by traced blocks plus unpinned free memory in the
	 * allocator. With size filters, all such growth counts as explained. `process` is NULL if
	 * there is no explained growth.
	 */
	struct untraced_growth explained;
	/*
	 * The fastest growth of FOOTPRINT_TOO_YOUNG in a process. `process` is NULL if it grows in
	 * no process.
	 */
	struct untraced_growth too_young;
	/*
	 * The largest rise of a process's memory that does not count as growth yet, but may go on
	 * (only with -p). Neither traced blocks nor free memory in the allocator explain it. A rise
	 * of anonymous memory is used only if there is no other rise. `per_s` and `traced_per_s`
	 * are averages since the part was smallest. If there is no rise, `process` is NULL. Growth
	 * of FOOTPRINT_TMPFS also counts as such a rise.
	 */
	struct untraced_growth pending;
	double pending_bytes; /* bytes by which the part that `pending` describes has grown */
};

/*
 * Adds the footprints in a snapshot to `ranking`, which must not be used for any other data. Judges
 * the footprints if is_reported is true. `pasts` is the history of resident memory; may be NULL.
 * Returns 0 or -ENOMEM; call untraced_growths_deinit() in both cases.
 */
int untraced_growths_init(const struct snapshot *snap, bool is_reported,
			  const struct rss_pasts *pasts, struct ranking *ranking,
			  struct untraced_growths *ret);
void untraced_growths_deinit(struct untraced_growths *growths);

/* Returns the growth of untraced memory, in bytes per second. */
double untraced_bytes_per_s(const struct untraced_growths *growths);

/*
 * True if a part is a number of bytes; the other parts are numbers of pieces, such as descriptors.
 */
bool footprint_part_is_bytes(enum footprint_part part);

/* Returns the name of a part in machine-readable reports, such as "anonymous". */
const char *footprint_part_name(enum footprint_part part);

#endif
