// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens files with O_PATH first, so that the type of a file is known before it is opened for
 * reading.
 */
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Maximum number of attempts to find a path in the kernel's path cache. */
#define TRIES 3

static bool (*refused)(int path_fd);

void regular_file_refuse(bool (*is_refused)(int path_fd))
{
	refused = is_refused;
}

/* True for virtual file systems of the kernel, where a read may block or have side effects. */
static bool is_made_up(int fd)
{
	static const unsigned int types[] = {
		PROC_SUPER_MAGIC,     SYSFS_MAGIC,        DEBUGFS_MAGIC,       TRACEFS_MAGIC,
		SECURITYFS_MAGIC,     CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC,
		PSTOREFS_MAGIC,       EFIVARFS_MAGIC,     SELINUX_MAGIC,       BINFMTFS_MAGIC,
		RDTGROUP_SUPER_MAGIC, SMACK_MAGIC,
	};
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return true;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if ((unsigned int)fs.f_type == types[i])
			return true;
	return false;
}

static struct open_how path_how(int root_fd, int flags, enum links links)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | flags,
		.resolve = root_fd >= 0 ? RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS : 0,
	};

	if (links != LINKS_ALL)
		how.flags |= O_NOFOLLOW;
	if (links == LINKS_NONE)
		how.resolve |= RESOLVE_NO_SYMLINKS;
	return how;
}

/*
 * Opens a path with O_PATH. If a container's seccomp filter forbids openat2(), this fails for paths
 * below root_fd: with openat(), a symbolic link could lead out of the root.
 */
static int open_path(int dir_fd, int root_fd, const char *path, int flags, enum links links)
{
	struct open_how how = path_how(root_fd, flags, links);

	if (!how.resolve)
		return openat(dir_fd, path, (int)how.flags);
	return (int)syscall(SYS_openat2, root_fd >= 0 ? root_fd : dir_fd, path, &how, sizeof(how));
}

int regular_file_reopen(int path_fd, struct stat *st)
{
	char name[64];
	int fd;

	if (refused && refused(path_fd))
		return -EREMOTE;
	if (fstat(path_fd, st))
		return -errno;
	if (!S_ISREG(st->st_mode) || is_made_up(path_fd))
		return -ENOEXEC;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", path_fd);
	fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	/* EAGAIN: another process has a lease on the file, which the open would break. */
	return fd >= 0 ? fd : errno == EAGAIN ? -EBUSY : -errno;
}

int regular_file_open(int dir_fd, int root_fd, const char *path, enum links links, struct stat *st)
{
	int path_fd = open_path(dir_fd, root_fd, path, 0, links), fd;

	if (path_fd < 0)
		return -errno;
	fd = regular_file_reopen(path_fd, st);
	close(path_fd);
	return fd;
}

/*
 * Opens a path with O_PATH, but only if the kernel has cached it. Tries again after EAGAIN, which
 * may be due to a concurrent rename. Kernels before 5.12 reject RESOLVE_CACHED (-EINVAL).
 */
static int open_known(int root_fd, const char *path, enum links links)
{
	struct open_how how = path_how(root_fd, 0, links);
	int fd = -1;

	how.resolve |= RESOLVE_CACHED;
	for (int i = 0; fd < 0 && i < TRIES; i++) {
		fd = (int)syscall(SYS_openat2, root_fd >= 0 ? root_fd : AT_FDCWD, path, &how,
				  sizeof(how));
		if (fd < 0 && errno != EAGAIN)
			return -errno;
	}
	return fd < 0 ? -ENOENT : fd;
}

int regular_file_open_known(int root_fd, const char *path, enum links links, struct stat *st)
{
	int path_fd = open_known(root_fd, path, links), fd;

	if (path_fd == -EINVAL || path_fd == -ENOSYS)
		return regular_file_open(AT_FDCWD, root_fd, path, links, st);
	if (path_fd < 0)
		return path_fd;
	fd = regular_file_reopen(path_fd, st);
	close(path_fd);
	return fd;
}

int link_read_known(int root_fd, const char *path, char *ret, size_t size)
{
	int fd = open_known(root_fd, path, LINKS_BEFORE);
	ssize_t len;

	if (fd == -EINVAL || fd == -ENOSYS)
		fd = open_path(AT_FDCWD, root_fd, path, 0, LINKS_BEFORE);
	if (fd < 0)
		return -ENOENT;
	len = refused && refused(fd) ? -1 : readlinkat(fd, "", ret, size);
	close(fd);
	if (len < 0 || (size_t)len == size)
		return -ENOENT;
	ret[len] = '\0';
	return 0;
}

int folder_open(int root_fd, const char *path, enum links links)
{
	int fd = open_path(AT_FDCWD, root_fd, path, O_DIRECTORY, links);

	return fd < 0 ? -errno : fd;
}
