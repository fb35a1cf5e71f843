/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who names the frames of a snapshot: an interface that sources and recordings implement. */
#ifndef REPORT_SYMBOL_BACKEND_H
#define REPORT_SYMBOL_BACKEND_H

#include "report/snapshot.h"
#include "symbolizer/symbolizer.h"

/* Names the addresses of sites; one implementation per kind of address space or file. */
struct symbol_backend {
	/*
	 * Makes the names of all frames of these sites ready, in one go; returns by deadline_ns.
	 * lookup finds them afterwards. Fails only with -ENOMEM.
	 */
	int (*prepare)(struct symbol_backend *self, const struct site *const *sites, size_t cnt,
		       uint64_t deadline_ns);
	/* NULL: nothing known. Valid until the next prepare. */
	const struct sym_location *(*lookup)(struct symbol_backend *self, const struct site *site,
					     uint64_t frame);
	/*
	 * What is at an address of the site's process: a variable, or the function that a call
	 * returns to. NULL: nothing known. Valid as the others. NULL: this backend knows no
	 * addresses.
	 */
	const struct sym_location *(*place)(struct symbol_backend *self, const struct site *site,
					    enum sym_kind kind, uint64_t addr,
					    uint64_t deadline_ns);
	/* A later snapshot may name what has no name now, however long prepare took. */
	bool names_follow;
};

#endif
