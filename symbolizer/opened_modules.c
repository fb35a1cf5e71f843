// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds a file among those that are open. */
#include "symbolizer/opened_modules.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"

int opened_modules_add(struct opened_modules *list, struct module *module)
{
	if (array_reserve(&list->items, &list->cap, list->cnt + 1))
		return -ENOMEM;
	module->id = list->cnt;
	list->items[list->cnt++] = module;
	return 0;
}

int opened_modules_get(struct opened_modules *list, int fd, const struct file_version *version,
		       const char *path, struct module **ret)
{
	struct module *module = NULL;
	int err;

	for (size_t i = 0; i < list->cnt; i++) {
		if (file_version_equal(&list->items[i]->version, version)) {
			close(fd);
			*ret = list->items[i];
			return 0;
		}
	}
	err = module__new(fd, version, path, &module);
	if (err) {
		close(fd);
		return err;
	}
	err = opened_modules_add(list, module);
	if (err) {
		module__free(module);
		return err;
	}
	*ret = module;
	return 0;
}

void opened_modules_deinit(struct opened_modules *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		module__free(list->items[i]);
	free(list->items);
}
