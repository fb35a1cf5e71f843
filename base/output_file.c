// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides which files and symbolic links of a path other users may have placed there. */
#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/number.h"
#include "base/path_walk.h"

#ifndef BCACHEFS_MAGIC
#define BCACHEFS_MAGIC 0xca451a4e
#endif
#ifndef ZFS_MAGIC
#define ZFS_MAGIC 0x2fc12fc1
#endif
#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

#define FLAGS (O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY)

/*
 * Returns the user or group id in `name`, an environment variable that sudo sets; UINT32_MAX if it
 * is not set or invalid.
 */
static uint32_t sudo_id(const char *name)
{
	const char *text = getenv(name);
	uint64_t id;

	if (!text || number_parse(text, 0, UINT32_MAX - 1, &id))
		return UINT32_MAX;
	return (uint32_t)id;
}

static bool may_be_trusted(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == sudo_id("SUDO_UID");
}

/*
 * True if the file's system shows the real owners of files. A server may make up owners: on a
 * network, in another virtual machine, or in a user's process (FUSE). If the root folder is of such
 * a system, its server is trusted anyway.
 */
static bool shows_real_owner(int fd, const struct stat *st)
{
	static const uint32_t local[] = {TMPFS_MAGIC,      RAMFS_MAGIC,       OVERLAYFS_SUPER_MAGIC,
					 EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC,   BTRFS_SUPER_MAGIC,
					 F2FS_SUPER_MAGIC, BCACHEFS_MAGIC,    ZFS_MAGIC,
					 PROC_SUPER_MAGIC, DEVPTS_SUPER_MAGIC};
	struct statfs system;
	struct stat root;

	if (!stat("/", &root) && root.st_dev == st->st_dev)
		return true;
	if (fstatfs(fd, &system))
		return false;
	for (size_t i = 0; i < sizeof(local) / sizeof(*local); i++)
		if ((uint32_t)system.f_type == local[i])
			return true;
	return false;
}

static int make(int folder_fd, const char *name)
{
	int fd = openat(folder_fd, name, FLAGS | O_CREAT | O_EXCL, 0600);
	uid_t user = sudo_id("SUDO_UID");
	gid_t group = sudo_id("SUDO_GID");

	if (fd < 0)
		return -errno;
	/* Ignore errors: if root may not change the owner here, the file stays root's. */
	if (user != UINT32_MAX && group != UINT32_MAX) {
		int err = fchown(fd, user, group);

		(void)err;
	}
	return fd;
}

/* True if other users can create names in the folder. */
static bool others_may_write(int folder_fd)
{
	struct stat st;

	return fstat(folder_fd, &st) || !may_be_trusted(&st) || st.st_mode & (S_IWGRP | S_IWOTH);
}

/* Checks a symbolic link on the path, or the file at its end. */
static int check(int folder_fd, int path_fd)
{
	struct stat st;

	if (fstat(path_fd, &st))
		return -errno;
	if (S_ISLNK(st.st_mode) && !may_be_trusted(&st))
		return -EACCES;
	/*
	 * Reject links and pipes of other users, who may have placed them here. Opening a pipe
	 * could also block.
	 */
	if ((S_ISLNK(st.st_mode) || S_ISFIFO(st.st_mode)) && !shows_real_owner(path_fd, &st))
		return -EREMOTE;
	/*
	 * The name may be a hard link by another user to a file of root, unless the kernel prevents
	 * such links (fs.protected_hardlinks).
	 */
	if (S_ISREG(st.st_mode) && st.st_nlink > 1 && others_may_write(folder_fd))
		return -EACCES;
	return S_ISCHR(st.st_mode) || may_be_trusted(&st) ? 0 : -EACCES;
}

/* Opens the file to which an O_PATH descriptor refers. */
static int open_again(int path_fd)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	fd = open(path, FLAGS);
	return fd < 0 ? -errno : fd;
}

/*
 * Opens a path part by part. Does not let the kernel follow symbolic links, so that no other user
 * can replace a link after it was checked.
 */
static int open_by_parts(const char *path)
{
	int fd = path_walk_create(path, make, check), ret;

	if (fd < 0 || !(fcntl(fd, F_GETFL) & O_PATH))
		return fd;
	ret = open_again(fd);
	close(fd);
	return ret;
}

/*
 * Only root needs the checks of open_by_parts(): for other users, the kernel protects links in
 * world-writable folders.
 */
int output_file_open(const char *path)
{
	int fd;

	if (!geteuid())
		return open_by_parts(path);
	fd = open(path, FLAGS | O_CREAT, 0600);
	return fd < 0 ? -errno : fd;
}

const char *output_file_error(int err)
{
	if (err == -EREMOTE)
		return "a link or pipe on a file system that may not show its real owner "
		       "(NFS, FUSE): use the path of a regular file";
	if (err == -EACCES && !geteuid())
		return "permission denied, or another user may have planted it: use another path";
	return strerror(-err);
}
