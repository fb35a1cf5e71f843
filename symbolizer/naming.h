/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens modules, finds their debug files and looks up names. First looks up the symbols of all
 * addresses, then lines and inlined calls: if the deadline is short, these details are missing, but
 * not the names.
 */
#ifndef SYMBOLIZER_NAMING_H
#define SYMBOLIZER_NAMING_H

#include "symbolizer/client.h"
#include "symbolizer/fetcher.h"
#include "symbolizer/module.h"

/* Callback that opens the file of a closed module again, if the file can still be found. */
struct module_opener {
	void (*open)(void *arg, struct module *module);
	void *arg;
};

/* True if another lookup may find this name, or more details of it. */
bool naming_is_open(const struct module *module, const struct name *name);

/*
 * Looks up the names on the todo lists of `modules`, and empties these lists. root_fd: root
 * directory of the process that maps the modules; -1 if unknown. Fails only with -ENOMEM. Names
 * that were not found before the deadline keep the frames that they had.
 */
int naming_run(struct client *client, struct fetcher *fetcher, const struct module_opener *opener,
	       struct module *const *modules, size_t cnt, int root_fd, uint64_t deadline_ns);

#endif
