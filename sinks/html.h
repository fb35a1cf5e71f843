/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the HTML pages that `--format html` does not write: the live page of --listen, and the
 * page of `memleak diff`.
 */
#ifndef SINKS_HTML_H
#define SINKS_HTML_H

#include <stdio.h>

#include "report/diff.h"
#include "report/report.h"

/* Content security policy: allows only inline scripts and styles, and no loading from anywhere. */
#define HTML_POLICY "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
/* Policy of a page that --listen serves: it may also ask its server for newer reports. */
#define HTML_POLICY_LIVE HTML_POLICY "; connect-src 'self'"

/*
 * html_write_live() writes a page that asks its server for newer reports. html_write_diff() writes
 * a page with the difference between two snapshots. Both functions return 0 or -ENOMEM.
 */
int html_write_live(FILE *out, const struct report *report);
int html_write_diff(FILE *out, const struct diff *diff);

#endif
