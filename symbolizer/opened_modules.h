/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists all files that the symbolizer has opened. A file is listed once, even if several processes
 * map it. Only a limited number of files stay open: the most recently used ones.
 */
#ifndef SYMBOLIZER_OPENED_MODULES_H
#define SYMBOLIZER_OPENED_MODULES_H

#include "symbolizer/module.h"

struct opened_modules {
	struct module **items; /* modules, indexed by id */
	size_t cnt;
	size_t cap;
	size_t open_cnt;
	uint64_t uses;
};

/* Returns the module of a file; NULL if there is none. The module may be closed. */
struct module *opened_modules_find(const struct opened_modules *list,
				   const struct file_version *version);

/*
 * Returns the open module of the file that has the numbers `file` in /proc/PID/maps; NULL if there
 * is none. Skips closed modules: the inode number of a closed file may belong to another file by
 * now. Does not find a file whose numbers in /proc/PID/maps differ from those that stat() returns.
 * since_ns: as in struct mapping.
 */
struct module *opened_modules_find_mapped(const struct opened_modules *list,
					  const struct file_id *file, int64_t since_ns);

/*
 * Returns the module of a file, and adds it if needed. Takes over fd, which is closed if the module
 * is already open. path: the file's path as the process sees it. Fails only with -ENOMEM.
 */
int opened_modules_get(struct opened_modules *list, int fd, const struct file_version *version,
		       const char *path, struct module **ret);

/*
 * Adds and takes over a kernel part's module. For mapped files, use opened_modules_get(). Fails
 * with -ENOMEM.
 */
int opened_modules_add(struct opened_modules *list, struct module *module);

/* Gives a closed module the new descriptor fd. Takes over fd. */
void opened_modules_reopen(struct opened_modules *list, struct module *module, int fd);

/*
 * Closes files that no space has mapped since since_ns, so that their file systems can be
 * unmounted. Files for which release() returns false stay open.
 */
void opened_modules_close_unmapped(struct opened_modules *list, uint64_t since_ns,
				   bool (*release)(void *arg, struct module *module), void *arg);

void opened_modules_deinit(struct opened_modules *list);

#endif
