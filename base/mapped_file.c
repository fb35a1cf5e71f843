// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares the inode and device numbers of open files with those in /proc/PID/maps. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mapped_file.h"
#include "base/regular_file.h"

int mapped_file_id(int fd, struct file_id *ret)
{
	size_t len = (size_t)sysconf(_SC_PAGESIZE);
	const struct mapping *own;
	struct proc_maps maps;
	/* Map the file as shared, since the kernel inserts no uprobes into shared mappings. */
	void *at = mmap(NULL, len, PROT_NONE, MAP_SHARED, fd, 0);
	int err;

	if (at == MAP_FAILED)
		return -errno;
	err = proc_maps_read(getpid(), &maps);
	if (!err) {
		own = proc_maps_find(&maps, (uintptr_t)at);
		if (own && own->file.ino)
			*ret = own->file;
		else
			err = -ENOENT;
		proc_maps_deinit(&maps);
	}
	munmap(at, len);
	return err;
}

static bool maps_as(int fd, const struct file_id *shown)
{
	struct file_id own;

	return mapped_file_id(fd, &own) == 0 && file_id_equal(&own, shown);
}

bool mapped_file_is(int fd, const struct stat *st, const struct file_id *shown)
{
	return st->st_ino == shown->ino || maps_as(fd, shown);
}

bool file_is_changed_since(const struct stat *st, int64_t since_ns)
{
	int64_t changed_ns = (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec;

	return since_ns && changed_ns > since_ns;
}

/*
 * True if an open file is the mapped one and has not changed since the mmap(). Also compares device
 * numbers, since the path may lead to a different device.
 */
static bool is_still_there(const struct mapping *mapping, int fd, const struct stat *st)
{
	struct file_id id = file_id_of(st);

	if (file_is_changed_since(st, mapping->since_ns))
		return false;
	return file_id_equal(&id, &mapping->file) || maps_as(fd, &mapping->file);
}

int mapped_file_open(const struct mapping *mapping, struct stat *ret)
{
	int fd;

	if (!mapping->file.ino || mapping->path[0] != '/')
		return -ENOENT;
	fd = regular_file_open_known(-1, mapping->path, LINKS_ALL, ret);
	if (fd >= 0 && !is_still_there(mapping, fd, ret)) {
		close(fd);
		fd = -ENOENT;
	}
	return fd;
}
