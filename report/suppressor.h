/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Leaves out of reports the sites that suppressions are about. Each site is named once for that,
 * and what came of it is remembered by the site's id.
 */
#ifndef REPORT_SUPPRESSOR_H
#define REPORT_SUPPRESSOR_H

#include "options/suppressions.h"
#include "report/snapshot_view.h"
#include "report/symbol_backend.h"

struct suppressor;

/* suppressions must outlive it. */
int suppressor__new(const struct suppressions *suppressions, struct suppressor **ret);
void suppressor__free(struct suppressor *suppressor);

/*
 * Leaves suppressed sites out of the view, with their blocks, and out of its peak. What that was
 * stands in the view's suppressed; it and the peak are valid until the next call. A site that
 * cannot be named by deadline_ns (CLOCK_MONOTONIC) stays and is tried again the next time. Fails
 * only with -ENOMEM.
 */
int suppressor__apply(struct suppressor *suppressor, struct symbol_backend *symbols,
		      uint64_t deadline_ns, struct snapshot_view *view);

/* The first pattern that a place matches, also by a function inlined there; cnt: none. */
size_t suppressions_find(const struct suppressions *suppressions,
			 const struct sym_location *location);

#endif
