/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that the symbolizer has opened, each once, whichever processes map it. Only so many
 * stay open, those that were wanted last.
 */
#ifndef SYMBOLIZER_OPENED_MODULES_H
#define SYMBOLIZER_OPENED_MODULES_H

#include "symbolizer/module.h"

struct opened_modules {
	struct module **items; /* by id */
	size_t cnt;
	size_t cap;
	size_t open_cnt;
	uint64_t uses;
};

/*
 * The module of a file; fd is taken over, or closed when the file is known and open already. path
 * is how the process sees it. Fails only with -ENOMEM.
 */
int opened_modules_get(struct opened_modules *list, int fd, const struct file_version *version,
		       const char *path, struct module **ret);

/* Takes over the module of a part of the kernel, which has no file of its own. -ENOMEM. */
int opened_modules_add(struct opened_modules *list, struct module *module);

/* A file that was closed has been opened again. fd is taken over. */
void opened_modules_reopen(struct opened_modules *list, struct module *module, int fd);

/*
 * Closes the files that no space was seen to map since that moment, unless release returns false
 * for one. An open file keeps its file system in use.
 */
void opened_modules_close_unmapped(struct opened_modules *list, uint64_t since_ns,
				   bool (*release)(void *arg, struct module *module), void *arg);

void opened_modules_deinit(struct opened_modules *list);

#endif
