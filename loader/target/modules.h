/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ELF files that a process has mapped, in the order in which its dynamic loader looks up
 * symbols. All data is read from the process, so all of it is checked. Knows nothing of probes.
 */
#ifndef LOADER_TARGET_MODULES_H
#define LOADER_TARGET_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/file_id.h"

struct module {
	int fd; /* opened through the process, so correct in any mount namespace */
	struct file_id id;
	char *path; /* as the process sees it; only for messages */
};

/* Part of a file whose code was moved to anonymous memory: see struct mapping. */
struct moved_code {
	size_t module;  /* index of the module */
	uint64_t start; /* offset in the file */
	uint64_t end;
};

struct module_list {
	struct module *items;
	size_t cnt;
	size_t cap;
	struct moved_code *moved;
	size_t moved_cnt;
	size_t moved_cap;
	/* Number of first modules that were loaded at startup and are never unloaded. */
	size_t permanent_cnt;
	bool no_files;  /* descriptors ran out: some files are missing */
	char *unread;   /* first file that may not be read; NULL if there is none */
	int unread_err; /* reason: -EREMOTE if another process serves it (FUSE), or another errno */
	bool settled;   /* the dynamic loader is not in the middle of a change */
	/*
	 * Module with the hook that the dynamic loader calls when its list changes; -1 if unknown.
	 */
	ssize_t hook_module;
	uint64_t hook_offset; /* offset in the file */
	uint64_t r_debug;     /* address of the dynamic loader's r_debug; 0 if unknown */
	uint64_t asked_ns;    /* time spent reading memory and examining files */
	bool unasked;         /* memory or files were not examined, as no time was allowed */
	bool hangs;           /* memory was not read in time */
};

/* Default time limit for reading memory, which may have to come from disk. */
#define MODULES_MEMORY_NS 500000000ULL

/*
 * Reads the list. For a static program, or before the dynamic loader has started, it has the
 * program and then the other files by address. memory_ns limits reading the process's memory;
 * file_ns limits finding out whether the program file is a dynamic loader. Files that may not be
 * read are left out. Returns 0 or a negative errno (-ESRCH if there is no such process or nothing
 * is mapped).
 */
int module_list_init(pid_t pid, uint64_t memory_ns, uint64_t file_ns, struct module_list *ret);
void module_list_deinit(struct module_list *list);

struct mapping;

/*
 * Opens the file that the process has mapped, even if its path names another file now. Returns a
 * descriptor of a regular file or a negative errno.
 */
int process_open_mapping(pid_t pid, const struct mapping *mapping);

/* Reads an AT_ entry of the process's auxiliary vector. False if there is no such entry. */
bool process_auxv(pid_t pid, uint64_t type, uint64_t *ret);

#endif
