/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the kernel's files in /proc and /sys. Does not parse ELF files: the server does that. */
#ifndef SYMBOLIZER_KERNEL_FILES_H
#define SYMBOLIZER_KERNEL_FILES_H

#include <stddef.h>
#include <stdint.h>

/* Folders from which the kernel's files are read. Tests use their own folders. */
struct kernel_roots {
	const char *proc;
	const char *sys;
	const char *files;   /* folder that contains /boot, /lib and /usr; "" for the host's root */
	const char *release; /* kernel release; NULL to ask uname() */
};

extern const struct kernel_roots kernel_roots_host;

/* A module listed in /proc/modules. */
struct loaded_module {
	const char *name; /* module name, not NUL-terminated */
	size_t name_len;
	uint64_t start; /* start of the module's text; 0 if hidden */
	/*
	 * start plus total size of the module; 0 if hidden. Too high on newer kernels, which place
	 * parts of the module elsewhere.
	 */
	uint64_t end;
};

/* Reads the whole file root/path and appends a NUL. Returns a negative errno on failure. */
int kernel_file_read(const char *root, const char *path, char **ret, size_t *ret_len);

/* Parses the next valid line of /proc/modules; returns where to continue, NULL at the end. */
const char *loaded_module_next(const char *at, const char *end, struct loaded_module *ret);

/*
 * Returns the GNU build id, in hex, of a module, or of the core kernel if module is NULL. Returns
 * NULL if there is no build id or memory is short.
 */
char *kernel_build_id(const struct kernel_roots *roots, const char *module);

#endif
