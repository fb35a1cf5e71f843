/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list of all files (modules) that the symbolizer has opened. A file is listed once, even if
 * several processes map it. Only the most recently used files stay open.
 */
#ifndef SYMBOLIZER_OPENED_MODULES_H
#define SYMBOLIZER_OPENED_MODULES_H

#include "symbolizer/module.h"

struct opened_modules {
	struct module **items; /* indexed by id */
	size_t cnt;
	size_t cap;
	size_t open_cnt;
	uint64_t uses;
};

/* Returns the module of a file; NULL if there is none. The file may be closed. */
struct module *opened_modules_find(const struct opened_modules *list,
				   const struct file_version *version);

/*
 * Returns the module of the file that /proc/PID/maps shows with the inode and device numbers
 * `file`. Returns NULL if there is none, or if the file was changed after memleak opened it or
 * after since_ns, the time of the mmap() (see struct mapping). Skips closed modules: the inode
 * number of a closed file may belong to another file by now. Does not find a file if /proc/PID/maps
 * and stat() show different numbers.
 */
struct module *opened_modules_find_mapped(const struct opened_modules *list,
					  const struct file_id *file, int64_t since_ns);

/*
 * Finds the module of an open file, or adds it, and stores it in *ret. Takes over fd, and closes fd
 * if the module's file is already open. path: the file's path as the process sees it. Fails only
 * with -ENOMEM.
 */
int opened_modules_get(struct opened_modules *list, int fd, const struct file_version *version,
		       const char *path, struct module **ret);

/*
 * Adds the module of a kernel part, and takes it over. For files that processes map, use
 * opened_modules_get(). Fails with -ENOMEM.
 */
int opened_modules_add(struct opened_modules *list, struct module *module);

/* Sets the descriptor of a closed module to fd. Takes over fd: closes it if the module is open. */
void opened_modules_reopen(struct opened_modules *list, struct module *module, int fd);

/*
 * Closes files that no address space has mapped since since_ns, so that their file systems can be
 * unmounted. Files for which release() returns false, and files of the kernel, stay open.
 */
void opened_modules_close_unmapped(struct opened_modules *list, uint64_t since_ns,
				   bool (*release)(void *arg, struct module *module), void *arg);

void opened_modules_deinit(struct opened_modules *list);

#endif
