// SPDX-License-Identifier: GPL-2.0-or-later
/* Copies the vdso from memleak's own memory. */
#include "base/vdso.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/proc_maps.h"

int vdso_copy(void)
{
	const struct mapping *vdso = NULL;
	struct proc_maps maps;
	int fd = -ENOENT;

	if (proc_maps_read(getpid(), &maps))
		return -ENOENT;
	for_each_mapping (mapping, &maps)
		if (!strcmp(mapping->path, "[vdso]"))
			vdso = mapping;
	if (vdso) {
		size_t size = vdso->end - vdso->start;

		fd = memfd_create("vdso", MFD_CLOEXEC);
		if (fd >= 0 && write(fd, (void *)vdso->start, size) != (ssize_t)size) {
			close(fd);
			fd = -EIO;
		}
	}
	proc_maps_deinit(&maps);
	return fd;
}
