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
/* The unit of stx_blocks */
#define BLOCK_BYTES 512

static bool is_shared_memory(int dir, const char *name)
{
	static const char *const prefixes[] = {"/memfd:", "/dev/shm/"};
	char target[16];
	ssize_t len = readlinkat(dir, name, target, sizeof(target));

	for (size_t i = 0; len > 0 && i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if ((size_t)len >= strlen(prefixes[i]) &&
		    !memcmp(target, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/*
 * Returns the size of a file that is not in `seen`, and adds it. Another file system can have files
 * of these names, so do not ask it for current values: its server may not answer.
 */
static uint64_t file_bytes(int dir, const char *name, struct hash_map *seen)
{
	struct statx st;
	uint64_t key;

	if (statx(dir, name, AT_STATX_DONT_SYNC, STATX_BLOCKS | STATX_INO, &st))
		return 0;
	key = st.stx_ino ^ (uint64_t)st.stx_dev_minor << 40 ^ (uint64_t)st.stx_dev_major << 52;
	if (hash_map_get(seen, key) || hash_map_set(seen, key, seen))
		return 0;
	return st.stx_blocks * BLOCK_BYTES;
}

static uint64_t open_bytes(pid_t pid)
{
	struct hash_map seen = {0};
	const struct dirent *entry;
	uint64_t sum = 0;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	for (int i = 0; i < DESCRIPTORS_MAX && (entry = readdir(dir)); i++)
		if (is_shared_memory(dirfd(dir), entry->d_name))
			sum += file_bytes(dirfd(dir), entry->d_name, &seen);
	closedir(dir);
	hash_map_deinit(&seen);
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
