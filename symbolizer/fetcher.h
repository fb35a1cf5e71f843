/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Downloads debug files from debuginfod servers in a helper process: a download continues while
 * reports are made and serves a later one. Started only if the environment names servers and a file
 * is missing. Unlike the parsing helper, it has network access and the file access of the user who
 * called sudo, or of memleak, since it fills that user's cache; but no capabilities.
 */
#ifndef SYMBOLIZER_FETCHER_H
#define SYMBOLIZER_FETCHER_H

#include <stdbool.h>

#include "helper/helper.h"
#include "symbolizer/module.h"

struct fetcher {
	struct helper helper;
	bool unavailable;        /* cannot download: no servers, no library, or the helper ended */
	struct module **waiting; /* in the order in which answers will come */
	size_t waiting_cnt;
	size_t waiting_cap;
};

void fetcher_init(struct fetcher *fetcher);
void fetcher_deinit(struct fetcher *fetcher);

/* Requests the file that module needs, by build id. Sets module->fetching on success. */
void fetcher_want(struct fetcher *fetcher, struct module *module);

/*
 * Takes one answer and stores the file, if there is one, in module->fetched_fd. Returns 0 if an
 * answer was taken, -ENOENT if no download is pending, or -ETIMEDOUT.
 */
int fetcher_take(struct fetcher *fetcher, uint64_t deadline_ns);

#endif
