/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the kernel's files in /proc and /sys. Does not parse ELF files: the helper in
 * symbolizer/server does that.
 */
#ifndef SYMBOLIZER_KERNEL_FILES_H
#define SYMBOLIZER_KERNEL_FILES_H

#include <stddef.h>
#include <stdint.h>

/* Folders from which files about the kernel are read. Tests use their own folders. */
struct kernel_roots {
	const char *proc;
	const char *sys;
	const char *files;   /* folder that contains /boot, /lib and /usr; "" for the host's root */
	const char *release; /* kernel release; NULL: the release that uname() returns */
};

extern const struct kernel_roots kernel_roots_host;

/* A module listed in /proc/modules. */
struct loaded_module {
	const char *name; /* not NUL-terminated */
	size_t name_len;
	uint64_t start; /* start of the module's text; 0 if the kernel hides addresses */
	/*
	 * `start` plus the total size of the module; 0 if the kernel hides addresses. Too high on
	 * newer kernels, which load parts of the module at other addresses.
	 */
	uint64_t end;
};

/*
 * Reads the whole file root/path into memory from malloc(), and appends a NUL. Returns 0 or a
 * negative errno.
 */
int kernel_file_read(const char *root, const char *path, char **ret, size_t *ret_len);

/*
 * Parses the next valid line of /proc/modules in the text from `at` to `end`. Returns the start of
 * the line after it, the next `at`; NULL if there was no valid line.
 */
const char *loaded_module_next(const char *at, const char *end, struct loaded_module *ret);

/*
 * Returns the GNU build id, in hex, of a module, or of the core kernel if module is NULL. Returns
 * NULL if there is none or if out of memory.
 */
char *kernel_build_id(const struct kernel_roots *roots, const char *module);

#endif
