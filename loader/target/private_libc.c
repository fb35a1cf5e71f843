// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Maps a copy of the C library's file over the library's code. The code in memory is not copied,
 * since it may contain breakpoints of other tracers.
 */
#include "loader/target/private_libc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc_maps.h"
#include "loader/target/modules.h"

/* Copies a file to an in-memory file. Returns a descriptor of the copy or a negative errno. */
static int copy_file(int fd)
{
	int copy_fd = memfd_create(PRIVATE_LIBC_NAME, MFD_CLOEXEC);
	struct stat st;
	off_t done = 0;

	if (copy_fd < 0)
		return -errno;
	if (!fstat(fd, &st))
		while (done < st.st_size &&
		       sendfile(copy_fd, fd, &done, (size_t)(st.st_size - done)) > 0)
			;
	if (done && done == st.st_size)
		return copy_fd;
	close(copy_fd);
	return -EIO;
}

/*
 * Replaces the mapping of a file by a mapping of a copy of the file. A single system call does
 * this, because the mapping contains the code that is running.
 */
static int replace(const struct mapping *mapping, int fd)
{
	cleanup_close int copy_fd = copy_file(fd);

	if (copy_fd < 0)
		return copy_fd;
	return mmap((void *)(uintptr_t)mapping->start, mapping->end - mapping->start,
		    PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, copy_fd,
		    (off_t)mapping->offset) == MAP_FAILED
		       ? -errno
		       : 0;
}

int private_libc_install(void)
{
	const struct mapping *mapping;
	cleanup_close int fd = -1;
	struct proc_maps maps;
	int err = proc_maps_read(getpid(), &maps);

	if (err)
		return err;
	mapping = proc_maps_find(&maps, (uintptr_t)malloc);
	/*
	 * A static memleak has no symbols, so nobody probes it. It must keep its file, in which
	 * multi_link.c tries probes.
	 */
	if (mapping != proc_maps_find(&maps, (uintptr_t)private_libc_install)) {
		fd = mapping && mapping->file.ino ? process_open_mapping(getpid(), mapping)
						  : -ENOENT;
		err = fd < 0 ? fd : replace(mapping, fd);
	}
	proc_maps_deinit(&maps);
	return err;
}
