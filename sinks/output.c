// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes each report as a whole, to stdout or to a file. */
#include "sinks/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_id.h"
#include "base/log.h"
#include "base/output_file.h"
#include "base/write_all.h"
#include "sinks/document.h"

static bool is_file_of(int fd, const struct stat *st)
{
	struct stat other;

	return fstat(fd, &other) == 0 && is_same_file(&other, st);
}

/*
 * Returns the real path of the document. Returns NULL if the document cannot be replaced: it is
 * stdout, is no regular file, is also open as stdout or stderr, or `path` no longer names it.
 */
static char *find_document(int fd, const char *path)
{
	struct stat st, named;
	char *ret;

	if (!path || fstat(fd, &st) || !S_ISREG(st.st_mode) || is_file_of(STDOUT_FILENO, &st) ||
	    is_file_of(STDERR_FILENO, &st))
		return NULL;
	ret = realpath(path, NULL);
	/* Check that the path still names the open file: another process may have replaced it. */
	if (ret && !stat(ret, &named) && is_same_file(&named, &st))
		return ret;
	free(ret);
	return NULL;
}

int output_init(struct output *out, const char *path, bool document, bool binary)
{
	*out = (struct output){
		.fd = STDOUT_FILENO, .name = path ? path : "stdout", .document = document};
	if (path)
		out->fd = output_file_open(path);
	else if (fcntl(out->fd, F_GETFD) < 0)
		out->fd = -errno;
	if (out->fd < 0) {
		log_error("cannot write to %s: %s", out->name, output_file_error(out->fd));
		return out->fd;
	}
	if (document)
		out->path = find_document(out->fd, path);
	if (!binary || !isatty(out->fd))
		return 0;
	log_error("this format is not for a terminal: give --output FILE");
	return -ENOTTY;
}

bool output_is(const struct output *out, const char *path)
{
	struct stat st;

	return out->fd > STDERR_FILENO && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       is_file_of(out->fd, &st);
}

int output_empty(struct output *out)
{
	struct stat st;

	/*
	 * Do not truncate a document that can be replaced: it must stay until the new document is
	 * complete.
	 */
	if (out->fd <= STDERR_FILENO || out->path || fstat(out->fd, &st) || !S_ISREG(st.st_mode) ||
	    !ftruncate(out->fd, 0))
		return 0;
	log_error("cannot write to %s: %s", out->name, strerror(errno));
	return -errno;
}

bool output_wants(const struct output *out, bool final)
{
	return !out->document || out->path || final;
}

bool output_has_colour(const struct output *out, enum colour colour)
{
	const char *none = getenv("NO_COLOR");

	if (colour != COLOUR_AUTO)
		return colour == COLOUR_ALWAYS;
	return !(none && *none) && isatty(out->fd);
}

void output_size(const struct output *out, unsigned int *rows, unsigned int *columns)
{
	struct winsize size = {0};

	if (ioctl(out->fd, TIOCGWINSZ, &size))
		size.ws_row = 0;
	*rows = size.ws_col ? size.ws_row : 0;
	*columns = size.ws_col;
}

void output_deinit(struct output *out)
{
	if (out->stream)
		fclose(out->stream);
	free(out->buf);
	free(out->path);
	if (out->fd > STDERR_FILENO)
		close(out->fd);
}

FILE *output_begin(struct output *out)
{
	out->stream = open_memstream(&out->buf, &out->len);
	return out->stream;
}

/*
 * Writes the buffer. If a write to a file of --output fails, no part of the report stays in the
 * file.
 */
static int write_whole(struct output *out)
{
	if (out->path)
		return document_replace(out->path, &out->fd, out->buf, out->len);
	return out->fd > STDERR_FILENO ? append_all(out->fd, out->buf, out->len)
				       : write_all(out->fd, out->buf, out->len);
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
	if (err == -ECANCELED)
		log_error("%s: reader stalled; the last report is incomplete", out->name);
	else if (err && err != -EPIPE)
		log_error("cannot write to %s: %s", out->name, strerror(-err));
	return err;
}
