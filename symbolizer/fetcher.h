/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Downloads debug files from debuginfod servers in a helper process. A download continues while
 * memleak prints a report; a later report uses the result. The helper is started only if the
 * environment names servers and a file is missing.
 *
 * Unlike the helper that parses ELF files, this helper has network access, and can access the files
 * of its user. The helper runs as the user who called sudo; as a user id that nothing else uses if
 * memleak is root without sudo; or else as memleak's own user. It has no capabilities, and cannot
 * signal or trace processes, execute programs, or connect to UNIX sockets such as D-Bus. With
 * Landlock, it can only change files in its cache.
 */
#ifndef SYMBOLIZER_FETCHER_H
#define SYMBOLIZER_FETCHER_H

#include <stdbool.h>

#include "helper/helper.h"
#include "symbolizer/module.h"

struct fetcher {
	struct helper helper;
	/*
	 * true if DEBUGINFOD_URLS names no servers, or the helper has ended: nothing is downloaded
	 */
	bool unavailable;
	/* modules whose download is pending, in the order of the requests */
	struct module **waiting;
	size_t waiting_cnt;
	size_t waiting_cap;
};

/* False for a static memleak, which cannot load libdebuginfod. */
bool fetcher_can_download(void);

void fetcher_init(struct fetcher *fetcher);
void fetcher_deinit(struct fetcher *fetcher);

/*
 * Requests a download of the debug file with the build id in module->need. Sets module->fetching if
 * the request was sent.
 */
void fetcher_want(struct fetcher *fetcher, struct module *module);

/*
 * Waits for one answer, and stores its file, if any, in the fetched_fd of the module that needs it.
 * Returns 0 if there was an answer, -ENOENT if no download is pending any more, or -ETIMEDOUT.
 */
int fetcher_take(struct fetcher *fetcher, uint64_t deadline_ns);

#endif
