/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths as text. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <string.h>

/* What stands behind the last slash: the name of a file without its folders. */
static inline const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

#endif
