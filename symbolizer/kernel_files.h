/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the kernel's files in /proc and /sys, and finds the folders in which its ELF files are
 * installed. Parses no ELF file; the server does.
 */
#ifndef SYMBOLIZER_KERNEL_FILES_H
#define SYMBOLIZER_KERNEL_FILES_H

#include <stddef.h>
#include <stdint.h>

/* Folders to read the kernel's files from; tests use their own. */
struct kernel_roots {
	const char *proc;
	const char *sys;
	const char *files;   /* root of /boot, /lib and /usr; "" for the host's */
	const char *release; /* kernel release; NULL for uname's */
};

extern const struct kernel_roots kernel_roots_host;

/* A module in /proc/modules. */
struct loaded_module {
	const char *name; /* module name, not NUL-terminated */
	size_t name_len;
	uint64_t start; /* start of its text; 0 if hidden */
	/* start plus total size, part of which newer kernels place elsewhere; 0 if hidden */
	uint64_t end;
};

/* Reads root/path whole and appends a NUL. Returns a negative errno on failure. */
int kernel_file_read(const char *root, const char *path, char **ret, size_t *ret_len);

/* Parses the next valid line of /proc/modules; returns where to continue, NULL at the end. */
const char *loaded_module_next(const char *at, const char *end, struct loaded_module *ret);

/*
 * Returns the GNU build id, in hex, of a module, or of the core kernel if module is NULL. Returns
 * NULL if there is none, or if memory is short.
 */
char *kernel_build_id(const struct kernel_roots *roots, const char *module);

#endif
