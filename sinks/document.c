// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Replaces a document: renames a new file to the document's path. If the new file cannot be created
 * with the owner of the old one, overwrites the document in place.
 */
#include "sinks/document.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file_id.h"
#include "base/regular_file.h"
#include "base/write_all.h"

/*
 * Creates a temporary file, named by the template `path`, with the owner, group and mode of the old
 * file.
 */
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

/*
 * Opens the folder of the file `path`, and sets *ret to a path of the file through this descriptor.
 * Follows no symbolic link: the owner of the folder may have replaced it by one.
 */
static int open_folder(const char *path, char **ret)
{
	cleanup_free char *folder = strdup(path), *file = strdup(path);
	int fd = folder && file ? folder_open(-1, dirname(folder), LINKS_NONE) : -ENOMEM;

	if (fd < 0)
		return fd;
	if (asprintf(ret, "/proc/self/fd/%d/%s", fd, basename(file)) >= 0)
		return fd;
	*ret = NULL;
	close(fd);
	return -ENOMEM;
}

/*
 * Writes a new file and renames it to `path`. On failure, `*done` is false if the caller may still
 * overwrite the old file in place.
 */
static int replace(const char *path, int *fd, const char *bytes, size_t len, bool *done)
{
	cleanup_free char *place = NULL, *beside = NULL;
	cleanup_close int folder_fd = open_folder(path, &place);
	int new_fd;
	int err;

	if (folder_fd < 0)
		return folder_fd;
	if (asprintf(&beside, "%s.XXXXXX", place) < 0) {
		beside = NULL;
		return -ENOMEM;
	}
	new_fd = open_beside(beside, *fd);
	if (new_fd < 0)
		return new_fd;
	err = write_all(new_fd, bytes, len);
	*done = err;
	if (!err && rename(beside, place) == 0) {
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

/*
 * True if path still names the file that is open as fd. Otherwise, readers of path do not see what
 * is written to fd.
 */
static bool leads_to(const char *path, int fd)
{
	struct stat named, opened;

	return stat(path, &named) == 0 && fstat(fd, &opened) == 0 && is_same_file(&named, &opened);
}

int document_replace(const char *path, int *fd, const char *bytes, size_t len)
{
	bool done = false;
	int err = replace(path, fd, bytes, len, &done);

	return done || !leads_to(path, *fd) ? err : overwrite(*fd, bytes, len);
}
