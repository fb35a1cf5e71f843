/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens modules, completes them by debug files and asks for names, in an order by which a short
 * time gives as much as it can: every address its symbol first, then lines and inlined calls.
 */
#ifndef SYMBOLIZER_NAMING_H
#define SYMBOLIZER_NAMING_H

#include "symbolizer/client.h"
#include "symbolizer/fetcher.h"
#include "symbolizer/module.h"

/* Opens a module's file again that was closed, if there is a way. */
struct module_opener {
	void (*open)(void *arg, struct module *module);
	void *arg;
};

/* Whether asking again could tell more of this name. */
bool naming_is_open(const struct module *module, const struct name *name);

/*
 * Looks up what is on the todo lists of the modules and empties them. root_fd: the root directory
 * of the process that they belong to, or -1. Fails only with -ENOMEM: what was not found or not
 * in time shows in the names.
 */
int naming_run(struct client *client, struct fetcher *fetcher, const struct module_opener *opener,
	       struct module *const *modules, size_t cnt, int root_fd, uint64_t deadline_ns);

#endif
