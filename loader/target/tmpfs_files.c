// SPDX-License-Identifier: GPL-2.0-or-later
/* Walks the folders of all tmpfs mounts without entering other file systems. */
#include "loader/target/tmpfs_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/prefix.h"

#define MOUNTS_MAX 4096
/* Maximum number of tmpfs mounts that are walked */
#define WALKS_MAX 64
/* Maximum number of entries that are read on a mount */
#define ENTRIES_MAX 16384
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
	/* Key: id plus 1 of a mount without a server. Value: id plus 1 of the mount it is on. */
	struct hash_map parents;
	struct hash_map devices; /* file systems that were walked; keys: device numbers plus 1 */
	unsigned int entries;    /* number of entries read on the current mount */
};

static bool is_older(const struct statx_timestamp *time, const struct timespec *since)
{
	return time->tv_sec < since->tv_sec ||
	       (time->tv_sec == since->tv_sec && time->tv_nsec < since->tv_nsec);
}

/* A file with several links counts in parts, because the walk finds each of its links. */
static void add_file(struct tmpfs_files *files, const struct statx *st)
{
	uint64_t user = (uint64_t)st->stx_uid + 1;
	uintptr_t sum = (uintptr_t)hash_map_get(&files->bytes, user);

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
	while (walk->entries < ENTRIES_MAX && (entry = readdir(dir))) {
		walk->entries++;
		look_at(walk, fd, entry, depth);
	}
	closedir(dir);
}

/* True if the path of a mount leads to it, and not to another file system that covers it. */
static bool is_on_top(const struct mount *mount)
{
	struct statx st;

	return !statx(AT_FDCWD, mount->point, AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_TYPE,
		      &st) &&
	       st.stx_dev_major == mount->major && st.stx_dev_minor == mount->minor;
}

/* Walks a mount, unless its file system was walked before. */
static void walk_mount(struct walk *walk, const struct mount *mount)
{
	uint64_t device = ((uint64_t)mount->major << 32 | mount->minor) + 1;
	int fd;

	if (!is_on_top(mount) || hash_map_get(&walk->devices, device) ||
	    hash_map_set(&walk->devices, device, walk))
		return;
	walk->entries = 0;
	fd = open(mount->point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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
	static const char *const types[] = {"tmpfs", "devtmpfs", "ext", "xfs", "btrfs", "overlay"};
	bool is_root = !strcmp(mount->point, "/");

	if (is_root || has_prefix_of(mount->type, types, sizeof(types) / sizeof(types[0])))
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
	    walk->devices.cnt < WALKS_MAX && is_local(walk, mount))
		walk_mount(walk, mount);
}

static void for_each_mount(struct walk *walk,
			   void (*call)(struct walk *walk, const struct mount *mount))
{
	cleanup_fclose FILE *file = fopen("/proc/self/mountinfo", "re");
	cleanup_free char *line = NULL;
	struct mount mount;
	size_t size = 0;

	for (int i = 0; file && i < MOUNTS_MAX && getline(&line, &size, file) > 0; i++)
		if (parse(line, &mount))
			call(walk, &mount);
}

void tmpfs_files_read(struct tmpfs_files *files)
{
	struct walk walk = {.files = files};

	/* The kernel takes the times of files from this clock. */
	if (!files->since.tv_sec)
		clock_gettime(CLOCK_REALTIME_COARSE, &files->since);
	hash_map_deinit(&files->bytes);
	/* A mount may come before the mount that it is on. */
	for_each_mount(&walk, note_local);
	for_each_mount(&walk, visit);
	hash_map_deinit(&walk.parents);
	hash_map_deinit(&walk.devices);
}

void tmpfs_files_deinit(struct tmpfs_files *files)
{
	hash_map_deinit(&files->bytes);
	*files = (struct tmpfs_files){0};
}

/* The owner of /proc/PID is the effective user of the process. */
uint64_t tmpfs_files_of(const struct tmpfs_files *files, pid_t pid)
{
	struct stat process;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return stat(path, &process)
		       ? 0
		       : (uintptr_t)hash_map_get(&files->bytes, (uint64_t)process.st_uid + 1);
}
