// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads /proc/PID/fd. */
#include "loader/target/open_fds.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"

/* Maximum descriptor number that is accepted. A set that contains this number takes 2 MiB. */
#define FD_MAX (1L << 24)
/* Number of entries that are read between two checks of the deadline. */
#define ENTRIES_AT_ONCE 1024

static int read_entries(DIR *dir, uint64_t deadline_ns, struct bits *ret)
{
	const struct dirent *entry;
	size_t cnt = 0;
	int err = 0;

	while (!err && (entry = readdir(dir))) {
		char *end;
		long fd = strtol(entry->d_name, &end, 10);

		if (end == entry->d_name || *end)
			continue;
		err = fd > FD_MAX ? -E2BIG : bits_add(ret, (size_t)fd);
		if (++cnt % ENTRIES_AT_ONCE == 0 && !clock_left_ms(deadline_ns))
			err = -ETIMEDOUT;
	}
	return err || cnt ? err : -ENOENT;
}

int open_fds_read(pid_t pid, uint64_t deadline_ns, struct bits *ret)
{
	int fd = proc_open(proc_living_thread(pid), "fd", O_RDONLY | O_DIRECTORY), err;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	bits_clear(ret);
	if (!dir) {
		err = fd < 0 ? fd : -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	err = read_entries(dir, deadline_ns, ret);
	closedir(dir);
	return err;
}
