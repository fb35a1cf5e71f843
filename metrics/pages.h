/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contents of the pages that --listen serves. Knows nothing of sockets. */
#ifndef METRICS_PAGES_H
#define METRICS_PAGES_H

#include "metrics/metrics.h"

enum page_kind {
	PAGE_OPEN_METRICS,
	PAGE_PROMETHEUS,
	PAGE_REPORT,
	PAGE_PPROF,
	PAGE_HTML,
	PAGE_CNT,
};

/*
 * Returns a descriptor of an in-memory file with the contents of a page, or a negative errno:
 * -ENOENT if the page has no contents, for example before the first report.
 */
int page_make(enum page_kind kind, const struct metrics *metrics);

const char *page_type(enum page_kind kind);

#endif
