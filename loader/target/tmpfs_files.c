// SPDX-License-Identifier: GPL-2.0-or-later
/* Walks the folders of all tmpfs mounts without entering other file systems. */
#include "loader/target/tmpfs_files.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/prefix.h"
#include "base/proc.h"
#include "base/regular_file.h"
#include "loader/target/shared_files.h"

#define MOUNTS_MAX 4096
/* Maximum number of tmpfs mounts that are walked */
#define WALKS_MAX 64
/* Maximum number of entries that are read on a mount, and on all mounts */
#define ENTRIES_MAX 16384
#define ALL_ENTRIES_MAX 65536
/* Maximum number of folders, or mounts, inside one another */
#define DEPTH_MAX 16
/* Unit of stx_blocks, in bytes */
#define BLOCK_BYTES 512

/* Value in walk.parents for the mount of the root directory */
#define ROOT UINTPTR_MAX

struct mount {
	unsigned int id, parent;
	unsigned int major, minor; /* device number of the file system */
	char root[PATH_MAX];       /* folder of the file system that is mounted */
	char point[PATH_MAX];
	char type[32];
};

struct walk {
	struct tmpfs_files *files;
	pid_t pid; /* process whose mounts are walked */
	int root;  /* root directory of the process; -1: memleak's own */
	/* Key: id plus 1 of a mount without a server. Value: id plus 1 of the mount it is on. */
	struct hash_map parents;
	unsigned int entries; /* number of entries read on the current mount */
};

static bool is_older(const struct statx_timestamp *time, const struct timespec *since)
{
	return time->tv_sec < since->tv_sec ||
	       (time->tv_sec == since->tv_sec && time->tv_nsec < since->tv_nsec);
}

static uint64_t key_of(dev_t device, ino_t inode)
{
	return hash_word(hash_word(0, device), inode) | 1;
}

/* Lists the files that memleak has open: reports and recordings would hide that nothing leaks. */
static void list_own(struct tmpfs_files *files)
{
	const struct dirent *entry;
	DIR *dir = opendir("/proc/self/fd");
	struct stat st;

	while (dir && (entry = readdir(dir)))
		if (isdigit(entry->d_name[0]) && !file_stat(atoi(entry->d_name), &st) &&
		    S_ISREG(st.st_mode))
			hash_map_set(&files->own, key_of(st.st_dev, st.st_ino), files);
	if (dir)
		closedir(dir);
}

/* A file with several links counts in parts, because the walk finds each of its links. */
static void add_file(struct tmpfs_files *files, const struct statx *st)
{
	uint64_t user = (uint64_t)st->stx_uid + 1;
	uintptr_t sum = (uintptr_t)hash_map_get(&files->bytes, user);
	dev_t device = makedev(st->stx_dev_major, st->stx_dev_minor);

	if (hash_map_get(&files->own, key_of(device, st->stx_ino)))
		return;
	sum += st->stx_blocks * BLOCK_BYTES / (st->stx_nlink ?: 1);
	if (sum && !is_older(&st->stx_ctime, &files->since))
		hash_map_set(&files->bytes, user, (void *)sum);
}

/* Opens a folder, unless another file system is mounted there: its server may not answer. */
static int open_inside(int dir, const char *name)
{
	const struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS,
	};

	return (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));
}

static void walk_folder(struct walk *walk, int fd, int depth);

static void look_at(struct walk *walk, int dir, const struct dirent *entry, int depth)
{
	struct statx st;
	int fd;

	if (entry->d_type == DT_DIR && depth < DEPTH_MAX && strcmp(entry->d_name, ".") &&
	    strcmp(entry->d_name, "..")) {
		fd = open_inside(dir, entry->d_name);
		if (fd >= 0)
			walk_folder(walk, fd, depth + 1);
	}
	if (entry->d_type == DT_REG &&
	    !statx(dir, entry->d_name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
		   STATX_BASIC_STATS, &st))
		add_file(walk->files, &st);
}

/* Closes fd. */
static void walk_folder(struct walk *walk, int fd, int depth)
{
	const struct dirent *entry;
	DIR *dir = fdopendir(fd);

	if (!dir) {
		close(fd);
		return;
	}
	while (walk->entries < ENTRIES_MAX && walk->files->entries < ALL_ENTRIES_MAX &&
	       (entry = readdir(dir))) {
		walk->entries++;
		walk->files->entries++;
		look_at(walk, fd, entry, depth);
	}
	closedir(dir);
}

/*
 * Walks a mount, unless its file system was walked before, or another file system covers it. In
 * another namespace, the process may have put links into the path. In memleak's own, openat2(),
 * which refuses links, may not be permitted, but is not needed.
 */
