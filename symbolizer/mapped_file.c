// SPDX-License-Identifier: GPL-2.0-or-later
/* Files of mappings that nobody has any more. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "symbolizer/debug_file.h"
#include "symbolizer/mapped_file.h"

/*
 * Overlays and btrfs have other numbers for mappings than for stat: those that the kernel has for
 * ours. Nothing of the file is read.
 */
static bool maps_alike(const struct mapping *mapping, int fd)
{
	size_t len = (size_t)sysconf(_SC_PAGESIZE);
	const struct mapping *own;
	struct proc_maps maps;
	bool alike = false;
	void *at = mmap(NULL, len, PROT_NONE, MAP_PRIVATE, fd, 0);

	if (at == MAP_FAILED)
		return false;
	if (!proc_maps_read(getpid(), &maps)) {
		own = proc_maps_find(&maps, (uintptr_t)at);
		alike = own && own->inode == mapping->inode &&
			own->dev_major == mapping->dev_major &&
			own->dev_minor == mapping->dev_minor;
		proc_maps_deinit(&maps);
	}
	munmap(at, len);
	return alike;
}

static bool is_mapped_file(const struct mapping *mapping, int fd, const struct stat *st)
{
	int64_t changed_ns = (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec;

	if (mapping->since_ns && changed_ns > mapping->since_ns)
		return false;
	return (st->st_ino == mapping->inode &&
		st->st_dev == makedev(mapping->dev_major, mapping->dev_minor)) ||
	       maps_alike(mapping, fd);
}

int mapped_file_open(const struct mapping *mapping, struct stat *ret)
{
	int fd;

	if (!mapping->inode || mapping->path[0] != '/')
		return -ENOENT;
	fd = regular_file_open(AT_FDCWD, -1, mapping->path, 0, ret);
	if (fd >= 0 && !is_mapped_file(mapping, fd, ret)) {
		close(fd);
		fd = -ENOENT;
	}
	return fd;
}
