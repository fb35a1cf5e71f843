// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes to files, pipes, terminals and sockets. Waits for a stalled reader only until a
 * termination signal arrives or fair_lock_is_interrupted() is true.
 */
#include "base/write_all.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fair_lock.h"
#include "base/signals.h"

/*
 * Interval, in milliseconds, at which a write to a stalled reader checks whether it should give up.
 */
#define PATIENCE_MS 1000

static int wait_for_reader(int fd)
{
	struct pollfd ready = {.fd = fd, .events = POLLOUT};

	while (poll(&ready, 1, PATIENCE_MS) == 0)
		if (signals_end_pending() || fair_lock_is_interrupted())
			return -ECANCELED;
	return 0;
}

/*
 * Writes as many bytes as a ready descriptor accepts without blocking: at most PIPE_BUF to pipes
 * and terminals. Files and sockets get all bytes in one call, since the bytes may be one message or
 * line.
 */
static ssize_t write_some(int fd, mode_t mode, const char *bytes, size_t len)
{
	if (S_ISSOCK(mode))
		return send(fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (!S_ISREG(mode) && len > PIPE_BUF)
		len = PIPE_BUF;
	return write(fd, bytes, len);
}

int write_all(int fd, const char *bytes, size_t len)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	while (len) {
		int err = wait_for_reader(fd);
		ssize_t written = err ? 0 : write_some(fd, st.st_mode, bytes, len);

		if (err)
			return err;
		/* Another process may have set O_NONBLOCK on the descriptor. */
		if (written < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (written < 0)
			return -errno;
		bytes += written;
		len -= (size_t)written;
	}
	return 0;
}

int append_all(int fd, const void *bytes, size_t len)
{
	struct stat st;
	bool file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	int err = write_all(fd, bytes, len);

	if (err && file && ftruncate(fd, st.st_size))
		return -errno;
	return err;
}
