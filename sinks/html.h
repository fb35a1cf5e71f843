/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages for a browser beside the one that the sink makes. */
#ifndef SINKS_HTML_H
#define SINKS_HTML_H

#include <stdio.h>

#include "report/diff.h"
#include "report/report.h"

/* A browser may run what is written in a page and nothing else, and load nothing at all. */
#define HTML_POLICY "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
/* One that is served may ask the server whether there is a newer one. */
#define HTML_POLICY_LIVE HTML_POLICY "; connect-src 'self'"

/* One that is served at an address, which it asks for newer reports. 0 or -ENOMEM; so below. */
int html_write_live(FILE *out, const struct report *report);
int html_write_diff(FILE *out, const struct diff *diff);

#endif
