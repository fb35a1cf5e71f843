// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the files in /proc/PID/fd, and System V segments in /proc/sysvipc/shm. */
#include "loader/target/shared_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/hash_map.h"
#include "base/prefix.h"
#include "base/proc.h"
#include "base/regular_file.h"
#include "loader/target/open_fds.h"

/* Maximum files of a process that are examined: this takes some 20 us each. */
#define FILES_MAX 4096
#define MOUNTS_MAX 4096
#define TMPFS " - tmpfs "
/* Unit of stx_blocks, in bytes */
#define BLOCK_BYTES 512

/* Set of the tmpfs mounts that a process sees. The keys are mount ids plus 1. */
struct memory_mounts {
	pid_t pid;
	bool are_read;
	struct hash_map ids;
};

/*
 * Each line of mountinfo has: id parent major:minor root place options [tag...] - type source
 * options.
 */
static void read_mounts(struct memory_mounts *mounts)
{
	char path[32], line[512];
	const char *type;
	unsigned int id;
	FILE *file;

	mounts->are_read = true;
	snprintf(path, sizeof(path), "/proc/%d/mountinfo", mounts->pid);
	file = fopen(path, "re");
	for (int i = 0; file && i < MOUNTS_MAX && fgets(line, sizeof(line), file); i++) {
		type = strstr(line, " - ");
		if (type && behind_prefix(type, TMPFS) && sscanf(line, "%u ", &id) == 1 &&
		    hash_map_set(&mounts->ids, (uint64_t)id + 1, mounts))
			break;
	}
	if (file)
		fclose(file);
}

/*
 * True if a descriptor's file is on tmpfs. Reads only /proc: the file's own file system may not
 * answer.
 */
static bool is_in_memory(struct memory_mounts *mounts, const char *descriptor)
{
	char path[64], line[128];
	unsigned int id = 0;
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.16s", mounts->pid, descriptor);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "mnt_id: %u", &id) == 1;
	if (file)
		fclose(file);
	if (!found)
		return false;
	if (!mounts->are_read)
		read_mounts(mounts);
	return hash_map_get(&mounts->ids, (uint64_t)id + 1);
}

enum kind {
	KIND_OTHER,
	KIND_MEMORY,  /* memfd, or a path in /dev/shm */
	KIND_WRITABLE /* another file that is open for writing: it may be on tmpfs */
};

/*
 * Returns the kind of a descriptor. If a file is open for writing, its link in /proc/PID/fd has
 * write permission. Devices do not count, although containers have /dev on tmpfs.
 */
static enum kind kind_of(pid_t pid, int dir, const char *name)
{
	char target[PATH_MAX];
	struct stat link;

	if (*name == '.' || proc_readlink(pid, dir, name, target) < 0)
		return KIND_OTHER;
	if (behind_prefix(target, "/memfd:") || behind_prefix(target, "/dev/shm/"))
		return KIND_MEMORY;
	return *target == '/' && !behind_prefix(target, "/dev/") &&
			       !fstatat(dir, name, &link, AT_SYMLINK_NOFOLLOW) &&
			       (link.st_mode & S_IWUSR)
		       ? KIND_WRITABLE
		       : KIND_OTHER;
}

/*
 * Returns the allocated size of a file in bytes, and adds the file to `seen`; returns 0 if `seen`
 * already contains it. Does not ask the file system for current values: a file may be on FUSE even
 * if its path begins with /dev/shm/, and the FUSE server may not answer.
 */
static uint64_t file_bytes(const struct stat *st, struct hash_map *seen)
{
	uint64_t key =
		st->st_ino ^ (uint64_t)minor(st->st_dev) << 40 ^ (uint64_t)major(st->st_dev) << 52;

	if (hash_map_get(seen, key) || hash_map_set(seen, key, seen))
		return 0;
	return (uint64_t)st->st_blocks * BLOCK_BYTES;
}

static uint64_t open_bytes(pid_t pid, int except)
{
	struct memory_mounts mounts = {.pid = pid};
	const struct dirent *entry;
	struct hash_map seen = {0};
	uint64_t sum = 0;
	int file_cnt = 0;
	enum kind kind;
	struct stat st;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	if (except >= 0 && !file_stat(except, &st))
		file_bytes(&st, &seen);
	for (int i = 0; i < OPEN_FDS_MAX && file_cnt < FILES_MAX && (entry = readdir(dir)); i++) {
		kind = kind_of(pid, dirfd(dir), entry->d_name);
		file_cnt += kind != KIND_OTHER;
		if (kind == KIND_OTHER ||
		    (kind == KIND_WRITABLE && !is_in_memory(&mounts, entry->d_name)))
			continue;
		if (!proc_stat_link(pid, dirfd(dir), entry->d_name, &st))
			sum += file_bytes(&st, &seen);
	}
	closedir(dir);
	hash_map_deinit(&seen);
	hash_map_deinit(&mounts.ids);
	return sum;
}

struct segment {
	pid_t creator;
	unsigned int user;
	time_t changed; /* when the segment was made, or its owner was changed */
	uint64_t bytes;
};

/*
 * Reads the next segment to which no process is attached. Each line of /proc/sysvipc/shm has: key
 * id perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap.
 */
static bool read_detached(FILE *file, struct segment *ret)
{
	uint64_t attached, resident, swapped;
	int64_t changed;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line,
			   "%*d %*d %*o %*u %d %*d %" SCNu64 " %u %*u %*u %*u %*u %*u %" SCNd64
			   " %" SCNu64 " %" SCNu64,
			   &ret->creator, &attached, &ret->user, &changed, &resident,
			   &swapped) != 6 ||
		    attached)
			continue;
		ret->changed = changed;
		ret->bytes = resident + swapped;
		return true;
	}
	return false;
}

static uint64_t detached_bytes(pid_t pid)
{
	FILE *file = fopen("/proc/sysvipc/shm", "re");
	struct segment segment;
	uint64_t sum = 0;

	while (read_detached(file, &segment))
		if (segment.creator == pid)
			sum += segment.bytes;
	if (file)
		fclose(file);
	return sum;
}

uint64_t shared_files_left_bytes(uid_t user, time_t since)
{
	FILE *file = fopen("/proc/sysvipc/shm", "re");
	struct segment segment;
	uint64_t sum = 0;

	while (read_detached(file, &segment))
		if (segment.user == user && segment.changed >= since && segment.creator > 0 &&
		    kill(segment.creator, 0) < 0 && errno == ESRCH)
			sum += segment.bytes;
	if (file)
		fclose(file);
	return sum;
}

uint64_t shared_files_bytes(pid_t pid, int except)
{
	uint64_t detached = detached_bytes(pid);

	if (detached && !proc_has_own_namespace(pid, -1, "ipc"))
		detached = 0;
	return open_bytes(pid, except) + detached;
}
