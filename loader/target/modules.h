/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ELF files that a process has mapped, in the order in which its dynamic loader looks up
 * symbols. Everything is read from the process, so everything is checked. Knows nothing of
 * probes.
 */
#ifndef LOADER_TARGET_MODULES_H
#define LOADER_TARGET_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/file_id.h"

struct module {
	int fd; /* opened through the process: right in every mount namespace */
	struct file_id id;
	char *path; /* as the process sees it; for people only */
};

/* A part of a file whose code runs in anonymous memory: see struct mapping. */
struct moved_code {
	size_t module;  /* index */
	uint64_t start; /* in the file */
	uint64_t end;
};

struct module_list {
	struct module *items;
	size_t cnt;
	size_t cap;
	struct moved_code *moved;
	size_t moved_cnt;
	size_t moved_cap;
	/* So many from the first on were there when the program started, and never go. */
	size_t permanent_cnt;
	bool no_files;  /* memleak may not open more: some are missing */
	char *unread;   /* path of the first file that may not be read; NULL: none */
	int unread_err; /* why: -EREMOTE: another process serves it (FUSE), or another errno */
	bool settled;   /* the dynamic loader has finished loading what it was loading */
	/* The hook that the dynamic loader calls when its list changes; module index, or -1. */
	ssize_t hook_module;
	uint64_t hook_offset; /* in the file */
	uint64_t r_debug;     /* address of what the dynamic loader says of itself; 0: unknown */
	uint64_t asked_ns;    /* how long it was waited for memory, and for what a file is */
	bool unasked;         /* there was no time for that */
	bool hangs;           /* its memory did not come in time */
};

/* So long memory is waited for as a rule, which may have to come from a disk. */
#define MODULES_MEMORY_NS 500000000ULL

/*
 * Reads the list. Without a dynamic loader (static program) or before it has started: the
 * program file, then the others by address. Whether a program is the dynamic loader its file may
 * have to tell. That is waited for file_ns, and the process's memory memory_ns. Returns 0 or a
 * negative errno (-ESRCH: no such process or nothing mapped). Files that may not be read are left
 * out.
 */
int module_list_init(pid_t pid, uint64_t memory_ns, uint64_t file_ns, struct module_list *ret);
void module_list_deinit(struct module_list *list);

struct mapping;

/*
 * Opens the file of a mapping as the process maps it, whatever its path means by now. Returns a
 * descriptor of a regular file or a negative errno.
 */
int process_open_mapping(pid_t pid, const struct mapping *mapping);

/* The value of an AT_ entry of the process's auxiliary vector; false: it has none. */
bool process_auxv(pid_t pid, uint64_t type, uint64_t *ret);

#endif
