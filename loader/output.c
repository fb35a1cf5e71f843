// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes each report whole, to stdout or a file. */
#include "loader/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loader/log.h"

int output_init(struct output *out, const char *path)
{
	*out = (struct output){.fd = STDOUT_FILENO, .name = path ? path : "stdout"};
	if (path)
		out->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	if (out->fd >= 0 && fcntl(out->fd, F_GETFD) >= 0)
		return 0;
	log_error("cannot write to %s: %s", out->name, strerror(errno));
	return -errno;
}

void output_deinit(struct output *out)
{
	if (out->stream)
		fclose(out->stream);
	free(out->buf);
	if (out->fd > STDERR_FILENO)
		close(out->fd);
}

FILE *output_begin(struct output *out)
{
	out->stream = open_memstream(&out->buf, &out->len);
	return out->stream;
}

static int write_all(int fd, const char *buf, size_t len)
{
	while (len) {
		ssize_t written = write(fd, buf, len);

		if (written < 0 && errno == EAGAIN) {
			/* A terminal or pipe that someone else made non-blocking. */
			struct pollfd ready = {.fd = fd, .events = POLLOUT};

			poll(&ready, 1, -1);
			continue;
		}
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		buf += written;
		len -= (size_t)written;
	}
	return 0;
}

/* A file keeps whole reports only: what a full disk cut short is taken back. */
static int write_whole(struct output *out)
{
	struct stat st;
	bool file = fstat(out->fd, &st) == 0 && S_ISREG(st.st_mode);
	int err = write_all(out->fd, out->buf, out->len);

	if (err && file && out->fd > STDERR_FILENO && ftruncate(out->fd, st.st_size))
		return -errno;
	return err;
}

int output_end(struct output *out)
{
	int err;

	if (fclose(out->stream)) {
		out->stream = NULL;
		return -ENOMEM;
	}
	out->stream = NULL;
	err = write_whole(out);
	free(out->buf);
	out->buf = NULL;
	if (err && err != -EPIPE)
		log_error("cannot write to %s: %s", out->name, strerror(-err));
	return err;
}
