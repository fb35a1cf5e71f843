/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --listen serves of a report, as bytes of each form. It knows nothing of sockets. */
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

/* A file in memory; what cannot be made, for want of a report or of memory: a negative errno. */
int page_make(enum page_kind kind, const struct metrics *metrics);

const char *page_type(enum page_kind kind);

#endif
