// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens regular files whose names come from a target. */
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_below(int root_fd, const char *path, int flags)
{
	struct open_how how = {.flags = flags, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	int fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));

	if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
		return fd;
	/* Without openat2 (a container's filter) a link may lead out; the file is only read. */
	while (*path == '/')
		path++;
	return openat(root_fd, path, flags);
}

int regular_file_open(int dir_fd, int root_fd, const char *path, int flags, struct stat *st)
{
	int path_flags = O_PATH | O_CLOEXEC | flags;
	int by_path = root_fd >= 0 ? open_below(root_fd, path, path_flags)
				   : openat(dir_fd, path, path_flags);
	char name[64];
	int fd, err;

	if (by_path < 0)
		return -errno;
	if (fstat(by_path, st)) {
		err = -errno;
	} else if (!S_ISREG(st->st_mode)) {
		err = -EACCES;
	} else {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", by_path);
		fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
		err = fd < 0 ? -errno : fd;
	}
	close(by_path);
	return err;
}
