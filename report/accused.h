/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which functions grow as a whole, and the sites that are told as theirs. */
#ifndef REPORT_ACCUSED_H
#define REPORT_ACCUSED_H

#include "report/callers.h"
#include "report/funnels.h"
#include "report/site_order.h"
#include "report/symbol_backend.h"

/*
 * A call is accused if its sum seems to leak, its function is the program's own and asks for
 * itself (blame.h), and no function further inside gained most of that: this one is accused, or, if
 * its own sum does not seem to leak, nobody is. In sites,
 * which have room, the sites of each accused call make way for one candidate: the site that gained
 * most, with the past of the sum. symbols, which may be NULL, name calls until deadline_ns.
 */
int accuse_callers(const struct options *opts, const struct callers *callers,
		   const struct funnels *funnels, struct symbol_backend *symbols,
		   uint64_t deadline_ns, struct candidate *sites, size_t *cnt);

#endif
