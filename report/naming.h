/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names the frames of a site, and finds the function to blame. */
#ifndef REPORT_NAMING_H
#define REPORT_NAMING_H

#include "options/options.h"
#include "report/report_site.h"

/*
 * Looks up the names of a site's frames, and blames a function. The caller must have called
 * symbols->prepare() for the site. `opts` may be NULL. `known` is a site that has just been named,
 * and may share frames; or NULL.
 */
void report_site_name(const struct options *opts, struct symbol_backend *symbols,
		      const struct report_site *known, struct report_site *shown);

#endif
