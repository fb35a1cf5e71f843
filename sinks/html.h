/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes HTML pages other than those of the sink: a live report, and a difference. */
#ifndef SINKS_HTML_H
#define SINKS_HTML_H

#include <stdio.h>

#include "report/diff.h"
#include "report/report.h"

/* Content security policy: allows only inline scripts and styles, and no loading from anywhere. */
#define HTML_POLICY "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
/*
 * Content security policy of a page that --listen serves: it may also ask its server for newer
 * reports.
 */
#define HTML_POLICY_LIVE HTML_POLICY "; connect-src 'self'"

/*
 * Write a page that asks its server for newer reports, and a page with a difference. Both functions
 * return 0 or -ENOMEM.
 */
int html_write_live(FILE *out, const struct report *report);
int html_write_diff(FILE *out, const struct diff *diff);

#endif
