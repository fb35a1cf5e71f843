// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens files with O_PATH first, so that the type of a file is known before it is opened for
 * reading. Does so in limited calls, because a server on the network may not answer.
 */
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/limited_call.h"
#include "base/path_walk.h"

/* Maximum number of attempts to find a path in the kernel's path cache. */
#define TRIES 3

/* The functions below that open or read something by its path. */
enum action { OPEN_FILE, OPEN_KNOWN_FILE, OPEN_FOLDER, OPEN_LINK, READ_KNOWN_LINK };

/* Data of a limited call. */
struct request {
	enum action action;
	enum links links;
	bool has_root;       /* true if the descriptor of the call is the root of the path */
	char path[PATH_MAX]; /* for READ_KNOWN_LINK, replaced by the target */
	struct stat st;
};

static bool (*refused)(int path_fd);

void regular_file_refuse(bool (*is_refused)(int path_fd))
{
	refused = is_refused;
}

int file_stat_at(int dir_fd, const char *name, struct stat *ret)
{
	struct statx st;

	if (statx(dir_fd, name, AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &st))
		return -errno;
	*ret = (struct stat){
		.st_dev = makedev(st.stx_dev_major, st.stx_dev_minor),
		.st_ino = st.stx_ino,
		.st_mode = st.stx_mode,
		.st_uid = st.stx_uid,
		.st_gid = st.stx_gid,
		.st_size = (off_t)st.stx_size,
		.st_blocks = (blkcnt_t)st.stx_blocks,
		.st_mtim = {st.stx_mtime.tv_sec, st.stx_mtime.tv_nsec},
		.st_ctim = {st.stx_ctime.tv_sec, st.stx_ctime.tv_nsec},
	};
	return 0;
}

