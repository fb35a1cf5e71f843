// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes sealed memory files, and empties them when the helper no longer needs them. */
#include "symbolizer/memory_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "symbolizer/server/protocol.h"

/*
 * Makes a file that the helper cannot enlarge. Shrinking is not sealed: to free the memory, the
 * file is shrunk to nothing, and then stays empty.
 */
static int make_file(uint64_t bytes)
{
	int fd = memfd_create("debug information", MFD_CLOEXEC | MFD_ALLOW_SEALING), err = 0;

	if (fd < 0 || ftruncate(fd, (off_t)bytes) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SEAL))
		err = -errno;
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

int memory_files_make(struct memory_files *files, uint32_t module, uint64_t bytes)
{
	uint64_t left = SERVER_MEMORY_BYTES_MAX;
	unsigned int cnt = 0;
	int fd;

	for (size_t i = 0; i < files->cnt; i++) {
		left -= files->items[i].bytes;
		cnt += files->items[i].module == module;
	}
	if (bytes > left || cnt >= MEMORY_FILES_EACH || files->cnt >= MEMORY_FILES_MAX)
		return -EFBIG;
	if (array_reserve(&files->items, &files->cap, files->cnt + 1))
		return -ENOMEM;
	fd = make_file(bytes);
	if (fd >= 0)
		files->items[files->cnt++] = (struct memory_file){module, fd, bytes};
	return fd;
}

/* Frees the memory of the last file, and removes it from the list. */
static void drop_last(struct memory_files *files)
{
	int fd = files->items[--files->cnt].fd, err = ftruncate(fd, 0);

	(void)err; /* cannot fail: only this process can add seals */
	close(fd);
}

void memory_files_drop(struct memory_files *files, uint32_t module)
{
	for (size_t i = files->cnt; i-- > 0;) {
		struct memory_file file = files->items[i];

		if (file.module != module)
			continue;
		files->items[i] = files->items[files->cnt - 1];
		files->items[files->cnt - 1] = file;
		drop_last(files);
	}
}

void memory_files_deinit(struct memory_files *files)
{
	while (files->cnt)
		drop_last(files);
	free(files->items);
	*files = (struct memory_files){0};
}
