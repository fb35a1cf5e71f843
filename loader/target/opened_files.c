// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers files, and keeps a result for each number. */
#include "loader/target/opened_files.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/*
 * Returns the number of a mapping's file; 0 if memory runs out. A path is part of a file's
 * identity: files in different subvolumes of btrfs may have the same inode and device numbers.
 */
static uint64_t number_of(struct intern *numbers, const struct mapping *mapping, bool *fresh)
{
	char key[sizeof(mapping->file) + PATH_MAX];
	size_t len = strnlen(mapping->path, PATH_MAX);

	memcpy(key, &mapping->file, sizeof(mapping->file));
	memcpy(key + sizeof(mapping->file), mapping->path, len);
	return intern_get(numbers, key, sizeof(mapping->file) + len, fresh);
}

ssize_t *opened_files_result(struct opened_files *files, const struct mapping *mapping)
{
	uint64_t number;
	bool fresh;

	if (array_reserve(&files->results, &files->cap, files->numbers.cnt + 2))
		return NULL;
	number = number_of(&files->numbers, mapping, &fresh);
	if (fresh)
		files->results[number] = -ENOENT;
	return number ? &files->results[number] : NULL;
}

void opened_files_deinit(struct opened_files *files)
{
	intern_deinit(&files->numbers);
	free(files->results);
	*files = (struct opened_files){0};
}
