/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Leaves suppressed sites out of reports. The decision on each site is remembered under the site's
 * id.
 */
#ifndef REPORT_SUPPRESSOR_H
#define REPORT_SUPPRESSOR_H

#include "options/suppressions.h"
#include "report/snapshot_view.h"
#include "report/symbol_backend.h"

struct suppressor;

/* `suppressions` must outlive the suppressor. */
int suppressor__new(const struct suppressions *suppressions, struct suppressor **ret);
void suppressor__free(struct suppressor *suppressor);

/*
 * Removes suppressed sites and their blocks from the view and its peak, and sets
 * view->snap.suppressed. The peak, proof and suppressed sums of the view are valid until the next
 * call. If the frames of a site cannot be named by deadline_ns (CLOCK_MONOTONIC), the site stays in
 * the view and the next call tries again. Returns 0 or -ENOMEM.
 */
int suppressor__apply(struct suppressor *suppressor, struct symbol_backend *symbols,
		      uint64_t deadline_ns, struct snapshot_view *view);

/*
 * Returns the index of the first pattern that matches a location; suppressions->cnt if no pattern
 * does.
 */
size_t suppressions_find(const struct suppressions *suppressions,
			 const struct sym_location *location);

#endif
