// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens a path part by part, and rejects symbolic links that other users have placed in it. */
#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/number.h"

/* Maximum number of symbolic links that are followed per path, as in the kernel. */
#define LINKS_MAX 40

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

/* State while a path is opened part by part. */
struct path_walk {
	int folder_fd; /* folder reached so far; AT_FDCWD: the working directory */
	char *rest;    /* the remaining path, relative to folder_fd */
	int links;     /* number of symbolic links followed so far */
};

static void walk_deinit(struct path_walk *walk)
{
	if (walk->folder_fd >= 0)
		close(walk->folder_fd);
	free(walk->rest);
}

static void enter(struct path_walk *walk, int folder_fd)
{
	if (walk->folder_fd >= 0)
		close(walk->folder_fd);
	walk->folder_fd = folder_fd;
}

static int make(const struct path_walk *walk, const char *name)
{
	int fd = openat(walk->folder_fd, name, FLAGS | O_CREAT | O_EXCL, 0600);
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

/* True for a symbolic link below /proc that refers to an open file or folder, not to a path. */
static bool is_magic(int link_fd, const char *target)
{
	struct statfs system;

	return !fstatfs(link_fd, &system) && system.f_type == PROC_SUPER_MAGIC &&
	       (*target == '/' || strchr(target, ':'));
}

/*
 * Replaces a symbolic link by its target in the remaining path. `behind` is the path after the
 * link.
 */
static int substitute(struct path_walk *walk, const char *target, const char *behind)
{
	char *rest;

	if (++walk->links > LINKS_MAX)
		return -ELOOP;
	if (asprintf(&rest, "%s%s%s", target, *behind ? "/" : "", behind) < 0)
		return -ENOMEM;
	free(walk->rest);
	walk->rest = rest;
	return 0;
}

/*
 * Follows a symbolic link. Returns -EACCES if the link's owner is not trusted, -EREMOTE if the file
 * system may not show the real owner. If only the kernel can follow the link (see is_magic()),
 * returns 1 and does nothing.
 */
static int follow(struct path_walk *walk, int link_fd, const struct stat *st, const char *behind)
{
	char target[PATH_MAX];
	ssize_t len;

	if (!may_be_trusted(st))
		return -EACCES;
	if (!shows_real_owner(link_fd, st))
		return -EREMOTE;
	len = readlinkat(link_fd, "", target, sizeof(target) - 1);
	if (len < 0)
		return -errno;
	target[len] = '\0';
	return is_magic(link_fd, target) ? 1 : substitute(walk, target, behind);
}

/*
 * Handles a part of the path that is not the last one: opens the folder `name`, or follows the
 * symbolic link `name`.
 */
static int step(struct path_walk *walk, const char *name, const char *behind)
{
	int fd = openat(walk->folder_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int ret;

	if (fd < 0)
		return -errno;
	ret = fstat(fd, &st) ? -errno : 0;
	if (!ret && S_ISLNK(st.st_mode)) {
		ret = follow(walk, fd, &st, behind);
		close(fd);
		if (ret <= 0)
			return ret;
		fd = openat(walk->folder_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		ret = fd < 0 ? -errno : 0;
	}
	if (ret) {
		if (fd >= 0)
			close(fd);
		return ret;
	}
	enter(walk, fd);
	memmove(walk->rest, behind, strlen(behind) + 1);
	return 0;
}

/* True if other users can create names in the folder reached so far. */
static bool others_may_write(const struct path_walk *walk)
{
	struct stat st;

	return fstatat(walk->folder_fd, "", &st, AT_EMPTY_PATH) || !may_be_trusted(&st) ||
	       st.st_mode & (S_IWGRP | S_IWOTH);
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
 * Opens or creates the file that is the last part of the path. If it is a symbolic link, replaces
 * the link by its target in the remaining path, and returns -EAGAIN.
 */
static int open_last(struct path_walk *walk, const char *name)
{
	cleanup_close int path_fd = -1;
	struct stat st;
	int fd = make(walk, name), err;

	if (fd != -EEXIST)
		return fd;
	path_fd = openat(walk->folder_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (path_fd < 0 || fstat(path_fd, &st))
		return -errno;
	if (S_ISLNK(st.st_mode)) {
		err = follow(walk, path_fd, &st, "");
		if (err <= 0)
			return err ? err : -EAGAIN;
		fd = openat(walk->folder_fd, name, FLAGS);
		return fd < 0 ? -errno : fd;
	}
	/*
	 * Reject files and pipes of other users, who may have placed them here. Opening a pipe
	 * could also block.
	 */
	if (S_ISFIFO(st.st_mode) && !shows_real_owner(path_fd, &st))
		return -EREMOTE;
	/*
	 * The name may be a hard link by another user to a file of root, unless the kernel prevents
	 * such links (fs.protected_hardlinks).
	 */
	if (S_ISREG(st.st_mode) && st.st_nlink > 1 && others_may_write(walk))
		return -EACCES;
	return S_ISCHR(st.st_mode) || may_be_trusted(&st) ? open_again(path_fd) : -EACCES;
}

/* Cuts off the first part of a path. Returns the path after it, without leading slashes. */
static char *cut_part(char *path)
{
	char *behind = strchrnul(path, '/');

	while (*behind == '/')
		*behind++ = '\0';
	return behind;
}

/*
 * Opens the file if only the last part of the path is left; otherwise handles one part of the path
 * and returns -EAGAIN.
 */
static int walk_on(struct path_walk *walk)
{
	char *behind;
	bool folder;
	int err;

	if (*walk->rest == '/') {
		int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (root_fd < 0)
			return -errno;
		enter(walk, root_fd);
		memmove(walk->rest, walk->rest + 1, strlen(walk->rest));
		return -EAGAIN;
	}
	folder = *walk->rest && walk->rest[strlen(walk->rest) - 1] == '/';
	behind = cut_part(walk->rest);
	if (!*walk->rest || (!*behind && folder))
		return -EISDIR;
	if (!*behind)
		return open_last(walk, walk->rest);
	err = step(walk, walk->rest, behind);
	return err ? err : -EAGAIN;
}

/*
 * Opens a path part by part. Does not let the kernel follow symbolic links, so that no other user
 * can replace a link after it was checked.
 */
static int open_by_parts(const char *path)
{
	struct path_walk walk = {.folder_fd = AT_FDCWD, .rest = strdup(path)};
	int ret = walk.rest ? -EAGAIN : -ENOMEM;

	if (!*path)
		ret = -ENOENT;
	while (ret == -EAGAIN)
		ret = walk_on(&walk);
	walk_deinit(&walk);
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
