// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Replaces mappings of the C library's file by copies. What is copied is the file: in memory there
 * may be breakpoints of others.
 */
#include "loader/target/private_libc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc_maps.h"
#include "loader/target/modules.h"

static int read_code(const struct mapping *mapping, int fd, char *copy)
{
	size_t len = mapping->end - mapping->start, done = 0;

	while (done < len) {
		ssize_t got = pread(fd, copy + done, len - done, (off_t)(mapping->offset + done));

		if (got < 0)
			return -errno;
		if (!got)
			break; /* the rest of the last page */
		done += (size_t)got;
	}
	return 0;
}

static int replace(const struct mapping *mapping, int fd)
{
	size_t len = mapping->end - mapping->start;
	char *copy = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err;

	if (copy == MAP_FAILED)
		return -errno;
	err = read_code(mapping, fd, copy);
	if (!err && mprotect(copy, len, PROT_READ | PROT_EXEC))
		err = -errno;
	/* In one step: the function that asks for it is among what is replaced, by the same. */
	if (!err && mremap(copy, len, len, MREMAP_MAYMOVE | MREMAP_FIXED,
			   (void *)(uintptr_t)mapping->start) == MAP_FAILED)
		err = -errno;
	if (err)
		munmap(copy, len);
	return err;
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
	fd = mapping && mapping->file.ino ? process_open_mapping(getpid(), mapping) : -ENOENT;
	err = fd < 0 ? fd : replace(mapping, fd);
	proc_maps_deinit(&maps);
	return err;
}
