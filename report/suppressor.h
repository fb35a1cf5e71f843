/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Leaves suppressed sites out of reports. Each site is named and matched once, and the result is
 * remembered by the site's id.
 */
#ifndef REPORT_SUPPRESSOR_H
#define REPORT_SUPPRESSOR_H

#include "options/suppressions.h"
#include "report/snapshot_view.h"
#include "report/symbol_backend.h"

struct suppressor;

/* suppressions must outlive the suppressor. */
int suppressor__new(const struct suppressions *suppressions, struct suppressor **ret);
void suppressor__free(struct suppressor *suppressor);

/*
 * Removes suppressed sites and their blocks from the view and its peak, and sets the view's
 * suppressed. The peak and suppressed are valid until the next call. A site that cannot be named by
 * deadline_ns (CLOCK_MONOTONIC) stays in the view and is retried in the next call. Fails only with
 * -ENOMEM.
 */
int suppressor__apply(struct suppressor *suppressor, struct symbol_backend *symbols,
		      uint64_t deadline_ns, struct snapshot_view *view);

/* Returns the index of the first pattern that matches a location; suppressions->cnt if none. */
size_t suppressions_find(const struct suppressions *suppressions,
			 const struct sym_location *location);

#endif
