/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions on the text of paths. They access no files. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <string.h>

/* Returns the file name in a path: the text after the last slash. */
static inline const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

#endif