int file_stat(int fd, struct stat *ret)
{
	return file_stat_at(fd, "", ret);
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
 * below the root: with openat(), a symbolic link could lead out of the root. If files are refused,
 * the folders of the path are checked, too: the kernel would ask the server of a refused folder.
 */
static int open_path(int at_fd, const struct request *request, int flags)
{
	struct open_how how = path_how(request->has_root ? at_fd : -1, flags, request->links);
	int fd;

	if (refused)
		return path_walk_open(at_fd, request->path, &how, refused);
	fd = how.resolve ? (int)syscall(SYS_openat2, at_fd, request->path, &how, sizeof(how))
			 : openat(at_fd, request->path, (int)how.flags);
	return fd < 0 ? -errno : fd;
}

/*
 * Opens a path with O_PATH, but only if the kernel has cached it. Tries again after EAGAIN, which
 * may be due to a concurrent rename. Kernels before 5.12 reject RESOLVE_CACHED (-EINVAL).
 */
static int open_known(int at_fd, const struct request *request)
{
	struct open_how how = path_how(request->has_root ? at_fd : -1, 0, request->links);
	int fd = -1;

	how.resolve |= RESOLVE_CACHED;
	for (int i = 0; fd < 0 && i < TRIES; i++) {
		fd = (int)syscall(SYS_openat2, at_fd, request->path, &how, sizeof(how));
		if (fd < 0 && errno == EAGAIN)
			continue;
		if (fd < 0 && (errno == EINVAL || errno == ENOSYS))
			return open_path(at_fd, request, 0);
		if (fd < 0)
			return -errno;
	}
	return fd < 0 ? -ENOENT : fd;
}

/*
 * Opens a file for reading, given its O_PATH descriptor. Returns an fd or a negative errno; -EBUSY
 * if a process has a lease on the file.
 */
static int reopen(int path_fd, struct stat *st)
{
	char name[64];
	int fd, err;

	if (refused && refused(path_fd))
		return -EREMOTE;
	err = file_stat(path_fd, st);
	if (err)
		return err;
	if (!S_ISREG(st->st_mode) || is_made_up(path_fd))
		return -ENOEXEC;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", path_fd);
	fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	/* EAGAIN: another process has a lease on the file, which the open would break. */
	return fd >= 0 ? fd : errno == EAGAIN ? -EBUSY : -errno;
}

/* Replaces the path by the target of the symbolic link to which path_fd refers. */
static int read_link(int path_fd, struct request *request)
{
	ssize_t len = refused && refused(path_fd)
			      ? -1
			      : readlinkat(path_fd, "", request->path, sizeof(request->path) - 1);

	if (len < 0)
		return -ENOENT;
	request->path[len] = '\0';
	return 0;
}

static int run(int at_fd, void *data)
{
	struct request *request = data;
	int path_fd, ret;

	switch (request->action) {
	case OPEN_KNOWN_FILE:
	case READ_KNOWN_LINK:
		path_fd = open_known(at_fd, request);
		break;
	case OPEN_LINK:
		path_fd = openat(at_fd, request->path, O_PATH | O_CLOEXEC);
		path_fd = path_fd < 0 ? -errno : path_fd;
		break;
	default:
		path_fd =
			open_path(at_fd, request, request->action == OPEN_FOLDER ? O_DIRECTORY : 0);
	}
	if (path_fd < 0 || request->action == OPEN_FOLDER)
		return path_fd;
	ret = request->action == READ_KNOWN_LINK ? read_link(path_fd, request)
						 : reopen(path_fd, &request->st);
	close(path_fd);
	return ret;
}

static void drop(int result, void *data)
{
	const struct request *request = data;

	if (result >= 0 && request->action != READ_KNOWN_LINK)
		close(result);
}

/* Returns a negative number that stands for a path in limited_call(). */
static pid_t number_of(const char *path)
{
	uint32_t hash = 2166136261; /* FNV-1a */

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 16777619;
	return -(pid_t)(hash >> 1) - 1;
}

/* Makes a limited call. pid: 0 if the path, not a process, may keep the call waiting. */
static int call(pid_t pid, int at_fd, const char *path, struct request *request)
{
	static const struct limited_function function = {run, drop, sizeof(*request)};

	if (strlen(path) >= sizeof(request->path))
		return -ENAMETOOLONG;
	strcpy(request->path, path);
	return limited_call(pid ?: number_of(path), at_fd, &function, request);
}

static int open_file(enum action action, int dir_fd, int root_fd, const char *path,
		     enum links links, struct stat *st)
{
	struct request request = {.action = action, .links = links, .has_root = root_fd >= 0};
	int fd = call(0, root_fd >= 0 ? root_fd : dir_fd, path, &request);

	if (fd >= 0)
		*st = request.st;
	return fd;
}

int regular_file_open(int dir_fd, int root_fd, const char *path, enum links links, struct stat *st)
{
	return open_file(OPEN_FILE, dir_fd, root_fd, path, links, st);
}

int regular_file_open_known(int root_fd, const char *path, enum links links, struct stat *st)
{
	return open_file(OPEN_KNOWN_FILE, AT_FDCWD, root_fd, path, links, st);
}

int regular_file_open_link(pid_t pid, int dir_fd, const char *name, struct stat *st)
{
	struct request request = {.action = OPEN_LINK};
	int fd = call(pid, dir_fd, name, &request);

	if (fd >= 0)
		*st = request.st;
	return fd;
}

int link_read_known(int root_fd, const char *path, char ret[PATH_MAX])
{
	struct request request = {
		.action = READ_KNOWN_LINK,
		.links = LINKS_BEFORE,
		.has_root = root_fd >= 0,
	};

	if (call(0, root_fd >= 0 ? root_fd : AT_FDCWD, path, &request))
		return -ENOENT;
	strcpy(ret, request.path);
	return 0;
}

int folder_open(int root_fd, const char *path, enum links links)
{
	struct request request = {
		.action = OPEN_FOLDER,
		.links = links,
		.has_root = root_fd >= 0,
	};

	return call(0, root_fd >= 0 ? root_fd : AT_FDCWD, path, &request);
}

static int run_statfs(int fd, void *data)
{
	return fstatfs(fd, data) ? -errno : 0;
}

bool file_is_on(int fd, unsigned int type)
{
	static const struct limited_function function = {.run = run_statfs,
							 .size = sizeof(struct statfs)};
	struct statfs fs = {0};
	struct stat st;

	/* A server that does not answer holds up calls for its files only. */
	return !file_stat(fd, &st) &&
	       !limited_call(-(pid_t)(st.st_dev % INT_MAX) - 1, fd, &function, &fs) &&
	       (unsigned int)fs.f_type == type;
}
