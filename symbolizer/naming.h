/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens modules, finds their debug files and looks up names: first the symbols of all addresses,
 * then lines and inlined calls, so that with a short deadline details are missing rather than
 * names.
 */
#ifndef SYMBOLIZER_NAMING_H
#define SYMBOLIZER_NAMING_H

#include "symbolizer/client.h"
#include "symbolizer/fetcher.h"
#include "symbolizer/module.h"

/* Callback that reopens the file of a closed module, if the file can still be found. */
struct module_opener {
	void (*open)(void *arg, struct module *module);
	void *arg;
};

/* True if another lookup may improve this name. */
bool naming_is_open(const struct module *module, const struct name *name);

/*
 * Looks up the names on the modules' todo lists and empties the lists. root_fd: root directory of
 * the process that maps the modules, or -1. Fails only with -ENOMEM. Names that were not found
 * before the deadline keep their level.
 */
int naming_run(struct client *client, struct fetcher *fetcher, const struct module_opener *opener,
	       struct module *const *modules, size_t cnt, int root_fd, uint64_t deadline_ns);

#endif
