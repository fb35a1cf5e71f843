// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens what a process maps. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "symbolizer/debug_file.h"
#include "symbolizer/mapped_file.h"
#include "symbolizer/proc_image.h"

/* The kernel's are a few pages. */
#define VDSO_MAX_BYTES (1024 * 1024)

/* A line of /proc/PID/status as text behind its key, or NULL. To be freed. */
static char *status_line(const struct proc_image *image, const char *key)
{
	int fd = openat(image->proc_fd, "status", O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char *line = NULL;
	size_t cap = 0;

	if (!file) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	while (getline(&line, &cap, file) > 0) {
		if (!strncmp(line, key, strlen(key))) {
			memmove(line, line + strlen(key), strlen(line + strlen(key)) + 1);
			fclose(file);
			return line;
		}
	}
	free(line);
	fclose(file);
	return NULL;
}

/* The pid in the process's own namespace, the last one listed, names its JIT map. */
static int read_status(struct proc_image *image, pid_t pid)
{
	char *pids = status_line(image, "NSpid:");
	char *uids = status_line(image, "Uid:");
	long inner = pid;

	for (char *at = pids, *end; at; at = end) {
		long value = strtol(at, &end, 10);

		if (end == at)
			break;
		inner = value;
	}
	image->uid = (uid_t)-1;
	if (uids) {
		unsigned int effective;

		if (sscanf(uids, "%*u %u", &effective) == 1)
			image->uid = effective;
	}
	free(pids);
	free(uids);
	if (asprintf(&image->jit_path, "/tmp/perf-%ld.map", inner) < 0) {
		image->jit_path = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* Opens what is in the directory of a process or a thread, which is taken over. */
static int open_files(int proc_fd, pid_t pid, struct proc_image *ret)
{
	struct proc_image image = {.proc_fd = proc_fd, .root_fd = -1};
	char byte;
	int err;

	image.maps_fd = openat(proc_fd, "maps", O_RDONLY | O_CLOEXEC);
	if (image.maps_fd < 0)
		err = errno == ENOENT ? -ESRCH : -errno;
	else
		err = pread(image.maps_fd, &byte, 1, 0) == 1 ? 0 : -ESRCH;
	if (!err) {
		image.root_fd = openat(proc_fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
		err = read_status(&image, pid);
	}
	if (err)
		proc_image_deinit(&image);
	else
		*ret = image;
	return err;
}

/* The first thread may end before the others; the process's own directory is empty then. */
static int open_thread(int proc_fd, pid_t pid, struct proc_image *ret)
{
	int fd = openat(proc_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int err = -ESRCH;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return -ESRCH;
	}
	while (err && (entry = readdir(dir))) {
		int thread_fd = -1;

		if (entry->d_name[0] != '.')
			thread_fd = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (thread_fd >= 0)
			err = open_files(thread_fd, pid, ret);
	}
	closedir(dir);
	return err;
}

int proc_image_init(pid_t pid, struct proc_image *ret)
{
	char path[64];
	int fd, again, err;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	again = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	err = open_files(fd, pid, ret);
	if (err == -ESRCH && again >= 0)
		err = open_thread(again, pid, ret);
	if (again >= 0)
		close(again);
	return err;
}

void proc_image_deinit(struct proc_image *image)
{
	const int fds[] = {image->proc_fd, image->maps_fd, image->root_fd};

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(image->jit_path);
}

void proc_image_init_ended(struct proc_image *ret)
{
	*ret = (struct proc_image){.proc_fd = -1, .maps_fd = -1, .root_fd = -1};
}

int proc_image_maps(const struct proc_image *image, struct proc_maps *ret)
{
	struct proc_maps maps;
	int err = image->maps_fd < 0 ? -ESRCH : proc_maps_read_fd(image->maps_fd, &maps);

	if (err)
		return err;
	if (!maps.cnt) {
		proc_maps_deinit(&maps);
		return -ESRCH;
	}
	*ret = maps;
	return 0;
}

static uint64_t hash_bytes(const unsigned char *bytes, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3;
	return hash;
}

/* Where we have it ourselves: [vdso] of a process that is gone was the same. */
static uint64_t own_vdso(size_t len)
{
	uint64_t start = 0;
	struct proc_maps maps;

	if (proc_maps_read(getpid(), &maps))
		return 0;
	for_each_mapping (mapping, &maps)
		if (!strcmp(mapping->path, "[vdso]") && mapping->end - mapping->start == len)
			start = mapping->start;
	proc_maps_deinit(&maps);
	return start;
}

/* All processes have the same vdso: it is known again by what is in it. */
static int copy_vdso(const struct proc_image *image, const struct region *region, struct stat *st)
{
	size_t len = region->end - region->start;
	bool ended = image->proc_fd < 0;
	unsigned char *bytes = len <= VDSO_MAX_BYTES ? malloc(len) : NULL;
	int mem = openat(image->proc_fd, ended ? "/proc/self/mem" : "mem", O_RDONLY | O_CLOEXEC);
	uint64_t from = ended ? own_vdso(len) : region->start;
	int fd = -1;

	if (bytes && mem >= 0 && pread(mem, bytes, len, (off_t)from) == (ssize_t)len)
		fd = memfd_create("vdso", MFD_CLOEXEC);
	if (mem >= 0)
		close(mem);
	if (fd >= 0 && (write(fd, bytes, len) != (ssize_t)len || fstat(fd, st))) {
		close(fd);
		fd = -1;
	}
	if (fd >= 0) {
		st->st_ino = hash_bytes(bytes, len);
		st->st_dev = 0;
		st->st_mtim = (struct timespec){0};
	}
	free(bytes);
	return fd < 0 ? -EACCES : fd;
}

/* The file system shows other numbers in maps than in stat. */
static bool hides_inodes(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

/*
 * Whether an open file is the one that is mapped. Where inodes do not tell, only a path that is
 * still in place is believed.
 */
static bool is_mapped_file(const struct region *region, int fd, const struct stat *st)
{
	return st->st_ino == region->inode || (!region->deleted && hides_inodes(fd));
}

static int open_checked(const struct region *region, int dir_fd, int root_fd, const char *path,
			struct stat *st)
{
	int fd = regular_file_open(dir_fd, root_fd, path, 0, st);

	if (fd >= 0 && !is_mapped_file(region, fd, st)) {
		close(fd);
		fd = -ENOENT;
	}
	return fd;
}

static int open_ended(const struct region *region, struct stat *st)
{
	const struct mapping mapping = {
		.dev_major = region->dev_major,
		.dev_minor = region->dev_minor,
		.inode = region->inode,
		.path = region->path,
		.since_ns = region->since_ns,
	};

	return mapped_file_open(&mapping, st);
}

int proc_image_open(const struct proc_image *image, const struct region *region, struct stat *st)
{
	char name[64];
	int fd;

	if (!strcmp(region->path, "[vdso]"))
		return copy_vdso(image, region, st);
	if (!region->inode)
		return -ENOENT;
	if (image->proc_fd < 0)
		return open_ended(region, st);
	/* The one way that is always right needs privileges. */
	snprintf(name, sizeof(name), "map_files/%llx-%llx", (unsigned long long)region->start,
		 (unsigned long long)region->end);
	fd = regular_file_open(image->proc_fd, -1, name, 0, st);
	/* Something else may be mapped there by now. */
	if (fd >= 0 && st->st_ino != region->inode && !hides_inodes(fd)) {
		close(fd);
		fd = -ENOENT;
	}
	if (fd < 0 && region->path[0] == '/' && image->root_fd >= 0)
		fd = open_checked(region, -1, image->root_fd, region->path, st);
	if (fd < 0)
		fd = open_checked(region, image->proc_fd, -1, "exe", st);
	/* After a chroot of the process, maps still has the path as we would walk it. */
	if (fd < 0 && region->path[0] == '/')
		fd = open_checked(region, AT_FDCWD, -1, region->path, st);
	return fd;
}
