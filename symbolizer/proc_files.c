// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens the /proc files of a process, and the files that the process maps. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mapped_file.h"
#include "base/proc.h"
#include "base/regular_file.h"
#include "base/vdso.h"
#include "symbolizer/proc_files.h"

/*
 * Inode number of copies of the vdso in struct file_version. Their device number is 0, which no
 * real file has.
 */
#define VDSO_INODE 1

/*
 * Reads the process's effective uid, and makes the path of its JIT map. The path contains the pid
 * in the process's own pid namespace, which is the last number in the field NSpid.
 */
static int read_status(struct proc_files *files, pid_t pid)
{
	cleanup_close int fd = openat(files->proc_fd, "status", O_RDONLY | O_CLOEXEC);
	cleanup_free char *status = NULL;
	const char *pids = NULL, *uids = NULL;
	long inner = pid;

	if (fd >= 0 && proc_read_fd(fd, &status, NULL) == 0) {
		pids = proc_status_field(status, "NSpid");
		uids = proc_status_field(status, "Uid");
	}
	/*
	 * Find the last number in NSpid. The loop ends at the next line, which begins with a
	 * letter.
	 */
	while (pids) {
		char *end;
		long value = strtol(pids, &end, 10);

		if (end == pids)
			break;
		inner = value;
		pids = end;
	}
	if (!uids || sscanf(uids, "%*u %u", &files->uid) != 1)
		files->uid = (uid_t)-1;
	if (asprintf(&files->jit_path, "/tmp/perf-%ld.map", inner) < 0) {
		files->jit_path = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* Opens the maps file and the root directory, unless this has been done or has failed for good. */
static void open_rest(struct proc_files *files)
{
	if (files->maps_fd == -EAGAIN)
		files->maps_fd = proc_open_at(files->pid, files->proc_fd, "maps", O_RDONLY);
	if (files->root_fd != -EAGAIN)
		return;
	files->root_fd = proc_open_at(files->pid, files->proc_fd, "root", O_PATH | O_DIRECTORY);
	if (files->root_fd >= 0)
		files->foreign = !proc_has_own_namespace(files->pid, files->proc_fd, "user");
}

/* Returns 0 if the process has mappings, -ESRCH if it has none, -EAGAIN if they are locked. */
static int read_first(pid_t pid, int maps_fd)
{
	struct proc_text text;
	int got = proc_read_limited(pid, maps_fd, &text);

	return got > 0 ? 0 : got == -EAGAIN ? got : -ESRCH;
}

/* Opens the files in proc_fd, the /proc directory of a process or thread. Takes over proc_fd. */
static int open_files(int proc_fd, pid_t pid, struct proc_files *ret)
{
	struct proc_files files = {
		.pid = pid,
		.proc_fd = proc_fd,
		.maps_fd = -EAGAIN,
		.root_fd = -EAGAIN,
		.foreign = true,
	};
	int err;

	open_rest(&files);
	err = files.maps_fd < 0 ? files.maps_fd : read_first(pid, files.maps_fd);
	/* A process whose memory map stays locked has mappings: they are read later. */
	if (err == -EAGAIN)
		err = 0;
	else if (err == -ENOENT)
		err = -ESRCH;
	if (!err)
		err = read_status(&files, pid);
	if (err) {
		proc_files_deinit(&files);
		return err;
	}
	*ret = files;
	return 0;
}

/*
 * Opens the /proc files of any living thread. Needed if the main thread has ended: then the
 * directory of the process shows no mappings.
 */
static int open_thread(int proc_fd, pid_t pid, struct proc_files *ret)
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

int proc_files_init(pid_t pid, struct proc_files *ret)
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

void proc_files_deinit(struct proc_files *files)
{
	const int fds[] = {files->proc_fd, files->maps_fd, files->root_fd};

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	program_name_deinit(&files->program);
	free(files->jit_path);
}

void proc_files_init_ended(struct proc_files *ret)
{
	*ret = (struct proc_files){.proc_fd = -1, .maps_fd = -1, .root_fd = -1};
}

int proc_files_maps(struct proc_files *files, struct proc_maps *ret)
{
	struct proc_maps maps;
	int err;

	open_rest(files);
	if (files->maps_fd < 0)
		return files->maps_fd == -EAGAIN ? -EAGAIN : -ESRCH;
	err = proc_maps_read_fd(files->pid, files->maps_fd, &maps);
	if (err)
		return err;
	if (!maps.cnt) {
		proc_maps_deinit(&maps);
		return -ESRCH;
	}
	*ret = maps;
	return 0;
}

void proc_files_read_program(struct proc_files *files)
{
	open_rest(files);
	if (!files->is_program_read)
		files->is_program_read = !program_name_init(files->pid, files->proc_fd,
							    files->root_fd, &files->program);
}

struct file_version proc_image_vdso(const struct region *region)
{
	return (struct file_version){
		.id.ino = VDSO_INODE,
		.size = (int64_t)(region->end - region->start),
	};
}

/*
 * Copies memleak's own vdso. All processes have the same vdso, and reading another process's memory
 * would need more privileges. Returns -EACCES if the process's vdso has another size.
 */
static int copy_vdso(const struct region *region, struct file_version *ret)
{
	struct stat st;
	int fd = vdso_copy();

	if (fd < 0)
		return fd;
	*ret = proc_image_vdso(region);
	if (fstat(fd, &st) || st.st_size != ret->size) {
		close(fd);
		return -EACCES;
	}
	return fd;
}

/*
 * Returns fd if it is the file that the region maps, or a negative errno; otherwise closes fd and
 * returns -ENOENT.
 */
static int checked(const struct region *region, int fd, const struct stat *st)
{
	if (fd >= 0 && !mapped_file_is(fd, st, &region->file)) {
		close(fd);
		fd = -ENOENT;
	}
	return fd;
}

static int open_ended(const struct region *region, struct stat *st)
{
	const struct mapping mapping = {
		.file = region->file,
		.path = region->path,
		.since_ns = region->since_ns,
	};

	return mapped_file_open(&mapping, st);
}

/* Opens a mapped file through /proc/PID/map_files/START-END. */
static int open_mapped(const struct proc_files *files, uint64_t start, uint64_t end,
		       struct stat *st)
{
	char name[64];

	snprintf(name, sizeof(name), "map_files/%llx-%llx", (unsigned long long)start,
		 (unsigned long long)end);
	return regular_file_open_link(files->pid, files->proc_fd, name, st);
}

static int open_file(const struct proc_files *files, const struct region *region, struct stat *st)
{
	uint64_t start = region->beside_end ? region->beside_start : region->start;
	uint64_t end = region->beside_end ? region->beside_end : region->end;
	int fd;

	if (files->proc_fd < 0)
		return open_ended(region, st);
	/* Try map_files first: it needs privileges, but leads even to a deleted file. */
	/* Check the file, since another file may be mapped at this address by now. */
	fd = checked(region, open_mapped(files, start, end, st), st);
	if (fd == -EREMOTE)
		return fd;
	if (fd < 0 && region->path[0] == '/' && files->root_fd >= 0)
		fd = checked(region,
			     regular_file_open_known(files->root_fd, region->path, LINKS_ALL, st),
			     st);
	if (fd < 0)
		fd = checked(region, regular_file_open_link(files->pid, files->proc_fd, "exe", st),
			     st);
	/*
	 * Try the path in memleak's own root: if the process has called chroot(), /proc/PID/maps
	 * still shows paths in memleak's root.
	 */
	if (fd < 0 && region->path[0] == '/')
		fd = checked(region, regular_file_open_known(-1, region->path, LINKS_ALL, st), st);
	return fd;
}

int proc_files_open(const struct proc_files *files, const struct region *region,
		    struct file_version *ret)
{
	struct stat st;
	int fd;

	if (!strcmp(region->path, "[vdso]"))
		return copy_vdso(region, ret);
	fd = region->file.ino ? open_file(files, region, &st) : -ENOENT;
	if (fd >= 0)
		*ret = file_version_of(&st);
	return fd;
}
