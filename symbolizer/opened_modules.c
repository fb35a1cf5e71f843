// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lists the files that were opened, and closes the least recently used ones if there are too many.
 */
#include "symbolizer/opened_modules.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/mapped_file.h"
#include "base/regular_file.h"

/*
 * Maximum number of open files. Most files are needed only once, when they are sent to the helper.
 */
#define OPEN_MAX_FILES 64
/* Open files may take at most 1/OPEN_SHARE of RLIMIT_NOFILE. */
#define OPEN_SHARE 8

static size_t most_open(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur / OPEN_SHARE > OPEN_MAX_FILES)
		return OPEN_MAX_FILES;
	return limit.rlim_cur / OPEN_SHARE + 1;
}

static struct module *longest_unused(const struct opened_modules *list)
{
	struct module *oldest = NULL;

	for (size_t i = 0; i < list->cnt; i++) {
		struct module *module = list->items[i];

		/* Kernel files stay open: skip them. Their `used` is 0. */
		if (module->fd >= 0 && module->used && (!oldest || module->used < oldest->used))
			oldest = module;
	}
	return oldest;
}

/*
 * Counts the module's file as open and used. If too many files are open, closes the least recently
 * used ones.
 */
static void note_open(struct opened_modules *list, struct module *module)
{
	size_t most = most_open();

	module->closed = false;
	module->mapped_ns = clock_ns(CLOCK_MONOTONIC);
	module->used = ++list->uses;
	list->open_cnt++;
	while (list->open_cnt > most) {
		struct module *oldest = longest_unused(list);

		close(oldest->fd);
		oldest->fd = -1;
		oldest->closed = true;
		list->open_cnt--;
	}
}

void opened_modules_close_unmapped(struct opened_modules *list, uint64_t since_ns,
				   bool (*release)(void *arg, struct module *module), void *arg)
{
	for (size_t i = 0; i < list->cnt; i++) {
		struct module *module = list->items[i];
		bool open = module->fd >= 0;

		/* Kernel files stay open: skip them. Their `used` is 0. */
		if (!module->used || module->mapped_ns >= since_ns ||
		    (!open && !module->incarnation) || !release(arg, module))
			continue;
		module__close(module);
		list->open_cnt -= open;
	}
}

void opened_modules_reopen(struct opened_modules *list, struct module *module, int fd)
{
	if (!module->closed) {
		close(fd);
		module->used = ++list->uses;
		return;
	}
	module->fd = fd;
	note_open(list, module);
}

int opened_modules_add(struct opened_modules *list, struct module *module)
{
	if (array_reserve(&list->items, &list->cap, list->cnt + 1))
		return -ENOMEM;
	module->id = list->cnt;
	list->items[list->cnt++] = module;
	return 0;
}

struct module *opened_modules_find(const struct opened_modules *list,
				   const struct file_version *version)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (file_version_equal(&list->items[i]->version, version))
			return list->items[i];
	return NULL;
}

static bool is_mapped_file(const struct module *module, const struct file_id *file,
			   int64_t since_ns)
{
	struct file_version now;
	struct stat st;

	if (module->fd < 0 || !file_id_equal(&module->version.id, file) ||
	    file_stat(module->fd, &st))
		return false;
	now = file_version_of(&st);
	return file_version_equal(&now, &module->version) && !file_is_changed_since(&st, since_ns);
}

struct module *opened_modules_find_mapped(const struct opened_modules *list,
					  const struct file_id *file, int64_t since_ns)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (is_mapped_file(list->items[i], file, since_ns))
			return list->items[i];
	return NULL;
}

int opened_modules_get(struct opened_modules *list, int fd, const struct file_version *version,
		       const char *path, struct module **ret)
{
	struct module *module = opened_modules_find(list, version);
	int err;

	if (module) {
		opened_modules_reopen(list, module, fd);
		*ret = module;
		return 0;
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
	note_open(list, module);
	*ret = module;
	return 0;
}

void opened_modules_deinit(struct opened_modules *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		module__free(list->items[i]);
	free(list->items);
}
