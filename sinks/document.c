// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a document beside the old one and renames it, or over it where that cannot be done. */
#include "sinks/document.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "loader/cleanup.h"
#include "loader/signals.h"

/* How long those who read nothing may keep memleak from ending. */
#define PATIENCE_MS 1000

static int wait_for_reader(int fd)
{
	struct pollfd ready = {.fd = fd, .events = POLLOUT};

	while (poll(&ready, 1, PATIENCE_MS) == 0)
		if (signals_end_pending())
			return -ECANCELED;
	return 0;
}

/*
 * As much as there is room for now. Pipes and terminals that are ready take at least PIPE_BUF
 * bytes; files and sockets get all at once, as it may have to be one message or one line.
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
		/* Or someone else made it non-blocking. */
		if (written < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (written < 0)
			return -errno;
		bytes += written;
		len -= (size_t)written;
	}
	return 0;
}

/* A new file that whoever may use the old one may use. */
static int open_beside(char *path, int old_fd)
{
	int fd = mkostemp(path, O_APPEND | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(old_fd, &st) == 0 && fchown(fd, st.st_uid, st.st_gid) == 0 &&
	    fchmod(fd, st.st_mode & 07777) == 0)
		return fd;
	unlink(path);
	close(fd);
	return -EPERM;
}

/* *done: written or failed for good; else it can be tried otherwise. */
static int replace(const char *path, int *fd, const char *bytes, size_t len, bool *done)
{
	cleanup_free char *beside = NULL;
	int new_fd;
	int err;

	if (asprintf(&beside, "%s.XXXXXX", path) < 0) {
		beside = NULL;
		return -ENOMEM;
	}
	new_fd = open_beside(beside, *fd);
	if (new_fd < 0)
		return new_fd;
	err = write_all(new_fd, bytes, len);
	*done = err;
	if (!err && rename(beside, path) == 0) {
		close(*fd);
		*fd = new_fd;
		*done = true;
		return 0;
	}
	err = err ? err : -errno;
	unlink(beside);
	close(new_fd);
	return err;
}

static int overwrite(int fd, const char *bytes, size_t len)
{
	int err = ftruncate(fd, 0) ? -errno : write_all(fd, bytes, len);

	if (err && ftruncate(fd, 0))
		return -errno;
	return err;
}

/* If not, no reader finds what is written to fd. */
static bool leads_to(const char *path, int fd)
{
	struct stat named, opened;

	return stat(path, &named) == 0 && fstat(fd, &opened) == 0 &&
	       named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

int document_replace(const char *path, int *fd, const char *bytes, size_t len)
{
	bool done = false;
	int err = replace(path, fd, bytes, len, &done);

	return done || !leads_to(path, *fd) ? err : overwrite(*fd, bytes, len);
}
