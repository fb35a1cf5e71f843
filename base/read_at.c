// SPDX-License-Identifier: GPL-2.0-or-later
/* Repeats reads that were interrupted or returned less than requested. */
#include "base/read_at.h"

#include <errno.h>
#include <unistd.h>

ssize_t read_at(int fd, void *buf, size_t len, uint64_t offset)
{
	size_t done = 0;

	if (offset > INT64_MAX || len > INT64_MAX - offset)
		return -EOVERFLOW;
	while (done < len) {
		ssize_t got = pread(fd, (char *)buf + done, len - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}
