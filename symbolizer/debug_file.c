// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds files that may be a module's separate debug file (candidates), and opens them safely. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "symbolizer/debug_file.h"

/* Folder of the distribution's debug files. On the host, traced processes cannot write to it. */
#define DEBUG_FOLDER "/usr/lib/debug"

/* Returns the directory part of a path; the caller frees it. */
static char *directory_of(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? strndup(path, slash - path) : strdup("");
}

/*
 * Makes the path of the needed alternate file (.gnu_debugaltlink). A relative name is relative to
 * the directory of the file that contains the .gnu_debugaltlink.
 */
static int alternate_place(const struct module *module, char **ret)
{
	const char *base = module->debug_path ? module->debug_path : module->path;
	const char *file = module->need.file;
	char *dir = file[0] == '/' ? strdup("") : directory_of(base);
	int len = dir ? asprintf(ret, "%s%s%s", dir, file[0] == '/' ? "" : "/", file) : -1;

	free(dir);
	if (len < 0)
		*ret = NULL;
	return len < 0 ? -ENOMEM : 0;
}

/*
 * Makes a path where the target of a debug link may be: DIR/NAME, DIR/.debug/NAME or
 * /usr/lib/debug/DIR/NAME, for index 0 to 2.
 */
static int link_place(const struct module *module, unsigned int index, char **ret)
{
	static const char *const around[][2] = {{"", ""}, {"", "/.debug"}, {DEBUG_FOLDER, ""}};
	char *dir = directory_of(module->path);
	int len = dir ? asprintf(ret, "%s%s%s/%s", around[index][0], dir, around[index][1],
				 module->need.file)
		      : -1;

	free(dir);
	if (len < 0)
		*ret = NULL;
	return len < 0 ? -ENOMEM : 0;
}

/*
 * Makes the path of the index-th candidate. Candidate 0 is found by build id, candidates 1 to 3 by
 * the needed file's name. Returns 0, -ENOMEM, -ENOENT if the needed file has no such candidate, or
 * -ERANGE if `index` is above 3.
 */
static int place(const struct module *module, unsigned int index, char **ret)
{
	const struct file_need *need = &module->need;

	*ret = NULL;
	if (index == 0) {
		if (!need->build_id || strlen(need->build_id) < 4)
			return -ENOENT;
		if (asprintf(ret, DEBUG_FOLDER "/.build-id/%.2s/%s.debug", need->build_id,
			     need->build_id + 2) >= 0)
			return 0;
		*ret = NULL;
		return -ENOMEM;
	}
	if (index > 3)
		return -ERANGE;
	if (!need->file)
		return -ENOENT;
	if (need->kind == NEED_ALTERNATE)
		return index == 1 ? alternate_place(module, ret) : -ENOENT;
	/* Reject a debug link that contains directories: valid ones are bare file names. */
	return strchr(need->file, '/') ? -ENOENT : link_place(module, index - 1, ret);
}

/* Returns the part of `path` below DEBUG_FOLDER; NULL if `path` is not in this folder. */
static const char *below_debug_folder(const char *path)
{
	size_t len = strlen(DEBUG_FOLDER "/");

	return strncmp(path, DEBUG_FOLDER "/", len) ? NULL : path + len;
}

/*
 * Opens a candidate; the helper then checks whether it is the needed file. Returns -EACCES unless
 * the candidate is world-readable or belongs to the owner of the module's file: otherwise, the
 * owner of a program could use a debug link to make memleak show the contents of other users'
 * files.
 */
static int open_for_owner(const struct module *module, int root_fd, const char *path,
			  enum links links, struct stat *st)
{
	int fd = regular_file_open(AT_FDCWD, root_fd, path, links, st);
	struct stat own;

	if (fd < 0 || (st->st_mode & S_IROTH))
		return fd;
	if (module->fd >= 0 && !file_stat(module->fd, &own) && own.st_uid == st->st_uid)
		return fd;
	close(fd);
	return -EACCES;
}

/* Opens a file in DEBUG_FOLDER. Symbolic links cannot lead out of this folder. */
static int open_below(const struct module *module, int root_fd, const char *path, struct stat *st)
{
	int folder_fd = folder_open(root_fd, DEBUG_FOLDER, LINKS_ALL), fd;

	if (folder_fd < 0)
		return folder_fd;
	fd = open_for_owner(module, folder_fd, path, LINKS_ALL, st);
	close(folder_fd);
	return fd;
}

/*
 * Opens a candidate in the process's root (if in_root is set) or on the host. On the host, opens
 * only candidates in DEBUG_FOLDER, since a traced process can choose the path. Exception: if the
 * process's root is unknown (root_fd is -1, as for an ended process), opens candidates outside
 * DEBUG_FOLDER on the host although in_root is set.
 */
static int open_place(const struct module *module, int root_fd, bool in_root, const char *path,
		      struct stat *st)
{
	const char *below = below_debug_folder(path);

	if (below)
		return in_root && root_fd < 0
			       ? -ENOENT
			       : open_below(module, in_root ? root_fd : -1, below, st);
	/*
	 * Outside DEBUG_FOLDER, reject a name of an alternate file that contains directories: it
	 * could lead anywhere.
	 */
	if (!in_root || (module->need.kind == NEED_ALTERNATE && strchr(module->need.file, '/')))
		return -ENOENT;
	/* Follow no links: the traced process may create links in the folder of its program. */
	return open_for_owner(module, root_fd, path, LINKS_NONE, st);
}

static int open_listed(const struct module *module, unsigned int index, int *ret_fd,
		       char **ret_path)
{
	struct stat st;
	char *path;
	int fd;

	if (index >= module->place_cnt)
		return -ERANGE;
	fd = regular_file_open(AT_FDCWD, -1, module->places[index], LINKS_ALL, &st);
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
	err = open_place(module, root_fd, in_root, path, &st);
	/* Skip the module's own file: a file may name itself as its debug link. */
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
