/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interface for naming the frames of a snapshot. Sources and recordings implement it. */
#ifndef REPORT_SYMBOL_BACKEND_H
#define REPORT_SYMBOL_BACKEND_H

#include "report/snapshot.h"
#include "symbolizer/symbolizer.h"

/*
 * Names the addresses of sites. Each address space has its own implementation; recordings have
 * another one.
 */
struct symbol_backend {
	/*
	 * Resolves the names of all frames of the given sites together, so that lookup() finds
	 * them. Returns by deadline_ns. Fails only with -ENOMEM.
	 */
	int (*prepare)(struct symbol_backend *self, const struct site *const *sites, size_t cnt,
		       uint64_t deadline_ns);
	/*
	 * Returns the location of a frame; NULL if not known. The location is valid until the next
	 * prepare().
	 */
	const struct sym_location *(*lookup)(struct symbol_backend *self, const struct site *site,
					     uint64_t frame);
	/*
	 * Returns the variable at an address of the site's process, or the function that a return
	 * address is in; NULL if not known. The result is valid until the next prepare(). The
	 * callback is NULL if the backend cannot resolve addresses.
	 */
	const struct sym_location *(*place)(struct symbol_backend *self, const struct site *site,
					    enum sym_kind kind, uint64_t addr,
					    uint64_t deadline_ns);
	/*
	 * True if a frame may get its name only in a later snapshot, even though prepare() finished
	 * before its deadline.
	 */
	bool names_follow;
};

#endif