static void walk_mount(struct walk *walk, const struct mount *mount)
{
	enum links links = walk->root < 0 ? LINKS_ALL : LINKS_NONE;
	cleanup_close int at = folder_open(walk->root, mount->point, links);
	struct hash_map *devices = &walk->files->devices;
	struct stat st;
	int fd;

	if (at < 0 || file_stat(at, &st) || st.st_dev != makedev(mount->major, mount->minor) ||
	    hash_map_get(devices, st.st_dev + 1) || hash_map_set(devices, st.st_dev + 1, walk))
		return;
	walk->entries = 0;
	fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		walk_folder(walk, fd, 0);
}

/*
 * Each line of mountinfo has: id parent major:minor root point options [tag...] - type source
 * options.
 */
static bool parse(const char *line, struct mount *ret)
{
	const char *type = strstr(line, " - ");

	return type && sscanf(type, " - %31s", ret->type) == 1 &&
	       sscanf(line, "%u %u %u:%u %4095s %4095s", &ret->id, &ret->parent, &ret->major,
		      &ret->minor, ret->root, ret->point) == 6;
}

/* Adds a mount to walk->parents if no server is asked for paths on it. */
static void note_local(struct walk *walk, const struct mount *mount)
{
	static const char *const types[] = {"tmpfs", "devtmpfs", "rootfs", "ext",      "xfs",
					    "btrfs", "zfs",      "f2fs",   "squashfs", "overlay"};
	bool is_root = !strcmp(mount->point, "/");
	bool is_local_type = has_prefix_of(mount->type, types, sizeof(types) / sizeof(types[0]));

	if (is_local_type || (is_root && walk->root < 0))
		hash_map_set(&walk->parents, (uint64_t)mount->id + 1,
			     (void *)(is_root ? ROOT : (uintptr_t)mount->parent + 1));
}

/* True if a path to a mount never leads through a file system whose server may not answer. */
static bool is_local(const struct walk *walk, const struct mount *mount)
{
	uintptr_t at = (uintptr_t)mount->id + 1;

	for (int i = 0; i < DEPTH_MAX && at && at != ROOT; i++)
		at = (uintptr_t)hash_map_get(&walk->parents, at);
	return at == ROOT;
}

/* A mount of a part of a file system is skipped: the whole is usually mounted, too. */
static void visit(struct walk *walk, const struct mount *mount)
{
	if (!strcmp(mount->type, "tmpfs") && !strcmp(mount->root, "/") &&
	    walk->files->devices.cnt < WALKS_MAX && is_local(walk, mount))
		walk_mount(walk, mount);
}

static void for_each_mount(struct walk *walk,
			   void (*call)(struct walk *walk, const struct mount *mount))
{
	cleanup_free char *line = NULL;
	struct mount mount;
	size_t size = 0;
	char path[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", walk->pid);
	file = fopen(path, "re");
	for (int i = 0; file && i < MOUNTS_MAX && getline(&line, &size, file) > 0; i++)
		if (parse(line, &mount))
			call(walk, &mount);
	if (file)
		fclose(file);
}

/* Walks the mounts that a process sees. In memleak's own namespace, those that memleak sees. */
static void walk_mounts(struct tmpfs_files *files, pid_t pid)
{
	bool is_own = proc_has_own_namespace(pid, -1, "mnt");
	cleanup_close int root = is_own ? -1 : proc_open(pid, "root", O_PATH | O_DIRECTORY);
	struct walk walk = {.files = files, .pid = is_own ? getpid() : pid, .root = root};

	if (!is_own && root < 0)
		return;
	/* A mount may come before the mount that it is on. */
	for_each_mount(&walk, note_local);
	for_each_mount(&walk, visit);
	hash_map_deinit(&walk.parents);
}

static void forget(struct tmpfs_files *files)
{
	hash_map_deinit(&files->bytes);
	hash_map_deinit(&files->devices);
	hash_map_deinit(&files->namespaces);
	hash_map_deinit(&files->own);
	files->entries = 0;
}

void tmpfs_files_begin_report(struct tmpfs_files *files)
{
	/* The kernel takes the times of files from this clock. */
	if (!files->since.tv_sec)
		clock_gettime(CLOCK_REALTIME_COARSE, &files->since);
	forget(files);
	list_own(files);
}

void tmpfs_files_deinit(struct tmpfs_files *files)
{
	forget(files);
}

/* The owner of /proc/PID is the effective user of the process. */
uint64_t tmpfs_files_of(struct tmpfs_files *files, pid_t pid)
{
	uint64_t namespace = proc_namespace(pid, "mnt"), segments;
	struct stat process;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (!namespace || stat(path, &process))
		return 0;
	if (!hash_map_get(&files->namespaces, namespace) &&
	    !hash_map_set(&files->namespaces, namespace, files))
		walk_mounts(files, pid);
	segments = shared_files_left_bytes(process.st_uid, files->since.tv_sec);
	if (segments && !proc_has_own_namespace(pid, -1, "ipc"))
		segments = 0;
	return segments + (uintptr_t)hash_map_get(&files->bytes, (uint64_t)process.st_uid + 1);
}
