// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the files in /proc/PID/fd, and System V segments in /proc/sysvipc/shm. */
#include "loader/target/shared_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash_map.h"

#define DESCRIPTORS_MAX 4096
#define MOUNTS_MAX 4096
/* The unit of stx_blocks */
#define BLOCK_BYTES 512

/* The file systems in memory (tmpfs) of a process, as far as they have been read. */
struct memory_mounts {
	pid_t pid;
	bool are_read;
	struct hash_map devices;
};

static uint64_t device_key(unsigned int major, unsigned int minor)
{
	return ((uint64_t)major << 32 | minor) + 1;
}

/* A line has: id parent major:minor root place options [tag...] - type source options. */
static void read_mounts(struct memory_mounts *mounts)
{
	unsigned int major, minor;
	char path[32], line[512];
	const char *type;
	FILE *file;

	mounts->are_read = true;
	snprintf(path, sizeof(path), "/proc/%d/mountinfo", mounts->pid);
	file = fopen(path, "re");
	for (int i = 0; file && i < MOUNTS_MAX && fgets(line, sizeof(line), file); i++) {
		type = strstr(line, " - ");
		if (type && !strncmp(type, " - tmpfs ", 9) &&
		    sscanf(line, "%*d %*d %u:%u", &major, &minor) == 2 &&
		    hash_map_set(&mounts->devices, device_key(major, minor), mounts))
			break;
	}
	if (file)
		fclose(file);
}

static bool is_in_memory(struct memory_mounts *mounts, const struct statx *st)
{
	/* File systems without a disk have no major number. */
	if (st->stx_dev_major)
		return false;
	if (!mounts->are_read)
		read_mounts(mounts);
	return hash_map_get(&mounts->devices, device_key(st->stx_dev_major, st->stx_dev_minor));
}

enum file_kind {
	FILE_OTHER,
	FILE_SHARED,   /* shared memory */
	FILE_WRITABLE, /* any other file that is open for writing */
};

static enum file_kind kind_of(int dir, const char *name)
{
	static const char *const prefixes[] = {"/memfd:", "/dev/shm/"};
	char target[16];
	ssize_t len = readlinkat(dir, name, target, sizeof(target));
	struct stat link;

	for (size_t i = 0; len > 0 && i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if ((size_t)len >= strlen(prefixes[i]) &&
		    !memcmp(target, prefixes[i], strlen(prefixes[i])))
			return FILE_SHARED;
	if (len <= 0 || *target != '/' || fstatat(dir, name, &link, AT_SYMLINK_NOFOLLOW))
		return FILE_OTHER;
	return link.st_mode & S_IWUSR ? FILE_WRITABLE : FILE_OTHER;
}

/*
 * Returns the size of a file in memory that is not in `seen`, and adds it. Another file system can
 * have files of these names, so do not ask it for current values: its server may not answer.
 */
static uint64_t file_bytes(int dir, const char *name, enum file_kind kind,
			   struct memory_mounts *mounts, struct hash_map *seen)
{
	struct statx st;
	uint64_t key;

	if (statx(dir, name, AT_STATX_DONT_SYNC, STATX_BLOCKS | STATX_INO, &st) ||
	    (kind == FILE_WRITABLE && !is_in_memory(mounts, &st)))
		return 0;
	key = st.stx_ino ^ (uint64_t)st.stx_dev_minor << 40 ^ (uint64_t)st.stx_dev_major << 52;
	if (hash_map_get(seen, key) || hash_map_set(seen, key, seen))
		return 0;
	return st.stx_blocks * BLOCK_BYTES;
}

static uint64_t open_bytes(pid_t pid)
{
	struct memory_mounts mounts = {.pid = pid};
	const struct dirent *entry;
	struct hash_map seen = {0};
	enum file_kind kind;
	uint64_t sum = 0;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	for (int i = 0; i < DESCRIPTORS_MAX && (entry = readdir(dir)); i++) {
		kind = kind_of(dirfd(dir), entry->d_name);
		if (kind != FILE_OTHER)
			sum += file_bytes(dirfd(dir), entry->d_name, kind, &mounts, &seen);
	}
	closedir(dir);
	hash_map_deinit(&seen);
	hash_map_deinit(&mounts.devices);
	return sum;
}

/* A line has: key id perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap. */
static uint64_t detached_bytes(pid_t pid)
{
	FILE *file = fopen("/proc/sysvipc/shm", "re");
	uint64_t sum = 0, resident, swapped, attached;
	char line[256];
	int creator;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line,
			   "%*d %*d %*o %*u %d %*d %" SCNu64 " %*u %*u %*u %*u %*u %*u %*u %" SCNu64
			   " %" SCNu64,
			   &creator, &attached, &resident, &swapped) == 4 &&
		    creator == pid && !attached)
			sum += resident + swapped;
	if (file)
		fclose(file);
	return sum;
}

/* True if a process has the same System V segments as memleak. */
static bool has_same_segments(pid_t pid)
{
	struct stat own, other;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/ns/ipc", pid);
	return !stat("/proc/self/ns/ipc", &own) && !stat(path, &other) &&
	       own.st_ino == other.st_ino;
}

uint64_t shared_files_bytes(pid_t pid)
{
	return open_bytes(pid) + (has_same_segments(pid) ? detached_bytes(pid) : 0);
}
