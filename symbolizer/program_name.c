// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks whether a process's comm or first argument is another name of its program's file. */
#include "symbolizer/program_name.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file_id.h"
#include "base/path.h"
#include "base/proc.h"
#include "base/regular_file.h"

#define LINKS_MAX 8

static char *read_exe(pid_t pid, int proc_fd)
{
	char path[PATH_MAX];

	return proc_readlink(pid, proc_fd, "exe", path) > 0 && path[0] == '/' ? strdup(path) : NULL;
}

/*
 * Reads the beginning of a file of /proc/PID, up to a NUL or a character in `end`. The caller frees
 * *ret, which is NULL if out of memory. Returns 0 or an error of proc_read_limited().
 */
static int read_text(pid_t pid, int proc_fd, const char *file, const char *end, char **ret)
{
	cleanup_close int fd = openat(proc_fd, file, O_RDONLY | O_CLOEXEC);
	struct proc_text text;
	int got = fd < 0 ? -errno : proc_read_limited(pid, fd, &text);

	if (got < 0)
		return got;
	text.bytes[strcspn(text.bytes, end)] = '\0';
	*ret = strdup(text.bytes);
	return 0;
}

/*
 * Returns the target of the symbolic link `path`; the caller frees it. Returns NULL if `path` is
 * not a link or if out of memory.
 */
static char *follow_link(int root_fd, const char *path)
{
	char target[PATH_MAX], *ret;
	int folder_len;

	if (link_read_known(root_fd, path, target))
		return NULL;
	folder_len = target[0] == '/' ? 0 : (int)(path_name(path) - path);
	return asprintf(&ret, "%.*s%s", folder_len, path, target) < 0 ? NULL : ret;
}

/* True if `path`, perhaps through symbolic links, leads to the program's file. Frees `path`. */
static bool is_exe(pid_t pid, int proc_fd, int root_fd, char *path)
{
	struct stat exe, other;
	cleanup_close int exe_fd = regular_file_open_link(pid, proc_fd, "exe", &exe);
	cleanup_close int fd = -1;

	for (int i = 0; exe_fd >= 0 && path && i < LINKS_MAX; i++) {
		char *next = follow_link(root_fd, path);

		if (!next) {
			fd = regular_file_open_known(root_fd, path, LINKS_BEFORE, &other);
			break;
		}
		free(path);
		path = next;
	}
	free(path);
	return fd >= 0 && is_same_file(&exe, &other);
}

/*
 * Sets ret->name to the last component of `name`, if the folder of the program's file contains a
 * file or link of this name that leads to the program's file. Does nothing if ret->name is set, or
 * if the program's file itself has this name.
 */
static void try_name(pid_t pid, int proc_fd, int root_fd, const char *name,
		     struct program_name *ret)
{
	const char *file = path_name(ret->path);
	char *path;

	if (ret->name || !name || !*path_name(name) || !strcmp(path_name(name), file))
		return;
	name = path_name(name);
	if (asprintf(&path, "%.*s%s", (int)(file - ret->path), ret->path, name) < 0)
		return;
	if (is_exe(pid, proc_fd, root_fd, path))
		ret->name = strdup(name);
}

int program_name_init(pid_t pid, int proc_fd, int root_fd, struct program_name *ret)
{
	cleanup_free char *comm = NULL, *arg = NULL;

	*ret = (struct program_name){.path = root_fd >= 0 ? read_exe(pid, proc_fd) : NULL};
	if (!ret->path)
		return 0;
	if (read_text(pid, proc_fd, "comm", "\n", &comm) == -EAGAIN ||
	    read_text(pid, proc_fd, "cmdline", " ", &arg) == -EAGAIN) {
		program_name_deinit(ret);
		return -EAGAIN;
	}
	/*
	 * If the first argument is the name of the program's file, ignore comm: it is the same
	 * name, perhaps truncated to 15 bytes.
	 */
	if (!arg || strcmp(path_name(arg), path_name(ret->path)) != 0) {
		try_name(pid, proc_fd, root_fd, arg, ret);
		try_name(pid, proc_fd, root_fd, comm, ret);
	}
	if (!ret->name)
		program_name_deinit(ret);
	return 0;
}

void program_name_deinit(struct program_name *name)
{
	free(name->path);
	free(name->name);
	*name = (struct program_name){0};
}
