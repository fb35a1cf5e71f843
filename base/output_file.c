// SPDX-License-Identifier: GPL-2.0-or-later
/* Follows links by itself, so that the one that was looked at is the one that was followed. */
#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/number.h"

/* As many links one behind the other as the kernel follows. */
#define LINKS_MAX 40

#define FLAGS (O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY)

/* A number that sudo has left in the environment; UINT32_MAX: none. */
static uint32_t sudo_id(const char *name)
{
	const char *text = getenv(name);
	uint64_t id;

	if (!text || number_parse(text, 0, UINT32_MAX - 1, &id))
		return UINT32_MAX;
	return (uint32_t)id;
}

static bool may_be_trusted(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == sudo_id("SUDO_UID");
}

static int make(const char *path)
{
	int fd = open(path, FLAGS | O_CREAT | O_EXCL, 0600);
	uid_t user = sudo_id("SUDO_UID");
	gid_t group = sudo_id("SUDO_GID");

	if (fd < 0)
		return -errno;
	/* If root may not give it away here, it stays root's. */
	if (user != UINT32_MAX && group != UINT32_MAX) {
		int err = fchown(fd, user, group);

		(void)err;
	}
	return fd;
}

/* A link below /proc leads to an open file, by no name. */
static int open_magic(const char *path)
{
	int fd = open(path, FLAGS);

	return fd < 0 ? -errno : fd;
}

/* What a link says, from where it lies. To be freed; NULL: errno. */
static char *target_of(const char *path, int link_fd)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(link_fd, "", target, sizeof(target) - 1);
	const char *slash = strrchr(path, '/');
	char *ret;

	if (len < 0)
		return NULL;
	target[len] = '\0';
	if (*target == '/' || !slash)
		return strdup(target);
	return asprintf(&ret, "%.*s%s", (int)(slash - path) + 1, path, target) < 0 ? NULL : ret;
}

static int open_found(const char *path, int links);

static int follow(const char *path, int link_fd, int links)
{
	cleanup_free char *target = NULL;
	struct statfs system;

	if (!fstatfs(link_fd, &system) && system.f_type == PROC_SUPER_MAGIC)
		return open_magic(path);
	if (links == LINKS_MAX)
		return -ELOOP;
	target = target_of(path, link_fd);
	return target ? open_found(target, links + 1) : -errno;
}

static int open_found(const char *path, int links)
{
	cleanup_close int link_fd = -1;
	struct stat st;
	int fd = make(path);

	if (fd != -EEXIST)
		return fd;
	fd = open(path, FLAGS | O_NOFOLLOW);
	if (fd < 0 && errno == ELOOP) {
		link_fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (link_fd < 0 || fstat(link_fd, &st))
			return -errno;
		return may_be_trusted(&st) ? follow(path, link_fd, links) : -EACCES;
	}
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && (S_ISCHR(st.st_mode) || may_be_trusted(&st)))
		return fd;
	close(fd);
	return -EACCES;
}

/* For anybody but root the kernel decides, by its own rules of files in folders of all users. */
int output_file_open(const char *path)
{
	int fd;

	if (!geteuid())
		return open_found(path, 0);
	fd = open(path, FLAGS | O_CREAT, 0600);
	return fd < 0 ? -errno : fd;
}

const char *output_file_error(int err)
{
	if (err == -EACCES && !geteuid())
		return "permission denied, or it belongs to another user, who may have put it "
		       "there: give another name";
	return strerror(-err);
}
