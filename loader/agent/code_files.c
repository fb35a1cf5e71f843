// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens mapped files through /proc/PID/map_files or, if memleak lacks the rights for that, by path.
 * If the path leads to a different file by now, functions of the mapped file get no names.
 */
#include "loader/agent/code_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mapped_file.h"
#include "base/proc.h"
#include "base/regular_file.h"
#include "bpf/memleak.h"
#include "loader/target/modules.h"
#include "symbolizer/symbolizer.h"

/* Maximum time to look for an interpreter in a file, in nanoseconds. */
#define SCRIPTS_NS 5000000000ULL

/*
 * Opens a path below root_fd, if it still leads to the mapped file. Returns a descriptor or a
 * negative errno.
 */
static int open_below(int root_fd, const struct mapping *mapping)
{
	struct stat st;
	int fd = root_fd < 0 ? root_fd
			     : regular_file_open_known(root_fd, mapping->path, LINKS_ALL, &st);

	if (fd < 0 || mapped_file_is(fd, &st, &mapping->file))
		return fd;
	close(fd);
	return -ENOENT;
}

/*
 * Opens a mapped file through /proc/PID/map_files, if memleak has the rights. Otherwise tries its
 * path in the root directory of the process, then in that of memleak.
 */
static int open_file(pid_t pid, const struct mapping *mapping)
{
	cleanup_close int root_fd = proc_open(pid, "root", O_PATH | O_DIRECTORY);
	cleanup_close int own_root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = process_open_mapping(pid, mapping);

	if (fd < 0)
		fd = open_below(root_fd, mapping);
	return fd < 0 ? open_below(own_root_fd, mapping) : fd;
}

/* Opens the file of a module. Returns a descriptor or a negative errno. */
static int open_module(pid_t pid, const struct account_module *module, const char *path)
{
	const struct mapping mapping = {
		.start = module->start,
		.end = module->end,
		.offset = module->offset,
		.file = {.dev = makedev(module->dev_major, module->dev_minor), .ino = module->ino},
		.executable = true,
		.path = path,
	};

	return path[0] == '/' ? open_file(pid, &mapping) : -ENOENT;
}

static uint32_t find_symbols(const struct code_files *files, pid_t pid,
			     const struct account_module *module, const char *path)
{
	cleanup_close int fd = open_module(pid, module, path);
	uint32_t symbols = 0;

	if (fd >= 0 && symbolizer__add_file(files->symbolizer, fd, path, &symbols))
		return 0;
	return symbols;
}

/*
 * Returns the number of a known file. If the file could not be opened before, tries again: an
 * earlier process may have had no access to it, or forged its path.
 */
static uint32_t retry_symbols(const struct code_files *files, size_t at, pid_t pid,
			      const struct account_module *module, const char *path)
{
	struct code_file *file = &files->items[at];

	if (!file->symbols)
		file->symbols = find_symbols(files, pid, module, path);
	return (uint32_t)at;
}

uint32_t code_files_number(struct code_files *files, pid_t pid, const struct account_module *module,
			   const char *path)
{
	for (size_t i = 0; i < files->cnt; i++)
		if (files->items[i].ino == module->ino &&
		    files->items[i].dev_major == module->dev_major &&
		    files->items[i].dev_minor == module->dev_minor)
			return retry_symbols(files, i, pid, module, path);
	if (files->cnt >= MEMLEAK_FRAME_FILES)
		return UINT32_MAX;
	if (array_reserve(&files->items, &files->cap, files->cnt + 1))
		return UINT32_MAX;
	files->items[files->cnt] = (struct code_file){
		.ino = module->ino,
		.dev_major = module->dev_major,
		.dev_minor = module->dev_minor,
		.symbols = find_symbols(files, pid, module, path),
	};
	return (uint32_t)files->cnt++;
}

void code_files_add_scripts(struct code_files *files, pid_t pid, uint32_t image, uint32_t number,
			    const struct account_module *module, const char *path)
{
	cleanup_close int fd = -1;

	if (number >= MEMLEAK_FRAME_FILES)
		return;
	fd = open_module(pid, module, path);
	scripts_add_file(&files->scripts, fd, path, image, number, clock_deadline_ns(SCRIPTS_NS));
}

void code_files_deinit(struct code_files *files)
{
	scripts_deinit(&files->scripts);
	free(files->items);
	files->items = NULL;
	files->cnt = files->cap = 0;
}
