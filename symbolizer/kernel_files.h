/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads what the running kernel says of itself in /proc and /sys, and knows the folders in which
 * its files are installed. Parses no ELF file: the server does.
 */
#ifndef SYMBOLIZER_KERNEL_FILES_H
#define SYMBOLIZER_KERNEL_FILES_H

#include <stddef.h>
#include <stdint.h>

/* Where these folders are; tests have others. */
struct kernel_roots {
	const char *proc;
	const char *sys;
	const char *files;   /* the root of /boot, /lib and /usr; "": the host's */
	const char *release; /* NULL: uname's */
};

extern const struct kernel_roots kernel_roots_host;

/* A module in /proc/modules. */
struct loaded_module {
	const char *name; /* not NUL-terminated */
	size_t name_len;
	uint64_t start; /* of its text; 0: hidden */
	uint64_t end;   /* 0: hidden; start and all its memory: newer kernels spread the rest
			   elsewhere */
};

/* Reads root/path whole; a NUL stands behind it. A negative errno. */
int kernel_file_read(const char *root, const char *path, char **ret, size_t *ret_len);

/* The next module of the text, skipping lines that are none; NULL: no more, else go on there. */
const char *loaded_module_next(const char *at, const char *end, struct loaded_module *ret);

/* The GNU build id, in hex, of a module or (NULL) of the core kernel. NULL: none, or no memory. */
char *kernel_build_id(const struct kernel_roots *roots, const char *module);

#endif
