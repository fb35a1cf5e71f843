// SPDX-License-Identifier: GPL-2.0-or-later
/* Searches dpkg's lists of the files of each installed package. */
#include "base/dpkg.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

/*
 * True if `listed`, a path from a package's list, is the file `path`. Packages built before / and
 * /usr were merged list /lib/NAME, although the file is now /usr/lib/NAME.
 */
static bool is_same_file(const char *listed, const char *path)
{
	return !strcmp(listed, path) ||
	       (!strncmp(path, "/usr/", strlen("/usr/")) && !strcmp(listed, path + strlen("/usr")));
}

static bool lists(int folder_fd, const char *name, const char *path)
{
	int fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC);
	cleanup_fclose FILE *file = fd < 0 ? NULL : fdopen(fd, "re");
	cleanup_free char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	if (!file) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while ((len = getline(&line, &cap, file)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		if (is_same_file(line, path))
			return true;
	}
	return false;
}

char *dpkg_package_of(const char *folder, const char *path)
{
	DIR *dir = opendir(folder);
	char *ret = NULL;

	for (struct dirent *entry; dir && !ret && (entry = readdir(dir));) {
		const char *end = strrchr(entry->d_name, '.');

		if (end && !strcmp(end, ".list") && lists(dirfd(dir), entry->d_name, path))
			ret = strndup(entry->d_name, (size_t)(end - entry->d_name));
	}
	if (dir)
		closedir(dir);
	if (ret)
		ret[strcspn(ret, ":")] = '\0'; /* cut off the architecture, as in "libc6:amd64" */
	return ret;
}
