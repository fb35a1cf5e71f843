/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug files from debuginfod servers, by a helper process of its own: a download goes on while
 * reports are made and is there for a later one. Started only when the environment names servers
 * and something is missing. Unlike the helper that parses, it has the network, and the files of
 * the user who called sudo, or of memleak's, as it fills that user's cache; but no capability.
 */
#ifndef SYMBOLIZER_FETCHER_H
#define SYMBOLIZER_FETCHER_H

#include <stdbool.h>

#include "helper/helper.h"
#include "symbolizer/module.h"

struct fetcher {
	struct helper helper;
	bool unavailable;        /* no servers, no library, or the helper ended */
	struct module **waiting; /* in the order of the answers to come */
	size_t waiting_cnt;
	size_t waiting_cap;
};

void fetcher_init(struct fetcher *fetcher);
void fetcher_deinit(struct fetcher *fetcher);

/* Begins to fetch what module needs, which has a build id: module->fetching says whether. */
void fetcher_want(struct fetcher *fetcher, struct module *module);

/*
 * Takes one answer, which leaves the file, if there is one, in module->fetched_fd. 0: an answer
 * was taken; -ENOENT: nothing is being fetched; -ETIMEDOUT.
 */
int fetcher_take(struct fetcher *fetcher, uint64_t deadline_ns);

#endif
