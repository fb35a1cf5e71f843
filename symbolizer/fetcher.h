/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Downloads debug files from debuginfod servers in a helper process. A download continues while
 * memleak prints a report; a later report uses the result. The helper is started only if the
 * environment names servers and a file is missing.
 *
 * Unlike the helper that parses files, this helper has network access, and can access the files of
 * the user whose cache it fills. If memleak is root, this is the user who called sudo or, without
 * sudo, a user that only this helper has; otherwise it is memleak's user. The helper has no
 * capabilities.
 */
#ifndef SYMBOLIZER_FETCHER_H
#define SYMBOLIZER_FETCHER_H

#include <stdbool.h>

#include "helper/helper.h"
#include "symbolizer/module.h"

struct fetcher {
	struct helper helper;
	bool unavailable; /* cannot download: no servers, no library, or the helper ended */
	/* modules whose download is pending, in the order of the requests */
	struct module **waiting;
	size_t waiting_cnt;
	size_t waiting_cap;
};

void fetcher_init(struct fetcher *fetcher);
void fetcher_deinit(struct fetcher *fetcher);

/* Requests the debug file that a module needs, by build id. Sets module->fetching on success. */
void fetcher_want(struct fetcher *fetcher, struct module *module);

/*
 * Takes one answer. If the answer has a file, stores the file in module->fetched_fd. Returns 0 if
 * an answer was taken, -ENOENT if no download is pending, or -ETIMEDOUT.
 */
int fetcher_take(struct fetcher *fetcher, uint64_t deadline_ns);

#endif
