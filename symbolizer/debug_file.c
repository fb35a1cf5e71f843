// SPDX-License-Identifier: GPL-2.0-or-later
/* Candidates for separate debug files. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "symbolizer/debug_file.h"

#define HOST_DEBUG "/usr/lib/debug"

/* The directory of a path, to be freed. */
static char *directory_of(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? strndup(path, slash - path) : strdup("");
}

/*
 * The places in one root, by number:
 * build id: /usr/lib/debug/.build-id/ab/cdef.debug; link: DIR/NAME, DIR/.debug/NAME,
 * /usr/lib/debug/DIR/NAME; alternate: NAME from the debug file's directory.
 */
static int place(const struct module *module, unsigned int index, char **ret)
{
	const struct file_need *need = &module->need;
	static const char *const dirs[][2] = {
		{"", ""}, {"", ""}, {"", "/.debug"}, {HOST_DEBUG, ""}};
	const char *base = need->kind == NEED_ALTERNATE ? module->debug_path : module->path;
	int len = -1;
	char *dir;

	*ret = NULL;
	if (index == 0) {
		if (!need->build_id || strlen(need->build_id) < 4)
			return -ENOENT;
		len = asprintf(ret, HOST_DEBUG "/.build-id/%.2s/%s.debug", need->build_id,
			       need->build_id + 2);
		return len < 0 ? -ENOMEM : 0;
	}
	if (!need->file || index > 3 || (index > 1 && need->kind == NEED_ALTERNATE))
		return index > 3 ? -ERANGE : -ENOENT;
	if (need->kind == NEED_ALTERNATE && need->file[0] == '/') {
		*ret = strdup(need->file);
		return *ret ? 0 : -ENOMEM;
	}
	/* A link is a name without a directory: anything else is somebody's joke. */
	if (need->kind == NEED_DEBUG && strchr(need->file, '/'))
		return -ENOENT;
	dir = directory_of(base ? base : module->path);
	if (dir)
		len = asprintf(ret, "%s%s%s/%s", dirs[index][0], dir, dirs[index][1], need->file);
	free(dir);
	return len < 0 ? -ENOMEM : 0;
}

static int open_listed(const struct module *module, unsigned int index, int *ret_fd,
		       char **ret_path)
{
	struct stat st;
	char *path;
	int fd;

	if (index >= module->place_cnt)
		return -ERANGE;
	fd = regular_file_open(AT_FDCWD, -1, module->places[index], 0, &st);
	if (fd < 0)
		return -ENOENT;
	path = strdup(module->places[index]);
	if (!path) {
		close(fd);
		return -ENOMEM;
	}
	*ret_fd = fd;
	*ret_path = path;
	return 0;
}

int debug_file_open(const struct module *module, int root_fd, unsigned int index, int *ret_fd,
		    char **ret_path)
{
	bool in_root = index % 2 == 0;
	struct file_version found;
	struct stat st;
	char *path;
	int err;

	if (module->places && module->need.kind == NEED_DEBUG)
		return open_listed(module, index, ret_fd, ret_path);
	err = place(module, index / 2, &path);
	if (err)
		return err;
	if (in_root && root_fd < 0) {
		free(path);
		return -ENOENT;
	}
	err = regular_file_open(AT_FDCWD, in_root ? root_fd : -1, path, 0, &st);
	/* The file itself under another name, as when it is its own debug link. */
	if (err >= 0) {
		found = file_version_of(&st);
		if (file_version_equal(&module->version, &found)) {
			close(err);
			err = -ENOENT;
		}
	}
	if (err < 0) {
		free(path);
		return err == -ENOMEM ? err : -ENOENT;
	}
	*ret_fd = err;
	*ret_path = path;
	return 0;
}
