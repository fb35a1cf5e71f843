/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory files for the helper that parses files, which may not make any itself: the kernel would
 * limit neither their number nor their total size. Knows nothing of their contents.
 */
#ifndef SYMBOLIZER_MEMORY_FILES_H
#define SYMBOLIZER_MEMORY_FILES_H

#include <stddef.h>
#include <stdint.h>

/* Maximum number of files for one module: its file, its debug file and its alternate file. */
#define MEMORY_FILES_EACH 3
/* Maximum number of files: each one is an open file of memleak, too. */
#define MEMORY_FILES_MAX 512

struct memory_file {
	uint32_t module; /* id of the module */
	int fd;
	uint64_t bytes;
};

/* The files of one helper. */
struct memory_files {
	struct memory_file *items;
	size_t cnt;
	size_t cap;
};

/*
 * Makes a file whose size cannot be changed by the helper. Returns its descriptor, which `files`
 * owns; -EFBIG if all files together would be too large or too many, or the module has enough
 * files; or another negative errno.
 */
int memory_files_make(struct memory_files *files, uint32_t module, uint64_t bytes);

/* Closes a module's files and frees their memory, even if the helper keeps them open. */
void memory_files_drop(struct memory_files *files, uint32_t module);
/* Closes all files and frees their memory. */
void memory_files_deinit(struct memory_files *files);

#endif
